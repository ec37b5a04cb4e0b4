from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction import load
from compaction.errors import SessionError
from compaction.formats import recognise
from compaction.messages import Text, ToolCall, ToolResult, Usage, message


def said(role: str, text: str | None, turn: int, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, "turn_idx": turn, **more}


def call(name: str, number: int, whose: str = "assistant") -> dict[str, Any]:
    arguments = {"number": number}
    return {"id": f"c{number}", "name": name, "arguments": arguments, "requestor": whose}


MESSAGES = [
    said("assistant", "Hi!", 0),
    said("user", "The line is dead.", 1, usage={"prompt_tokens": 900, "completion_tokens": 9}),
    said(
        "assistant",
        None,
        2,
        tool_calls=[call("line", 1), call("bill", 2)],
        usage={"prompt_tokens": 50, "completion_tokens": 5},
        timestamp="2026-01-02T03:04:05",
    ),
    said("tool", "down", 3, id="c1", requestor="assistant", error=False),
    said("tool", "no such bill", 4, id="c2", requestor="assistant", error=True),
    said("assistant", "Restart the box.", 5),
    said("user", None, 6, tool_calls=[call("restart", 3, "user")]),
    said("tool", "restarted", 7, id="c3", requestor="user", error=False),
    said("user", "It works.", 8),
]
SIMULATION = {"id": "s-1", "task_id": "4", "messages": MESSAGES, "termination_reason": "user_stop"}
RESULTS = {
    "timestamp": "2026-01-02T00:00:00",
    "info": {
        "agent_info": {"llm": "gpt-4.1"},
        "user_info": {"llm": "gpt-4o"},
        "environment_info": {"domain_name": "telecom", "tool_defs": [{"name": "line"}]},
    },
    "tasks": [],
    "simulations": [SIMULATION, {**SIMULATION, "id": "s-2", "messages": MESSAGES[:2]}],
}
CALL = {"id": "c1", "type": "function", "function": {"name": "weigh", "arguments": '{"n": 1}'}}
TRAJ = [
    {"role": "system", "content": "Weigh boxes."},
    {"role": "user", "content": "Box 1?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "weigh", "content": "12 kg"},
    {"role": "assistant", "content": "12 kg."},
]
RUNS = [
    {"task_id": 3, "reward": 1.0, "info": {}, "traj": TRAJ[:2], "trial": 0},
    {"task_id": 3, "reward": 0.0, "info": {}, "traj": TRAJ, "trial": 1},
]


def name_of(document: object) -> str:
    found = recognise(json.dumps(document).encode())
    return found.name if found else ""


# ------------------------------------------------------------------------------------- tau2


def test_the_agent_is_not_sent_what_the_user_does_with_its_own_tools() -> None:
    session = opened(SIMULATION)
    assert session.format == "tau2"
    assert [m.role for m in session.messages] == [
        *("assistant", "user", "assistant", "tool", "tool", "assistant", "user"),
    ]
    assert session.messages[-1].text == "It works."
    assert session.left_out == {"tools of the simulated user": 2}
    assert session.messages[2].parts == (
        ToolCall("c1", "line", '{"number":1}'),
        ToolCall("c2", "bill", '{"number":2}'),
    )
    assert session.messages[4].parts == (ToolResult("c2", (Text("no such bill"),), is_error=True),)
    assert session.messages[2].time == "2026-01-02T03:04:05"


def test_tokens_are_those_of_the_agent_and_not_of_the_simulated_user() -> None:
    messages = opened(SIMULATION).messages
    assert [m.usage for m in messages if m.usage] == [Usage(50, 5)]


def test_results_state_model_tools_and_task_for_every_simulation() -> None:
    session = opened(RESULTS)
    assert [(c.id, c.title, c.messages) for c in session.conversations] == [
        ("s-1", "The line is dead.", 9),
        ("s-2", "The line is dead.", 2),
    ]
    assert (session.model, session.title) == ("gpt-4.1", "telecom task 4")
    assert session.tools.names == ("line",)
    assert len(opened(RESULTS, conversation="s-2")) == 2


def test_results_without_ids_go_to_the_caller_before_them() -> None:
    bare = [{key: value for key, value in one.items() if key in _BARE} for one in MESSAGES]
    line = {"benchmark_name": "tau2-bench", "model_path": "m", "meta": {"id": "x"}}
    session = load(json.dumps({**line, "messages": bare}).encode() + b"\n")
    assert session.format == "tau2"
    assert session.model == "m"
    assert session.left_out == {"tools of the simulated user": 2}
    assert [m.results for m in session.messages if m.results] == [("c1",), ("c2",)]
    stray = [*bare[:5], {"role": "tool", "content": "stray"}, *bare[5:]]
    session = opened({**line, "messages": stray})
    assert session.messages[5].results == ("",)


_BARE = {"role", "content", "tool_calls"}


def test_results_of_one_step_may_stand_in_one_message() -> None:
    together = {"role": "tool", "tool_messages": [MESSAGES[3], MESSAGES[4], None]}
    session = opened({**SIMULATION, "messages": [*MESSAGES[:3], together]})
    assert session.messages[3].results == ("c1", "c2")
    users = {"role": "tool", "tool_messages": [MESSAGES[7]]}
    session = opened({**SIMULATION, "messages": [*MESSAGES[:7], users]})
    assert session.left_out == {"tools of the simulated user": 2}


def test_simulations_are_written_back_with_all_around_them() -> None:
    text = json.dumps(RESULTS, indent=2).encode()
    session = load(text)
    assert saved(session) == text
    made = compacted(session, 3)
    out = saved(session, made)
    assert same(load(out).messages, made)
    document = json.loads(out)
    assert document["simulations"][1] == RESULTS["simulations"][1]  # type: ignore[index]
    kept = document["simulations"][0]["messages"]
    assert kept[0] == {"role": "user", "content": made[0].text}
    # What the user did with its tools stays where it was.
    assert kept[-3:] == MESSAGES[-3:]
    new = message("assistant", [ToolCall("n", "line", "{}")])
    answer = message("tool", [ToolResult("n", (Text("up"),))])
    out = saved(session, [*session.messages, new, answer])
    assert json.loads(out)["simulations"][0]["messages"][-2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "n", "name": "line", "arguments": {}, "requestor": "assistant"},
            ],
        },
        {"id": "n", "role": "tool", "content": "up", "requestor": "assistant", "error": False},
    ]


