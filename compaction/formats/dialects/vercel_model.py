"""Model messages of the Vercel AI SDK and their content blocks, old spellings included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, result_content, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.pieces import Piece
from compaction.messages import Media, Part, Text, Thinking, ToolCall, ToolResult

Record = Mapping[str, Any]

#: What stands for the result of a call that a person refused.
DENIED = "Tool call execution denied."


def is_model(value: object) -> bool:
    """Whether a value is a model message with a block that only this SDK has."""
    content = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(content, list) or not isinstance(value, Mapping):
        return False
    return isinstance(value.get("role"), str) and any(
        isinstance(block, Mapping) and _telling_block(block) for block in content
    )


def _telling_block(block: Record) -> bool:
    kind = block.get("type")
    if kind in ("tool-call", "tool-result"):
        return isinstance(block.get("toolCallId"), str)
    if kind in ("image", "file"):
        return "mediaType" in block or "mimeType" in block
    return False


def cut_model(record: Record) -> tuple[Piece, ...]:
    """The messages that a model message stands for: results in an answer stand alone."""
    return tuple(piece for piece, _ in _runs(record))


def keep_model(record: Record, indexes: Sequence[int]) -> dict[str, Any]:
    """The model message with only some of the messages it stands for."""
    runs = _runs(record)
    content = record.get("content")
    if not isinstance(content, list):
        return dict(record)
    return {**record, "content": [content[i] for index in indexes for i in runs[index][1]]}


def _runs(record: Record) -> list[tuple[Piece, list[int]]]:
    role, content = role_of(record) or "user", record.get("content")
    if not isinstance(content, list):
        text = (Text(content),) if isinstance(content, str) and content else ()
        other = () if content is None or isinstance(content, str) else (opaque(content),)
        return [(Piece(role, text or other), [])]
    runs: list[tuple[str, list[Part], list[int]]] = []
    for index, block in enumerate(content):
        parts = parse_model_block(block)
        answers = any(isinstance(part, ToolResult) for part in parts)
        side = "tool" if answers else role
        if runs and runs[-1][0] == side and not (answers and runs[-1][0] == "tool"):
            runs[-1][1].extend(parts)
            runs[-1][2].append(index)
        else:
            runs.append((side, list(parts), [index]))
    return [(Piece(side, tuple(parts)), places) for side, parts, places in runs] or [
        (Piece(role, ()), [])
    ]


def parse_model_block(block: object) -> tuple[Part, ...]:
    """The parts of one content block."""
    if not isinstance(block, dict):
        return parse_block(block)
    match block.get("type"):
        case "reasoning":
            return _reasoning(block)
        case "redacted-reasoning":
            return (Thinking("", sealed=len(text_of(block.get("data")))),)
        case "tool-call":
            call = text_of(block.get("toolCallId"))
            return (ToolCall(call, text_of(block.get("toolName")), arguments_of(block)),)
        case "tool-result" | "tool-error":
            return (_result(block),)
        case "image" | "file" | "image-data" | "file-data" | "image-url" | "file-url" | "media":
            return _media(block)
    return parse_block(block)


def _reasoning(block: Record) -> tuple[Part, ...]:
    details = block.get("details")
    if isinstance(details, list) and details:
        found: list[Part] = []
        for each in details:
            held = each if isinstance(each, Mapping) else {"text": text_of(each)}
            sealed = len(text_of(held.get("data")))
            signature = text_of(held.get("signature"))
            found.append(Thinking(text_of(held.get("text")), signature, sealed))
        return tuple(found)
    text = text_of(block.get("text") or block.get("reasoning"))
    signature, sealed = text_of(block.get("signature")), 0
    for named in ("providerOptions", "providerMetadata"):
        for about in _values(block.get(named)):
            signature = signature or text_of(about.get("signature"))
            for key in ("redactedData", "reasoningEncryptedContent"):
                sealed = sealed or len(text_of(about.get(key)))
    return (Thinking(text, signature, sealed if not text else 0),)


def _values(value: object) -> Iterator[Record]:
    if isinstance(value, Mapping):
        yield from (inner for inner in value.values() if isinstance(inner, Mapping))


def _result(block: Record) -> ToolResult:
    call, name = text_of(block.get("toolCallId")), text_of(block.get("toolName"))
    output = block.get("output")
    failed = block.get("isError") is True or block.get("type") == "tool-error"
    if not isinstance(output, Mapping) or not isinstance(output.get("type"), str):
        shown = listed(block.get("experimental_content")) or listed(block.get("content"))
        if shown:
            return ToolResult(
                call, result_content(p for b in shown for p in parse_model_block(b)), failed, name
            )
        said = next((block[k] for k in ("output", "result", "error") if k in block), None)
        return ToolResult(call, plain(said), failed, name)
    kind, value = output["type"], output.get("value")
    failed = failed or kind in ("error-text", "error-json", "execution-denied")
    if kind == "content" and isinstance(value, list):
        return ToolResult(
            call, result_content(p for b in value for p in parse_model_block(b)), failed, name
        )
    if kind == "execution-denied":
        value = text_of(output.get("reason")) or DENIED
    return ToolResult(call, plain(value), failed, name)


def _media(block: Record) -> tuple[Part, ...]:
    mime = text_of(block.get("mediaType") or block.get("mimeType"))
    name = text_of(block.get("filename"))
    kind = block.get("type")
    sort = "image" if str(kind).startswith("image") else None
    for key in ("data", "url", "image"):
        held = block.get(key)
        if isinstance(held, Mapping):
            held = held.get("url") or held.get("data")
        if not isinstance(held, str):
            continue
        if held[:5].lower() == "data:" or "://" in held[:20]:
            return (media.from_url(held, "image" if sort else None, mime=mime, name=name),)
        return (media.from_base64(held, mime, "image" if sort else None, name=name),)
    if any(key in block for key in ("data", "image", "url")):
        # Bytes as a list of numbers: held by the file, and never text.
        found = Media("image" if sort else media.kind_of(mime), mime=mime, name=name)
        return (found,)
    return parse_block(block)


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def arguments_of(held: Record) -> str:
    given: object = next(
        (held[k] for k in ("input", "args", "rawInput") if held.get(k) is not None), {}
    )
    return given if isinstance(given, str) else exact.dumps(given)


def plain(output: object) -> tuple[Text, ...]:
    text = text_of(output)
    return (Text(text),) if text else ()
