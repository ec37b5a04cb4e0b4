"""The chats in Cursor's databases, read from the document that `cursor_db` makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.errors import ExportError
from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.cursor import INJECTED, made_id
from compaction.formats.cursor_db import MARK, SUPERSEDED
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.documents import open_document
from compaction.formats.pieces import Piece
from compaction.formats.sketching import time_of
from compaction.messages import (
    MediaKind,
    Message,
    Opaque,
    Part,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

_READ_ONLY = (
    "A Cursor chat can only be read: it is in a database that the app keeps for itself, and one "
    "that is changed may not open any more."
)


# -------------------------------------------------------------------------- chats of the app


def _bubble(bubble: Mapping[str, Any]) -> list[Piece]:
    """A bubble of the app: what the user said, or a step of the assistant with its result."""
    if isinstance(bubble.get("summary"), str) and "type" not in bubble:
        return [Piece("user", (Text(bubble["summary"]),))]
    text = text_of(bubble.get("text"))
    said: tuple[Part, ...] = (Text(text),) if text.strip() else ()
    if bubble.get("type") == 1:
        return [Piece("user", (*said, *_images(bubble.get("images"))))]
    parts = (*_thoughts(bubble.get("thinking")), *said)
    held = bubble.get("toolFormerData")
    if not isinstance(held, Mapping) or not (held.get("name") or held.get("toolCallId")):
        return [Piece("assistant", parts)]
    name = text_of(held.get("name"))
    seed = text_of(bubble.get("bubbleId")).encode("utf-8", "replace")
    call = text_of(held.get("toolCallId")) or made_id(name, seed)
    given = held.get("rawArgs") or held.get("params") or held.get("args") or "{}"
    pieces = [Piece("assistant", (*parts, ToolCall(call, name, text_of(given))))]
    status = held.get("status")
    output, error = text_of(held.get("result")), text_of(held.get("error"))
    if output or error or status in ("completed", "error"):
        failed = status == "error" or bool(error and not output)
        content = (Text(output or error),) if output or error else ()
        pieces.append(Piece("tool", (ToolResult(call, content, is_error=failed, name=name),)))
    return pieces


def _thoughts(held: object) -> tuple[Part, ...]:
    if not isinstance(held, Mapping):
        return ()
    text, signature = text_of(held.get("text")), text_of(held.get("signature"))
    if not text and not signature:
        return ()
    return (Thinking(text, signature, 0 if text else len(signature)),)


def _images(held: object) -> list[Part]:
    out: list[Part] = []
    for one in held if isinstance(held, list) else ():
        data = one.get("data") if isinstance(one, Mapping) else None
        if isinstance(data, str):
            out.append(media.from_base64(data, text_of(one.get("mimeType")), "image"))
        else:
            out.append(opaque(one, "image"))
    return out


# ----------------------------------------------------------------- chats of the command line


def _stored(message: Mapping[str, Any]) -> list[Piece]:
    role = role_of(message, "user")
    content = message.get("content")
    if isinstance(content, str):
        return [Piece(role, (Text(content),) if content else ())]
    blocks = content if isinstance(content, list) else [content] if content is not None else []
    return [Piece(role, tuple(part for block in blocks for part in _block(block)))]


def _block(block: object) -> tuple[Part, ...]:
    if not isinstance(block, Mapping):
        return parse_block(block)
    match block.get("type"):
        case "tool-call":
            given = block.get("args", block.get("input"))
            name = text_of(block.get("toolName"))
            return (ToolCall(text_of(block.get("toolCallId")), name, _json_text(given)),)
        case "tool-result":
            return (_result(block),)
        case "redacted-reasoning":
            return (Thinking("", sealed=len(text_of(block.get("data")))),)
        case "image" | "file" as kind:
            data = block.get("image", block.get("data"))
            mime = text_of(block.get("mimeType", block.get("mediaType")))
            held: MediaKind | None = "image" if kind == "image" else None
            if not isinstance(data, str):
                return (opaque(block),)
            if data.startswith(("data:", "http:", "https:")):
                return (media.from_url(data, held, mime=mime),)
            return (media.from_base64(data, mime, held),)
    return parse_block(block)


def _result(block: Mapping[str, Any]) -> ToolResult:
    held = block.get("result", block.get("output"))
    failed = block.get("isError") is True
    if isinstance(held, Mapping) and isinstance(held.get("type"), str) and "value" in held:
        failed = failed or held["type"].startswith("error")
        held = held["value"]
    content: list[Text | Opaque] = []
    if isinstance(held, str):
        content = [Text(held)] if held else []
    elif held is not None:
        content = [Text(exact.dumps(held))]
    call, name = text_of(block.get("toolCallId")), text_of(block.get("toolName"))
    return ToolResult(call, tuple(content), is_error=failed, name=name)


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else exact.dumps({} if value is None else value)


# ------------------------------------------------------------------------------------- shape


def _cut(record: Mapping[str, Any]) -> list[Piece]:
    return _stored(record) if "role" in record else _bubble(record)


def _keep(record: Mapping[str, Any], indexes: Sequence[int]) -> object:
    del indexes
    return record


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and bool(
        {"role", "type", "bubbleId", "summary"} & value.keys()
    )


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    del holder
    out: dict[int, str] = {}
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            continue
        if value.get(SUPERSEDED) is True:
            out[index] = "replaced in the newest state"
        elif not any(piece.parts for piece in _cut(value)):
            out[index] = "messages without content"
    return out


def _live_from(values: Sequence[object]) -> int:
    for index, value in enumerate(values):
        if isinstance(value, Mapping) and _summary(value):
            return index
    return 0


def _summary(record: Mapping[str, Any]) -> str:
    return "cursor" if isinstance(record.get("summary"), str) and "type" not in record else ""


def _facts(record: Mapping[str, Any]) -> Facts:
    told = record.get("modelInfo")
    model = text_of(told.get("modelName")) if isinstance(told, Mapping) else ""
    options = record.get("providerOptions")
    own = options.get("cursor") if isinstance(options, Mapping) else None
    if isinstance(own, Mapping):
        model = text_of(own.get("modelName")) or model
    first = _first_text(record)
    return Facts(
        id=text_of(record.get("bubbleId")),
        time=time_of({"timestamp": record.get("createdAt")}),
        model=model,
        usage=_usage(record.get("tokenCount")),
        injected=first.lstrip().startswith(INJECTED) and "<user_query>" not in first,
    )


def _first_text(record: Mapping[str, Any]) -> str:
    pieces = _cut(record)
    if not pieces or pieces[0].role != "user":
        return ""
    return next((part.text for part in pieces[0].parts if isinstance(part, Text)), "")


def _usage(held: object) -> Usage | None:
    if not isinstance(held, Mapping):
        return None
    read, wrote = held.get("inputTokens"), held.get("outputTokens")
    # The app writes zeros where it was told nothing; one number alone says little.
    if type(read) is not int or type(wrote) is not int or read <= 0:
        return None
    return Usage(read, max(0, wrote))


SHAPE = Shape(
    format="cursor-chats",
    lists=(("messages",),),
    answers=(),
    parse=lambda record: tuple(part for piece in _cut(record) for part in piece.parts),
    role=lambda record, _: _cut(record)[0].role,
    is_message=_is_message,
    live_from=_live_from,
    hidden=_hidden,
    summary=_summary,
    facts=_facts,
    cut=_cut,
    keep=_keep,
    growing=False,
)


class CursorChats:
    """The format."""

    name = "cursor-chats"
    title = "Cursor chat"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = _READ_ONLY

    def recognise(self, sample: Sample) -> bool:
        """Documents made of a database of Cursor, which say so."""
        whole = sample.whole
        first = whole[0] if isinstance(whole, list) and whole else whole
        return isinstance(first, dict) and MARK in first and "messages" in first

    def read(self, source: Source, options: ReadOptions) -> Session:
        """A conversation: the one that went on last, or the one `options` asks for."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """Nothing: see `read_only`."""
        del messages, session
        raise ExportError(self.read_only)
