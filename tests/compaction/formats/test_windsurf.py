from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import saved
from short_sessions import lines

from compaction.errors import ExportError
from compaction.export import render_bytes
from compaction.formats import load
from compaction.formats.base import Sample
from compaction.formats.windsurf import Windsurf
from compaction.messages import Text, ToolCall, ToolResult


def step(kind: str, status: str = "done", **members: object) -> dict[str, Any]:
    return {kind: members, "status": status, "type": kind}


LINES = [
    step("user_input", user_response="Weigh it."),
    step("planner_response", response="I will."),
    step("view_file", path="file:///p", start_line=0, content="1.5 kg"),
    step(
        "code_action", path="/p", new_content="2", original_content="1", acknowledgement_type="OK"
    ),
    step("run_command", command="weigh", exit_code=2, output="no scales", user_rejected=False),
    step("run_command", command="wait", status="running"),
    step("list_resources", "error", server_name="scales"),
    step("planner_response", response="Done."),
]


def test_steps_are_calls_and_their_results() -> None:
    session = load(lines(*LINES))
    assert session.format == "windsurf"
    assert [one.role for one in session.messages] == [
        "user", "assistant", "assistant", "tool", "assistant", "tool", "assistant", "tool",
        "assistant", "assistant", "tool", "assistant",
    ]  # fmt: skip
    view, viewed = session.messages[2].parts[0], session.messages[3].parts[0]
    assert isinstance(view, ToolCall)
    assert (view.name, json.loads(view.arguments)) == (
        "view_file",
        {"path": "file:///p", "start_line": 0},
    )
    assert viewed == ToolResult(view.id, (Text("1.5 kg"),), False, "view_file")
    change = session.messages[4].parts[0]
    assert isinstance(change, ToolCall)
    # The text before is for the editor; the model did not send it.
    assert json.loads(change.arguments) == {"path": "/p", "new_content": "2"}
    ran = session.messages[7].parts[0]
    assert isinstance(ran, ToolResult)
    assert [part.text for part in ran.content if isinstance(part, Text)] == [
        "no scales",
        '{"exit_code":2,"user_rejected":false}',
    ]
    failed = session.messages[10].parts[0]
    assert isinstance(failed, ToolResult)
    assert (failed.is_error, failed.content) == (True, ())
    assert session.problems == ()


def test_a_call_that_still_runs_has_no_result() -> None:
    records = [*LINES[:2], step("run_command", "running", command="wait"), LINES[-1]]
    session = load(lines(*records))
    assert [len(one.results) for one in session.messages] == [0, 0, 0, 0]
    assert len(session.messages[2].calls) == 1


def test_it_is_only_read_and_written_as_chat_messages() -> None:
    session = load(lines(*LINES))
    with pytest.raises(ExportError, match="can only be read"):
        Windsurf().write(session.messages, session)
    data, told = render_bytes(session)
    assert "can only be read" in told[0].text
    back = load(data)
    assert back.format == "openai-chat"
    assert [one.role for one in back.messages] == [one.role for one in session.messages]
    assert back.messages[3].text == "1.5 kg"
    assert saved(load(lines(*LINES)), form="openai-chat") == data


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user_input", "user_input": {}}],
        [step("view_file", path="x")],
        [step("user_input"), {"role": "user"}, {"role": "assistant"}],
        [{"type": "message", "status": "done", "content": []}],
    ],
)
def test_other_files_are_not_taken(records: list[object]) -> None:
    assert not Windsurf().recognise(Sample(b"", lines=tuple(records)))


@pytest.mark.parametrize(
    "odd",
    [
        {"status": "done", "type": "user_input", "user_input": {"user_response": [1]}},
        {"status": "done", "type": "find", "find": {"output": {"a": 1}, "content": 4}},
        {"status": "done", "type": "find"},
        {"status": 3, "type": [], "find": 4},
        {"role": "user"},
    ],
)
def test_odd_steps_are_no_reason_to_fail(odd: dict[str, Any]) -> None:
    session = load(lines(*LINES, odd), format="windsurf")
    assert len(session) >= 12
    saved(session)


def test_a_real_transcript(shared_sessions: Path) -> None:
    session = load(shared_sessions / "windsurf" / "git-ai--windsurf-session-simple.jsonl")
    assert (session.format, len(session)) == ("windsurf", 45)
    roles = [one.role for one in session.messages]
    assert [roles.count(one) for one in ("user", "assistant", "tool")] == [4, 23, 18]
    assert session.messages[0].text == "Write a song in @[xyz.md] "
    calls = [call for one in session.messages for call in one.calls]
    assert len(calls) == len(set(calls)) == 18
    assert calls == [call for one in session.messages for call in one.results]
