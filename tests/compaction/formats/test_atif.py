from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from runs import compacted, opened, roles, same, saved, shortened, survives

from compaction.errors import SessionError
from compaction.formats import load, recognise
from compaction.messages import (
    Media,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    message,
)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": name, "function_name": "bash", "arguments": arguments}


def came(call_id: str | None, content: object) -> dict[str, Any]:
    return {"source_call_id": call_id, "content": content} if call_id else {"content": content}


def agent(said: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"source": "agent", "message": said, **more}
    return {**made, "tool_calls": list(calls)} if calls else made


def trajectory(*steps: dict[str, Any], **around: Any) -> dict[str, Any]:
    numbered = [{"step_id": n, **copy.deepcopy(step)} for n, step in enumerate(steps, 1)]
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "run-1",
        "agent": {"name": "hand", "version": "1", "model_name": "m-1"},
        "steps": numbered,
        "final_metrics": {"total_steps": len(numbered), "total_cost_usd": 0.5},
        **around,
    }


STEPS: tuple[dict[str, Any], ...] = (
    {"source": "system", "message": "You use a shell."},
    {"source": "user", "message": "Mend the gate count.", "timestamp": "2026-01-01T10:00:00Z"},
    agent(
        "Look.",
        call("c1", cmd="ls"),
        call("c2", cmd="pwd"),
        model_name="m-2",
        reasoning_content="Where?",
        observation={"results": [came("c2", "/dock"), came("c1", "dock.py")]},
        metrics={"prompt_tokens": 100, "completion_tokens": 9, "cached_tokens": 60},
    ),
    agent("ls again", observation={"results": [came(None, "$ ls\ndock.py")]}),
    agent("", call("c3", cmd="cat"), observation={"results": [came("c3", "gate = 4")]}),
    agent("It is four."),
)


def checked(document: Any) -> Any:
    """A trajectory of which its own rules hold: numbers from 1, results beside their calls."""
    for number, step in enumerate(document["steps"], 1):
        assert step["step_id"] == number
        assert isinstance(step["message"], (str, list))
        calls = [one["tool_call_id"] for one in step.get("tool_calls", ())]
        for result in step.get("observation", {}).get("results", ()):
            assert result.get("source_call_id") in (None, *calls)
        if step["source"] != "agent":
            assert not step.keys() & {"tool_calls", "metrics", "model_name", "reasoning_content"}
    total = document.get("final_metrics", {}).get("total_steps")
    assert total in (None, len(document["steps"]))
    return document


def parsed(data: bytes) -> Any:
    return checked(json.loads(data))


