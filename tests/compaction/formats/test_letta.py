from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction import load
from compaction.errors import ExportError, SessionError
from compaction.formats import recognise
from compaction.messages import (
    Media,
    Opaque,
    Part,
    RecordedCompaction,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)

ALERT = {
    "type": "system_alert",
    "message": "Note: prior messages have been hidden from view. A summary: boxes were weighed.",
}


def said(number: int, role: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "role": role,
        "content": [{"type": "text", "text": text, "signature": None}],
        "name": None,
        "id": f"message-{number}",
        "model": "m-1" if role == "assistant" else None,
        "agent_id": "agent-0",
        "tool_calls": None,
        "tool_call_id": None,
        "tool_returns": [],
        "created_at": f"2026-01-02T03:04:{number:02}+00:00",
        "approvals": [],
        **more,
    }


def call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "weigh", "arguments": '{"n": 1}'}}


def returned(name: str, status: str = "success") -> dict[str, Any]:
    return {"tool_call_id": name, "status": status, "func_response": f"weight of {name}"}


MESSAGES = [
    said(0, "system", "You weigh boxes."),
    said(1, "user", "Weigh the first."),
    said(2, "assistant", "Done."),
    said(3, "user", json.dumps(ALERT)),
    said(4, "user", "<system-reminder>a</system-reminder>\nWeigh the second."),
    said(5, "assistant", "I will.", tool_calls=[call("c1")]),
    said(
        6, "tool", "12 kg", name="weigh", tool_call_id="c1", tool_returns=[returned("c1", "error")]
    ),
    said(7, "assistant", "12 kg."),
]
SENT = ["message-0", *(f"message-{number}" for number in range(3, 8))]
AGENT = {
    "id": "agent-0",
    "name": "scales",
    "system": "You weigh boxes.",
    "llm_config": {"model": "gpt-4o-mini", "context_window": 32000},
    "tool_ids": ["tool-1"],
    "messages": MESSAGES,
    "in_context_message_ids": SENT,
}
FILE: dict[str, Any] = {
    "agents": [AGENT, {**AGENT, "id": "agent-1", "messages": [], "in_context_message_ids": []}],
    "blocks": [],
    "tools": [
        {"id": "tool-0", "name": "other", "json_schema": {"name": "other"}},
        {"id": "tool-1", "name": "weigh", "json_schema": {"name": "weigh", "parameters": {}}},
    ],
}


def with_messages(*messages: Any, **more: Any) -> dict[str, Any]:
    agent = {**AGENT, "messages": list(messages), "in_context_message_ids": None, **more}
    return {**FILE, "agents": [agent]}


def test_what_is_in_the_context_of_an_agent_is_read() -> None:
    session = opened(FILE)
    assert session.format == "letta"
    assert [m.id for m in session.messages] == SENT
    assert session.left_out == {"no longer in the context": 2}
    assert (session.title, session.model, session.window) == ("scales", "gpt-4o-mini", 32000)
    assert session.tools.names == ("weigh",)
    assert session.messages[1].summary == "letta"
    assert session.messages[2].typed
    assert session.messages[3].parts == (Text("I will."), ToolCall("c1", "weigh", '{"n": 1}'))
    assert session.messages[4].parts == (
        ToolResult("c1", (Text("12 kg"),), is_error=True, name="weigh"),
    )
    assert session.messages[5].model == "m-1"
    assert [(c.id, c.messages) for c in session.conversations] == [("agent-0", 8), ("agent-1", 0)]


def test_the_full_history_has_what_left_the_context_and_the_summary_of_it() -> None:
    session = opened(FILE, history="full")
    assert len(session) == 8
    assert session.left_out == {}
    line = session.messages[3].spans[0].line
    assert session.compactions == (RecordedCompaction(3, line=line),)
    assert len(opened(FILE, conversation="agent-1")) == 0


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Weigh it.", True),
        ("<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>", False),
        ("<system-reminder>a</system-reminder> Weigh it.", True),
        ('{"type": "heartbeat", "reason": "r"}', False),
        ('{"type": "parcel"}', True),
        ('{"broken', True),
    ],
)
def test_what_a_person_typed_is_told_from_what_the_server_says(text: str, typed: bool) -> None:
    session = opened(with_messages(said(1, "user", text)))
    assert session.messages[0].typed is typed


