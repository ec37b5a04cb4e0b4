from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction.formats import recognise
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, Usage, message

JSON = dict[str, Any]
CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
    "function": "FunctionMessage",
    "chat": "ChatMessage",
    "remove": "RemoveMessage",
}


def wrapped(kind: str, style: str, **data: Any) -> JSON:
    data = {"content": "", **data}
    if style == "dict":
        return {"type": kind, "data": {**data, "type": kind}}
    if style == "flat":
        return {**data, "type": kind}
    path = ["langchain", "schema", "messages", CLASSES[kind]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {**data, "type": kind}}


def call(name: str, args: JSON, call_id: str) -> JSON:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def talk(style: str) -> list[JSON]:
    usage = {
        "input_tokens": 30,
        "output_tokens": 4,
        "input_token_details": {"cache_read": 20, "cache_creation": 6},
    }
    return [
        wrapped("system", style, content="Be brief."),
        wrapped("human", style, content="Weigh it, please.", id="h-1", name="ana"),
        wrapped(
            "ai",
            style,
            content=[
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "c1", "name": "weigh", "input": {"p": 1}},
            ],
            tool_calls=[call("weigh", {"p": 1}, "c1"), call("look", {}, "c2")],
            usage_metadata=usage,
            response_metadata={"model_name": "m-1"},
            id="run-1",
        ),
        wrapped("tool", style, content="1.10 kg", tool_call_id="c1", name="weigh"),
        wrapped("tool", style, content="nothing", tool_call_id="c2", status="error"),
        wrapped("ai", style, content="It has 1.10 kg."),
        wrapped("human", style, content="And in pounds?"),
        wrapped("ai", style, content="2.43 lb."),
    ]


STYLES = pytest.mark.parametrize("style", ["dict", "dumps", "flat"])


@STYLES
def test_messages_are_read_alike_in_each_serialisation(style: str) -> None:
    session = opened(talk(style))
    assert session.format == "langchain"
    roles = ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert [m.role for m in session.messages] == roles
    assert session.messages[1].name == "ana"
    assert session.messages[1].id == "h-1"
    said = session.messages[2]
    # The call in the content and the one in `tool_calls` are one; the other is there, too.
    assert said.parts == (
        Text("I will."),
        ToolCall("c1", "weigh", '{"p":1}'),
        ToolCall("c2", "look", "{}"),
    )
    assert said.usage == Usage(30, 4, 20, 6)
    assert said.model == session.model == "m-1"
    assert session.messages[3].parts == (ToolResult("c1", (Text("1.10 kg"),), name="weigh"),)
    assert session.messages[4].parts == (ToolResult("c2", (Text("nothing"),), is_error=True),)
    assert not session.problems


