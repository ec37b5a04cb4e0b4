from __future__ import annotations

import json
from pathlib import Path

import pytest
from transcripts import Rollout, Transcript, jsonl, said, text

from compaction.errors import SessionError
from compaction.formats import FORMATS, format_named, load, recognise
from compaction.formats.recognising import HEAD, sample_of
from compaction.messages import Source


def name_of(data: bytes) -> str | None:
    found = recognise(data)
    return found.name if found else None


def transcript() -> Transcript:
    made = Transcript()
    made.user("hi")
    made.says("msg_1", text("hello"))
    return made


CHAT = {"role": "user", "content": "hi"}
BLOCKS = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": ""}]}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        pytest.param(transcript().data(), "claude-code", id="transcript"),
        pytest.param(jsonl(transcript().records[:1]), "claude-code", id="one line"),
        pytest.param(jsonl(transcript().records[:1])[:-1], "claude-code", id="one line, no end"),
        pytest.param(b"\xef\xbb\xbf" + transcript().data(), "claude-code", id="byte order mark"),
        pytest.param(transcript().data().decode().encode("utf-16"), "claude-code", id="UTF-16"),
        pytest.param(b"[]\n{\n" + transcript().data(), "claude-code", id="broken lines first"),
        pytest.param(Rollout().data() + jsonl([CHAT]), "codex", id="rollout"),
        pytest.param(Rollout().data(), "codex", id="rollout of one line"),
        pytest.param(json.dumps({"messages": [CHAT]}).encode(), "openai-chat", id="request"),
        pytest.param(json.dumps({"messages": [CHAT]}, indent=1).encode(), "openai-chat", id="wide"),
        pytest.param(b'{"model": "m", "messages": []}', "openai-chat", id="nothing said yet"),
        pytest.param(json.dumps([CHAT, CHAT]).encode(), "openai-chat", id="bare array"),
        pytest.param(b"[\n" + json.dumps(CHAT).encode() + b"\n]", "openai-chat", id="array, wide"),
        pytest.param(jsonl([{"messages": [CHAT]}] * 2), "openai-chat", id="one a line"),
        pytest.param(jsonl([CHAT, CHAT]), "openai-chat", id="one message a line"),
        pytest.param(json.dumps({"messages": [CHAT, BLOCKS]}).encode(), "anthropic", id="blocks"),
        pytest.param(
            json.dumps({"model": "m", "input": [said("user", "hi")]}).encode(),
            "openai-responses",
            id="items",
        ),
        pytest.param(b"messages:\n- role: user\n  content: hi\n", "yaml", id="YAML"),
        pytest.param(b'{"messages":[{"role":"user","content":"hi"},{"ro', "openai-chat", id="torn"),
        pytest.param(b'[{"role":"user","content":"hi"},{"ro', "openai-chat", id="torn array"),
        pytest.param(b'{"a": 1}', None, id="other JSON"),
        pytest.param(b"role of the user: none", None, id="prose"),
    ],
)
def test_a_format_is_told_from_the_content(data: bytes, name: str | None) -> None:
    assert name_of(data) == name


def test_many_lines_of_bookkeeping_may_come_first() -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    data = jsonl([snapshot] * 1000) + transcript().data()
    assert len(data) < HEAD
    assert name_of(data) == "claude-code"
    assert len(load(data)) == 2


@pytest.mark.parametrize("lines", [1, 2])
def test_a_first_record_larger_than_what_is_looked_at(lines: int) -> None:
    made = Transcript()
    made.user("x" * 2 * HEAD)
    if lines == 2:
        made.user("more")
    assert name_of(made.data()) == "claude-code"
    assert len(made.load()) == lines


def test_no_more_than_the_beginning_of_many_records_is_parsed() -> None:
    line = json.dumps(transcript().records[0]).encode() + b"\n"
    sample = sample_of(Source(line * (3 * HEAD // len(line))))
    assert HEAD - len(line) <= len(sample.lines) * len(line) <= HEAD
    assert len(sample.head) == HEAD


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\0\1\2\3", "is a binary file"),
        (b"SQLite format 3\0" + b"\0" * 90, "is an SQLite database"),
        (b"PK\x03\x04" + b"\0" * 30, "is a ZIP archive and no session; unpack it"),
        (b"\x28\xb5\x2f\xfd123", "is compressed with zstd and no session; unpack it"),
        (b"\x1f\x8b\x08123", "is damaged gzip"),
        (b"\x89PNG\r\n\x1a\n", "is a PNG image"),
        (b'{"sessionId": "s", "projectHash": "p", "messages": 3}', "holds no messages of the form"),
        (b'{"a": [1, 2]}', "is JSON without messages"),
        (b'{"x": 1,\n "messages" 2}', "is broken JSON: line 2: "),
        (
            b"# Notes\n\nThe [role]: of it: {x",
            "is no session: it is neither JSON, JSON lines nor YAML",
        ),
        (b"messages:\n- role: user\n content: [", "is no YAML: line 3"),
        (b"Dear diary", "is no session: it is neither JSON, JSON lines nor YAML"),
        (b'{"a":' * 100_000, "is nested too deep"),
        (b"[" * 100_000 + b"]" * 100_000, "is nested too deep"),
    ],
)
def test_what_is_no_session_is_named_for_what_it_is(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(SessionError) as caught:
        load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path} {said}")
    assert "\n" not in sentence


def test_every_format_has_its_own_name_and_is_found_by_it() -> None:
    names = [each.name for each in FORMATS]
    assert names == list(dict.fromkeys(names))
    assert {"claude-code", "codex", "openai-chat", "anthropic", "openai-responses", "yaml"} <= {
        *names
    }
    for name in names:
        assert format_named(name).name == name
    with pytest.raises(SessionError, match=r"did you mean .*claude-code"):
        format_named("claude")


def test_real_sessions_are_what_their_folder_says(shared_sessions: Path) -> None:
    for folder in ("claude-code", "claude-code-edge-cases", "codex"):
        for path in sorted((shared_sessions / folder).rglob("*.jsonl")):
            found = recognise(path)
            assert found is not None, path.name
            assert found.name == folder.removesuffix("-edge-cases"), path.name
