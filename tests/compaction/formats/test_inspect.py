from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from runs import compacted, opened, roles, same, saved, shortened, survives

from compaction.errors import SessionError
from compaction.formats import load, recognise
from compaction.formats.inspect_log import usage_of
from compaction.messages import (
    Media,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    message,
)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf"
    "DwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def answer(name: str, content: object, *calls: dict[str, Any]) -> dict[str, Any]:
    made = {"id": name, "content": content, "source": "generate", "role": "assistant"}
    return {**made, "tool_calls": list(calls), "model": "m-1"} if calls else made


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": name, "function": "bash", "arguments": arguments, "type": "function"}


def result(name: str, content: object, **more: Any) -> dict[str, Any]:
    return {"content": content, "role": "tool", "tool_call_id": name, "function": "bash", **more}


def request(name: str, **usage: int) -> dict[str, Any]:
    output = {"choices": [{"message": {"id": name}}], "usage": usage}
    tools = [{"name": "bash", "description": "attachment://d1", "parameters": {"type": "object"}}]
    return {"event": "model", "input": [], "input_refs": [[0, 2]], "tools": tools, "output": output}


SAMPLE: dict[str, Any] = {
    "id": "dock",
    "epoch": 1,
    "input": "Mend the gate count.",
    "target": "4",
    "messages": [
        {"id": "s", "content": "You use a shell.", "role": "system"},
        {"id": "u", "content": "attachment://a1", "source": "input", "role": "user"},
        answer("m1", "Look.", call("c1", cmd="ls")),
        result("c1", "dock.py"),
        answer("m2", "", call("c2", cmd="cat x")),
        result("c2", "", error={"type": "file_not_found", "message": "x is not there"}),
        {"id": "u2", "content": "Please proceed.", "role": "user"},
        answer("m3", [{"type": "reasoning", "reasoning": "Hm.", "signature": "sig"}, "It is 4."]),
    ],
    "output": {"model": "m-1", "usage": {"input_tokens": 90, "output_tokens": 7}},
    "events": [
        request("m1", input_tokens=50, output_tokens=5, total_tokens=55),
        request(
            "m3", input_tokens=20, output_tokens=7, total_tokens=97, input_tokens_cache_read=70
        ),
    ],
    "attachments": {"a1": "Mend the gate count.", "d1": "Runs a command."},
}
SECOND = {"id": "dock", "epoch": 2, "target": "", "messages": [{"role": "user", "content": "Two."}]}
LOG: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "docks", "model": "openai/m-1", "created": "2025-02-11T15:18:04+00:00"},
    "samples": [SAMPLE],
}


def log(*samples: object) -> dict[str, Any]:
    return {**copy.deepcopy(LOG), "samples": copy.deepcopy(list(samples))}


def parts(*content: object) -> tuple[object, ...]:
    one = {"role": "assistant", "content": list(content)}
    return opened(log({**SAMPLE, "messages": [one]})).messages[0].parts


def test_a_sample_is_a_conversation() -> None:
    session = opened(log(SAMPLE))
    assert session.format == "inspect"
    assert (session.title, session.model) == ("docks, sample dock", "openai/m-1")
    assert roles(session) == [
        "system", "user", "assistant", "tool", "assistant", "tool", "user", "assistant"
    ]  # fmt: skip
    assert session.messages[2].parts == (Text("Look."), ToolCall("c1", "bash", '{"cmd":"ls"}'))
    assert session.messages[3].parts == (ToolResult("c1", (Text("dock.py"),), name="bash"),)
    assert session.messages[5].parts == (
        ToolResult("c2", (Text("x is not there"),), is_error=True, name="bash"),
    )
    assert session.messages[7].parts == (Thinking("Hm.", "sig"), Text("It is 4."))
    assert [i for i, one in enumerate(session.messages) if one.typed] == [1]


def test_what_was_moved_to_the_attachments_is_put_back() -> None:
    session = opened(log(SAMPLE))
    assert session.messages[1].text == "Mend the gate count."
    assert session.messages[1].preview == "Mend the gate count."
    assert session.tools.names == ("bash",)
    assert "Runs a command." in session.tools.text
    lost = {**SAMPLE, "attachments": {}}
    assert opened(log(lost)).messages[1].text == "attachment://a1"


def test_usage_is_found_in_the_events() -> None:
    session = opened(log(SAMPLE))
    assert session.messages[2].usage == Usage(50, 5)
    assert session.messages[7].usage == Usage(90, 7, 70)
    assert session.messages[4].usage is None


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"input_tokens": 100, "output_tokens": 5}, Usage(100, 5)),
        (
            {
                "input_tokens": 100,
                "output_tokens": 5,
                "total_tokens": 105,
                "input_tokens_cache_read": 60,
            },
            Usage(100, 5, 60),
        ),
        (
            {
                "input_tokens": 40,
                "output_tokens": 5,
                "total_tokens": 112,
                "input_tokens_cache_read": 60,
                "input_tokens_cache_write": 7,
            },
            Usage(107, 5, 60, 7),
        ),
        ({"input_tokens": "many"}, None),
        (3, None),
    ],
)
def test_cached_input_is_counted_once(said: object, usage: Usage | None) -> None:
    assert usage_of(said) == usage


