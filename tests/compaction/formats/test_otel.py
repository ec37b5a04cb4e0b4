from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import opened, saved, shared

from compaction.errors import ExportError, SessionError
from compaction.formats import recognise
from compaction.formats.otel import OpenTelemetry
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, Usage

JSON = dict[str, Any]


def value(held: Any) -> JSON:
    match held:
        case bool():
            return {"boolValue": held}
        case int():
            return {"intValue": str(held)}
        case list():
            return {"arrayValue": {"values": [value(one) for one in held]}}
        case dict():
            return {
                "kvlistValue": {"values": [{"key": k, "value": value(v)} for k, v in held.items()]}
            }
    return {"stringValue": held}


def span(name: str, at: int, attributes: JSON, trace: str = "t-1", **more: Any) -> JSON:
    listed = [{"key": key, "value": value(held)} for key, held in attributes.items()]
    return {
        "traceId": trace,
        "spanId": f"s-{at}",
        "name": name,
        "startTimeUnixNano": str(10**18 + at),
        "attributes": listed,
        **more,
    }


def otlp(*spans: JSON) -> JSON:
    return {
        "resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]
    }


def sdk(*spans: JSON) -> list[JSON]:
    """The same spans as an SDK prints them: attributes as an object."""
    out = []
    for one in spans:
        attributes = {a["key"]: plain(a["value"]) for a in one["attributes"]}
        at = int(one["startTimeUnixNano"])
        context = {"trace_id": one["traceId"], "span_id": one["spanId"]}
        out.append(
            {"name": one["name"], "context": context, "start_time": at, "attributes": attributes}
        )
    return out


def plain(held: JSON) -> Any:
    if "arrayValue" in held:
        return [plain(one) for one in held["arrayValue"]["values"]]
    return int(held["intValue"]) if "intValue" in held else next(iter(held.values()))


def said(role: str, *parts: JSON) -> JSON:
    return {"role": role, "parts": list(parts)}


def text(content: str) -> JSON:
    return {"type": "text", "content": content}


ASKED = said("user", text("Weigh it."))
CALLED = said(
    "assistant",
    text("I do."),
    {"type": "tool_call", "id": "c1", "name": "weigh", "arguments": {"p": 1}},
)
BACK = said(
    "user", {"type": "tool_call_response", "id": "c1", "name": "weigh", "result": {"kg": 1.5}}
)
DONE = said("assistant", text("1.5 kg."))
TOOLS = [{"type": "function", "name": "weigh", "parameters": {"type": "object"}}]


def chat(at: int, sent: list[JSON], answer: JSON, trace: str = "t-1", **more: Any) -> JSON:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-0",
        "gen_ai.response.model": "m-1",
        "gen_ai.system_instructions": json.dumps([text("Be brief.")]),
        "gen_ai.input.messages": json.dumps(sent),
        "gen_ai.output.messages": json.dumps([answer]),
        "gen_ai.tool.definitions": json.dumps(TOOLS),
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.usage.cache_read.input_tokens": 20,
        **more,
    }
    return span("chat m-0", at, attributes, trace)


TRACE = [
    chat(2, [ASKED], CALLED),
    span("execute_tool weigh", 3, {"gen_ai.operation.name": "execute_tool"}),
    chat(4, [ASKED, CALLED, BACK], DONE),
    span("invoke_agent a", 1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}),
]


