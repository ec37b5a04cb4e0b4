from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from runs import compacted, opened, roles, same, saved, survives

from compaction.errors import SessionError
from compaction.formats import load, recognise
from compaction.messages import (
    Media,
    Message,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    message,
)

# ------------------------------------------------------------------------------------ the SDK


def text(said: str) -> dict[str, Any]:
    return {"cache_prompt": False, "type": "text", "text": said}


def event(name: str, kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "timestamp": "2026-01-01T10:00:00",
        "source": source,
        **more,
        "kind": kind,
    }


def said(name: str, role: str, *content: object) -> dict[str, Any]:
    held = {"role": role, "content": list(content)}
    return event(name, "MessageEvent", "user" if role == "user" else "agent", llm_message=held)


def act(name: str, call: str, answer: str, thought: str = "", **more: Any) -> dict[str, Any]:
    asked = {"id": call, "name": "terminal", "arguments": '{"command":"ls"}'}
    return event(
        name,
        "ActionEvent",
        thought=[text(thought)] if thought else [],
        tool_name="terminal",
        tool_call_id=call,
        tool_call=asked,
        llm_response_id=answer,
        **more,
    )


def seen(name: str, call: str, action: str, output: str, **more: Any) -> dict[str, Any]:
    held = {"content": [text(output)], "is_error": False, **more, "kind": "TerminalObservation"}
    around = {"tool_name": "terminal", "tool_call_id": call, "action_id": action}
    return event(name, "ObservationEvent", "environment", observation=held, **around)


STATE = event(
    "s1", "ConversationStateUpdateEvent", "environment", key="execution_status", value="x"
)
TOOL = {"name": "terminal", "description": "Runs.", "parameters": {"type": "object"}}
RUN: list[dict[str, Any]] = [
    event("e0", "SystemPromptEvent", system_prompt=text("You use a shell."), tools=[TOOL]),
    said("e1", "user", text("Mend the gate count.")),
    STATE,
    act("e2", "c1", "r1", "Look.", reasoning_content="Where?"),
    act("e3", "c2", "r1"),
    seen("e4", "c1", "e2", "dock.py"),
    seen("e5", "c2", "e3", "no such file", is_error=True),
    act("e6", "c3", "r2"),
    seen("e7", "c3", "e6", "gate = 4"),
    said("e8", "assistant", text("It is four.")),
]


def lines(*listed: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in listed)


def condensation(*forgotten: str, **more: Any) -> dict[str, Any]:
    return event("k1", "Condensation", "environment", forgotten_event_ids=list(forgotten), **more)


def written(session: Session, messages: list[Message]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in saved(session, messages).splitlines()]


def test_events_are_folded_into_messages() -> None:
    session = load(lines(*RUN))
    assert session.format == "openhands"
    assert roles(session) == [
        "system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant"
    ]  # fmt: skip
    assert session.messages[2].parts == (
        Thinking("Where?"),
        Text("Look."),
        ToolCall("c1", "terminal", '{"command":"ls"}'),
        ToolCall("c2", "terminal", '{"command":"ls"}'),
    )
    assert session.messages[2].calls == ("c1", "c2")
    assert len(session.messages[2].record) == 2  # type: ignore[arg-type]
    assert session.messages[4].parts == (
        ToolResult("c2", (Text("no such file"),), is_error=True, name="terminal"),
    )
    assert session.left_out == {"state of the client": 1}
    assert session.tools.names == ("terminal",)
    assert [i for i, one in enumerate(session.messages) if one.typed] == [1]
    assert survives(session)


def test_the_state_names_the_model() -> None:
    metrics = {"usage_to_metrics": {"default": {"model_name": "m-1"}}}
    state = {**STATE, "key": "stats", "value": metrics}
    session = load(lines(state, *RUN))
    assert session.model == "m-1"


