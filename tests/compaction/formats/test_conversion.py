from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import read
from hypothesis import given
from hypothesis import strategies as st

from compaction import load
from compaction.formats.anthropic_messages import AnthropicMessages
from compaction.formats.openai_chat import OpenAIChat
from compaction.formats.openai_responses import OpenAIResponses
from compaction.messages import Media, Message, Session, Text, Thinking, ToolCall, ToolResult

CHAT, ANTHROPIC, RESPONSES = OpenAIChat(), AnthropicMessages(), OpenAIResponses()


def converted(form: Any, session: Session) -> tuple[dict[str, Any], list[str]]:
    result = form.write(session.messages, session)
    return json.loads(b"".join(result.chunks)), [f.code for f in result.findings]


def chat(*messages: object, **around: object) -> Session:
    return read(CHAT, json.dumps({"model": "m", "messages": messages, **around}))


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": arguments}}


def result(name: str, content: object = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": content}


USER = {"role": "user", "content": "a"}


# -------------------------------------------------------------------------------- anthropic


def test_results_of_a_batch_are_one_user_message_in_the_order_of_the_calls() -> None:
    session = chat(
        {"role": "system", "content": "Brief."},
        USER,
        {
            "role": "assistant",
            "content": "Both.",
            "tool_calls": [call("x", '{"p": 1.10}'), call("y")],
        },
        result("y", "2"),
        result("x", "1"),
        USER,
    )
    out, told = converted(ANTHROPIC, session)
    assert out["system"] == "Brief."
    assert [m["role"] for m in out["messages"]] == ["user", "assistant", "user"]
    assert out["messages"][1]["content"] == [
        {"type": "text", "text": "Both."},
        {"type": "tool_use", "id": "x", "name": "f", "input": {"p": 1.10}},
        {"type": "tool_use", "id": "y", "name": "f", "input": {}},
    ]
    assert out["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "x", "content": "1"},
        {"type": "tool_result", "tool_use_id": "y", "content": "2"},
        {"type": "text", "text": "a"},
    ]
    assert not told


def test_number_spelling_passes_from_text_to_object() -> None:
    session = chat(
        USER,
        {"role": "assistant", "tool_calls": [call("x", '{"n":1.10,"m":123456789012345678901}')]},
    )
    raw = b"".join(ANTHROPIC.write(session.messages, session).chunks)
    assert b'"n": 1.10' in raw
    assert b'"m": 123456789012345678901' in raw


@pytest.mark.parametrize("arguments", ["{broken", "[1]", "3"])
def test_arguments_that_are_no_object_are_wrapped_and_said(arguments: str) -> None:
    session = chat(USER, {"role": "assistant", "tool_calls": [call("x", arguments)]})
    out, told = converted(ANTHROPIC, session)
    assert out["messages"][1]["content"][0]["input"] == {"input": arguments}
    assert told == ["export-arguments"]


def test_repeated_long_and_missing_ids_are_replaced_alike_everywhere() -> None:
    long = "call_" + "x" * 100
    ids = ["call_0", "call_0", long, "call_7|fc_7", "call 8", ""]
    turns = [
        turn
        for one in ids
        for turn in ({"role": "assistant", "tool_calls": [call(one)]}, result(one))
    ]
    session = chat(USER, *turns)
    for form, use, answer in (
        (ANTHROPIC, "id", "tool_use_id"),
        (RESPONSES, "call_id", "call_id"),
    ):
        out, told = converted(form, session)
        flat = [
            block
            for entry in out.get("messages") or out["input"]
            for block in (entry["content"] if isinstance(entry.get("content"), list) else [entry])
        ]
        uses = [b[use] for b in flat if b.get("type") in ("tool_use", "function_call")]
        answers = [b[answer] for b in flat if b.get("type", "").endswith(("_result", "_output"))]
        assert uses == answers
        assert all(0 < len(name) <= 64 for name in uses)
        assert len(set(uses)) == (6 if form is ANTHROPIC else 5)
        assert uses[0] == "call_0"
        assert "call_7" in uses
        assert told == ["export-call-id"]
        assert converted(form, session)[0] == out


def test_the_first_message_is_the_users() -> None:
    out, told = converted(ANTHROPIC, chat({"role": "assistant", "content": "Hello"}, USER))
    assert [m["role"] for m in out["messages"]] == ["user", "assistant", "user"]
    assert told == ["export-first-user"]


def test_a_system_message_inside_the_list_is_the_users_and_said() -> None:
    out, told = converted(ANTHROPIC, chat(USER, {"role": "system", "content": "late"}))
    assert "system" not in out
    assert out["messages"][0]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "late"},
    ]
    assert told == ["export-system-inside"]


