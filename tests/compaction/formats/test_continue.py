from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import same, saved
from short_sessions import SUMMARY, document, stays_readable, survives

from compaction.formats import load, recognise
from compaction.messages import Media, Text, Thinking, ToolCall, ToolResult, Usage, message


def item(role: str, content: object, **more: object) -> dict[str, Any]:
    message = {"role": role, "content": content, **more.pop("message", {})}  # type: ignore[dict-item]
    return {"message": message, "contextItems": [], **more}


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "weigh", "arguments": arguments}}


def state(name: str, *texts: str, status: str = "done") -> dict[str, Any]:
    output = [{"content": one, "name": "Tool Result", "description": "of it"} for one in texts]
    held = {"toolCallId": name, "toolCall": call(name), "status": status}
    return {**held, "output": output} if texts else held


USAGE = {"promptTokens": 90, "completionTokens": 5, "promptTokensDetails": {"cachedTokens": 60}}
HISTORY = [
    item("user", "Weigh it.", contextItems=[{"content": "parcel", "name": "p", "id": {}}]),
    item(
        "assistant",
        "Both.",
        message={"toolCalls": [call("c1", '{"n": 1.50}'), call("c2")], "usage": USAGE},
        toolCallStates=[state("c1", "1.5 kg"), state("c2", "no", "scales", status="errored")],
        promptLogs=[{"modelTitle": "model-x"}],
    ),
    item("assistant", "1.5 kg."),
    item(
        "user",
        [
            {"type": "text", "text": "And this?"},
            {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,aGVsbG8="}},
        ],
    ),
    item("thinking", "Hm.", message={"signature": "s"}),
    item(
        "assistant",
        "",
        message={"toolCalls": [call("c3"), call("c4")]},
        toolCallStates=[state("c3", status="canceled"), state("c4", status="generated")],
    ),
]


def session_of(*history: object) -> dict[str, Any]:
    return {
        "sessionId": "s-1",
        "title": "Weighing",
        "workspaceDirectory": "/depot",
        "history": list(history),
        "usage": {"promptTokens": 9999, "completionTokens": 9},
    }


def test_items_are_messages_and_the_results_of_their_calls() -> None:
    session = load(document(session_of(*HISTORY)))
    assert (session.format, session.title, session.model) == ("continue", "Weighing", "model-x")
    assert [one.role for one in session.messages] == [
        "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "assistant", "tool",
    ]  # fmt: skip
    assert session.messages[0].parts == (Text("parcel"), Text("Weigh it."))
    assert session.messages[1].parts == (
        Text("Both."),
        ToolCall("c1", "weigh", '{"n": 1.50}'),
        ToolCall("c2", "weigh", "{}"),
    )
    assert session.messages[1].usage == Usage(90, 5, 60)
    assert session.messages[2].usage is None
    assert session.messages[2].parts == (ToolResult("c1", (Text("1.5 kg"),), False, "weigh"),)
    assert session.messages[3].parts == (
        ToolResult("c2", (Text("no"), Text("scales")), True, "weigh"),
    )
    assert isinstance(session.messages[5].parts[1], Media)
    assert session.messages[6].parts == (Thinking("Hm.", "s"),)
    stopped = session.messages[8].parts[0]
    assert isinstance(stopped, ToolResult)
    assert (stopped.call_id, stopped.is_error) == ("c3", True)
    # What the whole session used is no context of a response.
    assert session.messages[7].usage is None


def test_a_summary_replaces_its_item_and_all_before_it() -> None:
    records = [*HISTORY[:2], {**HISTORY[2], "conversationSummary": "So far."}, *HISTORY[3:]]
    session = load(document(session_of(*records)))
    assert session.messages[0].parts == (Text("So far."),)
    assert (session.messages[0].role, session.messages[0].summary) == ("user", "continue")
    assert session.left_out == {"before the last compaction": 2}
    assert session.compactions[0].at == 0
    assert len(session) == 5
    full = load(document(session_of(*records)), history="full")
    assert len(full) == 10
    assert survives(session, 1, 2)
    assert b"conversationSummary" in saved(session, session.messages[:2])


def test_results_that_stand_twice_are_one() -> None:
    told = item("tool", "1.5 kg", message={"toolCallId": "c1"})
    alone = item("tool", "2 kg", message={"toolCallId": "c9"})
    session = load(document(session_of(*HISTORY[:2], told, alone)))
    assert session.left_out == {"results that stand with their calls": 1}
    assert session.messages[-1].results == ("c9",)


def test_kept_items_stay_as_they_are_and_parts_of_one_make_a_new_one() -> None:
    session = load(document(session_of(*HISTORY)))
    out = json.loads(survives(session, 1, 4))
    assert out["history"][0] == HISTORY[0]
    assert out["history"][1] == {
        "message": {"role": "user", "content": SUMMARY.text},
        "contextItems": [],
    }
    assert out["history"][2:] == HISTORY[3:]
    assert {**out, "history": 0} == {**session_of(), "history": 0}
    for few in (
        session.messages[:2],
        session.messages[:3],
        [session.messages[1], session.messages[3]],
        session.messages[2:4],
    ):
        assert same(load(saved(session, few)).messages, few)


def test_a_result_that_is_new_stands_with_its_call() -> None:
    session = load(document(session_of(*HISTORY)))
    cleared = ToolResult("c2", (Text("[cleared]"),), True, "weigh")
    new = [*session.messages[:3], message("tool", [cleared]), *session.messages[4:]]
    out = saved(session, new)
    items = json.loads(out)["history"]
    assert len(items) == len(HISTORY)
    assert items[1]["message"] == HISTORY[1]["message"]
    first, second = items[1]["toolCallStates"]
    assert first == HISTORY[1]["toolCallStates"][0]
    assert [one["content"] for one in second["output"]] == ["[cleared]"]
    assert items[2:] == HISTORY[2:]
    assert same(load(out).messages, new)


def test_to_other_formats_and_back() -> None:
    session = load(document(session_of(*HISTORY[:4])))
    chat = load(saved(session, form="openai-chat"))
    out = saved(chat, form="continue")
    items = json.loads(out)["history"]
    assert [one["message"]["role"] for one in items] == ["user", "assistant", "assistant", "user"]
    assert [one["toolCallId"] for one in items[1]["toolCallStates"]] == ["c1", "c2"]
    back = load(out)
    assert [one.role for one in back.messages] == [one.role for one in session.messages]
    assert [one.text for one in back.messages] == [one.text for one in session.messages]


@pytest.mark.parametrize(
    "other",
    [
        {"history": HISTORY},
        {"sessionId": "s", "history": [{"role": "user", "content": "x"}]},
        {"sessionId": 4, "workspaceDirectory": "/", "history": HISTORY},
    ],
)
def test_other_files_are_not_taken(other: object) -> None:
    found = recognise(document(other))
    assert found is None or found.name != "continue"


@pytest.mark.parametrize(
    "odd",
    [
        3,
        {"message": None},
        {"message": {"role": 3}},
        {"message": {"role": "user", "content": {"type": 1}}, "contextItems": {"a": 1}},
        {"message": {"role": "assistant", "toolCalls": {}, "usage": {"promptTokens": "x"}}},
        {"message": {"role": "assistant", "content": None}, "toolCallStates": [1, {"output": [2]}]},
        {"message": {"role": "tool"}, "toolCallStates": [{"output": []}], "promptLogs": [3]},
        {"message": {"role": "thinking", "content": 4}, "conversationSummary": 4},
    ],
)
def test_odd_items_are_no_reason_to_fail(odd: object) -> None:
    stays_readable(document(session_of(*HISTORY[:3], odd, *HISTORY[3:])), "continue")


def test_a_real_session(shared_sessions: Path) -> None:
    session = load(shared_sessions / "continue" / "git-ai--continue-cli-session-simple.json")
    assert session.format == "continue"
    roles = ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [one.role for one in session.messages] == roles
    assert session.title == "File Reading and Appending"
    assert session.messages[1].calls == session.messages[2].results
    survives(session, 1, 3)
