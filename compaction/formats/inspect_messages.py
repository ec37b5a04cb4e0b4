"""Messages of Inspect eval logs: read into parts, and written as the tool has them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, parse_content, result_content
from compaction.formats.dialects.blocks import text_of as text
from compaction.formats.dialects.notes import Notes
from compaction.messages import (
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: How a text that was moved to the attachments of its sample begins.
ATTACHED = "attachment://"

_MEDIA: Mapping[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "document": "document",
}


def resolved(value: Any, attachments: Mapping[str, str]) -> Any:
    """A value with what it has moved to the attachments put back."""
    if isinstance(value, str):
        if value.startswith(ATTACHED):
            return attachments.get(value.removeprefix(ATTACHED), value)
        return value
    if isinstance(value, list):
        return [resolved(each, attachments) for each in value]
    if isinstance(value, dict):
        return {key: resolved(each, attachments) for key, each in value.items()}
    return value


def parse_message(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message."""
    parts = _content(message.get("content"))
    if message.get("role") == "tool":
        return (_result(message, parts),)
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        parts += [_call(call) for call in calls]
    return tuple(parts)


def _content(content: object) -> list[Part]:
    if not isinstance(content, list):
        return list(parse_content(content))
    return [part for block in content for part in _block(block)]


def _block(block: object) -> tuple[Part, ...]:
    if not isinstance(block, Mapping):
        return parse_block(block)
    kind = block.get("type")
    if kind == "reasoning":
        said, hidden = text(block.get("reasoning")), block.get("redacted") is True
        shown = text(block.get("summary")) if hidden else said
        return (Thinking(shown, text(block.get("signature")), len(said) if hidden else 0),)
    if isinstance(kind, str) and kind in _MEDIA and isinstance(block.get(kind), str):
        return (_media(block, kind),)
    if kind == "text":
        return parse_block(block)
    return (opaque(dict(block)),)


def _media(block: Mapping[str, Any], kind: str) -> Media:
    held = block[kind]
    form, name = text(block.get("format")), text(block.get("filename"))
    mime = text(block.get("mime_type")) or (f"{kind}/{form}" if form else "")
    if held[:5].lower() == "data:" or "://" in held[:12]:
        detail = text(block.get("detail"))
        return media.from_url(held, _MEDIA[kind], mime=mime, name=name, detail=detail)
    # A path: the tool reads the file when it sends the message.
    return Media(_MEDIA[kind], mime=mime, name=name or held)


def _call(call: object) -> Part:
    if not isinstance(call, Mapping):
        return opaque(call, "tool_call")
    given = call.get("arguments")
    arguments = given if isinstance(given, str) else exact.dumps({} if given is None else given)
    return ToolCall(text(call.get("id")), text(call.get("function")), arguments)


def _result(message: Mapping[str, Any], parts: Sequence[Part]) -> ToolResult:
    content = result_content(parts)
    error = message.get("error")
    if isinstance(error, Mapping):
        what = text(error.get("message"))
        if what and not any(isinstance(part, Text) and what in part.text for part in content):
            content = (*content, Text(what))
    return ToolResult(
        text(message.get("tool_call_id")),
        content,
        is_error=isinstance(error, Mapping),
        name=text(message.get("function")),
    )


# ------------------------------------------------------------------------------------ writing


class Writing:
    """Messages as the tool writes them, each with an id made of what it says."""

    def __init__(self, notes: Notes, model: str = "") -> None:
        self._notes = notes
        self._model = model
        self._ids: dict[str, int] = {}

    def rendered(self, message: Message) -> list[dict[str, Any]]:
        """A message, with one more in front for every tool result in it."""
        parts = message.parts
        out = [self._tool(part) for part in parts if isinstance(part, ToolResult)]
        rest = [part for part in parts if not isinstance(part, ToolResult)]
        if not rest and out:
            return out
        role = {"developer": "system", "tool": "user"}.get(message.role, message.role)
        if role not in ("system", "user", "assistant"):
            role = "user"
        made: dict[str, Any] = {"content": self._written(rest)}
        if role == "assistant":
            made["source"] = "generate"
        elif message.typed:
            made["source"] = "input"
        made["role"] = role
        calls = [self._call(part) for part in rest if isinstance(part, ToolCall)]
        if calls and role == "assistant":
            made["tool_calls"] = calls
        if role == "assistant" and (model := message.model or self._model):
            made["model"] = model
        return [*out, self._named(made)]

    def _named(self, made: dict[str, Any]) -> dict[str, Any]:
        key = hashlib.sha256(exact.dump_bytes(made)).hexdigest()[:22]
        again = self._ids[key] = self._ids.get(key, -1) + 1
        return {"id": f"{key}-{again}" if again else key, **made}

    def _tool(self, result: ToolResult) -> dict[str, Any]:
        made: dict[str, Any] = {
            "content": self._written(result.content),
            "role": "tool",
            "tool_call_id": result.call_id,
        }
        if result.name:
            made["function"] = result.name
        if result.is_error:
            made["error"] = {"type": "unknown", "message": result.text}
        return self._named(made)

    def _call(self, call: ToolCall) -> dict[str, Any]:
        try:
            arguments = exact.loads(call.arguments) if call.arguments.strip() else {}
        except exact.ExactError:
            arguments = None
        if not isinstance(arguments, dict):
            self._notes.tell("arguments", f"arguments of {call.name} that are no JSON object")
            arguments = {"input": call.arguments}
        return {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}

    def _written(self, parts: Iterable[Part]) -> str | list[dict[str, Any]]:
        blocks = [block for part in parts if (block := self._block(part)) is not None]
        if not blocks:
            return ""
        if len(blocks) == 1 and blocks[0]["type"] == "text":
            return str(blocks[0]["text"])
        return blocks

    def _block(self, part: Part) -> dict[str, Any] | None:
        match part:
            case Text(text=said):
                return {"type": "text", "text": said}
            case Thinking(text=said, signature=signature, sealed=sealed):
                if sealed:
                    self._notes.tell("thinking", "reasoning that only its provider can read")
                    return None
                block: dict[str, Any] = {"type": "reasoning", "reasoning": said}
                return {**block, "signature": signature} if signature else block
            case Media():
                return self._media(part)
            case Opaque(kind=kind, text=said):
                self._notes.tell("opaque", f"a block of type {kind}")
                return {"type": "text", "text": said}
        return None

    def _media(self, part: Media) -> dict[str, Any]:
        url = media.data_url(part)
        form = part.mime.partition("/")[2].replace("mpeg", "mp3").replace("x-wav", "wav")
        if url and part.kind == "image":
            return {"type": "image", "image": url, "detail": part.detail or "auto"}
        if url and part.kind in ("audio", "video") and form:
            return {"type": part.kind, part.kind: url, "format": form}
        if url and part.kind in ("document", "file"):
            named = {"filename": part.name or "document", "mime_type": part.mime}
            return {"type": "document", "document": url, **named}
        self._notes.tell("media", f"{part.mime or part.kind} content")
        return {"type": "text", "text": part.label}
