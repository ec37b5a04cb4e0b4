from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import same, saved
from short_sessions import SUMMARY, document, stays_readable, survives

from compaction.formats import load, recognise
from compaction.messages import Media, Text, Thinking, ToolCall, ToolResult, Usage

USAGE = {
    "model": "model-x",
    "maxInputTokens": 168000,
    "inputTokens": 20,
    "outputTokens": 5,
    "cacheCreationInputTokens": 10,
    "cacheReadInputTokens": 60,
    "timestamp": "2026-02-28T01:00:00.000Z",
}


def said(number: int, role: str, *content: object, **more: object) -> dict[str, Any]:
    return {"role": role, "messageId": number, "content": list(content), **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "complete": True, "id": name, "name": "Weigh", "input": given}


def ran(name: str, **run: object) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseID": name, "run": {"status": "done", **run}}


MESSAGES = [
    said(0, "user", text("Weigh it."), meta={"sentAt": 1772240000000}),
    said(
        1,
        "assistant",
        {"type": "thinking", "thinking": "Hm.", "signature": "s", "provider": "x"},
        call("c1", n=1.50),
        call("c2"),
        call("c3"),
        usage=USAGE,
    ),
    said(
        2,
        "user",
        ran("c1", result={"absolutePath": "/p", "content": "1.5 kg"}),
        ran("c2", result={"kilos": 2}),
        ran("c3", status="error", error={"message": "no scales"}),
    ),
    said(3, "assistant", text("1.5 kg.")),
    said(4, "user", text("And this?")),
    said(5, "assistant", text("2 kg.")),
]


def thread(*messages: object) -> dict[str, Any]:
    return {
        "v": 9,
        "id": "T-019c",
        "created": 1772240000000,
        "messages": list(messages),
        "nextMessageId": 6,
        "title": "Weighing",
    }


def test_a_thread_is_read() -> None:
    session = load(document(thread(*MESSAGES)))
    assert (session.format, session.title, session.model) == ("amp", "Weighing", "model-x")
    assert session.window == 168000
    roles = ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [one.role for one in session.messages] == roles
    assert [one.id for one in session.messages] == list("012345")
    assert session.messages[0].time.startswith("2026-02-28T00:53:20")
    assert session.messages[1].parts[:2] == (
        Thinking("Hm.", "s"),
        ToolCall("c1", "Weigh", '{"n":1.5}'),
    )
    assert session.messages[1].usage == Usage(90, 5, 60, 10)
    assert session.messages[2].parts == (
        ToolResult("c1", (Text("1.5 kg"),)),
        ToolResult("c2", (Text('{"kilos":2}'),)),
        ToolResult("c3", (Text("no scales"),), is_error=True),
    )


def test_a_summary_begins_the_window() -> None:
    block = {"type": "summary", "summary": {"type": "message", "summary": "So far."}}
    session = load(document(thread(*MESSAGES[:4], said(9, "info", block), *MESSAGES[4:])))
    assert [one.text for one in session.messages] == ["So far.", "And this?", "2 kg."]
    assert (session.messages[0].role, session.messages[0].summary) == ("user", "amp")
    assert session.left_out == {"before the last compaction": 4}
    survives(session, 0, 2)


def test_a_new_message_takes_a_number_that_became_free() -> None:
    session = load(document(thread(*MESSAGES)))
    out = json.loads(survives(session, 1, 2))
    assert [one["messageId"] for one in out["messages"]] == [0, 3, 4, 5]
    assert out["messages"][0] == MESSAGES[0]
    assert out["messages"][2:] == MESSAGES[4:]
    assert {**out, "messages": 0} == {**thread(), "messages": 0}
    added = json.loads(saved(session, [*session.messages, SUMMARY]))
    assert [one["messageId"] for one in added["messages"]] == [0, 1, 2, 3, 4, 5, 6]


def test_to_other_formats_and_back() -> None:
    picture = {"type": "base64", "mediaType": "image/png", "data": "aGVsbG8="}
    shown = said(6, "user", {"type": "image", "source": picture})
    session = load(document(thread(*MESSAGES, shown)))
    assert isinstance(session.messages[-1].parts[0], Media)
    request = load(saved(session, form="anthropic"))
    assert request.format == "anthropic"
    back = load(saved(request, form="amp"))
    assert back.format == "amp"
    # Reasoning is of the provider that made it.
    assert back.messages[1].parts == session.messages[1].parts[1:]
    assert back.messages[2].parts == session.messages[2].parts
    assert isinstance(back.messages[-1].parts[-1], Media)
    assert same(load(saved(back)).messages, back.messages)


@pytest.mark.parametrize(
    "other",
    [
        {"v": 1, "messages": [{"role": "user", "content": "x"}]},
        {"id": "T-1", "created": 1, "messages": [{"role": "user", "content": "x"}]},
        {"messages": MESSAGES},
    ],
)
def test_other_files_are_not_taken(other: object) -> None:
    found = recognise(document(other))
    assert found is None or found.name != "amp"


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {"role": "user", "content": {"type": []}},
        {"role": "user", "content": [3, {"type": "tool_result", "toolUseID": 4, "run": 5}]},
        {"role": "user", "content": [ran("x", result=[1, {"type": 2}], error=[3])]},
        {"role": "info", "content": [{"type": "manual_bash_invocation", "args": {}}], "meta": 3},
        {"role": "assistant", "messageId": "x", "content": "", "usage": {"inputTokens": "x"}},
        {"role": "user", "content": [{"type": "image", "source": {"mediaType": 3}}]},
    ],
)
def test_odd_messages_are_no_reason_to_fail(odd: object) -> None:
    stays_readable(document(thread(*MESSAGES[:3], odd, *MESSAGES[3:])), "amp")


def test_real_threads(shared_sessions: Path) -> None:
    found = {}
    for path in sorted((shared_sessions / "amp").iterdir()):
        session = load(path)
        assert (session.format, len(session), session.window) == ("amp", 6, 168000)
        assert session.model == "claude-opus-4-6"
        assert [one.role for one in session.messages][1:4] == ["assistant", "tool", "assistant"]
        assert session.messages[1].calls == session.messages[2].results
        found[session.title] = len(session.messages[1].calls)
        survives(session, 1, 2)
    assert found == {
        "Add jokes CLI with CSV data source": 3,
        "Read jokes CSV and append new row": 1,
    }
