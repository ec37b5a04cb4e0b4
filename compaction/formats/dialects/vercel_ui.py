"""UI messages of the Vercel AI SDK (4 to 6), cut into the messages that are sent for them.

A UI message of the assistant is a whole turn: steps, each with calls that hold their results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.vercel_model import (
    DENIED,
    arguments_of,
    listed,
    parse_model_block,
    plain,
)
from compaction.formats.pieces import Piece
from compaction.messages import Part, Text, ToolCall, ToolResult

Record = Mapping[str, Any]

#: States of a tool part in which the call has its answer.
_ANSWERED = frozenset({"output-available", "output-error", "output-denied", "result"})
#: States in which the call is not complete, and not sent.
_STREAMING = frozenset({"input-streaming", "partial-call"})


def is_ui(value: object) -> bool:
    """Whether a value is a UI message: a role, and parts that say of which type they are."""
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str):
        return False
    parts = value.get("parts")
    if isinstance(parts, list) and parts:
        return all(isinstance(part, Mapping) for part in parts) and any(map(_telling, parts))
    return isinstance(value.get("toolInvocations"), list) and "content" in value


def _telling(part: Record) -> bool:
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("text", "reasoning"):
        return isinstance(part.get("text", part.get("reasoning")), str)
    if kind == "file":
        return "mediaType" in part or "mimeType" in part
    if is_tool(part):
        return True
    return kind in ("step-start", "source-url", "source-document")


def is_tool(part: Record) -> bool:
    """Whether a part of a UI message is a call of a tool."""
    kind = part.get("type")
    if kind == "tool-invocation":
        return isinstance(part.get("toolInvocation"), Mapping)
    return (
        isinstance(kind, str)
        and (kind == "dynamic-tool" or kind.startswith("tool-"))
        and isinstance(part.get("toolCallId"), str)
    )


# -------------------------------------------------------------------------------- UI messages


@dataclass(frozen=True, slots=True)
class _Slice:
    """One message of a UI message: its piece, and the indexes of the parts it is made of."""

    piece: Piece
    block: int
    parts: tuple[int, ...]
    kind: Literal["whole", "spoken", "result"]


def parts_of(record: Record) -> list[Any]:
    """The parts of a UI message; of one from before there were parts, what they would be."""
    parts = record.get("parts")
    if isinstance(parts, list) and parts:
        return parts
    made: list[Any] = []
    thought = record.get("reasoning")
    if isinstance(thought, str) and thought:
        made.append({"type": "reasoning", "text": thought})
    made += [
        {"type": "tool-invocation", "toolInvocation": invocation}
        for invocation in listed(record.get("toolInvocations"))
    ]
    content = record.get("content")
    if isinstance(content, str) and content:
        made.append({"type": "text", "text": content})
    elif isinstance(content, list):
        made += content
    return made


def cut_ui(record: Record) -> tuple[Piece, ...]:
    """The messages that a UI message stands for."""
    return tuple(one.piece for one in _slices(record))


def keep_ui(record: Record, indexes: Sequence[int]) -> dict[str, Any]:
    """The UI message with only some of the messages it stands for."""
    slices = _slices(record)
    kept = [slices[index] for index in indexes]
    spoken = {one.block for one in kept if one.kind == "spoken"}
    answered = {part for one in kept if one.kind == "result" for part in one.parts}
    stays: dict[int, str] = {}
    for one in slices:
        for part in one.parts:
            if one.kind == "whole" or part in answered:
                stays[part] = "whole"
            elif one.block in spoken:
                stays.setdefault(part, "call")
    parts = parts_of(record)
    left = [parts[i] if stays[i] == "whole" else _asked(parts[i]) for i in sorted(stays)]
    out = {key: value for key, value in record.items() if key != "toolInvocations"}
    if not isinstance(record.get("parts"), list) or "content" in record:
        texts = [text_of(p.get("text")) for p in left if _is(p) and p.get("type") == "text"]
        out["content"] = "".join(texts)
    out["parts"] = left
    if indexes and indexes[0] and isinstance(record.get("id"), str):
        # The beginning of the turn may stand in the file as well, under the id itself.
        out["id"] = f"{record['id']}-{indexes[0]}"
    return out


def _slices(record: Record) -> list[_Slice]:
    parts = parts_of(record)
    role = role_of(record) or "user"
    if role == "data":
        role = "user"
    if role != "assistant":
        found = [part for each in parts for part in _part(each)]
        found += [_attachment(each) for each in listed(record.get("experimental_attachments"))]
        return [_Slice(Piece(role, tuple(found)), 0, tuple(range(len(parts))), "whole")]
    out: list[_Slice] = []
    for number, block in enumerate(_blocks(parts)):
        said = tuple(part for index in block for part in _part(parts[index]))
        results = [(i, answer) for i in block if (answer := _answer(parts[i])) is not None]
        if said or not results:
            out.append(_Slice(Piece("assistant", said), number, tuple(block), "spoken"))
        out += [_Slice(Piece("tool", (answer,)), number, (i,), "result") for i, answer in results]
    return out or [_Slice(Piece("assistant", ()), 0, (), "spoken")]


def _blocks(parts: Sequence[Any]) -> list[list[int]]:
    """The parts of each step: what one response said, and the calls it made.

    Before steps were told, text behind a call was the start of the next response.
    """
    blocks: list[list[int]] = [[]]
    sent = False
    called = False
    for index, part in enumerate(parts):
        kind = part.get("type") if _is(part) else None
        invoked = kind == "tool-invocation"
        speaks = bool(_part(part))
        if sent and (kind == "step-start" or (called and speaks and not invoked)):
            blocks.append([])
            sent = called = False
        blocks[-1].append(index)
        sent = sent or speaks
        called = called or invoked
    return blocks if sent or len(blocks) == 1 else [*blocks[:-2], blocks[-2] + blocks[-1]]


def _part(part: object) -> tuple[Part, ...]:
    """What of a part is sent to a model as content."""
    if not isinstance(part, dict):
        return (opaque(part),)
    kind = part.get("type")
    if not isinstance(kind, str):
        return parse_block(part)
    if is_tool(part):
        held = _held(part)
        if text_of(held.get("state")) in _STREAMING:
            return ()
        return (ToolCall(text_of(held.get("toolCallId")), _tool_name(part), arguments_of(held)),)
    if kind == "step-start" or kind.startswith(("data-", "source-")) or kind == "source":
        return ()
    return parse_model_block(part)


def _answer(part: object) -> ToolResult | None:
    if not isinstance(part, dict) or not is_tool(part):
        return None
    held = _held(part)
    state = text_of(held.get("state"))
    if state not in _ANSWERED:
        return None
    call, name = text_of(held.get("toolCallId")), _tool_name(part)
    if state == "output-error":
        return ToolResult(call, (Text(text_of(held.get("errorText"))),), True, name)
    if state == "output-denied":
        approval = held.get("approval")
        reason = approval.get("reason") if isinstance(approval, Mapping) else None
        return ToolResult(call, (Text(text_of(reason) or DENIED),), True, name)
    output = held.get("output") if "output" in held else held.get("result")
    return ToolResult(call, plain(output), name=name)


def _held(part: Record) -> Record:
    inner = part.get("toolInvocation")
    return inner if isinstance(inner, Mapping) else part


def _tool_name(part: Record) -> str:
    named = _held(part).get("toolName")
    return text_of(named) if named is not None else str(part.get("type")).removeprefix("tool-")


def _asked(part: Any) -> Any:
    """A tool part without its answer."""
    if not isinstance(part, dict) or _answer(part) is None:
        return part
    gone = ("output", "errorText", "result", "preliminary", "resultProviderMetadata", "approval")
    held = {key: value for key, value in _held(part).items() if key not in gone}
    if part.get("type") == "tool-invocation":
        return {**part, "toolInvocation": {**held, "state": "call"}}
    return {**held, "state": "input-available"}


def _attachment(held: object) -> Part:
    url = held.get("url") if isinstance(held, dict) else None
    if not isinstance(held, dict) or not isinstance(url, str):
        return opaque(held, "attachment")
    mime, name = text_of(held.get("contentType")), text_of(held.get("name"))
    return media.from_url(url, mime=mime, name=name)


def _is(value: object) -> bool:
    return isinstance(value, Mapping)
