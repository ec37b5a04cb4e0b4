from __future__ import annotations

import gc
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from transcripts import Transcript, jsonl, text, texts

from compaction.errors import SessionError
from compaction.formats import from_messages, load
from compaction.messages import Progress


def transcript() -> Transcript:
    made = Transcript()
    made.user("hi")
    made.says("msg_1", text("hello"))
    return made


def test_a_path_bytes_a_file_and_standard_input_are_the_same_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = transcript().data()
    path = tmp_path / "no ending"
    path.write_bytes(data)

    class Piped:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Piped)
    with path.open("rb") as file:
        sessions = [load(path), load(str(path)), load(data), load(file), load("-")]
    for session in sessions:
        assert texts(session.messages) == ["hi", "hello"]
        assert session.source.data == data
    assert sessions[0].source.path == str(path)
    assert sessions[4].source.name == "-"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"\0\0\0"), "is a binary file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_its_name(
    make: Any, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "here.jsonl"
    make(path)
    with pytest.raises(SessionError, match=said) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret.jsonl"
    path.write_bytes(transcript().data())
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(SessionError, match="permission denied"):
        load(path)


def test_names_nobody_can_open_are_told_in_short() -> None:
    for name in ("", "a\0b", "x" * 100_000):
        with pytest.raises(SessionError) as caught:
            load(name)
        assert len(str(caught.value)) < 400
        assert "\0" not in str(caught.value)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no such devices here")
def test_a_device_is_no_file() -> None:
    with pytest.raises(SessionError, match="is a device"):
        load("/dev/zero")


def test_a_file_open_as_text_is_refused() -> None:
    with pytest.raises(SessionError, match="binary"):
        load(io.StringIO("{}"))  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [None, 5, ["talk.json"]])
def test_what_is_no_source_is_refused_in_a_sentence(source: Any) -> None:
    with pytest.raises(SessionError, match=f"value of type {type(source).__name__}"):
        load(source)


def test_only_what_the_file_holds_when_it_is_opened_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "growing.jsonl"
    data = transcript().data()
    path.write_bytes(data + b'{"type":"user","uuid":"cut')
    size = os.fstat

    def growing(descriptor: int) -> os.stat_result:
        found = size(descriptor)
        with path.open("ab") as file:
            file.write(b' off"}\n' + data)
        return found

    monkeypatch.setattr(os, "fstat", growing)
    session = load(path)
    assert texts(session.messages) == ["hi", "hello"]
    assert [(each.level, each.code, each.line) for each in session.problems] == [
        ("warning", "torn-end", 3)
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-be"])
def test_other_encodings_with_a_mark_are_read_and_told(encoding: str) -> None:
    made = Transcript()
    made.user("日本 é")
    data = ("\ufeff" if encoding.endswith("be") else "").encode(encoding)
    session = load(data + made.data().decode().encode(encoding))
    assert texts(session.messages) == ["日本 é"]
    assert [each.code for each in session.problems] == ["encoding"]


def test_several_conversations_are_told_and_chosen_by_number_or_id() -> None:
    data = jsonl(
        {"id": f"c{n}", "messages": [{"role": "user", "content": f"first of {n}"}]} for n in "123"
    )
    session = load(data)
    assert texts(session.messages) == ["first of 1"]
    assert [(each.id, each.messages) for each in session.conversations] == [
        ("c1", 1),
        ("c2", 1),
        ("c3", 1),
    ]
    assert "3 conversations" in next(
        each.text for each in session.problems if each.code == "several-conversations"
    )
    assert texts(load(data, conversation="2").messages) == ["first of 2"]
    assert texts(load(data, conversation="c3").messages) == ["first of 3"]
    with pytest.raises(SessionError, match="has no conversation '4': it has 3"):
        load(data, conversation="4")


def test_a_session_is_its_own_first_conversation() -> None:
    data = transcript().data()
    assert len(load(data, conversation="1")) == 2
    with pytest.raises(SessionError, match="it holds just one"):
        load(data, conversation="2")


def test_the_format_can_be_forced() -> None:
    plain = json.dumps([{"role": "user", "content": "hi"}]).encode()
    assert load(plain).format == "openai-chat"
    assert load(plain, format="anthropic").format == "anthropic"
    with pytest.raises(SessionError, match="did you mean codex"):
        load(plain, format="codx")
    with pytest.raises(SessionError, match="is empty"):
        load(b" ", format="claude-code")


def test_an_unknown_history_is_refused() -> None:
    with pytest.raises(SessionError, match="'live' or 'full'"):
        load(transcript().data(), history="all")  # type: ignore[arg-type]


def test_a_cancelled_load_is_what_was_read() -> None:
    made = Transcript()
    for number in range(2000):
        made.user(str(number))
    told: list[Progress] = []
    session = load(made.data(), cancelled=lambda: True, progress=told.append)
    assert texts(session.messages) == [str(number) for number in range(len(session))]
    assert 0 < len(session) < 2000
    assert [each.code for each in session.problems] == ["stopped"]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        load(transcript().data())
        assert gc.isenabled() is enabled
        with pytest.raises(SessionError):
            load(b"{}", format="claude-code")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_messages_in_memory() -> None:
    chat = from_messages(
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "\ud83d"}]
    )
    assert (chat.format, texts(chat.messages)) == ("openai-chat", ["Be kind.", "\ud83d"])
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    blocks = from_messages([{"role": "user", "content": [result]}])
    assert (blocks.format, blocks.messages[0].role) == ("anthropic", "tool")
    assert len(from_messages([])) == 0
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    assert from_messages([{"role": "user", "content": "x"}], tools=[tool]).tools.names == ("f",)
    with pytest.raises(SessionError, match="no plain JSON values"):
        from_messages([{"role": "user", "content": object()}])
