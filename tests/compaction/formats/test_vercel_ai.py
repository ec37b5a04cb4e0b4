from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction.formats import recognise
from compaction.messages import (
    Inline,
    Media,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    message,
)

JSON = dict[str, Any]
STEP: JSON = {"type": "step-start"}


def text(said: str) -> JSON:
    return {"type": "text", "text": said}


def tool(call: str, state: str = "output-available", **more: Any) -> JSON:
    answer = {"output": {"kg": 1.5}} if state == "output-available" else {}
    held = {"toolCallId": call, "state": state, "input": {"p": 1}}
    return {"type": "tool-weigh", **held, **answer, **more}


def ui(role: str, *parts: JSON, **more: Any) -> JSON:
    return {"id": f"m-{role}", "role": role, **more, "parts": list(parts)}


TURN = ui(
    "assistant",
    STEP,
    {"type": "reasoning", "text": "why", "providerMetadata": {"anthropic": {"signature": "s"}}},
    text("Both."),
    tool("c1"),
    tool("c2", "output-error", errorText="no scale"),
    {"type": "data-chart", "data": [1, 2]},
    STEP,
    tool("c3", output="plain"),
    STEP,
    {"type": "source-url", "sourceId": "1", "url": "https://a.b"},
    text("It has 1.5 kg."),
    metadata={"model": "m-1", "createdAt": "2026-01-02T03:04:05Z"},
)
TALK = [
    ui("system", text("Be brief.")),
    ui(
        "user",
        text("Weigh them."),
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"},
    ),
    TURN,
    ui("user", text("Thanks."), id="u-2"),
    ui("assistant", STEP, text("Any time."), id="a-2"),
]


def test_a_turn_is_the_messages_that_are_sent_for_it() -> None:
    session = opened(TALK)
    assert session.format == "vercel-ai"
    roles = "system user assistant tool tool assistant tool assistant user assistant"
    assert [m.role for m in session.messages] == roles.split()
    assert session.messages[1].parts == (
        Text("Weigh them."),
        Media("image", "image/png", 3, data="AAAA"),
    )
    assert session.messages[2].parts == (
        Thinking("why", "s"),
        Text("Both."),
        ToolCall("c1", "weigh", '{"p":1}'),
        ToolCall("c2", "weigh", '{"p":1}'),
    )
    assert session.messages[3].parts == (ToolResult("c1", (Text('{"kg":1.5}'),), name="weigh"),)
    assert session.messages[4].parts == (ToolResult("c2", (Text("no scale"),), True, "weigh"),)
    assert session.messages[6].parts == (ToolResult("c3", (Text("plain"),), name="weigh"),)
    assert session.messages[7].parts == (Text("It has 1.5 kg."),)
    assert session.messages[2].model == session.model == "m-1"
    assert session.messages[2].time == "2026-01-02T03:04:05Z"
    assert {m.id for m in session.messages[2:8]} == {"m-assistant"}
    assert not session.problems


@pytest.mark.parametrize(
    ("part", "parts"),
    [
        (tool("c", "input-streaming"), ()),
        (tool("c", "input-available"), (ToolCall("c", "weigh", '{"p":1}'),)),
        (
            tool("c", "approval-requested", approval={"id": "x"}),
            (ToolCall("c", "weigh", '{"p":1}'),),
        ),
        (
            {
                "type": "dynamic-tool",
                "toolName": "look",
                "toolCallId": "c",
                "state": "input-available",
            },
            (ToolCall("c", "look", "{}"),),
        ),
        ({"type": "data-x", "data": 1}, ()),
        ({"type": "source-document", "title": "t"}, ()),
        ({"type": "new"}, (Opaque("new", '{"type":"new"}'),)),
        (
            {"type": "file", "mediaType": "text/plain"},
            (Opaque("file", '{"type":"file","mediaType":"text/plain"}'),),
        ),
        ({"type": "text", "text": 7}, (Opaque("text", '{"type":"text","text":7}'),)),
        (
            {
                "type": "reasoning",
                "text": "",
                "providerMetadata": {"openai": {"reasoningEncryptedContent": "abcd"}},
            },
            (Thinking("", sealed=4),),
        ),
    ],
)
def test_parts_of_a_turn(part: JSON, parts: object) -> None:
    session = opened([ui("user", text("hi")), ui("assistant", part)])
    assert session.messages[1].parts == parts