def lines(*documents: object, **more: Any) -> bytes:
    return b"\n".join(json.dumps(one, **more).encode() for one in documents)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(otlp(*TRACE), id="one object"),
        pytest.param(lines(otlp(*TRACE[:2]), otlp(*TRACE[2:])), id="lines"),
        pytest.param(
            lines(otlp(*TRACE[:2]), otlp(*TRACE[2:]), indent=1), id="pretty, one after another"
        ),
        pytest.param(sdk(*TRACE), id="list of an SDK"),
        pytest.param(lines(*sdk(*TRACE)), id="lines of an SDK"),
        pytest.param({"data": [{"spans": TRACE}]}, id="wrapped"),
        pytest.param(otlp(*reversed(TRACE)), id="out of order"),
    ],
)
def test_the_last_call_of_a_model_is_the_window(document: object) -> None:
    session = opened(document)
    assert session.format == "otel"
    assert [m.role for m in session.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert session.messages[0].text == "Be brief."
    assert session.messages[2].parts == (Text("I do."), ToolCall("c1", "weigh", '{"p":1}'))
    assert session.messages[3].parts == (ToolResult("c1", (Text('{"kg":1.5}'),), name="weigh"),)
    assert session.messages[4].usage == Usage(30, 4, 20)
    assert (session.model, session.tools.names) == ("m-1", ("weigh",))
    assert session.left_out == {"earlier requests": 1, "records that call no model": 2}
    assert not session.conversations
    assert not session.problems


def test_the_whole_history() -> None:
    session = opened(otlp(*TRACE), history="full")
    assert len(session) == 5
    assert not session.compactions
    assert session.left_out == {"records that call no model": 2}


def test_traces_and_conversations() -> None:
    other = chat(9, [said("user", text("Other."))], DONE, "t-2")
    session = opened(otlp(*TRACE, other))
    assert [(c.id, c.title, c.messages) for c in session.conversations] == [
        ("t-1", "Weigh it.", 5),
        ("t-2", "Other.", 3),
    ]
    assert len(opened(otlp(*TRACE, other), conversation="t-2")) == 3
    named = {"gen_ai.conversation.id": "talk"}
    joined = [
        chat(1, [ASKED], CALLED, "t-1", **named),
        chat(2, [ASKED, CALLED, BACK], DONE, "t-2", **named),
    ]
    session = opened(otlp(*joined))
    assert not session.conversations
    assert session.left_out == {"earlier requests": 1}


@pytest.mark.parametrize(
    ("part", "parts"),
    [
        ({"type": "reasoning", "content": "why"}, (Thinking("why"),)),
        ({"type": "thinking", "content": "why"}, (Thinking("why"),)),
        ({"type": "compaction", "content": "so far"}, (Text("so far"),)),
        (
            {"type": "tool_call", "id": "c", "name": "f", "arguments": "{"},
            (ToolCall("c", "f", "{"),),
        ),
        ({"type": "tool_call", "id": "c", "name": "f"}, (ToolCall("c", "f", "{}"),)),
        (
            {"type": "blob", "mime_type": "image/png", "content": "AAAA"},
            (Media("image", "image/png", 3, data="AAAA"),),
        ),
        (
            {"type": "uri", "modality": "image", "uri": "https://a.b/c"},
            (Media("image", url="https://a.b/c"),),
        ),
        ({"type": "image-url", "url": "https://a.b/c"}, (Media("image", url="https://a.b/c"),)),
        ({"type": "new", "x": 1}, (Opaque("new", '{"type":"new","x":1}'),)),
    ],
)
def test_parts(part: JSON, parts: object) -> None:
    session = opened(otlp(chat(1, [ASKED, said("assistant", part)], DONE)))
    assert session.messages[2].parts == parts


def test_results_of_several_parts() -> None:
    back = {
        "type": "tool_call_response",
        "id": "c",
        "response": [text("a"), {"type": "uri", "uri": "https://a.b"}],
    }
    session = opened(otlp(chat(1, [said("tool", back)], DONE)))
    assert session.messages[1].parts == (
        ToolResult("c", (Text("a"), Media("document", url="https://a.b"))),
    )


OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m-1",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be brief.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "Weigh it.",
    "llm.input_messages.1.message.contents.1.message_content.type": "image",
    "llm.input_messages.1.message.contents.1.message_content.image.image.url": "https://a.b/c.png",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.content": "I do.",
    "llm.input_messages.3.message.role": "assistant",
    "llm.input_messages.3.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.3.message.tool_calls.0.tool_call.function.name": "weigh",
    "llm.input_messages.3.message.tool_calls.0.tool_call.function.arguments": '{"p": 1}',
    "llm.input_messages.4.message.role": "tool",
    "llm.input_messages.4.message.tool_call_id": "c1",
    "llm.input_messages.4.message.content": "1 kg",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "It has 1 kg.",
    "llm.output_messages.10.message.role": "assistant",
    "llm.output_messages.10.message.content": "Really.",
    "llm.tools.0.tool.json_schema": '{"type":"function","function":{"name":"weigh"}}',
    "llm.token_count.prompt": 30,
    "llm.token_count.completion": 4,
    "llm.token_count.prompt_details.cache_read": 20,
}
TRACELOOP = {
    "gen_ai.request.model": "m-1",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be brief.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": json.dumps(
        [
            {"type": "text", "text": "Weigh it."},
            {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}},
        ]
    ),
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.content": "I do.",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "weigh",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"p": 1}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "1 kg",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "It has 1 kg.\nReally.",
    "llm.request.functions.0.name": "weigh",
    "llm.request.functions.0.parameters": '{"type":"object"}',
    "gen_ai.usage.prompt_tokens": 30,
    "gen_ai.usage.completion_tokens": 4,
    "gen_ai.usage.cache_read_input_tokens": 20,
}
VERCEL = {
    "ai.operationId": "ai.streamText.doStream",
    "ai.model.id": "m-1",
    "ai.prompt.messages": json.dumps(
        [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Weigh it."},
                    {"type": "image", "image": "https://a.b/c.png"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I do."},
                    {
                        "type": "tool-call",
                        "toolCallId": "c1",
                        "toolName": "weigh",
                        "input": {"p": 1},
                    },
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c1",
                        "toolName": "weigh",
                        "output": {"type": "text", "value": "1 kg"},
                    }
                ],
            },
        ]
    ),
    "ai.response.text": "It has 1 kg.\nReally.",
    "ai.prompt.tools": ['{"type":"function","name":"weigh","inputSchema":{}}'],
    "ai.usage.inputTokens": 30,
    "ai.usage.outputTokens": 4,
    "ai.usage.cachedInputTokens": 20,
}