def test_images_and_other_results() -> None:
    image = {"type": "image", "image_urls": ["https://a.b/1.png", "https://a.b/2.png"]}
    session = load(
        lines(
            said("a", "user", text("See:"), image),
            act("b", "c1", "r1"),
            event("c", "AgentErrorEvent", tool_name="terminal", tool_call_id="c1", error="Broken."),
            act("d", "c2", "r2"),
            event("e", "UserRejectObservation", "user", action_id="d", rejection_reason="No."),
        )
    )
    assert session.messages[0].parts == (
        Text("See:"),
        Media("image", url="https://a.b/1.png"),
        Media("image", url="https://a.b/2.png"),
    )
    assert session.messages[2].parts == (
        ToolResult("c1", (Text("Broken."),), is_error=True, name="terminal"),
    )
    assert session.messages[4].parts == (ToolResult("c2", (Text("Action rejected: No."),)),)


def test_a_result_whose_call_is_not_in_the_log_is_not_sent() -> None:
    session = load(lines(*RUN, seen("e9", "c9", "gone", "late")))
    assert len(session) == 8
    assert session.left_out["results whose call is gone"] == 1
    few = compacted(session, 1)
    assert b'"late"' not in saved(session, few)
    assert same(load(saved(session, few)).messages, few)


def test_a_result_whose_call_was_forgotten_is_not_sent() -> None:
    session = load(lines(*RUN, condensation("e6", summary="Looked.", summary_offset=2)))
    assert "gate = 4" not in [one.text for one in session.messages]
    assert session.left_out["results whose call is gone"] == 1
    assert session.left_out["before the last compaction"] == 1


CONDENSED = [
    *RUN[:7],
    condensation("e2", "e3", "e4", "e5", summary="Looked.", summary_offset=2),
    *RUN[7:],
]


def test_what_a_condensation_forgot_is_not_in_the_window() -> None:
    session = load(lines(*CONDENSED))
    assert [one.text for one in session.messages[:3]] == [
        "You use a shell.",
        "Mend the gate count.",
        "Looked.",
    ]
    assert roles(session)[2:] == ["user", "assistant", "tool", "assistant"]
    assert session.messages[2].summary == "openhands"
    assert not session.messages[2].typed
    assert session.left_out == {"state of the client": 1, "before the last compaction": 4}
    assert [one.at for one in session.compactions] == [2]


def test_the_full_history_has_what_was_forgotten_and_marks_the_place() -> None:
    session = load(lines(*CONDENSED), history="full")
    assert len(session) == 9
    assert [one.at for one in session.compactions] == [5]
    assert session.messages[5].text == "Looked."


def test_one_call_of_a_response_may_be_forgotten() -> None:
    session = load(lines(*RUN[:7], condensation("e3", "e5"), *RUN[7:]))
    assert session.messages[2].calls == ("c1",)
    assert session.left_out["before the last compaction"] == 2
    assert session.left_out["marks of compactions"] == 1


def test_a_later_condensation_takes_the_place_of_an_earlier_one() -> None:
    later = {
        **condensation("e6", "e7", "k1-summary", summary="All done.", summary_offset=2),
        "id": "k2",
    }
    session = load(lines(*CONDENSED, later))
    assert [one.text for one in session.messages[1:]] == [
        "Mend the gate count.",
        "All done.",
        "It is four.",
    ]


def test_a_new_summary_is_a_condensation_and_what_it_replaces_is_gone() -> None:
    session = load(lines(*CONDENSED))
    few = [session.messages[0], *compacted(session, 1)[1:]]
    out = written(session, few)
    made = [one for one in out if one["kind"] == "Condensation"]
    assert [one["summary_offset"] for one in made] == [1]
    assert made[0]["forgotten_event_ids"] == []
    assert len({one["id"] for one in out}) == len(out)
    assert not {"e1", "e2", "e3", "e4", "e5"} & {one["id"] for one in out}
    assert STATE in out
    again = load(saved(session, few))
    assert same(again.messages, few)
    assert again.messages[1].summary
    assert saved(session, few) == saved(session, few)


def test_a_kept_condensation_stands_where_it_applies() -> None:
    session = load(lines(*CONDENSED))
    few = list(session.messages[:-1])
    assert [one["id"] for one in written(session, few)] == ["e0", "e1", "s1", "k1", "e6", "e7"]
    assert same(load(saved(session, few)).messages, few)


