"""Recorded requests (VCR cassettes) and demonstrations in YAML."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from agent_files import compacted, same, saved, shared

from compaction import load
from compaction.formats.cassettes import answer_in
from compaction.formats.yaml_chat import dialect_of
from compaction.messages import Session, Text, Thinking, ToolCall, ToolResult, Usage

ASKED = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}


MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [],
    "usage": {"input_tokens": 7},
}


def cassette(*exchanges: tuple[Any, Any]) -> bytes:
    entries = [
        {"request": {"body": sent, "uri": "x"}, "response": {"body": {"string": came}}}
        for sent, came in exchanges
    ]
    return yaml.safe_dump({"interactions": entries, "version": 1}).encode()


def events(*values: object) -> str:
    return "".join(f"event: x\ndata: {json.dumps(value)}\n\n" for value in values)


def test_bodies_that_are_json_in_a_text() -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "hello"}}]}
    session = load(cassette((json.dumps(ASKED), json.dumps(answer))))
    assert session.format == "yaml"
    assert [(one.role, one.text) for one in session.messages] == [
        ("user", "hi"), ("assistant", "hello"),
    ]  # fmt: skip
    assert session.model == "gpt-4o"
    again = load(saved(session, session.messages[1:]))
    assert again.format == "yaml"
    assert same(again.messages, session.messages[1:])


def test_several_requests_of_one_conversation() -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "hello"}}]}
    longer = {**ASKED, "messages": [*ASKED["messages"], answer["choices"][0]["message"],
                                    {"role": "user", "content": "more"}]}  # fmt: skip
    data = cassette(
        (json.dumps(ASKED), json.dumps(answer)), (json.dumps(longer), json.dumps(answer))
    )
    session = load(data)
    assert len(session) == 4
    assert [one.code for one in session.problems] == ["growing-log"]
    assert len(load(data, conversation="1")) == 2


def test_a_chat_that_was_streamed() -> None:
    def chunk(**delta: Any) -> dict[str, Any]:
        return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]}

    def call(index: int, **more: Any) -> dict[str, Any]:
        return chunk(tool_calls=[{"index": index, **more}])

    came = events(
        chunk(role="assistant", content=""),
        chunk(content="Hel"),
        chunk(content="lo"),
        call(0, id="c1", function={"name": "ls", "arguments": ""}),
        call(0, function={"arguments": '{"a":'}),
        call(1, id="c2", function={"name": "cat", "arguments": "{}"}),
        call(0, function={"arguments": "1}"}),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    )
    session = load(cassette((json.dumps(ASKED), came + "data: [DONE]\n\n")))
    assert session.messages[1].parts == (
        Text("Hello"),
        ToolCall("c1", "ls", '{"a":1}'),
        ToolCall("c2", "cat", "{}"),
    )
    assert session.messages[1].usage == Usage(9, 4)


def test_a_message_of_anthropic_that_was_streamed() -> None:
    def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
        return {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": kind, **more},
        }

    def start(index: int, **block: Any) -> dict[str, Any]:
        return {"type": "content_block_start", "index": index, "content_block": block}

    came = events(
        {"type": "message_start", "message": MESSAGE},
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm"),
        delta(0, "signature_delta", signature="sig"),
        start(1, type="text", text=""),
        delta(1, "text_delta", text="Hel"),
        delta(1, "text_delta", text="lo"),
        start(2, type="tool_use", id="t1", name="ls", input={}),
        delta(2, "input_json_delta", partial_json='{"a"'),
        delta(2, "input_json_delta", partial_json=": 1}"),
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}},
    )  # fmt: skip
    asked = {"model": "claude", "max_tokens": 9, "system": "Be.", "messages": ASKED["messages"]}
    session = load(cassette((json.dumps(asked), came)))
    assert dialect_of(session) == "anthropic"
    assert [one.role for one in session.messages] == ["system", "user", "assistant"]
    assert session.messages[2].parts == (
        Thinking("Hm", "sig"),
        Text("Hello"),
        ToolCall("t1", "ls", '{"a":1}'),
    )
    assert session.messages[2].usage == Usage(7, 3)
    messages = compacted(session, keep=1)
    assert same(load(saved(session, messages)).messages, messages)


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], {"type": 1}])
def test_odd_events_break_nothing(value: Any) -> None:
    for first in ({"choices": value}, {"type": "message_start", "message": value}, {"type": value}):
        answer_in(events(first, value))
    block = {"type": "content_block_start", "index": value, "content_block": {"type": "text"}}
    delta = {"type": "content_block_delta", "index": value, "delta": value}
    answer_in(events({"type": "message_start", "message": {}}, block, delta))
    answer_in(events({"choices": [{"delta": {"tool_calls": value, "content": value}}]}))
    answer_in(events({"choices": [{"delta": {"tool_calls": [{"function": value, "id": value}]}}]}))


def test_a_result_that_names_its_call_in_a_list() -> None:
    text = b"""history:
- role: assistant
  content: Looking.
  tool_calls:
  - {id: c1, type: function, function: {name: ls, arguments: "{}"}}
- role: tool
  content: a.py
  tool_call_ids: [c1]
"""
    session = load(text)
    assert session.messages[1].parts == (ToolResult("c1", (Text("a.py"),)),)


# --------------------------------------------------------------------------------- real files

ROLES = {
    "pydantic-ai--test_anthropic_web_fetch_tool.yaml": "uaua",
    "pydantic-ai--test_openai_responses_thinking_part_iter.yaml": "uaa",
    "swe-agent--str_replace_anthropic_demo.yaml": "uatatatat",
}


@pytest.mark.parametrize("path", shared("yaml-transcripts"))
def test_real_files(path: Any) -> None:
    session: Session = load(path)
    assert session.format == "yaml"
    assert "".join(one.role[0] for one in session.messages) == ROLES[path.name]
    calls = [call for one in session.messages for call in one.calls]
    assert calls == [call for one in session.messages for call in one.results]
    assert saved(session) == path.read_bytes()
    messages = compacted(session, keep=2)
    # In a cassette, the last request is no longer a longer version of the one before it.
    shown = str(len(session.conversations)) if session.conversations else None
    again = load(saved(session, messages), conversation=shown)
    assert same(again.messages, messages)