@STYLES
@pytest.mark.parametrize("place", ["messages", "values", "channel_values", "prompt", "steps"])
def test_messages_are_found_wherever_they_stand(style: str, place: str) -> None:
    listed = talk(style)
    document: object = {
        "messages": {"messages": listed},
        "values": {"values": {"messages": listed}, "next": [], "config": {"tags": ["a"]}},
        "channel_values": {"checkpoint": {"channel_values": {"messages": listed, "n": 1}}},
        "prompt": {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "prompts", "chat", "ChatPromptValue"],
            "kwargs": {"messages": listed},
        },
        "steps": {"input": {"messages": listed[:2]}, "output": {"messages": listed}},
    }[place]
    session = opened(document)
    assert session.format == "langchain"
    assert len(session) == len(listed)
    new = compacted(session, 2)
    again = opened(saved(session, new))
    assert same(again.messages, new)
    kept = saved(session, new)
    for one in listed[-2:]:
        assert json.dumps(one).encode() in kept
    if place == "steps":
        # The list that is not shown stays as it is.
        assert json.loads(kept)["input"] == {"messages": listed[:2]}


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ({"content": "a"}, (Text("a"),)),
        ({"content": None}, ()),
        ({"content": 7}, (Opaque("unknown", "7"),)),
        ({"content": ["a", {"type": "text", "text": "b"}]}, (Text("a"), Text("b"))),
        (
            {"content": [{"type": "reasoning", "reasoning": "why", "extras": {"signature": "s"}}]},
            (Thinking("why", "s"),),
        ),
        (
            {"content": [{"type": "reasoning", "summary": [{"text": "a"}, {"text": "b"}, 3]}]},
            (Thinking("a\n\nb"),),
        ),
        (
            {"content": [{"type": "reasoning", "encrypted_content": "abcd", "summary": []}]},
            (Thinking("", sealed=4),),
        ),
        (
            {"content": [{"type": "thinking", "thinking": "t", "signature": "s"}]},
            (Thinking("t", "s"),),
        ),
        (
            {"content": [{"type": "image", "base64": "AAAA", "mime_type": "image/png"}]},
            (Media("image", "image/png", 3, data="AAAA"),),
        ),
        (
            {"content": [{"type": "audio", "source_type": "base64", "data": "AAAA"}]},
            (Media("audio", size=3, data="AAAA"),),
        ),
        (
            {
                "content": [
                    {"type": "file", "url": "https://a.b/c.pdf", "mime_type": "application/pdf"}
                ]
            },
            (Media("document", "application/pdf", url="https://a.b/c.pdf"),),
        ),
        ({"content": [{"type": "text-plain", "text": "p"}]}, (Text("p"),)),
        (
            {"content": [{"type": "non_standard", "value": {"a": 1}}]},
            (Opaque("non_standard", '{"type":"non_standard","value":{"a":1}}'),),
        ),
        (
            {
                "content": [
                    {
                        "type": "function_call",
                        "name": "f",
                        "arguments": "{",
                        "call_id": "x",
                        "id": "fc",
                    }
                ],
                "tool_calls": [call("f", {}, "x")],
            },
            (ToolCall("x", "f", "{"),),
        ),
        (
            {"invalid_tool_calls": [{"name": "f", "args": "{no", "id": "x", "error": "bad"}]},
            (ToolCall("x", "f", "{no"),),
        ),
        ({"tool_calls": [7]}, (Opaque("tool_call", "7"),)),
        ({"tool_calls": "no"}, ()),
        (
            {
                "additional_kwargs": {
                    "tool_calls": [
                        {
                            "id": "x",
                            "type": "function",
                            "function": {"name": "f", "arguments": "{}"},
                        }
                    ],
                    "reasoning_content": "why",
                }
            },
            (Thinking("why"), ToolCall("x", "f", "{}")),
        ),
        (
            {
                "tool_calls": [call("f", {}, "x")],
                "additional_kwargs": {"tool_calls": [{"id": "x", "function": {"name": "f"}}]},
            },
            (ToolCall("x", "f", "{}"),),
        ),
        ({"additional_kwargs": 3, "response_metadata": 3, "usage_metadata": 3, "name": {}}, ()),
    ],
)
@STYLES
def test_parts(style: str, data: JSON, parts: object) -> None:
    session = opened([wrapped("human", style, content="hi"), wrapped("ai", style, **data)])
    assert session.messages[1].parts == parts


def test_roles_that_messages_name_themselves() -> None:
    developer = {"__openai_role__": "developer"}
    session = opened(
        [
            wrapped("system", "dict", content="a", additional_kwargs=developer),
            wrapped("chat", "dict", content="b", role="critic"),
            wrapped("chat", "flat", content="b", role="assistant"),
            wrapped("function", "dict", content="c", name="f"),
            {"type": "AIMessageChunk", "data": {"content": "d"}},
        ]
    )
    assert [m.role for m in session.messages] == [
        "developer",
        "critic",
        "assistant",
        "tool",
        "assistant",
    ]
    assert session.messages[3].results == ("f",)


@STYLES
def test_removals_take_messages_away_and_stay_in_the_file(style: str) -> None:
    listed = talk(style)
    listed.insert(2, wrapped("remove", style, id="h-1"))
    session = opened(listed)
    assert [m.id for m in session.messages[:2]] == ["", "run-1"]
    assert session.left_out == {"removed messages": 1, "removals of messages": 1}
    out = saved(session, session.messages[:-1])
    assert json.loads(out) == listed[:-1]
    everything = [*talk(style), wrapped("remove", style, id="__remove_all__"), talk(style)[1]]
    session = opened(everything)
    assert [m.text for m in session.messages] == ["Weigh it, please."]
    assert session.left_out["removed messages"] == 8


def test_what_the_program_put_there_is_told() -> None:
    summed, told = {"lc_source": "summarization"}, {"lc_source": "async_subagent"}
    session = opened(
        [
            wrapped("human", "flat", content="So far: …", additional_kwargs=summed),
            wrapped("human", "flat", content="Done.", additional_kwargs=told),
            wrapped("human", "flat", content="Go on."),
        ]
    )
    assert [m.summary for m in session.messages] == ["langchain", "", ""]
    assert [m.injected for m in session.messages] == [False, True, False]
    assert [m.typed for m in session.messages] == [False, False, True]