def test_tools_are_said_in_each_dialect() -> None:
    schema = {"type": "object", "properties": {"p": {"type": "number"}}}
    function = {"name": "weigh", "description": "Weighs.", "parameters": schema}
    session = chat(USER, tools=[{"type": "function", "function": function}])
    as_anthropic, _ = converted(ANTHROPIC, session)
    assert as_anthropic["tools"] == [
        {"name": "weigh", "description": "Weighs.", "input_schema": schema}
    ]
    as_items, _ = converted(RESPONSES, session)
    assert as_items["tools"] == [{"type": "function", **function}]
    back, told = converted(CHAT, read(ANTHROPIC, json.dumps({**as_anthropic, "system": "s"})))
    assert back["tools"] == [{"type": "function", "function": function}]
    assert not told
    server = {"type": "web_search_20250305", "name": "web_search"}
    body = {"system": "s", "messages": [USER], "tools": [server]}
    out, told = converted(CHAT, read(ANTHROPIC, json.dumps(body)))
    assert "tools" not in out
    assert told == ["export-tools"]


# ---------------------------------------------------------------------- reasoning and media


def test_thinking_stays_with_its_provider() -> None:
    thinking = {"type": "thinking", "thinking": "why", "signature": "sig"}
    body = {
        "system": "s",
        "messages": [
            USER,
            {"role": "assistant", "content": [thinking, {"type": "text", "text": "b"}]},
        ],
    }
    session = read(ANTHROPIC, json.dumps(body))
    for form in (CHAT, RESPONSES):
        out, told = converted(form, session)
        assert "why" not in json.dumps(out)
        assert "sig" not in json.dumps(out)
        assert told == ["export-thinking"]


def test_items_of_one_response_become_one_message() -> None:
    items = [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "abcd"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "id": "fd", "call_id": "c2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"type": "function_call_output", "call_id": "c2", "output": "2"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "c"}]},
    ]
    session = read(RESPONSES, json.dumps({"model": "g", "instructions": "Brief.", "input": items}))
    out, told = converted(CHAT, session)
    assert [m["role"] for m in out["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    assert out["messages"][2]["content"] == "b"
    assert [c["id"] for c in out["messages"][2]["tool_calls"]] == ["c1", "c2"]
    assert told == ["export-thinking"]
    finding = CHAT.write(session.messages, session).findings[0]
    assert finding.message == 2
    as_anthropic, _ = converted(ANTHROPIC, session)
    assert as_anthropic["system"] == "Brief."
    assert [m["role"] for m in as_anthropic["messages"]] == [
        "user", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_a_sealed_compaction_that_cannot_come_along_is_an_error() -> None:
    items = [{"role": "user", "content": "a"}, {"type": "compaction", "encrypted_content": "abcd"}]
    session = read(RESPONSES, json.dumps({"model": "g", "input": [*items, items[0]]}))
    result = CHAT.write(session.messages, session)
    assert ("error", "export-sealed") in [(f.level, f.code) for f in result.findings]


def test_pictures_pass_where_they_can_and_are_labelled_where_not() -> None:
    url = "data:image/png;base64,iVBORw0K"
    picture = {"type": "image_url", "image_url": {"url": url}}
    sound = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    session = chat({"role": "user", "content": [picture, sound]})
    out, told = converted(ANTHROPIC, session)
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}
    assert out["messages"][0]["content"] == [
        {"type": "image", "source": source},
        {"type": "text", "text": "[audio/wav, 4 bytes]"},
    ]
    assert told == ["export-media"]
    items, _ = converted(RESPONSES, session)
    assert items["input"][0]["content"][0] == {"type": "input_image", "image_url": url}
    body = {
        "system": "s",
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t",
                        "content": [{"type": "image", "source": source}],
                    }
                ],
            },
        ],
    }
    back, told = converted(CHAT, read(ANTHROPIC, json.dumps(body)))
    assert back["messages"][2]["content"] == "[image/png, 6 bytes]"
    assert told == ["export-media"]


