from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction import load
from compaction.errors import SessionError
from compaction.formats import recognise
from compaction.messages import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult, message

CALL = '{"name": "weigh", "arguments": {"box": 7}}'
TOOLS = [{"name": "weigh", "description": "Weighs a box.", "parameters": {"type": "object"}}]


def turns(*pairs: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"from": who, "value": what} for who, what in pairs]


def typed(role: str, *parts: tuple[str, str]) -> dict[str, Any]:
    return {"role": role, "content": [{"type": kind, "value": value} for kind, value in parts]}


DATA = {
    "id": "boxes",
    "conversations": turns(
        ("human", "How heavy is box 7?"),
        ("function_call", CALL),
        ("observation", "12 kg"),
        ("gpt", "12 kg."),
        ("human", "And both of them?"),
        ("function_call", f"[{CALL}, {CALL}]"),
        ("observation", "12 kg"),
        ("observation", "13 kg"),
        ("gpt", "25 kg."),
    ),
    "system": "You weigh boxes.",
    "tools": json.dumps(TOOLS),
}


def without_ids(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, id="") if isinstance(part, ToolCall) else part for part in parts)


def name_of(document: object) -> str:
    found = recognise(json.dumps(document).encode())
    return found.name if found else ""


def test_turns_are_read_with_the_system_text_and_the_tools_beside_them() -> None:
    session = opened([DATA])
    assert session.format == "sharegpt"
    assert [m.role for m in session.messages] == [
        *("system", "user", "assistant", "tool", "assistant"),
        *("user", "assistant", "tool", "tool", "assistant"),
    ]
    assert session.messages[0].parts == (Text("You weigh boxes."),)
    assert session.messages[1].typed
    assert session.tools.names == ("weigh",)
    assert json.loads(session.tools.text) == TOOLS
    assert not session.problems


def test_calls_and_results_get_ids_that_pair_within_their_run() -> None:
    messages = opened([DATA]).messages
    (first,) = messages[2].calls
    assert first.startswith("weigh-")
    assert messages[2].parts == (ToolCall(first, "weigh", '{"box":7}'),)
    assert messages[3].parts == (ToolResult(first, (Text("12 kg"),)),)
    assert messages[6].calls == (first, messages[6].calls[1])
    assert messages[6].calls[1] != first
    assert messages[7].results + messages[8].results == messages[6].calls
    assert messages[7].parts == (ToolResult(first, (Text("12 kg"),)),)


@pytest.mark.parametrize(
    ("spelled", "role"),
    [
        ("human", "user"),
        ("user", "user"),
        ("prompter", "user"),
        ("gpt", "assistant"),
        ("chatgpt", "assistant"),
        ("bing", "assistant"),
        ("bard", "assistant"),
        ("Model", "assistant"),
        ("assistant", "assistant"),
        ("system", "system"),
        ("tool", "tool"),
        ("function_response", "tool"),
        ("referee", "referee"),
    ],
)
def test_names_of_speakers_are_roles(spelled: str, role: str) -> None:
    session = opened({"conversations": turns(("human", "hi"), (spelled, "yes"))})
    assert session.messages[1].role == role


@pytest.mark.parametrize(
    ("turn", "parts"),
    [
        ({"from": "function_call", "value": "weigh it"}, (ToolCall("", "", "weigh it"),)),
        ({"from": "function_call", "value": "[1]"}, (ToolCall("", "", "[1]"),)),
        ({"from": "function_call", "value": 7}, (Opaque("unknown", "7"),)),
        (
            {"from": "tool_call", "value": '{"name": "f", "arguments": "{}"}'},
            (ToolCall("", "f", "{}"),),
        ),
        ({"from": "gpt", "value": None}, ()),
        ({"from": "gpt", "value": ["a", {"type": "text", "text": "b"}]}, (Text("a"), Text("b"))),
        ({"from": "gpt", "value": ""}, ()),
        ({"from": "observation", "value": "lost"}, (ToolResult("", (Text("lost"),)),)),
        (
            typed("assistant", ("reasoning", "hm"), ("text", "yes"), ("tool_call", CALL)),
            (Thinking("hm"), Text("yes"), ToolCall("", "weigh", '{"box":7}')),
        ),
        (typed("user", ("image_url", "a.png")), (Media("image", url="a.png"),)),
        (typed("user", ("smell", "x")), (Opaque("smell", '{"type":"smell","value":"x"}'),)),
        (
            {"role": "assistant", "content": [{"type": "text", "value": 3}, 4, "c"]},
            (Opaque("text", '{"type":"text","value":3}'), Opaque("unknown", "4"), Text("c")),
        ),
    ],
)
def test_turns_of_every_kind(turn: dict[str, Any], parts: tuple[object, ...]) -> None:
    session = opened({"conversations": [*turns(("human", "hi")), turn]})
    assert without_ids(session.messages[1].parts) == parts


def test_a_second_call_without_an_answer_to_the_first_gets_the_answer() -> None:
    asked = turns(
        ("human", "a"), ("function_call", '{"name": "f"}'), ("human", "b"),
        ("function_call", '{"name": "g"}'), ("observation", "g says"),
    )  # fmt: skip
    session = opened({"conversations": asked})
    assert session.messages[4].results == session.messages[3].calls


def test_of_a_preference_pair_the_chosen_answer_is_read() -> None:
    pair = {
        "conversations": turns(("human", "hi")),
        "chosen": {"from": "gpt", "value": "hello"},
        "rejected": {"from": "gpt", "value": "go away"},
    }
    session = opened([pair, pair])
    assert [m.text for m in session.messages] == ["hi", "hello"]
    assert [found.code for found in session.problems] == [
        "rejected-answer",
        "several-conversations",
    ]
    out = json.loads(saved(session, [*session.messages[:1], message("user", "more")]))
    assert out[1] == pair
    assert out[0]["rejected"] == pair["rejected"]
    assert [turn["value"] for turn in out[0]["conversations"]] == ["hi", "more"]
    assert "chosen" not in out[0]