def test_a_call_that_was_refused_has_an_answer() -> None:
    part = tool("c", "output-denied", approval={"id": "x", "approved": False, "reason": "not now"})
    session = opened([ui("user", text("hi")), ui("assistant", STEP, part)])
    assert session.messages[2].parts == (ToolResult("c", (Text("not now"),), True, "weigh"),)


OLD_CALL = {
    "state": "result",
    "toolCallId": "c1",
    "toolName": "weigh",
    "args": {"p": 1},
    "result": "1 kg",
}


def test_version_4_with_and_without_parts() -> None:
    session = opened(
        [
            {
                "role": "user",
                "content": "Weigh it.",
                "parts": [text("Weigh it.")],
                "experimental_attachments": [
                    {"name": "a.png", "contentType": "image/png", "url": "https://a.b/a.png"}
                ],
                "createdAt": "2026-01-01T00:00:00.000Z",
            },
            {
                "id": "a",
                "role": "assistant",
                "content": "I do.1 kg.",
                "parts": [
                    text("I do."),
                    {"type": "tool-invocation", "toolInvocation": OLD_CALL},
                    text("1 kg."),
                ],
            },
            {
                "role": "assistant",
                "content": "Again.",
                "toolInvocations": [{**OLD_CALL, "toolCallId": "c2"}],
            },
        ]
    )
    assert session.format == "vercel-ai"
    roles = "user assistant tool assistant assistant tool assistant"
    assert [m.role for m in session.messages] == roles.split()
    assert session.messages[0].parts[1] == Media(
        "image", "image/png", name="a.png", url="https://a.b/a.png"
    )
    assert session.messages[0].time == "2026-01-01T00:00:00.000Z"
    assert session.messages[1].parts == (Text("I do."), ToolCall("c1", "weigh", '{"p":1}'))
    assert session.messages[2].parts == (ToolResult("c1", (Text("1 kg"),), name="weigh"),)
    assert session.messages[6].text == "Again."
    out = json.loads(saved(session, [session.messages[0], *session.messages[3:]]))
    assert out[1] == {
        "id": "a-2",
        "role": "assistant",
        "content": "1 kg.",
        "parts": [text("1 kg.")],
    }
    out = json.loads(saved(session, [*session.messages[:4], message("user", "So?")]))
    assert out[2]["content"] == "So?"
    assert out[2]["parts"] == [text("So?")]


MODEL = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [text("Look."), {"type": "image", "image": "AAAA", "mediaType": "image/png"}],
    },
    {
        "role": "assistant",
        "content": [
            {
                "type": "reasoning",
                "text": "why",
                "providerOptions": {"anthropic": {"signature": "s"}},
            },
            {"type": "tool-call", "toolCallId": "c1", "toolName": "weigh", "input": {"p": 1}},
            {"type": "tool-call", "toolCallId": "c2", "toolName": "weigh", "input": {}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "weigh",
                "output": {"type": "json", "value": [1]},
            },
            {
                "type": "tool-result",
                "toolCallId": "c2",
                "toolName": "weigh",
                "output": {"type": "error-text", "value": "no"},
            },
        ],
    },
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "Thanks."},
    {"role": "assistant", "content": "Any time."},
]


def test_model_messages() -> None:
    session = opened({"model": "m", "messages": MODEL})
    assert session.format == "vercel-ai"
    roles = "system user assistant tool tool assistant user assistant"
    assert [m.role for m in session.messages] == roles.split()
    assert session.messages[1].parts[1] == Media("image", "image/png", 3, data="AAAA")
    assert session.messages[2].parts[:2] == (
        Thinking("why", "s"),
        ToolCall("c1", "weigh", '{"p":1}'),
    )
    assert session.messages[3].parts == (ToolResult("c1", (Text("[1]"),), name="weigh"),)
    assert session.messages[4].parts == (ToolResult("c2", (Text("no"),), True, "weigh"),)
    new = compacted(session, 2)
    out = saved(session, new)
    assert same(opened({"messages": [*json.loads(out)["messages"], MODEL[2]]}).messages[:4], new)
    assert json.loads(out)["messages"][1]["role"] == "user"
    # One of two results that stand in one message stays alone.
    out = saved(
        session,
        [*session.messages[:4], message("tool", (ToolResult("c2", (Text("x"),), name="w"),))],
    )
    assert json.loads(out)["messages"][3:] == [
        {"role": "tool", "content": MODEL[3]["content"][:1]},
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c2",
                    "toolName": "w",
                    "output": {"type": "text", "value": "x"},
                }
            ],
        },
    ]