def test_an_unknown_block_is_never_dropped() -> None:
    odd = {"type": "x_new", "n": [1, 2]}
    session = chat({"role": "user", "content": [odd]})
    for form in (ANTHROPIC, RESPONSES):
        out, told = converted(form, session)
        assert json.dumps('{"type":"x_new","n":[1,2]}')[1:-1] in json.dumps(out)
        assert told == ["export-opaque"]


# ------------------------------------------------------------------------------------- laws

WORDS = st.text('aé😀"\\\n ', min_size=1, max_size=6).filter(str.strip)


@st.composite
def valid_chats(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Chats that every API can hold: turns of a user, calls with all their results, an answer."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": draw(WORDS)}]
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        messages.append({"role": "user", "content": draw(WORDS)})
        for _ in range(draw(st.integers(0, 2))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                calls.append(call(f"call_{number}", json.dumps({"k": draw(WORDS)})))
            messages.append({"role": "assistant", "content": draw(WORDS), "tool_calls": calls})
            messages += [result(one["id"], draw(WORDS)) for one in calls]
        messages.append({"role": "assistant", "content": draw(WORDS)})
    return messages


def said(messages: tuple[Message, ...]) -> list[object]:
    """What is said, in order: texts, calls with what they ask, results with what they answer."""
    out: list[object] = []
    for one in messages:
        for part in one.parts:
            match part:
                case ToolCall(id=name, name=tool, arguments=text):
                    out.append((name, tool, json.loads(text)))
                case ToolResult(call_id=name):
                    out.append((name, part.text))
                case Text(text=text):
                    out.append((one.role, text))
                case Thinking() | Media():
                    out.append(part)
    return out


@given(valid_chats(), st.permutations([ANTHROPIC, RESPONSES, CHAT]))
def test_what_is_said_survives_every_chain_of_formats(
    messages: list[dict[str, Any]], chain: list[Any]
) -> None:
    session = chat(*messages)
    expected = said(session.messages)
    for form in chain:
        written = form.write(session.messages, session)
        assert not written.findings
        session = read(form, b"".join(written.chunks))
        assert said(session.messages) == expected


def test_real_files_convert(shared_sessions: Path) -> None:
    for folder, form in (
        ("openai-chat", CHAT),
        ("llm-request-logs", CHAT),
        ("anthropic-messages", ANTHROPIC),
        ("openai-responses", RESPONSES),
    ):
        for path in sorted((shared_sessions / folder).iterdir()):
            session = read(form, path.read_bytes())
            for other in (CHAT, ANTHROPIC, RESPONSES):
                again = read(other, b"".join(other.write(session.messages, session).chunks))
                calls = [c for m in session.messages for c in m.calls]
                assert len([c for m in again.messages for c in m.calls]) == len(calls)


def test_white_space_that_a_client_recorded_is_not_sent_to_anthropic() -> None:
    blocks = [
        {"type": "text", "text": "\n\n"},
        {"type": "thinking", "thinking": "Four lanes.", "signature": "c2ln"},
        {"type": "text", "text": "Lane four."},
    ]
    lines: list[dict[str, Any]] = [
        {"type": "user", "uuid": "1", "parentUuid": None, "sessionId": "s", "isSidechain": False,
         "message": {"role": "user", "content": "Which lane?"}},
        {"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s",
         "isSidechain": False, "message": {"id": "m", "role": "assistant", "content": blocks}},
    ]  # fmt: skip
    session = load("\n".join(map(json.dumps, lines)).encode())
    assert session.format == "claude-code"
    document, _ = converted(AnthropicMessages(), session)
    assert document["messages"][1]["content"] == blocks[1:]