def test_a_simulation_becomes_chat_and_back() -> None:
    session = opened(SIMULATION)
    chat = load(saved(session, form="openai-chat"))
    assert chat.format == "openai-chat"
    assert same(chat.messages[:4], session.messages[:4])
    again = load(saved(chat, form="tau2"))
    assert again.format == "tau2"
    assert same(again.messages, chat.messages)


def test_files_of_tau2_without_messages_say_where_they_are() -> None:
    with pytest.raises(SessionError, match="folder `simulations` beside it"):
        opened({key: value for key, value in RESULTS.items() if key != "simulations"})
    with pytest.raises(SessionError, match="voice simulation of tau2-bench"):
        opened({"id": "v", "task_id": "1", "ticks": [{"tick_id": 0}]})


@pytest.mark.parametrize(
    "broken",
    [
        {"tool_calls": [None, 3, {"id": 1}]},
        {"tool_calls": {"a": 1}},
        {"role": "tool", "tool_messages": [None]},
        {"role": "tool", "tool_messages": "no"},
        {"role": "tool", "content": {"a": 1}, "id": 9},
        {"content": [1, None]},
    ],
)
def test_odd_messages_do_not_stop_the_reading(broken: dict[str, Any]) -> None:
    session = opened({**SIMULATION, "messages": [*MESSAGES[:2], {"role": "assistant", **broken}]})
    assert len(session) == 3
    assert isinstance(session.messages[2].text, str)


# -------------------------------------------------------------------------------- tau-bench


def test_every_run_is_a_conversation_named_by_task_and_trial() -> None:
    session = opened(RUNS)
    assert session.format == "tau-bench"
    assert [(c.id, c.messages) for c in session.conversations] == [
        ("task-3/trial-0", 2),
        ("task-3/trial-1", 5),
    ]
    # The second starts as the first does, and is not its later state.
    assert len(session) == 2
    second = opened(RUNS, conversation="task-3/trial-1")
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert second.messages[3].parts == (ToolResult("c1", (Text("12 kg"),), name="weigh"),)


def test_runs_are_written_back_and_made() -> None:
    text = json.dumps(RUNS).encode()
    second = load(text, conversation="2")
    assert saved(second) == text
    made = compacted(second, 1)
    out = saved(second, made)
    assert same(load(out, conversation="2").messages, made)
    assert json.loads(out)[0] == RUNS[0]
    chat = load(saved(second, form="openai-chat"))
    assert same(load(saved(chat, form="tau-bench")).messages, chat.messages)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (RESULTS, "tau2"),
        (SIMULATION, "tau2"),
        ({"messages": [MESSAGES[0]]}, "tau2"),
        ({"messages": [{"role": "assistant", "tool_calls": [call("x", 1)]}]}, "tau2"),
        (RUNS, "tau-bench"),
        (RUNS[0], "tau-bench"),
        ({"messages": TRAJ}, "openai-chat"),
        ({"traj": TRAJ}, "openai-chat"),
        ({"tasks": [], "info": {"a": 1}}, ""),
        ({"task_id": 1, "traj": "none"}, ""),
    ],
)
def test_which_file_is_of_which_benchmark(document: object, name: str) -> None:
    assert name_of(document) == name


# -------------------------------------------------------------------------------- real files


@pytest.mark.parametrize("path", shared("tau-bench"))
def test_real_runs(path: Path) -> None:
    if path.suffix == ".jsonl":
        with pytest.raises(SessionError, match="looks like few-shot texts of tau-bench"):
            load(path)
        return
    session = load(path)
    assert session.format == "tau-bench"
    assert len(session.conversations) == 200
    assert session.conversations[0].id == "task-0/trial-0"
    assert len(session) == 32
    for number in range(1, 200, 40):
        session = load(path, conversation=str(number))
        assert session.messages[0].role == "system"
        made = compacted(session, 6)
        assert same(load(saved(session, made), conversation=str(number)).messages, made)


@pytest.mark.parametrize(
    ("name", "messages", "aside", "conversations"),
    [("agentpile--alpha-model.jsonl", 10, 3, 2), ("agentpile--beta-model.jsonl", 7, 2, 3)],
)
def test_real_simulations(
    name: str, messages: int, aside: int, conversations: int, shared_sessions: Path
) -> None:
    path = shared_sessions / "tau2-bench" / name
    session = load(path)
    assert session.format == "tau2"
    assert len(session) == messages
    assert session.left_out == {"tools of the simulated user": aside}
    assert len(session.conversations) == conversations
    made = compacted(session, 3)
    assert same(load(saved(session, made)).messages, made)


def test_real_results_without_simulations(shared_sessions: Path) -> None:
    folder = shared_sessions / "tau2-bench"
    with pytest.raises(SessionError, match="no simulations"):
        load(folder / "tau2--results.json")
    for path in (folder / "tau2--simulations").iterdir():
        with pytest.raises(SessionError, match="voice simulation"):
            load(path)
