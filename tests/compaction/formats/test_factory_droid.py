from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import saved
from short_sessions import SUMMARY, lines, stays_readable, survives

from compaction.formats import load
from compaction.formats.base import Sample
from compaction.formats.factory_droid import FactoryDroid
from compaction.messages import Text, ToolCall, ToolResult

START = {"type": "session_start", "id": "s-1", "title": "Weighing", "version": 2, "cwd": "/depot"}


def said(name: str, role: str, *content: object, **more: object) -> dict[str, Any]:
    time = f"2026-01-28T10:00:0{name[-1]}.000Z"
    held = {"role": role, "content": list(content)}
    return {"type": "message", "id": name, "timestamp": time, "message": held, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


TODO = {"type": "todo_state", "id": "t1", "timestamp": "t", "todos": {"todos": "x"}}
CALL = {"type": "tool_use", "id": "c1", "name": "Weigh", "input": {"n": 1.50}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "1.5 kg"}
LINES = [
    START,
    said("m1", "user", text("<system-reminder>\nnoon\n</system-reminder>")),
    said("m2", "user", text("Weigh it.")),
    said("m3", "assistant", CALL),
    TODO,
    said("m4", "user", RESULT),
    said("m5", "assistant", text("1.5 kg.")),
    said("m6", "user", text("And this?")),
    said("m7", "assistant", text("2 kg.")),
]


def test_a_session_is_read() -> None:
    session = load(lines(*LINES))
    assert (session.format, session.title) == ("factory-droid", "Weighing")
    roles = ["user", "user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [one.role for one in session.messages] == roles
    assert [one.injected for one in session.messages][:2] == [True, False]
    assert session.messages[2].parts == (ToolCall("c1", "Weigh", '{"n":1.5}'),)
    assert session.messages[3].parts == (ToolResult("c1", (Text("1.5 kg"),)),)
    assert (session.messages[1].id, session.messages[1].time) == ("m2", "2026-01-28T10:00:02.000Z")
    assert session.left_out == {"state of the client": 1}
    assert session.problems == ()


def test_a_compaction_begins_the_window() -> None:
    state = {"type": "compaction_state", "id": "k", "timestamp": "t", "summaryText": "So far."}
    records = [*LINES[:7], state, *LINES[7:]]
    session = load(lines(*records))
    assert [one.text for one in session.messages] == ["So far.", "And this?", "2 kg."]
    assert session.messages[0].summary == "factory-droid"
    assert session.left_out == {"before the last compaction": 6}
    full = load(lines(*records), history="full")
    assert (len(full), full.compactions[0].at) == (8, 5)
    assert b"todo_state" not in survives(session, 0, 2)


def test_kept_lines_stay_and_new_ones_are_as_theirs() -> None:
    out = [json.loads(one) for one in survives(load(lines(*LINES)), 2, 2).splitlines()]
    assert out[:3] == LINES[:3]
    assert out[-2:] == LINES[-2:]
    new = next(one for one in out[1:] if one["id"][0] not in "mt" or len(one["id"]) > 2)
    assert new["message"] == {"role": "user", "content": [text(SUMMARY.text)]}
    assert list(new) == ["type", "id", "timestamp", "message"]
    assert new["timestamp"] == LINES[-2]["timestamp"]
    assert len(new["id"]) == 36


def test_lines_that_name_their_parent_hang_together() -> None:
    parents = [None, "m1", "m2", "m3", "m4", "m5", "m6"]
    spoken = [one for one in LINES if one["type"] == "message"]
    linked = [{**one, "parentId": up} for one, up in zip(spoken, parents, strict=True)]
    session = load(lines(START, *linked))
    out = [json.loads(one) for one in survives(session, 1, 2).splitlines()]
    assert out[1] == linked[0]
    assert [one["parentId"] for one in out[1:]] == [None, "m1", out[2]["id"], "m6"]
    assert out[-1] == linked[-1]


def test_to_other_formats_and_back() -> None:
    session = load(lines(*LINES))
    request = load(saved(session, form="anthropic"))
    back = load(saved(request, form="factory-droid"))
    assert back.format == "factory-droid"
    assert [one.parts for one in back.messages[1:]] == [one.parts for one in session.messages[2:]]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "session_start", "payload": {}, "id": "s"}],
        [said("m1", "user", text("x"))],
        [{"type": "session.start", "id": "x", "data": {}}, {"type": "user.message", "data": {}}],
        [{"type": "session", "id": "s", "timestamp": "t"}, said("m1", "user")],
    ],
)
def test_other_files_are_not_taken(records: list[object]) -> None:
    assert not FactoryDroid().recognise(Sample(b"", lines=tuple(records)))


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "message"},
        {"type": "message", "id": 4, "message": {"role": 3, "content": {"type": []}}},
        {"type": "message", "id": "x", "message": {"role": "user", "content": [1, {"type": 2}]}},
        {"type": 3},
        {"type": "compaction_state", "summaryText": 4},
        {"type": "session_start", "title": 4},
    ],
)
def test_odd_lines_are_no_reason_to_fail(odd: dict[str, Any]) -> None:
    stays_readable(lines(*LINES[:4], odd, *LINES[4:]), "factory-droid")


def test_a_real_session(shared_sessions: Path) -> None:
    session = load(shared_sessions / "factory-droid" / "git-ai--droid-session.jsonl")
    assert (session.format, len(session)) == ("factory-droid", 10)
    assert session.title == 'Update the first comment in @index.ts to "DROID3"'
    assert session.left_out == {"state of the client": 2}
    assert session.messages[1].calls == session.messages[2].results
    survives(session, 1, 3)
