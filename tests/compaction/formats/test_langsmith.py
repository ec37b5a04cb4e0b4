from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import opened, saved, shared

from compaction.errors import ExportError, SessionError
from compaction.formats import recognise
from compaction.formats.langsmith import LangSmith
from compaction.messages import Session, Text, ToolCall, ToolResult, Usage

JSON = dict[str, Any]


def human(said: str) -> JSON:
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": said, "type": "human"},
    }


def run(name: str, kind: str, at: str, **more: Any) -> JSON:
    order = f"{at}Z{name}"
    return {
        "id": name,
        "name": f"{kind} run",
        "run_type": kind,
        "trace_id": "t-1",
        "dotted_order": order,
        **more,
    }


CALL = {"id": "c1", "type": "function", "function": {"name": "weigh", "arguments": '{"p":1}'}}
FIRST = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weigh it."}]
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
SECOND = [*FIRST, ASKED, {"role": "tool", "tool_call_id": "c1", "content": "1 kg"}]


def answer(message: JSON, **more: Any) -> JSON:
    return {"choices": [{"index": 0, "message": message}], **more}


TREE = [
    run("root", "chain", "1", inputs={"messages": FIRST}, outputs={"messages": SECOND}),
    run("l1", "llm", "2", inputs={"messages": FIRST, "model": "m-0"}, outputs=answer(ASKED)),
    run("tool", "tool", "3", inputs={"input": "{}"}, outputs={"output": "1 kg"}),
    run(
        "l2",
        "llm",
        "4",
        inputs={"messages": SECOND, "tools": [{"type": "function", "function": {"name": "weigh"}}]},
        outputs=answer(
            {"role": "assistant", "content": "It has 1 kg."},
            usage_metadata={
                "input_tokens": 30,
                "output_tokens": 4,
                "input_token_details": {"cache_read": 20},
            },
        ),
        extra={"metadata": {"ls_model_name": "m-1"}},
        start_time="2026-01-02T03:04:05Z",
    ),
]


def test_the_last_model_run_is_the_window() -> None:
    for document in (
        TREE,
        {"runs": TREE},
        list(reversed(TREE)),
        b"\n".join(json.dumps(r).encode() for r in TREE),
    ):
        session = opened(document)
        assert session.format == "langsmith"
        roles = ["system", "user", "assistant", "tool", "assistant"]
        assert [m.role for m in session.messages] == roles
        assert session.messages[2].parts == (ToolCall("c1", "weigh", '{"p":1}'),)
        assert session.messages[3].parts == (ToolResult("c1", (Text("1 kg"),)),)
        assert session.messages[4].usage == Usage(30, 4, 20)
        assert session.messages[4].time == "2026-01-02T03:04:05Z"
        assert (session.model, session.tools.names) == ("m-1", ("weigh",))
        assert session.left_out == {"earlier requests": 1, "records that call no model": 2}
        assert not session.conversations
        assert not session.problems


def test_runs_may_stand_in_runs() -> None:
    root = {**TREE[0], "child_runs": [{**TREE[1], "child_runs": [TREE[2]]}, TREE[3]]}
    session = opened(root)
    assert [m.text for m in session.messages][-1] == "It has 1 kg."
    assert session.left_out == {"earlier requests": 1, "records that call no model": 2}


def test_a_patch_completes_what_was_posted() -> None:
    posted = {**TREE[3], "outputs": {}}
    patch = {
        "dotted_order": TREE[3]["dotted_order"],
        "trace_id": "t-1",
        "outputs": TREE[3]["outputs"],
        "inputs": {},
    }
    session = opened({"post": [posted], "patch": [patch]})
    assert len(session) == 5
    assert session.model == "m-1"


@pytest.mark.parametrize(
    ("inputs", "outputs", "said"),
    [
        (
            {"messages": [[human("a")]]},
            {"generations": [[{"text": "b", "message": {**human("b"), "id": ["x", "AIMessage"]}}]]},
            [("user", "a"), ("assistant", "b")],
        ),
        (
            {"prompts": ["a"]},
            {"generations": [[{"text": "b"}]]},
            [("user", "a"), ("assistant", "b")],
        ),
        (
            {"messages": [{"role": "user", "content": "a"}], "system": "s"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "b"}],
                "usage": {"input_tokens": 9},
            },
            [("system", "s"), ("user", "a"), ("assistant", "b")],
        ),
        (
            {"input": "a", "instructions": "s"},
            {
                "output": [
                    {"type": "reasoning", "summary": []},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "b"}],
                    },
                ]
            },
            [("system", "s"), ("user", "a"), ("assistant", "\nb")],
        ),
        (
            {"messages": [{"type": "human", "content": "a"}]},
            {"output": "b"},
            [("user", "a"), ("assistant", "b")],
        ),
        ({"messages": [{"role": "user", "content": "a"}]}, None, [("user", "a")]),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}],
                    }
                ]
            },
            {"message": {"role": "assistant", "content": "b"}},
            [("tool", "r"), ("assistant", "b")],
        ),
    ],
)
def test_clients_of_many_kinds(inputs: JSON, outputs: JSON, said: list[tuple[str, str]]) -> None:
    session = opened([run("l", "llm", "1", inputs=inputs, outputs=outputs)])
    assert [(m.role, m.text) for m in session.messages] == said


