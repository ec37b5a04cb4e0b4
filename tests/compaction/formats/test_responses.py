from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import raw, read, request, response_item, written
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats.base import Sample
from compaction.formats.openai_responses import OpenAIResponses
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, Usage, message

RESPONSES = OpenAIResponses()
SUMMARY = message("user", "What was said.")
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weigh."}]}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abcd"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "w", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "1 kg"}


def doc(items: object, **around: object) -> str:
    return json.dumps({"model": "g", "input": items, **around})


@given(request("input", response_item()))
def test_unchanged_is_written_byte_for_byte(pieces: tuple[str, str, str]) -> None:
    text = "".join(pieces)
    session = read(RESPONSES, text)
    assert written(RESPONSES, session.messages, session) == text.encode()


@given(request("input", response_item()), st.data())
def test_dropping_items_leaves_every_other_byte(
    pieces: tuple[str, str, str], data: st.DataObject
) -> None:
    session = read(RESPONSES, "".join(pieces))
    kept = sorted(data.draw(st.sets(st.integers(0, len(session) - 1))))
    new = [*(session.messages[i] for i in kept), SUMMARY]
    out = written(RESPONSES, new, session)
    assert out.startswith(pieces[0].encode())
    assert out.endswith(pieces[2].encode())
    again = read(RESPONSES, out)
    assert raw(again)[:-1] == [raw(session)[i] for i in kept]
    assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))


@pytest.mark.parametrize(
    ("item", "role", "part"),
    [
        (USER, "user", Text("Weigh.")),
        ({"role": "developer", "content": "Brief."}, "developer", Text("Brief.")),
        (REASONING, "assistant", Thinking("", "", 4)),
        (
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "a"}],
                "content": [{"type": "reasoning_text", "text": "b"}],
            },
            "assistant",
            Thinking("a\n\nb"),
        ),
        (CALL, "assistant", ToolCall("call_1", "w", "{}")),
        (OUTPUT, "tool", ToolResult("call_1", (Text("1 kg"),))),
        (
            {
                **OUTPUT,
                "output": [{"type": "input_image", "image_url": "data:image/png;base64,QUJD"}],
            },
            "tool",
            ToolResult("call_1", (Media("image", "image/png", 3, data="QUJD"),)),
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** x"},
            "assistant",
            ToolCall("c", "patch", "*** x"),
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            "assistant",
            ToolCall("c", "local_shell", '{"command":["ls"]}'),
        ),
        (
            {"type": "local_shell_call_output", "id": "c", "output": "x"},
            "tool",
            ToolResult("c", (Text("x"),)),
        ),
        (
            {
                "type": "computer_call_output",
                "call_id": "c",
                "output": {"type": "computer_screenshot", "image_url": "https://e.example/s.png"},
            },
            "tool",
            ToolResult("c", (Media("image", url="https://e.example/s.png"),)),
        ),
        (
            {"type": "image_generation_call", "id": "i", "result": "QUJD"},
            "assistant",
            Media("image", "image/png", 3, data="QUJD"),
        ),
        (
            {"type": "web_search_call", "id": "ws"},
            "assistant",
            Opaque("web_search_call", '{"type":"web_search_call","id":"ws"}'),
        ),
        (
            {"type": "item_reference", "id": "x"},
            "assistant",
            Opaque("item_reference", '{"type":"item_reference","id":"x"}'),
        ),
    ],
)
def test_items(item: dict[str, Any], role: str, part: object) -> None:
    session = read(RESPONSES, doc([item]))
    assert session.messages[0].role == role
    assert session.messages[0].parts == (part,)


def test_reasoning_is_bound_to_what_follows() -> None:
    session = read(RESPONSES, doc([USER, REASONING, CALL, OUTPUT]))
    assert [m.bound for m in session.messages] == [False, True, False, False]
    assert session.messages[2].calls == session.messages[3].results == ("call_1",)