@STYLES
def test_a_compaction_is_written_as_the_library_writes(style: str) -> None:
    listed = talk(style)
    data = json.dumps(listed, indent=1).encode()
    session = opened(data)
    new = compacted(session, 2)
    assert [m.role for m in new] == ["system", "user", "user", "assistant"]
    out = saved(session, new)
    again = opened(out)
    assert same(again.messages, new)
    assert again.messages[1].summary
    assert out == saved(session, new)
    written = json.loads(out)
    assert [written[0], *written[2:]] == [listed[0], *listed[-2:]]
    made = written[1]
    held = made["kwargs"] if style == "dumps" else made["data"] if style == "dict" else made
    assert held["additional_kwargs"] == {"lc_source": "summarization"}
    assert held["type"] == "human"
    assert len(held["id"]) == 36
    if style == "dumps":
        assert made["id"] == ["langchain", "schema", "messages", "HumanMessage"]
    assert saved(session) == data


def test_a_changed_message_is_written_whole() -> None:
    session = opened(talk("dict"))
    parts = (
        Thinking("why"),
        Text("a"),
        Media("image", "image/png", 3, data="AAAA"),
        Media("file", name="lost"),
        Opaque("odd", '{"x":1}'),
        ToolCall("c9", "f", '{"n": 1.10}'),
        ToolCall("c8", "f", "{no"),
    )
    new = [
        message("user", "u"),
        message("assistant", parts),
        message("tool", (ToolResult("c9", (Text("r"),), True, "f"), ToolResult("c8", ()))),
        message("critic", "c"),
        message("developer", "d"),
    ]
    out = json.loads(saved(session, new))
    assert [one["type"] for one in out] == ["human", "ai", "tool", "tool", "chat", "system"]
    said = out[1]["data"]
    assert said["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        {"type": "text", "text": "[file lost]"},
        {"type": "text", "text": '{"x":1}'},
    ]
    assert said["tool_calls"] == [call("f", {"n": 1.10}, "c9")]
    assert said["invalid_tool_calls"] == [
        {"name": "f", "args": "{no", "id": "c8", "type": "invalid_tool_call", "error": None}
    ]
    assert b'"n":1.10' in saved(session, new).replace(b" ", b"")
    assert (out[2]["data"]["status"], out[3]["data"]["status"]) == ("error", "success")
    again = opened(out)
    assert [m.role for m in again.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "critic",
        "developer",
    ]


def test_conversion_from_and_to_chat() -> None:
    session = opened(talk("dumps"))
    chat = json.loads(saved(session, form="openai-chat"))["messages"]
    assert chat[2]["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "weigh", "arguments": '{"p":1}'},
    }
    assert chat[3] == {"role": "tool", "tool_call_id": "c1", "content": "1.10 kg"}
    back = opened(saved(opened({"model": "m", "messages": chat}), form="langchain"))
    assert back.format == "langchain"
    assert [m.role for m in back.messages] == [m.role for m in session.messages]
    assert [m.text for m in back.messages] == [m.text for m in session.messages]
    assert [m.calls for m in back.messages] == [m.calls for m in session.messages]


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "human", "content": "a"}],
        [{"type": "text", "content": "a"}],
        [{"type": "system", "content": "a"}, {"type": "user", "content": "a"}],
        [{"type": "message", "role": "user", "content": "a"}],
        [{"lc": 1, "type": "constructor", "id": ["x", "PromptTemplate"], "kwargs": {}}],
        [{"lc": 1, "type": "constructor", "id": 3, "kwargs": {"content": ""}}],
        [{"lc": 1, "type": "constructor", "id": [{}], "kwargs": {"content": ""}}],
        [{"type": "human", "data": "a"}],
        [{"type": [], "content": "a"}],
        {"messages": [{"role": "user", "content": [{"type": "ai", "content": "a"}]}]},
    ],
)
def test_look_alikes_are_not_taken(value: object) -> None:
    found = recognise(json.dumps(value).encode())
    assert found is None or found.name != "langchain"


def test_one_message_a_line() -> None:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in talk("dict"))
    session = opened(data)
    assert (session.format, len(session)) == ("langchain", 8)
    assert saved(session, session.messages[1:]) == data.partition(b"\n")[2]


COUNTS = {
    "deepagents--summarization_seed_messages.json": (6, 2, "claude-sonnet-4-5-20250929"),
    "derived-tau--lc-dumps.json": (62, 20, ""),
    "derived-tau--messages_to_dict.json": (62, 20, ""),
}


@pytest.mark.parametrize("path", shared("langchain"))
def test_real_files(path: Path) -> None:
    session = opened(path.read_bytes())
    assert session.format == "langchain"
    results = sum(len(m.results) for m in session.messages)
    calls = sum(len(m.calls) for m in session.messages)
    assert calls == results
    if path.name in COUNTS:
        assert (len(session), results, session.model) == COUNTS[path.name]
    assert saved(session) == path.read_bytes()
    new = compacted(session, 3)
    assert same(opened(saved(session, new)).messages, new)