@pytest.mark.parametrize("attributes", [OPENINFERENCE, TRACELOOP, VERCEL])
@pytest.mark.parametrize("listed", [otlp, sdk])
def test_other_conventions(attributes: JSON, listed: Any) -> None:
    session = opened(listed(span("call", 1, attributes)))
    assert session.format == "otel"
    assert [m.role for m in session.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert session.messages[1].parts == (Text("Weigh it."), Media("image", url="https://a.b/c.png"))
    assert session.messages[2].parts[0] == Text("I do.")
    assert session.messages[2].calls == session.messages[3].results == ("c1",)
    assert json.loads(session.messages[2].parts[1].arguments) == {"p": 1}  # type: ignore[union-attr]
    assert session.messages[4].text == "It has 1 kg.\nReally."
    assert session.messages[4].usage == Usage(30, 4, 20)
    assert (session.model, session.tools.names) == ("m-1", ("weigh",))


def test_nested_attributes_are_the_same() -> None:
    messages = [
        {"message": {"role": "user", "content": "a"}},
        {
            "message": {
                "role": "assistant",
                "tool_calls": [{"tool_call": {"id": "c", "function": {"name": "f"}}}],
            }
        },
    ]
    held = {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {"input_messages": messages, "model_name": "m"},
    }
    session = opened([{"name": "n", "context": {"trace_id": "t"}, "attributes": held}])
    assert session.model == "m"
    assert session.messages[0].text == "a"
    assert session.messages[1].parts == (ToolCall("c", "f", "{}"),)


def test_messages_in_events() -> None:
    events = [
        {
            "name": "gen_ai.system.message",
            "attributes": [{"key": "content", "value": value("Be brief.")}],
        },
        {
            "name": "gen_ai.user.message",
            "attributes": [{"key": "content", "value": value("Weigh it.")}],
        },
        {
            "name": "gen_ai.assistant.message",
            "attributes": [
                {
                    "key": "tool_calls",
                    "value": value(
                        '[{"id":"c1","type":"function","function":{"name":"weigh","arguments":"{}"}}]'
                    ),
                }
            ],
        },
        {
            "name": "gen_ai.tool.message",
            "attributes": [
                {"key": "id", "value": value("c1")},
                {"key": "content", "value": value("1 kg")},
            ],
        },
        {
            "name": "gen_ai.choice",
            "attributes": [
                {"key": "message", "value": value('{"role":"assistant","content":"Done."}')}
            ],
        },
    ]
    session = opened(otlp(span("chat", 1, {"gen_ai.request.model": "m"}, events=events)))
    assert [(m.role, m.text) for m in session.messages] == [
        ("system", "Be brief."),
        ("user", "Weigh it."),
        ("assistant", "weigh {}"),
        ("tool", "1 kg"),
        ("assistant", "Done."),
    ]
    assert session.messages[3].results == ("c1",)


def test_an_agent_speaks_where_no_call_does() -> None:
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "pydantic_ai.all_messages": json.dumps([ASKED, CALLED, BACK, DONE]),
        "gen_ai.agent.name": "scale",
    }
    session = opened(otlp(span("invoke_agent", 1, agent)))
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert session.title == "scale"


