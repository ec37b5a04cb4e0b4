"""Recorded requests and answers (VCR cassettes) whose bodies stand in them as text.

A body is JSON, or a stream of events, which is put together as the answer that it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Value = dict[str, Any]

#: The event that ends a stream of the Responses API, with all that came before it.
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def bodies(value: object) -> Iterator[tuple[Value, Value]]:
    """For each exchange of a cassette what was sent, and what came back; {} for what is no JSON."""
    entries = value.get("interactions") if isinstance(value, Mapping) else None
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping):
            yield _body(entry.get("request")), _body(entry.get("response"))


def holds_text(value: object) -> bool:
    """Whether a body of a cassette stands there as text only."""
    entries = value.get("interactions") if isinstance(value, Mapping) else None
    return any(
        isinstance(side := entry.get(name), Mapping)
        and "parsed_body" not in side
        and bool(_body(side))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping)
        for name in ("request", "response")
    )


def spelled_out(value: object) -> list[Value]:
    """The exchanges of a cassette with their bodies as values."""
    return [
        {"request": {"parsed_body": sent}, "response": {"parsed_body": came}}
        for sent, came in bodies(value)
    ]


def _body(side: object) -> Value:
    if not isinstance(side, Mapping):
        return {}
    if "parsed_body" in side:
        held = side["parsed_body"]
        return held if isinstance(held, dict) else {}
    body = side.get("body")
    text = body.get("string") if isinstance(body, Mapping) else body
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        return {}
    if text.lstrip()[:1] == "{":
        held = _json(text)
        return held if isinstance(held, dict) else {}
    return answer_in(text)


def answer_in(text: str) -> Value:
    """The answer that a stream of events gives; {} when it is none of the known APIs."""
    events = [
        event
        for line in text.splitlines()
        if line.startswith("data:") and isinstance(event := _json(line[5:]), dict)
    ]
    if not events:
        return {}
    if "choices" in events[0]:
        return _chat(events)
    if any(event.get("type") == "message_start" for event in events):
        return _message(events)
    for event in reversed(events):
        if event.get("type") in _ENDS and isinstance(event.get("response"), dict):
            return dict(event["response"])
    done = [
        e["item"] for e in events if e.get("type") == "response.output_item.done" and "item" in e
    ]
    return {"object": "response", "output": done} if done else {}


def _chat(events: list[Value]) -> Value:
    message: Value = {"role": "assistant", "content": None}
    calls: dict[object, Value] = {}
    out: Value = {}
    for event in events:
        out |= {key: event[key] for key in ("id", "model", "usage") if event.get(key)}
        choices = event.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        delta = first.get("delta") if isinstance(first, dict) else None
        if not isinstance(delta, dict):
            continue
        for key in ("content", "reasoning_content", "refusal"):
            if isinstance(said := delta.get(key), str):
                message[key] = (message.get(key) or "") + said
        given = delta.get("tool_calls")
        for call in given if isinstance(given, list) else []:
            if isinstance(call, dict):
                _add_call(calls, call)
    if calls:
        message["tool_calls"] = list(calls.values())
    return {**out, "choices": [{"index": 0, "message": message}]}


def _add_call(calls: dict[object, Value], given: Value) -> None:
    made = calls.setdefault(
        str(given.get("index")),
        {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
    )
    if isinstance(given.get("id"), str):
        made["id"] = made["id"] or given["id"]
    function = given.get("function")
    for key in ("name", "arguments"):
        if isinstance(function, dict) and isinstance(said := function.get(key), str):
            made["function"][key] += said


#: Of the deltas of Anthropic's blocks: where the text is, and which member of the block it goes on.
_DELTAS: Mapping[str, tuple[str, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}


def _message(events: list[Value]) -> Value:
    message: Value = {"role": "assistant"}
    blocks: dict[str, Value] = {}
    for event in events:
        number = str(event.get("index"))
        match event.get("type"):
            case "message_start" if isinstance(event.get("message"), dict):
                message = dict(event["message"])
            case "content_block_start" if isinstance(event.get("content_block"), dict):
                blocks[number] = dict(event["content_block"])
            case "content_block_delta" if number in blocks:
                _add_delta(blocks[number], event.get("delta"))
            case "message_delta" if isinstance(event.get("usage"), dict):
                usage = message.get("usage")
                before = usage if isinstance(usage, dict) else {}
                message["usage"] = {**before, **event["usage"]}
    for block in blocks.values():
        if isinstance(held := block.get("input"), str):
            parsed = _json(held) if held.strip() else {}
            block["input"] = held if parsed is None else parsed
    return {**message, "content": list(blocks.values())}


def _add_delta(block: Value, delta: object) -> None:
    kind = delta.get("type") if isinstance(delta, dict) else None
    found = _DELTAS.get(kind) if isinstance(kind, str) else None
    if found is None or not isinstance(delta, dict):
        return
    said = delta.get(found[0])
    before = block.get(found[1])
    if isinstance(said, str):
        # The input of a call begins as an empty object.
        block[found[1]] = (before if isinstance(before, str) else "") + said


def _json(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
