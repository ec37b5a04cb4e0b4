"""Anthropic messages: content blocks read into parts, and parts written as content blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects.blocks import parse_content
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
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

#: What Anthropic accepts as base64 images; everything else is a document or nothing.
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def parse_blocks(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message: its `content`, text or blocks."""
    return parse_content(message.get("content"))


def message_role(message: Mapping[str, Any], parts: Sequence[Part]) -> str:
    """`tool` for a user message of nothing but tool results, else the role it has."""
    role = role_of(message)
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        return "tool"
    return role


# ------------------------------------------------------------------------------------ writing


@dataclass(frozen=True, slots=True)
class Request:
    """What the dialect sends: the system blocks and the messages."""

    system: tuple[dict[str, Any], ...]
    messages: tuple[dict[str, Any], ...]


def render_block(part: Part, ids: Ids, notes: Notes) -> dict[str, Any] | None:
    """One part as a block; None for what the dialect cannot hold, which `notes` then tells."""
    match part:
        case Text(text=text):
            if not text:
                notes.tell("empty-text", "an empty text block")
                return None
            return {"type": "text", "text": text}
        case Thinking():
            notes.tell("thinking", "reasoning of another provider")
            return None
        case ToolCall(id=call, name=name):
            return {
                "type": "tool_use",
                "id": ids.call(call),
                "name": name,
                "input": _arguments(part, notes),
            }
        case ToolResult(call_id=call, content=content, is_error=is_error):
            block: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": ids.result(call),
                "content": _result_content(content, ids, notes),
            }
            return {**block, "is_error": True} if is_error else block
        case Media():
            return _media(part, notes)
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind} as it is")
            return {"type": "text", "text": text}
    raise AssertionError("unreachable")


def render_blocks(parts: Iterable[Part], ids: Ids, notes: Notes) -> list[dict[str, Any]]:
    """Parts as blocks, tool results first, in the order of the calls they answer."""
    rendered = [
        (part, block) for part in parts if (block := render_block(part, ids, notes)) is not None
    ]
    results = [block for part, block in rendered if isinstance(part, ToolResult)]
    results.sort(key=lambda block: ids.order(block["tool_use_id"]))
    return results + [block for part, block in rendered if not isinstance(part, ToolResult)]


def _result_content(
    content: Sequence[Text | Media | Opaque], ids: Ids, notes: Notes
) -> str | list[dict[str, Any]]:
    if not content:
        return ""
    if len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return [block for part in content if (block := render_block(part, ids, notes)) is not None]


def _arguments(call: ToolCall, notes: Notes) -> object:
    if not call.arguments.strip():
        return {}
    try:
        value = exact.loads(call.arguments)
    except exact.ExactError:
        value = None
    if isinstance(value, dict):
        return value
    notes.tell("arguments", f"arguments of {call.name or 'a tool'} that are no JSON object as sent")
    return {"input": call.arguments}


def _media(part: Media, notes: Notes) -> dict[str, Any]:
    source: dict[str, Any] | None = None
    if part.data and part.kind == "image" and part.mime in _IMAGES:
        source = {"type": "base64", "media_type": part.mime, "data": part.data}
    elif part.data and part.kind == "document":
        mime = part.mime or "application/pdf"
        if mime == "application/pdf":
            source = {"type": "base64", "media_type": mime, "data": part.data}
    elif part.url[:4].lower() == "http" and part.kind in ("image", "document"):
        source = {"type": "url", "url": part.url}
    if source is None:
        notes.tell("media", f"{part.mime or part.kind} content")
        return {"type": "text", "text": part.label}
    block: dict[str, Any] = {"type": part.kind, "source": source}
    if part.kind == "document" and part.name:
        block["title"] = part.name
    return block


def render_message(message: Message, ids: Ids, notes: Notes) -> dict[str, Any] | None:
    """One message by itself, merged with nothing; None when nothing of it is left."""
    blocks = render_blocks(message.parts, ids, notes)
    if not blocks:
        return None
    role = "assistant" if message.role == "assistant" else "user"
    return {"role": role, "content": _shortest(blocks)}


def render(messages: Sequence[Message], notes: Notes) -> Request:
    """Messages as a request: leading system messages apart, roles in strict turns.

    Consecutive messages of one side become one, so that the results of a batch stand together
    and before anything else; the first message is the user's.
    """
    ids = Ids(unique=True)
    leading = 0
    while leading < len(messages) and messages[leading].role in ("system", "developer"):
        leading += 1
    system: list[dict[str, Any]] = []
    for index, message in enumerate(messages[:leading]):
        notes.at(index)
        system += render_blocks(message.parts, ids, notes)
    turns: list[tuple[str, list[Part], int]] = []
    for index, message in enumerate(messages[leading:], leading):
        role = "assistant" if message.role == "assistant" else "user"
        if message.role in ("system", "developer"):
            notes.at(index).tell("system-inside", "a system message inside the list")
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(message.parts)
        else:
            turns.append((role, list(message.parts), index))
    out: list[dict[str, Any]] = []
    for role, parts, index in turns:
        blocks = render_blocks(parts, ids, notes.at(index))
        if not blocks:
            continue
        if not out and role == "assistant":
            notes.tell("first-user", "an assistant message at the start")
            out.append({"role": "user", "content": "(the conversation goes on)"})
        if out and out[-1]["role"] == role:
            out[-1]["content"] = _as_blocks(out[-1]["content"]) + blocks
            continue
        out.append({"role": role, "content": blocks})
    for message_out in out:
        message_out["content"] = _shortest(message_out["content"])
    return Request(tuple(system), tuple(out))


def _as_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _shortest(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A single text block as a plain string, which means the same."""
    if isinstance(content, list) and len(content) == 1 and content[0].get("type") == "text":
        return str(content[0]["text"])
    return content


def system_value(blocks: Sequence[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """System blocks as the value of `system`."""
    return _shortest(list(blocks))
