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
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    message,
)
from compaction.tokens.cache import Keys

JSON = dict[str, Any]


def part(kind: str, content: Any = None, **more: Any) -> JSON:
    held = {} if content is None else {"content": content}
    return {**held, **more, "part_kind": kind}


def request(*parts: JSON, **more: Any) -> JSON:
    return {"parts": list(parts), "instructions": None, **more, "kind": "request"}


def response(*parts: JSON, **more: Any) -> JSON:
    return {"parts": list(parts), "model_name": "m-1", **more, "kind": "response"}


def call(name: str, args: Any = None) -> JSON:
    return part("tool-call", tool_name="weigh", args=args, tool_call_id=name)


def back(name: str, content: Any, **more: Any) -> JSON:
    return part("tool-return", content, tool_name="weigh", tool_call_id=name, **more)


USED = {"input_tokens": 30, "cache_read_tokens": 20, "cache_write_tokens": 5, "output_tokens": 4}
TALK = [
    request(
        part("system-prompt", "Be brief."),
        part("user-prompt", "Weigh them.", timestamp="2026-01-02T03:04:05Z"),
        instructions="Old rules.",
    ),
    response(
        part("thinking", "why", signature="s"),
        part("text", "Both."),
        call("c1", '{"p": 1}'),
        call("c2", {"p": 2}),
        usage=USED,
        timestamp="2026-01-02T03:04:06Z",
        provider_response_id="r-1",
    ),
    request(
        back("c1", {"kg": 1.5}), back("c2", "no scale", outcome="failed"), instructions="Rules: é"
    ),
    response(part("text", "1.5 kg.")),
    request(part("user-prompt", "Thanks."), instructions="Rules: é"),
    response(part("text", "Any time.")),
]


def test_a_run_is_the_messages_that_were_sent() -> None:
    session = opened(TALK)
    assert session.format == "pydantic-ai"
    roles = "system system user assistant tool tool assistant user assistant"
    assert [m.role for m in session.messages] == roles.split()
    # The instructions of the last request are those that hold.
    assert session.messages[0].text == "Rules: é"
    assert session.source.raw(session.messages[0].spans[0]) == json.dumps("Rules: é").encode()
    said = session.messages[3]
    assert said.parts == (
        Thinking("why", "s"),
        Text("Both."),
        ToolCall("c1", "weigh", '{"p": 1}'),
        ToolCall("c2", "weigh", '{"p":2}'),
    )
    assert (said.usage, said.model, said.id) == (Usage(30, 4, 20, 5), "m-1", "r-1")
    assert session.messages[2].time == "2026-01-02T03:04:05Z"
    assert session.messages[4].parts == (ToolResult("c1", (Text('{"kg":1.5}'),), name="weigh"),)
    assert session.messages[5].parts == (ToolResult("c2", (Text("no scale"),), True, "weigh"),)
    assert not session.problems


@pytest.mark.parametrize("wrap", ["messages", "message_history"])
def test_the_list_may_stand_inside(wrap: str) -> None:
    session = opened({"run_id": "r", wrap: TALK, "usage": {"requests": 2}})
    assert (session.format, len(session)) == ("pydantic-ai", 9)
    new = compacted(session, 2)
    out = json.loads(saved(session, new))
    assert out[wrap][-2:] == TALK[-2:]
    assert out["usage"] == {"requests": 2}


def test_instructions_hold_while_calls_are_answered_and_no_longer() -> None:
    answered = [TALK[0], TALK[1], request(back("c1", "a"), back("c2", "b"))]
    assert opened(answered).messages[0].text == "Old rules."
    without = [*answered, TALK[3], request(part("user-prompt", "Hi."))]
    assert opened(without).messages[0].text == "Be brief."
    assert not any(m.pointer == "/instructions" for m in opened(without).messages)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("a", (Text("a"),)),
        (
            ["a", {"kind": "cache-point"}, {"kind": "text-content", "content": "b"}],
            (Text("a"), Text("b")),
        ),
        (
            [{"kind": "binary", "data": "-__-", "media_type": "image/png"}],
            (Media("image", "image/png", 3, data="+//+"),),
        ),
        (
            [{"kind": "image-url", "url": "https://a.b/c.png", "media_type": "image/png"}],
            (Media("image", "image/png", url="https://a.b/c.png"),),
        ),
        (
            [{"kind": "document-url", "url": "https://a.b/c"}],
            (Media("document", url="https://a.b/c"),),
        ),
        ([{"kind": "uploaded-file", "file_id": "f"}], (Media("file", name="f"),)),
        ([{"kind": "new", "x": 1}], (Opaque("new", '{"kind":"new","x":1}'),)),
        ([7], (Opaque("unknown", "7"),)),
        ({"a": 1}, (Opaque("unknown", '{"a":1}'),)),
    ],
)
def test_prompts(content: Any, parts: object) -> None:
    session = opened([request(part("user-prompt", content))])
    assert session.messages[0].parts == parts