def test_content_of_every_kind() -> None:
    assert parts(
        {"type": "reasoning", "reasoning": "opaque", "redacted": True, "summary": "In short."},
        {"type": "image", "image": f"data:image/png;base64,{PIXEL}", "detail": "low"},
        {"type": "image", "image": "pictures/dock.png"},
        {"type": "audio", "audio": "data:audio/wav;base64,QUJD", "format": "wav"},
        {"type": "tool_use", "name": "web_search"},
    ) == (
        Thinking("In short.", "", 6),
        Media("image", "image/png", 70, data=PIXEL, width=1, height=1, detail="low"),
        Media("image", name="pictures/dock.png"),
        Media("audio", "audio/wav", 3, data="QUJD"),
        Opaque("tool_use", '{"type":"tool_use","name":"web_search"}'),
    )


def test_several_samples() -> None:
    session = opened(log(SAMPLE, SECOND))
    assert [(one.id, one.messages) for one in session.conversations] == [("dock", 8), ("dock:2", 1)]
    second = opened(log(SAMPLE, SECOND), conversation="dock:2")
    assert second.messages[0].text == "Two."
    assert second.title == "docks, sample dock:2"
    with pytest.raises(SessionError, match="no conversation '9'"):
        opened(log(SAMPLE, SECOND), conversation="9")


def test_compacted_everything_else_of_the_log_stays() -> None:
    session = opened(log(SAMPLE, SECOND))
    assert survives(session)
    document = json.loads(saved(session, compacted(session)))
    assert document["samples"][1] == SECOND
    assert document["samples"][0]["events"] == SAMPLE["events"]
    assert document["samples"][0]["messages"][-2:] == SAMPLE["messages"][-2:]
    new = next(m for m in document["samples"][0]["messages"] if m not in SAMPLE["messages"])
    assert new["role"] == "user"
    assert len(new["id"]) == 22
    assert "source" not in new


def test_what_is_new_is_written_as_the_tool_does() -> None:
    session = opened(log(SAMPLE))
    made = [
        message("user", "Why?"),
        message("assistant", [Text("So."), ToolCall("n1", "bash", '{"cmd":"ls"}')]),
        message("tool", [ToolResult("n1", (Text("gone"),), is_error=True, name="bash")]),
        message("user", [Media("image", "image/png", 70, data=PIXEL, width=1, height=1)]),
    ]
    data = saved(session, [*session.messages, *made])
    added = json.loads(data)["samples"][0]["messages"][8:]
    assert [{k: v for k, v in one.items() if k != "id"} for one in added[:3]] == [
        {"content": "Why?", "source": "input", "role": "user"},
        {
            "content": "So.",
            "source": "generate",
            "role": "assistant",
            "tool_calls": [call("n1", cmd="ls")],
            "model": "openai/m-1",
        },
        result("n1", "gone", error={"type": "unknown", "message": "gone"}),
    ]
    assert added[3]["content"][0]["image"] == f"data:image/png;base64,{PIXEL}"
    again = load(data).messages
    assert len({one.id for one in again[8:]}) == 4
    assert same(again[8:11], made[:3])
    assert data == saved(session, [*session.messages, *made])


def test_a_pool_stands_in_for_messages_that_are_not_there() -> None:
    pooled = {k: v for k, v in SAMPLE.items() if k != "messages"}
    session = opened(log({**pooled, "message_pool": SAMPLE["messages"]}))
    assert [one.id for one in session.messages] == ["s", "u"]
    assert session.left_out == {"not in the last request": 6}


def test_a_session_from_elsewhere_becomes_a_log() -> None:
    chat = opened(
        {
            "model": "m",
            "messages": json.loads(saved(opened(log(SAMPLE)), form="openai-chat"))["messages"],
        }
    )
    assert roles(chat)[2:4] == ["assistant", "tool"]
    again = load(saved(chat, form="inspect"))
    assert again.format == "inspect"
    assert again.model == "m"
    assert same(again.messages, chat.messages)


# -------------------------------------------------------------------------------- archives


