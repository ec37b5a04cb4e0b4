"""Messages written as LangChain serialises its own, in any of its three ways."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects.langchain_like import CLASSES, SUMMARIZED, Style
from compaction.formats.dialects.notes import Notes
from compaction.messages import Media, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

_NAMES = {kind: name for name, kind in CLASSES.items()}

_NAMESPACE = uuid.UUID("5f3c1d0e-7c9b-5e0a-9d3a-6a8f2b1c4d70")


def render_message(message: Message, style: Style, notes: Notes) -> list[dict[str, Any]]:
    """One message, its results each a message of their own."""
    parts = message.parts
    out: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, ToolResult):
            held = {
                "content": _content(part.content, notes),
                "tool_call_id": part.call_id,
                "status": "error" if part.is_error else "success",
            }
            out.append(_wrapped("tool", {**held, "name": part.name or None}, style))
    rest = [part for part in parts if not isinstance(part, ToolResult)]
    if not rest and (out or message.role == "tool"):
        return out
    content = _content([part for part in rest if not isinstance(part, ToolCall)], notes)
    spoken: dict[str, Any] = {"content": content, "name": message.name or None}
    if message.role == "assistant":
        right, wrong = _calls(rest)
        return [
            *out,
            _wrapped("ai", {**spoken, "tool_calls": right, "invalid_tool_calls": wrong}, style),
        ]
    if message.role in ("system", "developer"):
        if message.role == "developer":
            spoken["additional_kwargs"] = {"__openai_role__": "developer"}
        return [*out, _wrapped("system", spoken, style)]
    if message.role not in ("user", "tool"):
        return [*out, _wrapped("chat", {**spoken, "role": message.role}, style)]
    if message.summary:
        spoken["additional_kwargs"] = {"lc_source": SUMMARIZED}
    return [*out, _wrapped("human", spoken, style)]


def _calls(parts: Sequence[Part]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Calls, and those whose arguments are no object, which LangChain keeps apart."""
    right: list[dict[str, Any]] = []
    wrong: list[dict[str, Any]] = []
    for part in parts:
        if not isinstance(part, ToolCall):
            continue
        try:
            args = exact.loads(part.arguments) if part.arguments.strip() else {}
        except exact.ExactError:
            args = None
        call = {"name": part.name, "args": args, "id": part.id, "type": "tool_call"}
        if isinstance(args, dict):
            right.append(call)
        else:
            kind = {"args": part.arguments, "error": None, "type": "invalid_tool_call"}
            wrong.append({**call, **kind})
    return right, wrong


def _content(parts: Sequence[Part], notes: Notes) -> str | list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text(text=text):
                blocks.append({"type": "text", "text": text})
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Media():
                blocks.append(_media_block(part, notes))
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                blocks.append({"type": "text", "text": text})
    if not blocks:
        return ""
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return str(blocks[0]["text"])
    return blocks


def _media_block(part: Media, notes: Notes) -> dict[str, Any]:
    kind = "file" if part.kind in ("document", "file") else part.kind
    mime = {"mime_type": part.mime} if part.mime else {}
    named = {"filename": part.name} if part.name and kind == "file" else {}
    if part.data:
        return {"type": kind, "base64": part.data, **mime, **named}
    if part.url:
        return {"type": kind, "url": part.url, **mime, **named}
    notes.tell("media", f"{part.mime or part.kind} content")
    return {"type": "text", "text": part.label}


def _wrapped(kind: str, held: dict[str, Any], style: Style) -> dict[str, Any]:
    """A message as its serialisation wraps it, with an id made from its content."""
    made = str(uuid.uuid5(_NAMESPACE, exact.dumps([kind, held])))
    content = {"content": held.pop("content"), "additional_kwargs": {}, "response_metadata": {}}
    data = {**content, "type": kind, **held, "id": made}
    if style == "dict":
        return {"type": kind, "data": data}
    if style == "flat":
        return data
    given = {key: value for key, value in data.items() if value is not None and value != {}}
    path = ["langchain", "schema", "messages", _NAMES[kind]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": given}