def test_messages_of_a_group_of_agents_are_not_typed() -> None:
    session = opened(with_messages(said(1, "user", "Review this.", group_id="group-1")))
    assert session.messages[0].injected


@pytest.mark.parametrize(
    ("record", "role", "parts"),
    [
        (
            said(1, "assistant", "")
            | {"content": [{"type": "reasoning", "reasoning": "hm", "signature": "s"}]},
            "assistant",
            (Thinking("hm", "s"),),
        ),
        (
            said(1, "assistant", "")
            | {
                "content": [{"type": "tool_call", "id": "c", "name": "f", "input": {"a": 1}}],
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}],
            },
            "assistant",
            (ToolCall("c", "f", '{"a":1}'),),
        ),
        (
            said(1, "tool", "both", tool_returns=[returned("a"), returned("b", "error")]),
            "tool",
            (
                ToolResult("a", (Text("weight of a"),)),
                ToolResult("b", (Text("weight of b"),), is_error=True),
            ),
        ),
        (
            said(1, "tool", "") | {"content": [], "tool_returns": [returned("a")]},
            "tool",
            (ToolResult("a", (Text("weight of a"),)),),
        ),
        (
            said(1, "approval", "May I?", tool_calls=[call("c")]),
            "assistant",
            (Text("May I?"), ToolCall("c", "weigh", '{"n": 1}')),
        ),
        (
            said(1, "approval", "", approvals=[{"tool_call_id": "c", "tool_return": "12 kg"}])
            | {"content": None},
            "tool",
            (ToolResult("c", (Text("12 kg"),)),),
        ),
        (
            said(1, "user", "")
            | {"content": [{"type": "image", "source": {"type": "letta", "file_id": "f-1"}}]},
            "user",
            (Media("image", name="f-1"),),
        ),
        (
            said(1, "assistant", "x", tool_calls="no", content=7),
            "assistant",
            (Opaque("unknown", "7"),),
        ),
        (
            said(1, "assistant", "x", content=[None, {"type": "reasoning"}], tool_calls=[None]),
            "assistant",
            (
                Opaque("unknown", "null"),
                Thinking(""),
                Opaque("tool_call", "null"),
            ),
        ),
    ],
)
def test_messages_of_every_kind(record: dict[str, Any], role: str, parts: tuple[Part, ...]) -> None:
    session = opened(with_messages(record))
    assert session.messages[0].role == role
    assert session.messages[0].parts == parts


def test_a_compacted_agent_has_the_summary_in_its_context() -> None:
    text = json.dumps(FILE, indent=2).encode()
    session = load(text)
    assert saved(session) == text
    made = compacted(session, 3)
    out = saved(session, made)
    assert same(load(out).messages, made)
    agent = json.loads(out)["agents"][0]
    assert agent["in_context_message_ids"] == [
        *("message-0", "message-8", "message-5", "message-6", "message-7"),
    ]
    # What had left the context stays for the agent's search.
    assert [one["id"] for one in agent["messages"]] == [
        *("message-0", "message-8", "message-1", "message-2"),
        *("message-5", "message-6", "message-7"),
    ]
    summary = agent["messages"][1]
    assert summary["created_at"] == "2026-01-02T03:04:00+00:00"
    assert summary["role"] == "user"
    assert summary["content"] == [{"type": "text", "text": made[1].text}]
    assert summary.keys() == MESSAGES[0].keys()
    assert (summary["agent_id"], summary["model"], summary["approvals"]) == ("agent-0", None, [])
    assert json.loads(out)["agents"][1:] == FILE["agents"][1:]
    for name in ("message-5", "message-6", "message-7"):
        kept = json.dumps(MESSAGES[int(name[-1])], indent=2).replace("\n", "\n" + " " * 8)
        assert kept.encode() in out


