from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import same, saved
from short_sessions import SUMMARY, lines, stays_readable, survives

from compaction.formats import load
from compaction.formats.base import Sample
from compaction.formats.grok import Grok
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult

PICTURE = {"type": "image", "url": "data:image/png;base64,aGVsbG8="}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def answer(words: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "content": words, "tool_calls": list(calls), "model_id": "grok-x"}


CALL = {"id": "call-1", "name": "weigh", "arguments": '{"n": 1.50}'}
LINES = [
    {"type": "system", "content": "Be exact."},
    {"type": "user", "content": [text("noon")], "synthetic_reason": "environment_context"},
    {"type": "user", "content": [text("Weigh it.")], "prompt_index": 0},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Scales."}],
        "encrypted_content": "sealed",
    },
    answer("I will.", CALL),
    {"type": "tool_result", "tool_call_id": "call-1", "content": "1.5 kg"},
    {"type": "backend_tool_call", "kind": {"tool_type": "web_search"}},
    answer("1.5 kg."),
    {"type": "user", "content": [PICTURE, text("And this?")], "prompt_index": 1},
    answer("2 kg."),
]
ROLES = [
    "system", "user", "user", "assistant", "assistant", "tool", "assistant", "assistant", "user",
    "assistant",
]  # fmt: skip


def test_a_history_is_read() -> None:
    session = load(lines(*LINES))
    assert (session.format, session.model) == ("grok", "grok-x")
    assert [one.role for one in session.messages] == ROLES
    assert [one.injected for one in session.messages][1:3] == [True, False]
    assert session.messages[3].parts == (Thinking("Scales.", sealed=6),)
    assert session.messages[3].bound
    assert session.messages[4].parts == (
        Text("I will."),
        ToolCall("call-1", "weigh", '{"n": 1.50}'),
    )
    assert session.messages[5].parts == (ToolResult("call-1", (Text("1.5 kg"),)),)
    assert isinstance(session.messages[6].parts[0], Opaque)
    shown = session.messages[8].parts[0]
    assert isinstance(shown, Media)
    assert (shown.mime, shown.size) == ("image/png", 5)


def test_kept_lines_stay_and_new_ones_are_as_theirs() -> None:
    out = [json.loads(one) for one in survives(load(lines(*LINES)), 3, 2).splitlines()]
    assert out[:3] == LINES[:3]
    assert out[3] == {"type": "user", "content": [text(SUMMARY.text)]}
    assert out[4:] == LINES[-2:]


def test_to_other_formats_and_back() -> None:
    session = load(lines(*LINES))
    chat = load(saved(session, form="openai-chat"))
    back = load(saved(chat, form="grok"))
    assert (back.format, back.model) == ("grok", "grok-x")
    kept = [one for one in session.messages if one.kinds != {"thinking"}]
    assert [one.role for one in back.messages] == [one.role for one in kept]
    assert back.messages[3].parts == session.messages[4].parts
    assert same(back.messages[-2:], session.messages[-2:])


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "content": "x"}, {"type": "assistant", "content": "y"}],
        [{"type": "user", "message": {"role": "user"}, "prompt_index": 1}],
        [{"type": "assistant", "content": "x", "model_id": "m"}, {"type": "result", "x": 1}],
        [{"role": "user", "content": "x", "model_id": "m"}],
        [],
    ],
)
def test_other_files_are_not_taken(records: list[object]) -> None:
    assert not Grok().recognise(Sample(b"", lines=tuple(records)))


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "user"},
        {"type": "user", "content": {"type": []}},
        {"type": "user", "content": [3, {"type": "image", "url": 3}, {"type": "image"}]},
        {"type": "assistant", "content": 3, "tool_calls": {"a": 1}, "model_id": 3},
        {"type": "assistant", "tool_calls": [3]},
        {"type": "reasoning", "summary": 4, "content": {"text": 3}},
        {"type": "tool_result", "tool_call_id": 3},
        {"type": "backend_tool_call"},
        {"type": []},
    ],
)
def test_odd_lines_are_no_reason_to_fail(odd: dict[str, Any]) -> None:
    stays_readable(lines(*LINES[:4], odd, *LINES[4:]), "grok")
    stays_readable(lines(*LINES, odd), "grok")


def test_a_real_history(shared_sessions: Path) -> None:
    session = load(shared_sessions / "other-agents" / "grok" / "chat_history.jsonl")
    assert (session.format, len(session), session.model) == ("grok", 11, "grok-4.5")
    roles = [one.role for one in session.messages]
    assert [roles.count(one) for one in ("system", "user", "assistant", "tool")] == [1, 3, 5, 2]
    assert [one.injected for one in session.messages].index(True) == 1
    survives(session, 2, 3)