def test_messages_that_were_cut_off_are_told() -> None:
    session = opened(otlp(chat(1, [ASKED], DONE, **{"gen_ai.input.messages": '[{"role": "us'})))
    assert session.messages[1].text == '[{"role": "us'
    assert [f.code for f in session.problems] == ["cut-off"]


def test_a_trace_without_content_says_so() -> None:
    silent = span("chat", 1, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    with pytest.raises(SessionError, match="records 2 model calls, but not what was said"):
        opened(otlp(silent, silent))
    with pytest.raises(SessionError, match="no model is called"):
        opened(otlp(span("GET /", 1, {"http.method": "GET"})))


def test_it_is_read_only_and_written_as_chat() -> None:
    session = opened(otlp(*TRACE))
    with pytest.raises(ExportError, match="can only be read"):
        OpenTelemetry().write(session.messages, session)
    made = json.loads(saved(session))
    assert made["model"] == "m-1"
    assert [one["role"] for one in made["messages"]] == [m.role for m in session.messages]
    assert made["tools"][0]["function"]["name"] == "weigh"
    again = opened(made)
    assert [m.text for m in again.messages] == [m.text for m in session.messages]


@pytest.mark.parametrize(
    "odd", [None, 7, "a", [], {}, [[]], [None], {"a": [{}]}, [{"key": 1}], "[3]", '[{"parts": 3}]']
)
@pytest.mark.parametrize("key", ["attributes", "events", "traceId", "startTimeUnixNano", "name"])
def test_odd_spans_break_nothing(key: str, odd: object) -> None:
    session = opened(otlp(TRACE[0], {**TRACE[2], key: odd}))
    assert len(session) >= 3


@pytest.mark.parametrize(
    "odd", [None, 7, "a", [], {}, "[3]", '[{"parts": 3}]', '[{"role": 3, "parts": [3, {}]}]', "{}"]
)
@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.definitions",
        "gen_ai.response.model",
        "gen_ai.usage.input_tokens",
    ],
)
def test_odd_attributes_break_nothing(key: str, odd: object) -> None:
    document = sdk(chat(1, [ASKED], DONE))
    document[0]["attributes"][key] = odd
    session = opened(document)
    assert len(session) >= 2
    saved(session, form="anthropic")


@pytest.mark.parametrize(
    "document",
    [
        [{"trace_id": "t", "attributes": {"http.method": "GET"}}],
        {"spans": [{"traceId": "t"}]},
        {"data": [{"role": "user", "content": "a"}]},
        [{"attributes": {"llm.model_name": "m"}}],
    ],
)
def test_look_alikes_are_not_taken(document: object) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "otel"


REAL = {
    "agentpile--openai_agents_0.24.0_oi_2.5.3.jsonl": (
        7,
        2,
        0,
        ("records that call no model", "requests of other agents"),
    ),
    "agentpile--pydantic_ai_2.58.0.json": (
        5,
        2,
        2,
        ("earlier requests", "records that call no model"),
    ),
    "agentpile--pydantic_ai_2.58.0_delegation.json": (
        5,
        1,
        2,
        ("earlier requests", "records that call no model"),
    ),
    "openinference-vercel--all-spans.json": (2, 0, 4, ()),
}


@pytest.mark.parametrize("path", shared("otel"))
def test_real_files(path: Path) -> None:
    session = opened(path.read_bytes())
    assert session.format == "otel"
    results = sum(len(m.results) for m in session.messages)
    if path.name in REAL:
        counts = (
            len(session),
            results,
            len(session.conversations),
            tuple(sorted(session.left_out)),
        )
        assert counts == REAL[path.name]
    again = opened(saved(session))
    assert [m.calls for m in again.messages if m.calls] == [
        m.calls for m in session.messages if m.calls
    ]
    assert [m.text for m in again.messages if m.role != "tool"] == [
        m.text for m in session.messages if m.role != "tool"
    ]