def test_every_record_is_a_conversation_of_its_own() -> None:
    first = {"id": "a", "conversations": turns(("system", "s"), ("human", "one"))}
    second = {"id": "b", "conversations": turns(("system", "s"), ("human", "two"), ("gpt", "2"))}
    session = opened([first, second])
    assert [(c.id, c.title, c.messages) for c in session.conversations] == [
        ("a", "one", 2),
        ("b", "two", 3),
    ]
    assert [m.text for m in session.messages] == ["s", "one"]
    assert [m.text for m in opened([first, second], conversation="b").messages] == ["s", "two", "2"]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in (first, second))
    assert [m.text for m in load(lines, conversation="2").messages] == ["s", "two", "2"]


def test_a_file_written_back_keeps_every_other_byte() -> None:
    text = json.dumps([DATA, DATA], indent=1).encode()
    session = load(text)
    assert saved(session) == text
    made = compacted(session, 4)
    out = saved(session, made)
    assert same(load(out).messages, made)
    assert out.endswith(text[len(text) // 2 + 20 :])
    turn = json.loads(out)[0]["conversations"][0]
    assert turn == {"from": "human", "value": made[1].text}
    assert json.loads(out)[0]["conversations"][-1] == DATA["conversations"][-1]


def test_typed_parts_and_spelled_names_are_written_as_their_neighbours_are() -> None:
    data = {"messages": [typed("user", ("text", "a")), typed("assistant", ("text", "b"))]}
    session = opened(data)
    call = message("assistant", [Thinking("hm"), Text("c"), ToolCall("", "f", '{"n": 1}')])
    out = json.loads(saved(session, [*session.messages, message("user", "sum"), call]))
    assert out["messages"][2:] == [
        typed("user", ("text", "sum")),
        typed(
            "assistant",
            ("reasoning", "hm"),
            ("text", "c"),
            ("tool_call", '{"name": "f", "arguments": {"n": 1}}'),
        ),
    ]
    named = opened({"conversations": turns(("user", "a"), ("bing", "b"))})
    out = json.loads(saved(named, [*named.messages, message("user", "c"), message("tool", "d")]))
    assert [turn["from"] for turn in out["conversations"]] == [
        *("user", "bing", "user", "observation"),
    ]


def test_other_sessions_become_a_data_set_and_back() -> None:
    session = opened([DATA])
    chat = load(saved(session, form="openai-chat"))
    assert chat.format == "openai-chat"
    assert [m.role for m in chat.messages] == [m.role for m in session.messages]
    assert chat.messages[2].calls == chat.messages[3].results
    again = load(saved(chat, form="sharegpt"))
    assert again.format == "sharegpt"
    assert same(again.messages, session.messages)
    assert again.tools.names == ("weigh",)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (DATA, "sharegpt"),
        ([DATA], "sharegpt"),
        (turns(("human", "hi")), "sharegpt"),
        ({"messages": turns(("human", "hi"))}, "sharegpt"),
        ({"messages": [typed("user", ("text", "hi"))]}, "sharegpt"),
        ({"conversations": [{"role": "user", "content": "hi"}]}, "sharegpt"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "openai-chat"),
        ({"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, "openai-chat"),
        ({"conversations": [{"id": 3}]}, ""),
        ({"conversations": "none"}, ""),
        ({"from": "me@example.com", "to": "you@example.com"}, ""),
    ],
)
def test_what_is_a_data_set(document: object, name: str) -> None:
    assert name_of(document) == name


def test_an_instruction_set_is_named_for_what_it_is() -> None:
    with pytest.raises(SessionError, match="looks like an Alpaca instruction set"):
        opened([{"instruction": "hi", "input": "", "output": "hello"}])


#: Conversations, roles of the one that is looked at, and which that is.
REAL = {
    "axolotl--conversation.json": (0, 1, {"user": 6, "assistant": 6}),
    "fastchat--dummy_conversation.json": (500, 3, {"user": 3, "assistant": 3}),
    "llamafactory--dpo_zh_demo.json": (300, 7, {"system": 1, "user": 1, "assistant": 1}),
    "llamafactory--glaive_toolcall_zh_demo.json": (
        300,
        3,
        {"user": 2, "assistant": 4, "tool": 2},
    ),
    "llamafactory--reason_tool_use_demo_50.jsonl": (
        50,
        2,
        {"system": 1, "user": 2, "assistant": 4, "tool": 2},
    ),
    "llamafactory--v1_sft_demo.jsonl": (500, 500, {"user": 1, "assistant": 1}),
}


@pytest.mark.parametrize("path", shared("sharegpt"))
def test_real_data_sets(path: Path) -> None:
    if path.name == "llamafactory--identity.json":
        with pytest.raises(SessionError, match="Alpaca"):
            load(path)
        return
    conversations, number, roles = REAL[path.name]
    session = load(path, conversation=str(number))
    assert session.format == "sharegpt"
    assert len(session.conversations) == conversations or number == 1
    counted = {role: sum(m.role == role for m in session.messages) for role in roles}
    assert counted == roles
    assert len(session) == sum(roles.values())
    assert saved(session) == path.read_bytes()
    for one in range(1, conversations + 1, 37):
        session = load(path, conversation=str(one))
        assert all("opaque" not in m.kinds for m in session.messages)
        again = load(saved(session, compacted(session, 1)), conversation=str(one))
        assert same(again.messages, compacted(session, 1))