def test_instructions_are_message_zero() -> None:
    session = read(RESPONSES, doc([USER, CALL, OUTPUT], instructions="Brief."))
    assert session.messages[0].role == "system"
    out = json.loads(written(RESPONSES, [session.messages[0], SUMMARY], session))
    assert out["instructions"] == "Brief."
    assert out["input"] == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "What was said."}],
        }
    ]
    assert len(read(RESPONSES, doc([USER], instructions=""))) == 1


def test_a_plain_string_is_what_the_user_said() -> None:
    session = read(RESPONSES, doc("Weigh é."))
    assert [(m.role, m.preview) for m in session.messages] == [("user", "Weigh é.")]
    assert written(RESPONSES, session.messages, session) == session.source.data
    out = json.loads(written(RESPONSES, [SUMMARY, session.messages[0]], session))
    assert out["input"][1] == {"role": "user", "content": "Weigh é."}


def test_a_request_with_its_response() -> None:
    usage = {"input_tokens": 50, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 30}}
    log = {
        "request": {"model": "g", "input": [USER, USER]},
        "response": {"object": "response", "output": [REASONING, CALL], "usage": usage},
    }
    session = read(RESPONSES, json.dumps(log))
    assert len(session) == 4
    assert session.messages[-1].usage == Usage(50, 9, 30)
    out = json.loads(written(RESPONSES, [SUMMARY, *session.messages[2:]], session))
    assert len(out["request"]["input"]) == 1
    assert out["response"] == log["response"]


def test_what_is_before_the_last_compaction_is_not_live() -> None:
    compaction = {"type": "compaction", "id": "cmp", "encrypted_content": "abcd"}
    text = doc([USER, CALL, OUTPUT, compaction, USER])
    live = read(RESPONSES, text)
    assert [m.role for m in live.messages] == ["assistant", "user"]
    assert live.messages[0].summary == "openai"
    assert live.left_out == {"before the last compaction": 3}
    assert written(RESPONSES, live.messages, live) == text.encode()
    full = read(RESPONSES, text, history="full")
    assert (len(full), full.compactions[0].at) == (5, 3)


def test_context_that_is_not_in_the_file_is_said() -> None:
    session = read(RESPONSES, doc([USER], previous_response_id="resp_1"))
    assert [p.code for p in session.problems] == ["context-not-in-file"]
    assert not read(RESPONSES, doc([USER], previous_response_id=None)).problems


@pytest.mark.parametrize(
    ("value", "is_it"),
    [
        ({"model": "g", "input": "Hi"}, True),
        ({"model": "g", "input": [{"role": "user", "content": "a"}]}, True),
        ({"object": "response", "output": []}, True),
        ([USER], True),
        ([{"role": "user", "content": "a"}, CALL], True),
        ([{"role": "user", "content": "a"}], False),
        ({"model": "g", "messages": []}, False),
        ({"input": {"messages": []}}, False),
        ({}, False),
    ],
)
def test_recognised(value: object, is_it: bool) -> None:
    assert RESPONSES.recognise(Sample(b"", whole=value)) is is_it


def test_real_files(shared_sessions: Path) -> None:
    for path in sorted((shared_sessions / "openai-responses").iterdir()):
        session = read(RESPONSES, path.read_bytes())
        assert written(RESPONSES, session.messages, session) == session.source.data
        again = read(RESPONSES, written(RESPONSES, [SUMMARY, session.messages[-1]], session))
        assert raw(again)[-1] == raw(session)[-1]


def test_messages_of_the_user_before_a_compaction_are_live_where_it_is_the_window() -> None:
    # `/responses/compact` gives back the messages of the user, and the item behind them.
    compaction = {"type": "compaction", "id": "cmp", "encrypted_content": "abcd"}
    live = read(RESPONSES, doc([USER, USER, compaction, CALL, OUTPUT]))
    assert len(live) == 5
    assert live.left_out == {}