def test_a_run_around_the_calls_speaks_where_they_do_not() -> None:
    said = [*SECOND, {"role": "assistant", "content": "It has 1 kg."}]
    session = opened(
        [run("root", "chain", "1", inputs={"messages": FIRST}, outputs={"messages": said})]
    )
    assert len(session) == 5
    assert session.title == "chain run"


def test_threads_and_traces_are_conversations() -> None:
    about = {"metadata": {"thread_id": "th"}}
    runs = [
        run(
            "a",
            "llm",
            "1",
            inputs={"messages": FIRST},
            outputs=answer(ASKED),
            extra=about,
            trace_id="x",
        ),
        run("b", "llm", "2", inputs={"messages": SECOND}, extra=about, trace_id="y"),
        run(
            "c",
            "llm",
            "3",
            inputs={"messages": [{"role": "user", "content": "Other."}]},
            trace_id="z",
        ),
    ]
    session = opened(runs)
    assert [(c.id, c.title, c.messages) for c in session.conversations] == [
        ("th", "Weigh it.", 4),
        ("z", "Other.", 1),
    ]
    assert len(session) == 4
    assert [f.code for f in session.problems] == ["several-conversations"]
    for name in ("z", "2"):
        assert opened(runs, conversation=name).messages[0].text == "Other."
    with pytest.raises(SessionError, match="has no conversation '3'"):
        opened(runs, conversation="3")


def test_full_history_holds_what_a_later_request_dropped() -> None:
    short = [
        FIRST[0],
        {"role": "user", "content": "So far: 1 kg."},
        {"role": "user", "content": "Go on."},
    ]
    runs = [
        *TREE,
        run(
            "l3",
            "llm",
            "5",
            inputs={"messages": short},
            outputs=answer({"role": "assistant", "content": "Done."}),
        ),
    ]
    assert [m.text for m in opened(runs).messages] == [
        "Be brief.",
        "So far: 1 kg.",
        "Go on.",
        "Done.",
    ]
    full = opened(runs, history="full")
    assert [m.text for m in full.messages] == [
        "Be brief.",
        "Weigh it.",
        'weigh {"p":1}',
        "1 kg",
        "It has 1 kg.",
        "So far: 1 kg.",
        "Go on.",
        "Done.",
    ]
    assert [one.at for one in full.compactions] == [5]
    assert full.left_out == {"records that call no model": 2}


def test_a_helper_with_a_prompt_of_its_own_is_aside() -> None:
    helper = run("h", "llm", "3", inputs={"messages": [{"role": "user", "content": "Name it."}]})
    session = opened([TREE[1], helper, TREE[3]])
    assert session.left_out == {"earlier requests": 1, "requests of other agents": 1}


def test_it_is_read_only_and_written_as_chat() -> None:
    session = opened(TREE)
    with pytest.raises(ExportError, match="can only be read"):
        LangSmith().write(session.messages, session)
    chat = json.loads(saved(session))
    assert chat["model"] == "m-1"
    assert chat["messages"] == [*SECOND, {"role": "assistant", "content": "It has 1 kg."}]
    again = opened(chat)
    assert [m.parts for m in again.messages] == [m.parts for m in session.messages]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (
            [run("a", "llm", "1", inputs={}, outputs={})],
            "records 1 model call, but not what was said",
        ),
        ([run("a", "tool", "1", inputs={"x": 1}, outputs={})], "no model is called"),
    ],
)
def test_runs_without_messages_are_told(runs: object, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        opened(runs)


@pytest.mark.parametrize(
    "odd", [None, 7, "a", [], {}, [[]], [None], {"messages": 3}, {"messages": [[3]]}]
)
@pytest.mark.parametrize(
    "key", ["inputs", "outputs", "extra", "id", "dotted_order", "child_runs", "start_time"]
)
def test_odd_types_break_nothing(key: str, odd: object) -> None:
    session = opened([TREE[1], {**TREE[3], key: odd}], format="langsmith")
    assert isinstance(session, Session)
    assert len(session) >= 3


@pytest.mark.parametrize(
    "value", [[{"run_type": "llm"}], {"runs": []}, {"post": [3]}, {"inputs": {"messages": []}}]
)
def test_look_alikes_are_not_taken(value: object) -> None:
    found = recognise(json.dumps(value).encode())
    assert found is None or found.name != "langsmith"


@pytest.mark.parametrize("path", shared("langsmith"))
def test_real_files(path: Path) -> None:
    session = opened(path.read_bytes())
    assert session.format == "langsmith"
    assert [(m.role, m.text) for m in session.messages] == [
        ("user", "howdy"),
        ("assistant", "Howdy! How can I assist you today?"),
    ]
    assert session.model == "gpt-4o-mini"
    told = None if "no_usage" in path.name.replace(" ", "_") else Usage(9, 9)
    assert session.messages[1].usage == told
    assert not session.left_out
    again = opened(saved(session))
    assert [m.parts for m in again.messages] == [m.parts for m in session.messages]