def test_new_calls_and_results_are_written_as_the_server_has_them() -> None:
    session = opened(FILE)
    new = message("assistant", [Text("Again."), ToolCall("n", "weigh", "{}")])
    answer = message("tool", [ToolResult("n", (Text("13 kg"),))])
    out = saved(session, [*session.messages, new, answer])
    again = load(out)
    assert same(again.messages, [*session.messages, new, answer])
    assert [m.id for m in again.messages[-2:]] == ["message-8", "message-9"]


def test_a_file_encoded_twice_is_read() -> None:
    twice = json.dumps(json.dumps(FILE, indent=2)).encode()
    assert same(load(twice).messages, opened(FILE).messages)
    found = recognise(twice)
    assert found is not None
    assert found.name == "letta"
    with pytest.raises(SessionError):
        load(b'"{"')
    with pytest.raises(SessionError):
        load(b'"[1" 2')


def test_an_agent_can_be_written_as_chat_and_is_not_made_of_one() -> None:
    session = opened(FILE)
    chat = load(saved(session, form="openai-chat"))
    assert [m.role for m in chat.messages] == [m.role for m in session.messages]
    assert chat.messages[3].calls == chat.messages[4].results
    with pytest.raises(ExportError, match="cannot be made of another session"):
        saved(chat, form="letta")


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (FILE, "letta"),
        ({"agents": [AGENT]}, "letta"),
        ({"agents": [{"name": "a", "messages": []}], "blocks": [], "tools": []}, "letta"),
        ({"agents": [], "blocks": [], "tools": []}, ""),
        ({"agents": ["a"], "blocks": [], "tools": []}, ""),
        ({"agents": {"a": 1}, "in_context_message_ids": []}, ""),
    ],
)
def test_what_is_an_agent_file(document: object, name: str) -> None:
    found = recognise(json.dumps(document).encode())
    assert (found.name if found else "") == name


@pytest.mark.parametrize(
    "agent",
    [
        {"llm_config": 3, "tool_ids": "x", "in_context_message_ids": "none"},
        {"in_context_message_ids": [None, 3, {"a": 1}, "message-1"]},
        {"name": 4, "llm_config": {"model": 4, "context_window": "big"}, "tool_ids": [None]},
    ],
)
def test_odd_agents_are_read(agent: dict[str, Any]) -> None:
    document = with_messages(said(1, "user", "hi"), None, "x", {"role": 3}, **agent)
    session = opened({**document, "tools": [None, {"id": "tool-1"}]})
    assert [m.text for m in session.messages] == ["hi"]
    again = load(saved(session, [*session.messages, message("user", "more")]))
    assert [m.text for m in again.messages][-1] == "more"


#: Messages of each agent in its context.
REAL = {
    "customer_service.af": (1,),
    "ezra.af": (0,),
    "lettabot-builder.af": (3, 188),
    "memgpt_agent_with_convo.af": (1,),
}


@pytest.mark.parametrize("path", shared("letta"))
def test_real_agents(path: Path) -> None:
    for number, count in enumerate(REAL[path.name], 1):
        session = load(path, conversation=str(number))
        assert session.format == "letta"
        assert len(session) == count
        assert session.tools.names
        assert session.window in (32000, 180000, 200000)
        assert saved(session) == session.source.data
        if count > 10:
            assert {m.role for m in session.messages} == {"system", "user", "assistant", "tool"}
            assert session.messages[1].summary == "letta"
            assert not any(m.typed for m in session.messages)
            made = compacted(session, 12)
            assert len(made) < 20
            again = load(saved(session, made), conversation=str(number))
            assert same(again.messages, made)