def test_new_events_are_such_as_the_sdk_writes() -> None:
    session = load(lines(*RUN))
    made = [
        message("user", [Text("See"), Media("image", url="https://a.b/1.png")]),
        message(
            "assistant", [Text("So."), ToolCall("n1", "terminal", "{}"), ToolCall("n2", "x", "{}")]
        ),
        message("tool", [ToolResult("n1", (Text("gone"),), is_error=True, name="terminal")]),
        message("tool", [ToolResult("n2", (Text("y"),), name="x")]),
    ]
    out = written(session, [*session.messages, *made])[10:]
    assert [one["kind"] for one in out] == [
        "MessageEvent",
        "ActionEvent",
        "ActionEvent",
        "ObservationEvent",
        "ObservationEvent",
    ]
    assert out[1]["llm_response_id"] == out[2]["llm_response_id"]
    assert (out[1]["thought"], out[2]["thought"]) == ([text("So.")], [])
    assert [one["action_id"] for one in out[3:]] == [out[1]["id"], out[2]["id"]]
    assert same(load(saved(session, [*session.messages, *made])).messages[8:], made)


def test_a_changed_result_names_the_action_it_answers() -> None:
    session = load(lines(*RUN))
    cleared = message("tool", [ToolResult("c2", (Text("(cleared)"),), name="terminal")])
    changed = [*session.messages[:4], cleared, *session.messages[5:]]
    out = written(session, changed)
    assert out[6]["action_id"] == "e3"
    assert same(load(saved(session, changed)).messages, changed)


# ------------------------------------------------------------------------- the first version


def older(number: int, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "timestamp": "2025-01-20T20:29:32",
        "source": source,
        "message": "",
        **more,
    }


def metadata(call: str, *every: str, answer: str = "r", **usage: int) -> dict[str, Any]:
    calls = [
        {"id": one, "type": "function", "function": {"name": "execute_bash", "arguments": "{}"}}
        for one in every or (call,)
    ]
    response = {
        "id": answer,
        "model": "m-1",
        "choices": [{"message": {"role": "assistant", "content": "Look.", "tool_calls": calls}}],
        "usage": usage,
    }
    return {"function_name": "execute_bash", "tool_call_id": call, "model_response": response}


OLDER: list[dict[str, Any]] = [
    older(0, "environment", observation="agent_state_changed", content="", extras={}),
    older(1, "user", action="message", args={"content": "Mend it.", "image_urls": []}),
    older(2, "agent", action="run", args={"command": "ls"},
          tool_call_metadata=metadata("c1", "c1", "c2", prompt_tokens=70, completion_tokens=5)),
    older(3, "agent", observation="run", content="dock.py", cause=2, extras={},
          tool_call_metadata=metadata("c1", "c1", "c2")),
    older(4, "agent", action="run", args={"command": "pwd"},
          tool_call_metadata=metadata("c2", "c1", "c2")),
    older(5, "agent", observation="error", content="denied", cause=4, extras={},
          tool_call_metadata=metadata("c2", "c1", "c2")),
    older(6, "agent", action="read", args={"path": "x", "thought": "Read."}),
    older(7, "agent", observation="read", content="gate = 4", cause=6, extras={}),
    older(8, "agent", observation="null", content="", cause=1, extras={}),
    older(9, "agent", action="finish", args={"outputs": {}, "thought": "It is four."}),
]  # fmt: skip


def test_a_list_of_older_events() -> None:
    session = opened(OLDER)
    assert session.format == "openhands"
    assert session.model == "m-1"
    assert roles(session) == [
        "user", "assistant", "tool", "tool", "assistant", "tool", "assistant"
    ]  # fmt: skip
    assert session.messages[1].parts == (
        Text("Look."),
        ToolCall("c1", "execute_bash", "{}"),
        ToolCall("c2", "execute_bash", "{}"),
    )
    assert session.messages[1].usage == Usage(70, 5)
    assert session.messages[3].parts == (
        ToolResult("c2", (Text("denied"),), is_error=True, name="execute_bash"),
    )
    assert session.messages[4].parts == (Text("Read."), ToolCall("read#6", "read", '{"path":"x"}'))
    assert session.messages[5].results == ("read#6",)
    assert session.messages[6].parts == (Text("It is four."),)
    assert session.left_out == {"state of the client": 2}
    assert survives(session)