def test_other_parts() -> None:
    session = opened(
        [
            request(
                part("user-prompt", "a"), part("retry-prompt", "Answer in JSON."), part("new", "x")
            ),
            response(
                part("builtin-tool-call", tool_name="web", args=None, tool_call_id="n"),
                part("builtin-tool-return", [1], tool_name="web", tool_call_id="n"),
                part("file", {"kind": "binary", "data": "AAAA", "media_type": "image/png"}),
                part("text", "b"),
            ),
            request(
                part("retry-prompt", [{"msg": "bad"}], tool_name="weigh", tool_call_id="c"),
                back("d", ["see", {"kind": "binary", "data": "AAAA", "media_type": "image/png"}]),
                back("e", None),
            ),
        ]
    )
    assert [(m.role, m.injected) for m in session.messages[:3]] == [
        ("user", False),
        ("user", True),
        ("user", True),
    ]
    assert session.messages[2].parts == (Opaque("new", '{"content":"x","part_kind":"new"}'),)
    assert [m.role for m in session.messages[3:]] == [
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
        "tool",
    ]
    assert session.messages[3].parts == (ToolCall("n", "web", "{}"),)
    assert session.messages[4].parts == (ToolResult("n", (Text("[1]"),), name="web"),)
    assert session.messages[5].parts == (Media("image", "image/png", 3, data="AAAA"), Text("b"))
    assert session.messages[6].parts == (
        ToolResult("c", (Text('[{"msg":"bad"}]'),), True, "weigh"),
    )
    assert session.messages[7].parts == (
        ToolResult("d", (Text("see"), Media("image", "image/png", 3, data="AAAA")), name="weigh"),
    )
    assert session.messages[8].parts == (ToolResult("e", (), name="weigh"),)


def test_what_stands_before_a_compaction_of_the_provider_is_not_live() -> None:
    listed = [*TALK[:4], response(part("compaction", "So far: 1.5 kg.")), *TALK[4:]]
    session = opened(listed)
    assert [m.role for m in session.messages] == ["system", "assistant", "user", "assistant"]
    assert session.messages[1].summary == "pydantic-ai"
    assert session.left_out == {"before the last compaction": 4}
    assert [one.at for one in session.compactions] == [1]
    full = opened(listed, history="full")
    assert len(full) == 10
    assert full.messages[full.compactions[0].at].text == "So far: 1.5 kg."
    sealed = opened([request(part("compaction", provider_details={"a": 1}))])
    assert sealed.messages[0].parts == (Thinking("", sealed=7),)


def test_a_compaction_keeps_the_instructions_and_all_other_bytes() -> None:
    data = json.dumps(TALK, indent=2, ensure_ascii=False).encode()
    session = opened(data)
    assert saved(session) == data
    new = compacted(session, 2)
    assert [m.role for m in new] == ["system", "system", "user", "user", "assistant"]
    out = json.loads(saved(session, new))
    assert out[0] == {**TALK[0], "parts": TALK[0]["parts"][:1]}
    assert [one["kind"] for one in out] == ["request", "request", "request", "response"]
    assert out[1]["parts"][0]["part_kind"] == "user-prompt"
    assert out[1]["instructions"] == "Rules: é"
    assert out[2:] == TALK[4:]
    assert same(opened(out).messages, new)
    # Even where the request that has them is not kept.
    out = json.loads(saved(session, [session.messages[0], message("user", "Go on.")]))
    assert opened(out).messages[0].text == "Rules: é"


def test_a_part_of_a_request_stays_alone() -> None:
    session = opened(TALK)
    out = json.loads(saved(session, [*session.messages[:5], *session.messages[6:]]))
    assert out[2] == {**TALK[2], "parts": TALK[2]["parts"][:1]}
    assert [*out[:2], *out[3:]] == [*TALK[:2], *TALK[3:]]


def test_a_changed_result_is_written_as_a_request() -> None:
    session = opened(TALK)
    new = list(session.messages)
    result = replace(new[4].parts[0], content=(Text("cut"),))  # type: ignore[type-var]
    new[4] = replace(new[4], body=Inline((result,)), spans=())
    out = json.loads(saved(session, new))
    made = {
        "tool_name": "weigh",
        "content": "cut",
        "tool_call_id": "c1",
        "part_kind": "tool-return",
    }
    assert out[2]["parts"] == [made]
    assert out[3]["parts"] == TALK[2]["parts"][1:]
    assert same(opened(out).messages, new)