@pytest.mark.parametrize(
    ("block", "content", "failed"),
    [
        ({"result": "r"}, (Text("r"),), False),
        ({"result": {"a": 1}, "isError": True}, (Text('{"a":1}'),), True),
        ({"output": {"type": "execution-denied", "reason": "no"}}, (Text("no"),), True),
        ({"output": {"type": "text", "value": ""}}, (), False),
        (
            {
                "output": {
                    "type": "content",
                    "value": [
                        text("t"),
                        {"type": "media", "data": "AAAA", "mediaType": "image/png"},
                    ],
                }
            },
            (Text("t"), Media("image", "image/png", 3, data="AAAA")),
            False,
        ),
        ({"experimental_content": [text("t")], "result": "r"}, (Text("t"),), False),
        ({"output": 7}, (Text("7"),), False),
    ],
)
def test_results_of_model_messages(block: JSON, content: object, failed: bool) -> None:
    block = {"type": "tool-result", "toolCallId": "c", "toolName": "f", **block}
    session = opened([{"role": "tool", "content": [block]}])
    assert session.messages[0].parts == (ToolResult("c", content, failed, "f"),)  # type: ignore[arg-type]


def test_usage_of_one_step_is_its_context() -> None:
    used = {"usage": {"inputTokens": 30, "outputTokens": 4, "cachedInputTokens": 20}}
    once = ui("assistant", STEP, text("a"), metadata=used)
    twice = ui("assistant", STEP, tool("c"), STEP, text("a"), metadata=used)
    assert opened([once]).messages[0].usage == Usage(30, 4, 20)
    assert all(m.usage is None for m in opened([twice]).messages)


def test_a_cut_inside_a_turn_keeps_what_belongs_to_the_steps_that_stay() -> None:
    session = opened(TALK)
    head, rest = session.messages[:2], session.messages[5:]
    out = json.loads(saved(session, [*head, *rest]))
    assert out[:2] == TALK[:2]
    assert out[3:] == TALK[3:]
    assert out[2]["id"] == "m-assistant-3"
    assert out[2]["metadata"] == TURN["metadata"]
    assert out[2]["parts"] == TURN["parts"][6:]
    assert same(opened(out).messages, [*head, *rest])
    # The beginning of a turn keeps its id, and what is no message stays with its step.
    start = session.messages[:5]
    out = json.loads(saved(session, start))
    assert out[2] == {**TURN, "parts": TURN["parts"][:6]}
    # Without its answer a call is open again.
    out = json.loads(saved(session, [*session.messages[:3], session.messages[4]]))
    assert out[2]["parts"][3] == {
        "type": "tool-weigh",
        "toolCallId": "c1",
        "state": "input-available",
        "input": {"p": 1},
    }
    assert out[2]["parts"][4] == TURN["parts"][4]


def shorter(one: Message, said: str) -> Message:
    result = one.parts[0]
    assert isinstance(result, ToolResult)
    return replace(one, body=Inline((replace(result, content=(Text(said),)),)), spans=())


def test_a_changed_result_goes_into_the_part_of_its_call() -> None:
    session = opened(TALK)
    new = list(session.messages)
    new[3] = shorter(new[3], "cut")
    out = json.loads(saved(session, new))
    roles = "system user assistant assistant user assistant"
    assert [one["role"] for one in out] == roles.split()
    # The rest of its step, signed reasoning too, is as it was.
    assert out[2]["parts"][:3] == TURN["parts"][:3]
    assert out[2]["parts"][3] == tool("c1", output="cut")
    assert out[2]["parts"][4:] == TURN["parts"][4:6]
    assert out[3]["parts"] == TURN["parts"][6:]
    assert len({one["id"] for one in out}) == len(out)
    assert same(opened(out).messages, new)


def test_a_changed_result_of_version_4() -> None:
    first = {"role": "user", "content": "Weigh it."}
    turn = {"role": "assistant", "content": "1 kg", "toolInvocations": [OLD_CALL]}
    session = opened([first, turn])
    new = list(session.messages)
    new[2] = shorter(new[2], "cut")
    out = json.loads(saved(session, new))
    assert out[1]["parts"] == [
        {"type": "tool-invocation", "toolInvocation": {**OLD_CALL, "result": "cut"}}
    ]
    assert out[2]["parts"] == [text("1 kg")]


