"""Goose's content blocks, read into parts and written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import argument_object
from compaction.messages import (
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: Blocks for the person at the screen; no provider is sent them.
_SCREEN = frozenset(
    {
        "actionRequired",
        "contextLengthExceeded",
        "conversationCompacted",
        "summarizationRequested",
        "systemNotification",
        "toolConfirmationRequest",
    }
)


def is_shown_only(message: object) -> bool:
    """Whether a message has nothing but blocks for the screen."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return isinstance(content, list) and bool(content) and all(map(_for_screen, content))


def _for_screen(block: object) -> bool:
    kind = block.get("type") if isinstance(block, Mapping) else None
    return isinstance(kind, str) and kind in _SCREEN


def parse(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of a message that a provider is sent."""
    content = message.get("content")
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        return ()
    return tuple(_block(block) for block in content if not _for_screen(block))


def _block(block: object) -> Part:
    if not isinstance(block, Mapping):
        return opaque(block)
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return Text(block["text"])
        case "image" if isinstance(block.get("data"), str):
            return media.from_base64(block["data"], text_of(block.get("mimeType")), "image")
        case "thinking" | "reasoning":
            text = text_of(block.get("thinking", block.get("text")))
            signature = text_of(block.get("signature"))
            return Thinking(text, signature, 0 if text else len(signature))
        case "redactedThinking":
            return Thinking("", sealed=len(text_of(block.get("data"))))
        case "toolRequest" | "frontendToolRequest":
            return _call(block)
        case "toolResponse":
            return _result(block)
    return opaque(block)


def _call(block: Mapping[str, Any]) -> ToolCall | Opaque:
    held = block.get("toolCall")
    value = held.get("value", held) if isinstance(held, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        # A call that the model wrote wrongly: only the error is kept of it.
        return opaque(block)
    given = value.get("arguments")
    arguments = given if isinstance(given, str) else exact.dumps({} if given is None else given)
    return ToolCall(text_of(block.get("id")), value["name"], arguments)


def _result(block: Mapping[str, Any]) -> ToolResult:
    held = block.get("toolResult")
    call = text_of(block.get("id"))
    if not isinstance(held, Mapping):
        return ToolResult(call, (opaque(held),) if held is not None else ())
    if held.get("status") == "error" or ("error" in held and "value" not in held):
        text = text_of(held.get("error"))
        return ToolResult(call, (Text(text),) if text else (), is_error=True)
    value = held.get("value")
    failed = False
    if isinstance(value, Mapping):
        failed = value.get("isError") is True
        value = value.get("content")
    blocks = value if isinstance(value, list) else [] if value is None else [value]
    content = tuple(_content(one) for one in blocks if _for_model(one))
    return ToolResult(call, content, is_error=failed)


def _for_model(block: object) -> bool:
    """Tools may mark a content as one for the person alone."""
    marks = block.get("annotations") if isinstance(block, Mapping) else None
    audience = marks.get("audience") if isinstance(marks, Mapping) else None
    return not isinstance(audience, list) or not audience or "assistant" in audience


def _content(block: object) -> Text | Media | Opaque:
    if isinstance(block, str):
        return Text(block)
    if not isinstance(block, Mapping):
        return opaque(block)
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return Text(block["text"])
        case "image" | "audio" as kind if isinstance(block.get("data"), str):
            return media.from_base64(block["data"], text_of(block.get("mimeType")), kind)
        case "resource":
            inner = block.get("resource")
            if isinstance(inner, Mapping) and isinstance(inner.get("text"), str):
                return Text(inner["text"])
    return opaque(block)


# ------------------------------------------------------------------------------------ writing


def render(parts: Sequence[Part], notes: Notes) -> list[dict[str, Any]]:
    """Parts as blocks; what cannot be held is told."""
    return [block for part in parts if (block := _rendered(part, notes)) is not None]


def _rendered(part: Part, notes: Notes) -> dict[str, Any] | None:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text} if text else None
        case Thinking():
            notes.tell("thinking", "reasoning of another provider")
            return None
        case ToolCall(id=call, name=name):
            asked = {"name": name, "arguments": argument_object(part, notes)}
            return {"type": "toolRequest", "id": call, "toolCall": _success(asked)}
        case ToolResult(call_id=call, content=content, is_error=is_error):
            blocks = [one for inner in content if (one := _inside(inner, notes))]
            answer = {"content": blocks, "isError": is_error}
            return {"type": "toolResponse", "id": call, "toolResult": _success(answer)}
        case Media():
            if part.kind == "image" and part.data:
                return {"type": "image", "data": part.data, "mimeType": part.mime}
            notes.tell("media", f"{part.mime or part.kind} content")
            return {"type": "text", "text": part.label}
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind}")
            return {"type": "text", "text": text}
    raise AssertionError("unreachable")


def _success(value: dict[str, Any]) -> dict[str, Any]:
    return {"status": "success", "value": value}


def _inside(part: Text | Media | Opaque, notes: Notes) -> dict[str, Any] | None:
    if isinstance(part, Media) and part.kind in ("image", "audio") and part.data:
        return {"type": part.kind, "data": part.data, "mimeType": part.mime}
    return _rendered(part, notes)