def archive(members: Mapping[str, object], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as made:
        for name, value in members.items():
            made.writestr(name, json.dumps(value))
    return buffer.getvalue()


HEADER = {key: value for key, value in LOG.items() if key != "samples"}


def test_an_archive_is_the_log_of_its_members() -> None:
    members = {
        "_journal/start.json": HEADER,
        "samples/10_epoch_1.json": {**SECOND, "id": 10, "epoch": 1},
        "samples/9_epoch_1.json": {**SAMPLE, "id": 9},
        "samples/9_epoch_2.json": {**SECOND, "id": 9},
        "reductions.json": [{"scorer": "s"}],
        "header.json": HEADER,
    }
    session = load(archive(members))
    assert session.format == "inspect"
    assert [one.id for one in session.conversations] == ["9", "10", "9:2"]
    assert same(session.messages, opened(log({**SAMPLE, "id": 9})).messages)
    document = json.loads(saved(session))
    assert document["eval"] == LOG["eval"]
    assert document["reductions"] == [{"scorer": "s"}]
    assert [each["id"] for each in document["samples"]] == [9, 10, 9]


def test_a_run_that_has_not_ended_has_no_header_yet() -> None:
    start = {"version": 2, "eval": LOG["eval"]}
    session = load(archive({"_journal/start.json": start, "samples/a_epoch_1.json": SAMPLE}))
    assert len(session) == 8
    assert json.loads(saved(session))["status"] == "started"


def test_other_archives_are_refused_as_before() -> None:
    with pytest.raises(SessionError, match="is a ZIP archive and no session"):
        load(archive({"notes.json": {}}))


def test_an_archive_that_cannot_be_unpacked_says_why() -> None:
    members = {"_journal/start.json": HEADER, "samples/a_epoch_1.json": SAMPLE}
    whole = archive({**members, "header.json": HEADER})
    with pytest.raises(SessionError, match="damaged ZIP archive"):
        load(whole[: len(whole) // 2])
    zstd = whole.replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x5d\x00"
    )
    assert zstd != whole
    with pytest.raises(SessionError, match=r"compressed with zstd.*inspect log convert"):
        load(zstd)
    with pytest.raises(SessionError, match=r"header\.json is no JSON object"):
        load(archive({"header.json": 4}))


def test_an_archive_may_not_unpack_to_anything_huge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compaction.formats.archives.LIMIT", 1000)
    with pytest.raises(SessionError, match="unpacks to more than 1,000 bytes"):
        load(archive({"header.json": HEADER, "samples/a_epoch_1.json": SAMPLE}))


# ------------------------------------------------------------------------------ recognition


def test_a_sample_by_itself_is_read() -> None:
    session = opened(SAMPLE)
    assert session.format == "inspect"
    assert (session.title, session.model, len(session)) == ("sample dock", "m-1", 8)
    assert survives(session)


@pytest.mark.parametrize(
    "document",
    [
        {"eval": "x", "samples": [], "status": "success"},
        {"eval": {}, "samples": []},
        {"id": 1, "messages": SAMPLE["messages"]},
        {"samples": [SAMPLE]},
    ],
)
def test_look_alikes_are_not_taken(document: object) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "inspect"


def test_a_log_without_samples_is_refused() -> None:
    with pytest.raises(SessionError, match="holds no messages of the format inspect"):
        opened({**LOG, "samples": []})


def test_odd_values_do_not_stop_the_reading() -> None:
    odd = {
        "messages": [
            3,
            {"role": "user", "content": {"a": 1}},
            {"role": "tool", "content": [4, None], "error": "x", "tool_call_id": 5},
            {
                "role": "assistant",
                "content": [{"type": ["x"]}],
                "tool_calls": [7, {"arguments": "{"}],
            },
        ],
        "events": [5, {"event": "model", "output": {"choices": [1]}, "tools": 4}],
        "attachments": [1],
        "transcript": 4,
        "output": [],
    }
    session = opened(log(odd, 4))
    assert len(session) == 3
    assert session.messages[2].parts[-1] == ToolCall("", "", "{")


#: Conversations, messages of the first, its calls and results.
COUNTS = {
    "browser-406KB.json": (0, 10, 4),
    "derived--theory-of-mind-dumped.json": (100, 2, 0),
    "images-tool-calls.json": (0, 3, 0),
    "message-dedup.eval": (0, 12, 5),
    "popularity.eval": (10, 3, 0),
    "scout--popularity.eval": (100, 3, 0),
    "streaming.eval": (4, 3, 0),
    "tool-call-error.json": (0, 11, 11),
}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_real_logs(name: str, shared_sessions: Path) -> None:
    session = load(shared_sessions / "inspect" / name)
    assert session.format == "inspect"
    results = sum(len(one.results) for one in session.messages)
    assert (len(session.conversations), len(session), results) == COUNTS[name]
    assert not any("attachment://" in one.text for one in session.messages)
    assert survives(session) if len(session) > 9 and session.messages[0].typed else True
    assert shortened(session)
    last = load(shared_sessions / "inspect" / name, conversation=str(COUNTS[name][0] or 1))
    assert len(last) >= 2