def test_a_step_is_what_was_said_and_what_came_back() -> None:
    session = opened(trajectory(*STEPS))
    assert session.format == "atif"
    assert session.model == "m-1"
    assert roles(session) == [
        "system", "user", "assistant", "tool", "tool",
        "assistant", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    spoken = session.messages[2]
    assert spoken.parts == (
        Thinking("Where?"),
        Text("Look."),
        ToolCall("c1", "bash", '{"cmd":"ls"}'),
        ToolCall("c2", "bash", '{"cmd":"pwd"}'),
    )
    assert (spoken.model, spoken.usage) == ("m-2", Usage(100, 9, 60))
    assert session.messages[3].parts == (ToolResult("c2", (Text("/dock"),)),)
    assert session.messages[3].usage is None
    assert session.messages[1].time == "2026-01-01T10:00:00Z"
    assert [i for i, one in enumerate(session.messages) if one.typed] == [1]


def test_media_and_lists_of_parts() -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": "shots/1.png"}}
    sound = {"type": "audio", "source": {"media_type": "audio/wav", "path": "https://a.b/1.wav"}}
    said = [{"type": "text", "text": "See:"}, image, sound, {"type": "new"}]
    assert opened(trajectory({"source": "user", "message": said})).messages[0].parts == (
        Text("See:"),
        Media("image", "image/png", name="shots/1.png"),
        Media("audio", "audio/wav", url="https://a.b/1.wav"),
        Opaque("new", '{"type":"new"}'),
    )


def test_tools_are_told() -> None:
    tool = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
    around = {"name": "hand", "version": "1", "tool_definitions": [tool]}
    assert opened(trajectory(*STEPS, agent=around)).tools.names == ("bash",)


def test_what_is_repeated_from_an_earlier_trajectory_is_in_the_window() -> None:
    again = [{**STEPS[1], "is_copied_context": True}] * 2
    session = opened(trajectory(*again, agent("Go on.")))
    assert [one.typed for one in session.messages] == [True, False, False]


MARK = {
    "source": "system",
    "message": "Summarised.",
    "observation": {"results": [{"subagent_trajectory_ref": [{"session_id": "s"}]}]},
    "extra": {"context_management": {"type": "compaction", "boundary": "replace"}},
}


def test_a_compaction_inside_replaces_what_was_before() -> None:
    document = trajectory(*STEPS[:4], MARK, {"source": "user", "message": "So far: ls."}, STEPS[5])
    session = opened(document)
    assert [one.text for one in session.messages] == ["So far: ls.", "It is four."]
    assert session.left_out == {"before the last compaction": 5}
    assert [one.at for one in session.compactions] == [0]
    full = opened(document, history="full")
    assert len(full) == 9
    assert [one.at for one in full.compactions] == [7]
    assert full.messages[7].text == "So far: ls."
    assert full.left_out == {"marks of compactions": 1}


def test_a_compaction_at_the_end_is_a_mark_only() -> None:
    session = opened(trajectory(*STEPS[:4], MARK, continued_trajectory_ref="t.cont-1.json"))
    assert len(session) == 7
    assert session.left_out == {"marks of compactions": 1}
    assert [finding.code for finding in session.problems] == ["continued"]
    assert survives(session)


def test_trajectories_of_other_agents_are_told_and_stay() -> None:
    session = opened(trajectory(*STEPS, subagent_trajectories=[trajectory(STEPS[1])]))
    assert len(session) == 10
    assert session.left_out == {"side conversations": 1}
    assert parsed(saved(session, compacted(session)))["subagent_trajectories"]


# ---------------------------------------------------------------------------------- writing


def test_compacted_steps_are_numbered_anew_and_else_the_same() -> None:
    session = opened(trajectory(*STEPS))
    assert survives(session)
    data = saved(session, compacted(session, 3))
    document = parsed(data)
    assert document["final_metrics"] == {
        "total_steps": len(document["steps"]),
        "total_cost_usd": 0.5,
    }
    assert [step["source"] for step in document["steps"]] == ["system", "user", "agent", "agent"]
    kept = json.dumps({**STEPS[4]}, indent=2)[2:].replace("\n", "\n    ").encode()
    assert kept in data


def test_part_of_a_step_is_a_step_again() -> None:
    session = opened(trajectory(*STEPS))
    without = [one for i, one in enumerate(session.messages) if i != 3]
    document = parsed(saved(session, without))
    assert document["steps"][2]["observation"]["results"] == [came("c1", "dock.py")]
    assert same(opened(document).messages, without)
    spoken = [one for i, one in enumerate(session.messages) if i not in (3, 4)]
    document = parsed(saved(session, spoken))
    assert "observation" not in document["steps"][2]
    assert same(opened(document).messages, spoken)


def test_a_changed_result_stays_in_the_step_of_its_call() -> None:
    session = opened(trajectory(*STEPS))
    cleared = message("tool", [ToolResult("c2", (Text("(cleared)"),))])
    changed = [*session.messages[:3], cleared, *session.messages[4:]]
    document = parsed(saved(session, changed))
    assert len(document["steps"]) == len(STEPS)
    assert document["steps"][2]["observation"]["results"] == [
        came("c2", "(cleared)"),
        came("c1", "dock.py"),
    ]
    assert same(opened(document).messages, changed)


def test_results_whose_call_is_gone_stand_without_its_name() -> None:
    session = opened(trajectory(*STEPS))
    orphans = [*session.messages[:2], *session.messages[3:]]
    document = parsed(saved(session, orphans))
    assert document["steps"][2]["source"] == "user"
    assert document["steps"][2]["observation"]["results"] == [
        came(None, "/dock"),
        came(None, "dock.py"),
    ]


def test_results_that_the_file_has_without_a_call_stay_as_they_are() -> None:
    orphan = agent("", observation={"results": [came("c9", "late")]})
    session = opened(trajectory(*STEPS[:2], orphan, STEPS[5]))
    few = [*session.messages[1:], message("user", "On.")]
    steps = json.loads(saved(session, few))["steps"]
    assert steps[1] == {"step_id": 2, **orphan}


def test_a_compact_line_stays_a_line() -> None:
    data = b"\n".join(json.dumps(trajectory(*STEPS, session_id=n)).encode() for n in "ab") + b"\n"
    session = load(data, conversation="b")
    assert [one.id for one in session.conversations] == ["a", "b"]
    lines = saved(session, compacted(session)).splitlines()
    assert lines[0] == data.splitlines()[0]
    assert len(checked(json.loads(lines[1]))["steps"]) < len(STEPS)


def test_a_session_from_elsewhere_becomes_a_trajectory() -> None:
    calls = [
        {"id": n, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for n in "xy"
    ]
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
    chat: list[dict[str, Any]] = [
        {"role": "system", "content": "Brief."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "x", "content": "a"},
        {"role": "tool", "tool_call_id": "y", "content": "b"},
        {"role": "assistant", "content": "Two."},
    ]
    session: Session = opened({"model": "m", "messages": chat, "tools": [tool]})
    document = parsed(saved(session, form="atif"))
    assert [step["source"] for step in document["steps"]] == ["system", "user", "agent", "agent"]
    assert document["agent"]["model_name"] == "m"
    assert document["agent"]["tool_definitions"][0]["function"]["name"] == "ls"
    again = opened(document)
    assert same(again.messages, session.messages)
    back = json.loads(saved(again, form="openai-chat"))
    assert [one["role"] for one in back["messages"]] == [one["role"] for one in chat]


# ------------------------------------------------------------------------------ recognition


@pytest.mark.parametrize(
    "document",
    [
        {"schema_version": "1.0", "steps": [STEPS[0]]},
        {"schema_version": "ATIF-v1.6"},
        {"steps": [STEPS[0]], "agent": {}},
        {"schema_version": ["ATIF"], "steps": 3},
    ],
)
def test_look_alikes_are_not_taken(document: object) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "atif"


@pytest.mark.parametrize("version", ["ATIF-v1.0", "ATIF-v1.4", "ATIF-v1.8"])
def test_every_version_is_read(version: str) -> None:
    assert len(opened(trajectory(*STEPS, schema_version=version))) == 10


def test_odd_values_do_not_stop_the_reading() -> None:
    odd: tuple[Any, ...] = (
        {
            "source": "agent",
            "message": {"a": 1},
            "tool_calls": [3, {"arguments": "{"}],
            "metrics": 4,
        },
        {"source": "robot", "message": None, "observation": {"results": [5, {"content": [1]}]}},
        {"source": "user", "message": "", "observation": [], "extra": {"context_management": 3}},
        {"source": 9},
    )
    document = trajectory(*odd, agent=7, subagent_trajectories=4)
    document["steps"] += [3, None]
    session = opened(document)
    assert roles(session) == ["assistant", "user", "user", "user"]
    assert session.messages[0].parts[-1] == ToolCall("", "", "{")


def test_a_trajectory_without_steps_is_refused() -> None:
    with pytest.raises(SessionError, match="holds no messages of the format atif"):
        opened(trajectory(steps=[1]))


#: Roles of the real trajectories, and how many users are typed.
REAL = {
    "agentpile--multiagent.json": ("suattata", 1),
    "scout--openhands_hello-world.trajectory.no_function_calling.json": ("suaua", 1),
    "scout--terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json": (
        "uuauauauauau",
        1,
    ),
    "scout--terminus_2_hello-world-context-summarization-linear-history.trajectory.json": (
        "uauauau",
        1,
    ),
}


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_trajectories(name: str, shared_sessions: Path) -> None:
    session = load(shared_sessions / "atif" / name)
    assert session.format == "atif"
    assert "".join(role[0] for role in roles(session)) == REAL[name][0]
    assert sum(one.typed for one in session.messages) == REAL[name][1]
    assert survives(session)
    assert shortened(session)
    parsed(saved(session, compacted(session)))
