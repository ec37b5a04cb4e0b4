from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import same, saved
from short_sessions import document, lines, stays_readable, survives

from compaction.formats import load, recognise
from compaction.messages import Text, Thinking, ToolCall, ToolResult

CALL = {
    "id": "call_1",
    "call_id": "call_1",
    "type": "function",
    "function": {"name": "weigh", "arguments": '{"n": 1.50}'},
}
MESSAGES = [
    {"role": "user", "content": "Weigh it."},
    {
        "role": "assistant",
        "content": "I will.",
        "reasoning": "Scales.",
        "reasoning_content": "Scales.",
        "tool_calls": [CALL],
    },
    {"role": "tool", "content": "1.5 kg", "tool_call_id": "call_1", "tool_name": "weigh"},
    {"role": "assistant", "content": "1.5 kg."},
    {"role": "user", "content": "And this?"},
    {"role": "assistant", "content": "2 kg."},
    {"role": "session_meta"},
]
ROLES = ["system", "user", "assistant", "tool", "assistant", "user", "assistant"]


def session_of(*messages: object) -> dict[str, Any]:
    return {
        "session_id": "s-1",
        "model": "model-x",
        "platform": "cli",
        "session_start": "2026-04-29T20:05:00.000Z",
        "message_count": 6,
        "system_prompt": "Be exact.",
        "tools": [{"type": "function", "function": {"name": "weigh"}}],
        "messages": list(messages),
    }


def test_a_session_is_read() -> None:
    session = load(document(session_of(*MESSAGES)))
    assert (session.format, session.model, session.tools.names) == ("hermes", "model-x", ("weigh",))
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[0].text == "Be exact."
    assert session.messages[2].parts == (
        Thinking("Scales."),
        Text("I will."),
        ToolCall("call_1", "weigh", '{"n": 1.50}'),
    )
    assert session.messages[3].parts == (ToolResult("call_1", (Text("1.5 kg"),), name="weigh"),)
    assert session.left_out == {"state of the client": 1}


def test_the_count_of_messages_is_the_one_of_the_file() -> None:
    session = load(document(session_of(*MESSAGES)))
    out = json.loads(survives(session, 2, 2))
    assert out["message_count"] == 4
    assert out["messages"][0] == MESSAGES[0]
    assert out["messages"][2:] == MESSAGES[4:]
    assert {**out, "messages": 0, "message_count": 6} == {**session_of(), "messages": 0}


def test_lines_of_a_session_have_a_record_about_it() -> None:
    session = load(lines({"role": "session_meta", "model": "m"}, *MESSAGES[:6]))
    assert session.format == "hermes"
    assert [one.role for one in session.messages] == ROLES[1:]
    survives(session, 1, 2)


def test_to_other_formats_and_back() -> None:
    session = load(document(session_of(*MESSAGES)))
    chat = load(saved(session, form="openai-chat"))
    out = saved(chat, form="hermes")
    back = load(out)
    assert (back.format, back.model) == ("hermes", "model-x")
    assert [one.role for one in back.messages] == ROLES
    assert back.messages[2].parts == session.messages[2].parts[1:]
    assert same(back.messages[4:], session.messages[4:])
    assert json.loads(out)["message_count"] == 6


@pytest.mark.parametrize(
    "other",
    [
        {"session_id": "s", "messages": MESSAGES[:2]},
        {"session_start": "t", "platform": "x", "messages": MESSAGES[:2]},
        {"model": "m", "messages": MESSAGES[:2]},
    ],
)
def test_other_files_are_not_taken(other: object) -> None:
    found = recognise(document(other))
    assert found is not None
    assert found.name == "openai-chat"


@pytest.mark.parametrize(
    "odd",
    [
        3,
        {"role": "tool", "tool_name": 3},
        {"role": "assistant", "tool_calls": [4], "content": {"type": []}},
        {"role": ["x"], "content": "y"},
    ],
)
def test_odd_messages_are_no_reason_to_fail(odd: object) -> None:
    held = session_of(*MESSAGES[:3], odd, *MESSAGES[3:])
    stays_readable(document(held), "hermes")
    stays_readable(document({**held, "message_count": "x", "system_prompt": 4}), "hermes")


def test_a_real_session(shared_sessions: Path) -> None:
    session = load(shared_sessions / "other-agents" / "hermes" / "large.json")
    assert (session.format, session.model) == ("hermes", "gpt-5.2")
    assert [one.role for one in session.messages] == ROLES[:5]
    assert session.left_out == {"state of the client": 1}
    assert json.loads(survives(session, 2, 1))["message_count"] == 3