def test_an_older_condensation_forgets_a_range() -> None:
    args = {
        "forgotten_events_start_id": 2,
        "forgotten_events_end_id": 5,
        "summary": "Looked.",
        "summary_offset": 1,
    }
    session = opened([*OLDER[:6], older(20, action="condensation", args=args), *OLDER[6:]])
    assert [one.text for one in session.messages[:2]] == ["Mend it.", "Looked."]
    assert roles(session) == ["user", "user", "assistant", "tool", "assistant"]
    assert session.left_out["before the last compaction"] == 4


def test_a_new_message_of_an_older_run_is_a_message_action() -> None:
    session = opened(OLDER)
    out = json.loads(saved(session, compacted(session)))
    new = next(one for one in out if one not in OLDER)
    assert (new["id"], new["source"], new["action"]) == (10, "user", "message")
    assert OLDER[0] in out


def test_new_calls_of_an_older_run() -> None:
    session = opened(OLDER)
    made = [
        message("assistant", [Text("So."), ToolCall("n1", "execute_bash", '{"command":"ls"}')]),
        message("tool", [ToolResult("n1", (Text("gone"),), is_error=True, name="execute_bash")]),
        message("assistant", "Done."),
    ]
    listed = [*session.messages, *made]
    out = json.loads(saved(session, listed))
    assert [one["id"] for one in out[10:]] == [10, 11, 12]
    assert out[11]["cause"] == 10
    assert same(opened(out).messages, listed)


FLAT: list[dict[str, Any]] = [
    {"content": "Mend it.", "image_urls": None, "wait_for_response": False, "action": "message"},
    {"command": "ls", "thought": "Look.", "keep_prompt": True, "action": "run"},
    {"content": "dock.py", "command": "ls", "exit_code": 0, "observation": "run"},
    {"command": "ls", "thought": "Again.", "action": "run", "is_confirmed": "confirmed"},
    {"content": "dock.py", "command": "ls", "observation": "run"},
    {"outputs": {}, "thought": "Done.", "action": "finish"},
]


def output(number: int, *history: dict[str, Any]) -> dict[str, Any]:
    return {"instance_id": f"dock-{number}", "history": list(history), "metrics": {}}


def test_outputs_of_evaluations_hold_a_run_each() -> None:
    data = lines(output(1, *FLAT), output(2, *OLDER))
    session = load(data)
    assert session.format == "openhands"
    assert [(one.id, one.title) for one in session.conversations] == [
        ("dock-1", "Mend it."),
        ("dock-2", "Mend it."),
    ]
    assert roles(session) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    first, again = session.messages[1], session.messages[3]
    assert first.parts[1] == ToolCall(first.calls[0], "run", '{"command":"ls"}')
    assert first.calls == session.messages[2].results
    assert again.calls == session.messages[4].results != first.calls
    assert len(load(data, conversation="dock-2")) == 7
    assert survives(session)
    assert saved(session, compacted(session)).splitlines()[1] == data.splitlines()[1]


def test_the_very_same_call_twice_is_two_calls() -> None:
    session = opened(output(1, *FLAT[:3], *FLAT[1:3], FLAT[5]))
    calls = [one for each in session.messages for one in each.calls]
    assert calls == [one for each in session.messages for one in each.results]
    assert calls[1] == f"{calls[0]}-2"


def test_one_output_is_a_run_too() -> None:
    session = opened(output(1, *FLAT))
    assert (len(session), session.conversations) == (6, ())
    new = json.loads(saved(session, compacted(session)))["history"]
    assert [set(one) for one in new if one not in FLAT] == [
        {"content", "image_urls", "wait_for_response", "action"}
    ]


# -------------------------------------------------------------------------------- containers


