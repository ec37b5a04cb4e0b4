from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from runs import compacted, opened, roles, same, saved, survives

from compaction.formats import load, recognise
from compaction.messages import Text, ToolCall, ToolResult, Usage

RESPONSE = {"model": "gpt-5", "usage": {"prompt_tokens": 900, "completion_tokens": 30}}
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command":"ls"}'},
}
TASK = "Mend the gate count. End with `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`."

RUN: dict[str, Any] = {
    "info": {"mini_version": "2.1.0", "config": {"model": {"model_name": "openai/gpt-5"}}},
    "messages": [
        {"role": "system", "content": "You use a shell."},
        {"role": "user", "content": TASK},
        {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [CALL],
            "extra": {"response": RESPONSE, "timestamp": 1760000000.5, "cost": 0.1},
        },
        {"role": "tool", "tool_call_id": "c1", "content": "dock.py", "extra": {"returncode": 0}},
        {"role": "assistant", "content": "No command.", "extra": {}},
        {"role": "user", "content": "Your answer had no command."},
        {"role": "assistant", "content": "Done."},
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}


def run(**changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(RUN), **changed}


def test_messages_and_what_is_noted_beside_them() -> None:
    session = opened(run())
    assert session.format == "mini-swe-agent"
    assert len(session) == 7
    assert session.left_out == {"marks of the end": 1}
    spoken = session.messages[2]
    assert spoken.parts == (Text("Look."), ToolCall("c1", "bash", '{"command":"ls"}'))
    assert (spoken.model, spoken.usage) == ("gpt-5", Usage(900, 30))
    assert spoken.time == "2025-10-09T08:53:20.500000+00:00"
    assert session.messages[3].parts == (ToolResult("c1", (Text("dock.py"),)),)
    assert [i for i, one in enumerate(session.messages) if one.typed] == [1]


def test_the_model_is_that_of_the_settings_where_no_response_names_one() -> None:
    document = run()
    del document["messages"][2]["extra"]
    assert opened(document).model == "openai/gpt-5"


def test_responses_kept_whole() -> None:
    document = run()
    items = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
        {"type": "function_call", "call_id": "c9", "name": "bash", "arguments": "{}"},
    ]
    document["messages"][2:4] = [
        {"object": "response", "model": "gpt-5", "output": items, "usage": {"input_tokens": 5}},
        {"type": "function_call_output", "call_id": "c9", "output": "dock.py"},
    ]
    session = opened(document)
    assert roles(session)[2:4] == ["assistant", "tool"]
    assert session.messages[2].parts == (Text("A"), ToolCall("c9", "bash", "{}"))
    assert session.messages[2].usage == Usage(5, 0)
    assert session.messages[3].parts == (ToolResult("c9", (Text("dock.py"),)),)


def test_compacted_the_rest_of_the_run_stays() -> None:
    session = opened(run())
    assert survives(session)
    document = json.loads(saved(session, compacted(session)))
    assert document["info"] == RUN["info"]
    assert document["messages"][-2:] == RUN["messages"][-2:]


def test_an_older_run_is_told_by_its_task() -> None:
    session = opened([{"role": "system", "content": TASK}, *RUN["messages"][1:7]])
    assert session.format == "mini-swe-agent"
    assert not [finding for finding in session.problems if finding.code == "ambiguous-format"]
    assert survives(session)


@pytest.mark.parametrize(
    "document",
    [
        {"messages": RUN["messages"]},
        {"model": "m", "messages": [{"role": "user", "content": TASK}]},
        [{"role": "user", "content": "Hello."}],
        [{"role": "assistant", "content": TASK}],
        {"trajectory_format": "mini-swe-agent-1", "messages": "none"},
        {"info": {"mini_version": "2"}},
    ],
)
def test_look_alikes_are_not_taken(document: object) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "mini-swe-agent"


def test_odd_values_do_not_stop_the_reading() -> None:
    odd: list[Any] = [
        4,
        {"output": [3]},
        {"type": "function_call_output"},
        {"role": "user", "extra": 5},
    ]
    session = opened(run(messages=[*RUN["messages"], *odd], info=None))
    assert len(session) == 10


def test_a_session_from_elsewhere_becomes_a_run() -> None:
    chat = opened({"model": "m", "messages": RUN["messages"][:7]})
    assert chat.format == "openai-chat"
    document = json.loads(saved(chat, form="mini-swe-agent"))
    again = opened(document)
    assert again.format == "mini-swe-agent"
    assert again.model == "m"
    assert same(again.messages, chat.messages)


def test_real_run(shared_sessions: Path) -> None:
    session = load(shared_sessions / "mini-swe-agent" / "github_issue.traj.json")
    assert session.format == "mini-swe-agent"
    assert len(session) == 22
    assert sum(one.typed for one in session.messages) == 1
    assert session.messages[1].preview.startswith("Please solve this issue")
    assert survives(session, recent=5)