def test_a_changed_answer_takes_its_results_along() -> None:
    session = opened(TALK)
    new = list(session.messages)
    parts = (Text("First."), *new[2].parts[2:])
    new[2] = replace(new[2], body=Inline(parts), spans=())
    out = json.loads(saved(session, new))
    assert out[2]["parts"][:2] == [STEP, text("First.")]
    assert out[2]["parts"][2] == tool("c1", output='{"kg":1.5}')
    assert same(opened(out).messages, new)


def test_a_compaction_of_ui_messages() -> None:
    data = json.dumps({"id": "chat-1", "messages": TALK, "trigger": "submit"}, indent=2).encode()
    session = opened(data)
    assert saved(session) == data
    new = compacted(session, 2)
    out = json.loads(saved(session, new))
    assert (out["id"], out["trigger"]) == ("chat-1", "submit")
    assert [out["messages"][0], *out["messages"][2:]] == [TALK[0], *TALK[3:]]
    made = out["messages"][1]
    assert (made["role"], made["id"][:4], [p["type"] for p in made["parts"]]) == (
        "user",
        "msg-",
        ["text"],
    )
    assert same(opened(out).messages, new)


def test_conversion_from_and_to_chat() -> None:
    session = opened(TALK)
    chat = json.loads(saved(session, form="openai-chat"))["messages"]
    assert [one["role"] for one in chat] == [m.role for m in session.messages]
    assert chat[2]["tool_calls"][1]["id"] == "c2"
    assert chat[4] == {"role": "tool", "tool_call_id": "c2", "content": "no scale"}
    back = json.loads(saved(opened({"model": "m", "messages": chat}), form="vercel-ai"))
    assert [one["role"] for one in back] == ["system", "user", "assistant", "user", "assistant"]
    types = "step-start text tool-weigh tool-weigh step-start tool-weigh step-start text"
    assert [p["type"] for p in back[2]["parts"]] == types.split()
    assert len({one["id"] for one in back}) == 5
    again = opened(back)
    assert [m.text for m in again.messages[3:]] == [m.text for m in session.messages[3:]]


def test_open_calls_and_orphans_are_written() -> None:
    session = opened({"model": "m", "messages": [{"role": "user", "content": "a"}]})
    new = [
        message("tool", (ToolResult("x", (Text("r"),)),)),
        message(
            "user",
            (Text("a"), Media("image", "image/png", 3, data="AAAA"), Media("file", name="l")),
        ),
        message("assistant", (Thinking("t"), ToolCall("y", "f", "{no"))),
    ]
    out = json.loads(saved(session, new, "vercel-ai"))
    assert out[0]["parts"][0]["toolCallId"] == "x"
    assert out[1]["parts"] == [
        text("a"),
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"},
        text("[file l]"),
    ]
    assert out[2]["parts"] == [
        STEP,
        {"type": "tool-f", "toolCallId": "y", "state": "input-available", "input": "{no"},
    ]


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "parts": [{"text": "Gemini"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": "OpenTelemetry"}]}],
        [{"role": "user", "parts": "a"}, {"role": "user", "content": "a"}],
        [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "a"}]}],
        [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": "b"}],
            }
        ],
        [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}],
        [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}],
        [{"role": [], "parts": [{"type": "text", "text": "a"}]}],
        [{"role": "user", "parts": [7, None]}],
    ],
)
def test_look_alikes_are_not_taken(value: object) -> None:
    found = recognise(json.dumps(value).encode())
    assert found is None or found.name != "vercel-ai"


@pytest.mark.parametrize("odd", [None, 7, "a", [], {}, [[]], [{"type": []}], [None]])
@pytest.mark.parametrize(
    "key", ["parts", "content", "metadata", "toolInvocations", "id", "experimental_attachments"]
)
def test_odd_types_break_nothing(key: str, odd: object) -> None:
    for role in ("user", "assistant", "tool", "system"):
        session = opened(
            [TURN, {"role": role, "content": "a", "parts": [text("b")], key: odd}],
            format="vercel-ai",
        )
        assert len(session) >= 7
        saved(session, session.messages[1:])
        saved(session, session.messages, "openai-chat")


@pytest.mark.parametrize("path", shared("vercel-ui"))
def test_real_files(path: Path) -> None:
    session = opened(path.read_bytes())
    assert session.format == "vercel-ai"
    if path.name == "derived-tau--UIMessages-v5.json":
        assert len(session) == 62
        assert sum(len(m.calls) for m in session.messages) == 20
        assert session.model == "gpt-4o"
    assert saved(session) == path.read_bytes()
    for keep in (2, 7, 20, 41):
        new = compacted(session, keep)
        assert same(opened(saved(session, new)).messages, new)