def test_a_folder_of_events(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    for number, one in enumerate(RUN):
        path = tmp_path / "events" / f"event-{number:05}-{one['id']}.json"
        path.write_text(json.dumps(one, indent=1))
    state = {"id": "conv", "agent": {"llm": {"model": "m-9", "api_key": "k"}}}
    (tmp_path / "base_state.json").write_text(json.dumps(state))
    session = load(tmp_path)
    assert session.format == "openhands"
    assert session.model == "m-9"
    assert same(session.messages, load(lines(*RUN)).messages)
    assert same(load(tmp_path / "events").messages, session.messages)
    assert b"api_key" not in saved(session)
    few = compacted(session)
    assert same(load(saved(session, few)).messages, few)


def test_a_folder_of_nothing_is_refused_as_before(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    with pytest.raises(SessionError, match="is a folder"):
        load(tmp_path)


# ------------------------------------------------------------------------------- conversions


def test_a_session_from_elsewhere_becomes_events() -> None:
    chat = opened(json.loads(saved(load(lines(*RUN)), form="openai-chat")))
    data = saved(chat, form="openhands")
    kinds = [json.loads(line)["kind"] for line in data.splitlines()]
    assert kinds[:4] == ["SystemPromptEvent", "MessageEvent", "ActionEvent", "ActionEvent"]
    again = load(data)
    assert again.format == "openhands"
    assert [one.text for one in again.messages] == [one.text for one in chat.messages]
    assert [one.calls for one in again.messages] == [one.calls for one in chat.messages]
    assert again.tools.names == ("terminal",)
    assert json.loads(data.splitlines()[0])["tools"][0]["name"] == "terminal"


# ------------------------------------------------------------------------------- recognition


@pytest.mark.parametrize(
    "document",
    [
        [{"action": "run", "observation": "x"}],
        [{"kind": "request", "timestamp": "t", "source": "user", "parts": []}],
        {"history": FLAT},
        {"history": [{"role": "user", "content": "a"}], "instance_id": "i"},
        [{"instance_id": "i", "model_patch": "p"}],
        {"events": [{"action": "click", "observation": "x"}], "appName": "a"},
        [{"kind": ["ActionEvent"], "timestamp": "t", "source": "agent"}],
    ],
)
def test_look_alikes_are_not_taken(document: object) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "openhands"


def test_odd_values_do_not_stop_the_reading() -> None:
    odd: list[Any] = [
        {**RUN[3], "tool_call": [1], "thought": 4, "llm_response_id": 7, "id": None},
        {**RUN[5], "observation": "x", "tool_call_id": {}},
        {**RUN[1], "llm_message": "x"},
        {**RUN[0], "system_prompt": [4], "tools": {"a": 1}},
        condensation(summary=4, summary_offset="x") | {"forgotten_event_ids": 3},
        event("z", "NewEvent"),
        older(1, action="run", args=3, tool_call_metadata={"model_response": {"choices": [4]}}),
        older(2, observation="run", content=7, cause=[1]),
        older(True, action="message", args={"content": [None], "image_urls": [3]}),
    ]
    session = load(lines(*copy.deepcopy(RUN), *odd))
    assert session.format == "openhands"
    assert [one.parts for one in session.messages]
    assert len(load(lines(*RUN, *odd), history="full")) >= len(session)


#: Conversations, roles of the first, and what is left out.
REAL: dict[str, tuple[int, str, dict[str, int]]] = {
    "legacy-events-basic_gui_mode.json": (0, "uatatatata", {"state of the client": 8}),
    "legacy-events-wrong_initial_state.json": (0, "uatatata", {}),
    "resolver-output.jsonl": (2, "uatatata", {}),
    "sdk-v1-events.jsonl": (
        0,
        "atat",
        {"state of the client": 5, "results whose call is gone": 1},
    ),
}


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_runs(name: str, shared_sessions: Path) -> None:
    session = load(shared_sessions / "openhands" / name)
    assert session.format == "openhands"
    assert len(session.conversations) == REAL[name][0]
    assert "".join(role[0] for role in roles(session)) == REAL[name][1]
    assert session.left_out == REAL[name][2]
    assert survives(session)


def test_real_output_has_two_runs(shared_sessions: Path) -> None:
    path = shared_sessions / "openhands" / "resolver-output.jsonl"
    session = load(path, conversation="issue 1")
    assert len(session) == 44
    assert survives(session, recent=6) is not None
    results = [one for one in session.messages if one.role == "tool"]
    asked = [one for one in session.messages if one.calls]
    assert [one.results for one in results] == [one.calls for one in asked]


def test_a_list_of_patches_holds_no_run(shared_sessions: Path) -> None:
    with pytest.raises(SessionError, match="JSON without messages"):
        load(shared_sessions / "openhands" / "swe_bench-example_model_output.json")
