"""Anthropic messages: content blocks read into parts, and parts written as content blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.formats.dialects.blocks import parse_content
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
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

#: Blocks that no other dialect has, and those it has only with a `source`.
_OWN_BLOCKS = frozenset(
    {
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "compaction",
        "container_upload",
        "mcp_tool_result",
        "mcp_tool_use",
        "redacted_thinking",
        "search_result",
        "server_tool_use",
        "text_editor_code_execution_tool_result",
        "thinking",
        "tool_result",
        "tool_use",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
_SOURCED = frozenset({"image", "document"})

#: What only chat messages have.
_CHAT_ROLES = frozenset({"system", "developer", "tool", "function"})
_CHAT_KEYS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content")

#: Formats whose records hold this dialect's own blocks.
_NATIVE = frozenset({"anthropic", "claude-code"})

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


def speaks_chat(messages: Sequence[object]) -> bool:
    """Whether any message is one that only a chat API has."""
    return any(
        isinstance(message, Mapping)
        and (
            str(message.get("role")) in _CHAT_ROLES
            or any(message.get(key) is not None for key in _CHAT_KEYS)
        )
        for message in messages
    )


def speaks(messages: Sequence[object]) -> bool:
    """Whether messages are of this dialect: a block says so, and nothing is of a chat API."""
    return any(_has_own_block(message) for message in messages) and not speaks_chat(messages)


def _has_own_block(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return False
    return any(
        isinstance(block, Mapping)
        and (
            str(block.get("type")) in _OWN_BLOCKS
            or (str(block.get("type")) in _SOURCED and "source" in block)
        )
        for block in content
    )


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
            if not text.strip():
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
                "input": argument_object(part, notes),
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
    blocks = [block for part in parts if (block := render_block(part, ids, notes)) is not None]
    return _results_first(blocks, ids)


def _result_content(
    content: Sequence[Text | Media | Opaque], ids: Ids, notes: Notes
) -> str | list[dict[str, Any]]:
    if not content:
        return ""
    if len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return [block for part in content if (block := render_block(part, ids, notes)) is not None]


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


def render(messages: Sequence[Message], notes: Notes, origin: str = "") -> Request:
    """Messages as a request: leading system messages apart, roles in strict turns.

    Consecutive messages of one side become one, so that the results of a batch stand together
    and before anything else; the first message is the user's. `origin` is the format of the
    session: the model's own turns keep their blocks where they are of this dialect already.
    """
    ids = Ids(unique=True)
    leading = 0
    while leading < len(messages) and messages[leading].role in ("system", "developer"):
        leading += 1
    system: list[dict[str, Any]] = []
    for index, message in enumerate(messages[:leading]):
        system += render_blocks(message.parts, ids, notes.at(index))
    turns: list[tuple[str, list[dict[str, Any]]]] = []
    for index, message in enumerate(messages[leading:], leading):
        notes.at(index)
        role = "assistant" if message.role == "assistant" else "user"
        if message.role in ("system", "developer"):
            notes.tell("system-inside", "a system message inside the list")
        blocks = _own_blocks(message, ids) if origin in _NATIVE and role == "assistant" else None
        if blocks is None:
            blocks = render_blocks(message.parts, ids, notes)
        if not blocks:
            continue
        if not turns and role == "assistant":
            notes.tell("first-user", "an assistant message at the start")
            turns.append(("user", [{"type": "text", "text": "(the conversation goes on)"}]))
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    notes.tell_ids(ids.changed)
    return Request(
        tuple(system),
        tuple(
            {"role": role, "content": _shortest(_results_first(blocks, ids))}
            for role, blocks in turns
        ),
    )


def _results_first(blocks: list[dict[str, Any]], ids: Ids) -> list[dict[str, Any]]:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        return blocks
    results.sort(key=lambda block: ids.order(block["tool_use_id"]))
    return results + [block for block in blocks if block.get("type") != "tool_result"]


def _own_blocks(message: Message, ids: Ids) -> list[dict[str, Any]] | None:
    """The blocks of an assistant message as its records hold them, signatures and all."""
    if not message.spans:
        return None
    record = message.record
    blocks: list[dict[str, Any]] = []
    for one in record if isinstance(record, list) else [record]:
        inner = one.get("message", one) if isinstance(one, Mapping) else None
        content = inner.get("content") if isinstance(inner, Mapping) else None
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list) or not all(isinstance(b, dict) for b in content):
            return None
        # The API refuses text that is empty or white space alone, wherever it was recorded.
        blocks += [b for b in content if b.get("type") != "text" or str(b.get("text", "")).strip()]
    return [
        {**block, "id": ids.call(str(block.get("id") or ""))}
        if block.get("type") == "tool_use"
        else block
        for block in blocks
    ]


def _shortest(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A single text block as a plain string, which means the same."""
    if isinstance(content, list) and len(content) == 1 and content[0].get("type") == "text":
        return str(content[0]["text"])
    return content


def system_value(blocks: Sequence[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """System blocks as the value of `system`."""
    return _shortest(list(blocks))
