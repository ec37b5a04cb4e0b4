"""Messages as pi holds them, for those that it did not write itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import argument_object
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: By how a model is called: its provider and the API that is asked, as the tool names them.
_PROVIDERS: Sequence[tuple[str, str, str]] = (
    ("claude", "anthropic", "anthropic-messages"),
    ("gemini", "google", "google-generative-ai"),
    ("", "openai", "openai-responses"),
)

_NO_USAGE = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}


def render(
    message: Message, ids: Ids, notes: Notes, tools: Mapping[str, str], model: str
) -> Iterator[dict[str, Any]]:
    """One message as those that stand for it; results are messages of their own.

    `tools` are the names of the tools by the ids of their calls.
    """
    parts = message.parts
    if message.role == "assistant":
        content = [block for part in parts if (block := _block(part, ids, notes)) is not None]
        if content:
            yield _answer(content, message.model or model)
        else:
            notes.tell("empty-message", "a message")
        return
    if message.role in ("system", "developer"):
        notes.tell("system-inside", f"a {message.role} message")
    for part in parts:
        if isinstance(part, ToolResult):
            yield {
                "role": "toolResult",
                "toolCallId": ids.result(part.call_id),
                "toolName": part.name or tools.get(part.call_id, "tool"),
                "content": [_held(inner, notes) for inner in part.content],
                "isError": part.is_error,
            }
    said = [part for part in parts if not isinstance(part, ToolResult)]
    blocks = [block for part in said if (block := _block(part, ids, notes)) is not None]
    if blocks:
        yield {"role": "user", "content": blocks}
    elif len(said) == len(parts):
        notes.tell("empty-message", "a message")


def _answer(content: list[dict[str, Any]], model: str) -> dict[str, Any]:
    provider, api = next((p, a) for start, p, a in _PROVIDERS if start in model.lower())
    calls = any(block["type"] == "toolCall" for block in content)
    return {
        "role": "assistant",
        "content": content,
        "api": api,
        "provider": provider,
        "model": model or "unknown",
        "usage": _NO_USAGE,
        "stopReason": "toolUse" if calls else "stop",
    }


def _block(part: Part, ids: Ids, notes: Notes) -> dict[str, Any] | None:
    match part:
        case Thinking(text=text, sealed=sealed):
            notes.tell("sealed" if sealed and not text else "thinking", "reasoning")
            return None
        case ToolCall(id=call, name=name):
            return {
                "type": "toolCall",
                "id": ids.call(call),
                "name": name,
                "arguments": argument_object(part, notes),
            }
        case ToolResult():
            return None
        case Text() | Media() | Opaque():
            return _held(part, notes)
    raise AssertionError("unreachable")


def _held(part: Text | Media | Opaque, notes: Notes) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Media() if part.kind == "image" and part.data:
            return {"type": "image", "data": part.data, "mimeType": part.mime or "image/png"}
        case Media():
            notes.tell("media", f"{part.mime or part.kind} content")
            return {"type": "text", "text": part.label}
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind} as it is")
            return {"type": "text", "text": text}
    raise AssertionError("unreachable")
