from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from runs import compacted, opened, roles, same, saved, survives

from compaction.errors import SessionError
from compaction.formats import load, recognise
from compaction.messages import Session, Text, ToolCall, ToolResult


def call(name: str, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"id": name, "type": "function", "function": function}


def item(role: str, content: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"message_type": kind, "role": role, "content": content, "agent": "main", **more}


RUN: dict[str, Any] = {
    "environment": "main",
    "trajectory": [
        {"action": "ls", "observation": "dock.py", "response": "Look.", "thought": "Look."},
        {"action": "cat dock.py", "observation": "gate = 4", "response": "", "thought": ""},
    ],
    "history": [
        item("system", "You mend the dock planner.", "system_prompt"),
        item("user", "Here is how a run looks.", "demonstration", is_demo=True),
        item("user", "Mend the gate count.", "observation"),
        item("assistant", "Look.", "action", action="ls", tool_calls=[call("c1", "ls")]),
        item("tool", "dock.py", "observation", tool_call_ids=["c1"]),
        item("assistant", "", "action", action="cat", tool_calls=[call("c2", "cat dock.py")]),
        item("tool", "gate = 4", "observation", tool_call_ids=["c2"]),
        item("assistant", "The count is right.", "action"),
        item("user", "Your answer had no command.", "observation"),
        item("assistant", "Done.", "action"),
    ],
    "info": {"exit_status": "submitted"},
    "replay_config": {
        "agent": {"model": {"name": "gpt-4o"}},
        "problem_statement": {"id": "dock-17"},
    },
}


def run(**changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(RUN), **changed}


def test_the_history_is_read_with_calls_and_their_results() -> None:
    session = opened(run())
    assert session.format == "swe-agent"
    assert (session.model, session.title) == ("gpt-4o", "dock-17")
    assert len(session) == 10
    assert session.messages[3].parts == (Text("Look."), ToolCall("c1", "bash", '{"command": "ls"}'))
    assert session.messages[4].parts == (ToolResult("c1", (Text("dock.py"),)),)


def test_only_the_task_is_typed() -> None:
    assert [i for i, one in enumerate(opened(run()).messages) if one.typed] == [2]


def test_settings_may_be_json_text() -> None:
    session = opened(run(replay_config=json.dumps(RUN["replay_config"])))
    assert (session.model, session.title) == ("gpt-4o", "dock-17")


def test_items_of_other_agents_are_not_sent() -> None:
    document = run()
    document["history"].insert(5, {**item("assistant", "Aside.", "action"), "agent": "helper"})
    session = opened(document)
    assert len(session) == 10
    assert session.left_out == {"side conversations": 1}
    assert b"Aside." in saved(session, compacted(session))


def test_a_compacted_run_is_the_run_with_another_history() -> None:
    session = opened(run())
    assert survives(session)
    few = compacted(session)
    document = json.loads(saved(session, few))
    assert document["trajectory"] == RUN["trajectory"]
    new = next(one for one in document["history"] if one not in RUN["history"])
    assert (new["role"], new["agent"], new["message_type"]) == ("user", "main", "observation")


def test_new_items_are_written_as_older_runs_have_them() -> None:
    document = run()
    for one in document["history"]:
        del one["message_type"]
        one["agent"] = "primary"
    session = opened(document)
    written = json.loads(saved(session, compacted(session)))["history"]
    new = next(one for one in written if one not in document["history"])
    assert new["agent"] == "primary"
    assert "message_type" not in new


def test_a_session_from_elsewhere_becomes_a_run() -> None:
    chat = opened(
        {"model": "m", "messages": json.loads(saved(opened(run()), form="openai-chat"))["messages"]}
    )
    document = json.loads(saved(chat, form="swe-agent"))
    assert recognise(json.dumps(document).encode()).name == "swe-agent"  # type: ignore[union-attr]
    assert same(opened(document).messages, chat.messages)
    assert document["trajectory"][0]["action"] == 'bash {"command": "ls"}'
    assert document["trajectory"][0]["observation"] == "dock.py"


@pytest.mark.parametrize(
    "document",
    [
        {"history": RUN["history"]},
        {"history": [], "trajectory": []},
        {"history": RUN["history"], "trajectory": [{"role": "user", "content": "a"}]},
        {"history": "a", "trajectory": {"action": 1}},
    ],
)
def test_look_alikes_are_not_taken(document: object) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "swe-agent"


def test_odd_values_do_not_stop_the_reading() -> None:
    odd: list[Any] = [3, None, {"role": "tool", "tool_call_ids": "x", "content": 4}, {"role": 7}]
    session = opened(run(history=[*RUN["history"], *odd], replay_config=[1]))
    assert len(session) == 11
    assert [finding.code for finding in session.problems] == ["no-message"]


def test_a_run_without_messages_is_refused() -> None:
    with pytest.raises(SessionError, match="holds no messages"):
        load(json.dumps({"history": 4}).encode(), format="swe-agent")


#: Messages, and calls, of the real runs.
COUNTS = {
    "ctf-crypto.traj": (37, 0),
    "ctf-web.traj": (43, 0),
    "marshmallow-function-calling.traj": (24, 11),
    "marshmallow-xml.traj": (25, 0),
}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_real_runs(name: str, shared_sessions: Path) -> None:
    session: Session = load(shared_sessions / "swe-agent" / name)
    assert session.format == "swe-agent"
    assert (len(session), sum(len(one.calls) for one in session.messages)) == COUNTS[name]
    assert roles(session)[:3] == ["system", "user", "assistant"]
    assert sum(one.typed for one in session.messages) == 1
    assert survives(session, recent=5)