def test_pieces_of_one_record_have_their_own_counts() -> None:
    session = opened([request(part("user-prompt", "ab"), part("user-prompt", "cd"))])
    keys = Keys(session, "o200k_base")
    assert keys.of(session.messages[0]) != keys.of(session.messages[1])


def test_conversion_from_and_to_chat() -> None:
    session = opened(TALK)
    chat = json.loads(saved(session, form="openai-chat"))["messages"]
    assert [one["role"] for one in chat] == [m.role for m in session.messages]
    assert chat[0]["content"] == "Rules: é"
    assert chat[4] == {"role": "tool", "tool_call_id": "c1", "content": '{"kg":1.5}'}
    out = json.loads(saved(opened({"model": "m", "messages": chat}), form="pydantic-ai"))
    assert [one["kind"] for one in out] == ["request", "response"] * 3
    assert [p["part_kind"] for p in out[0]["parts"]] == [
        "system-prompt",
        "system-prompt",
        "user-prompt",
    ]
    again = opened(out)
    assert [m.text for m in again.messages[4:]] == [m.text for m in session.messages[4:]]
    assert again.messages[3].calls == ("c1", "c2")


def test_everything_can_be_written() -> None:
    chat = opened({"model": "m", "messages": [{"role": "user", "content": "a"}]})
    picture = Media("image", "image/png", 3, data="+//+")
    new = [
        message(
            "user",
            (Text("a"), picture, Media("video", url="https://a.b/v"), Media("file", name="l")),
        ),
        message(
            "assistant",
            (Thinking("t"), Text("b"), picture, ToolCall("c", "f", ""), Opaque("o", "{}")),
        ),
        message("tool", (ToolResult("c", (Text("x"), picture), True, "f"),)),
    ]
    out = json.loads(saved(chat, new, "pydantic-ai"))
    held = {"data": "-__-", "media_type": "image/png", "kind": "binary"}
    assert out[0]["parts"][0]["content"] == [
        "a",
        held,
        {"url": "https://a.b/v", "kind": "video-url"},
        "[file l]",
    ]
    assert [p["part_kind"] for p in out[1]["parts"]] == ["text", "file", "tool-call", "text"]
    assert out[1]["parts"][2]["args"] == "{}"
    assert out[2]["parts"][0]["content"] == ["x", held]
    assert out[2]["parts"][0]["outcome"] == "failed"


@pytest.mark.parametrize(
    "value",
    [
        [{"kind": "request", "parts": []}],
        [{"kind": "request", "parts": ["a"]}],
        [{"kind": "event", "parts": [{"part_kind": "text"}]}],
        [{"kind": [], "parts": [{"part_kind": "text"}]}],
        [{"role": "user", "parts": [{"type": "text", "text": "a"}]}],
    ],
)
def test_look_alikes_are_not_taken(value: object) -> None:
    found = recognise(json.dumps(value).encode())
    assert found is None or found.name != "pydantic-ai"


@pytest.mark.parametrize("odd", [None, 7, "a", [], {}, [[]], [{"kind": []}], {"kind": {}}, [None]])
@pytest.mark.parametrize(
    "key",
    [
        "content",
        "args",
        "tool_call_id",
        "tool_name",
        "timestamp",
        "signature",
        "outcome",
        "provider_details",
    ],
)
def test_odd_types_break_nothing(key: str, odd: object) -> None:
    kinds = "system-prompt user-prompt text thinking tool-call tool-return retry-prompt file"
    for kind in [*kinds.split(), "compaction", "new"]:
        listed = [
            request({**part(kind, "a"), key: odd}),
            response({**part(kind, "a"), key: odd}, usage=odd),
        ]
        session = opened([*listed, request(part("user-prompt", "b"), instructions=odd)])
        saved(session, session.messages[-1:])
        saved(session, session.messages, "openai-chat")
        assert session.messages


@pytest.mark.parametrize("path", shared("pydantic-ai"))
def test_real_files(path: Path) -> None:
    session = opened(path.read_bytes())
    assert session.format == "pydantic-ai"
    if path.name == "derived-tau--ModelMessages.json":
        assert len(session) == 62
        assert sum(len(m.results) for m in session.messages) == 20
        assert [m.role for m in session.messages[:3]] == ["system", "user", "assistant"]
        assert session.model == "gpt-4o"
    assert saved(session) == path.read_bytes()
    for keep in (2, 9, 30):
        new = compacted(session, keep)
        assert same(opened(saved(session, new)).messages, new)
