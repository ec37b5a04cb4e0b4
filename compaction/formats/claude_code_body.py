"""The content behind the lines of a Claude Code transcript, parsed when somebody looks at it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from compaction.formats import exact
from compaction.formats.dialects.blocks import parse_content
from compaction.messages import Part, Source, Span, Text, ToolResult

#: What a cleared tool output reads as in the context of the tool.
CLEARED = "[Old tool result content cleared]"

#: Where JSON may say -0, which is read as 0.
_MINUS_ZERO = re.compile(rb"[\s:,\[]-0")


class LinesBody:
    """A body behind the lines of one response, or behind one user line."""

    __slots__ = ("_cleared", "_source", "_spans")

    def __init__(self, source: Source, spans: tuple[Span, ...], cleared: frozenset[str]) -> None:
        self._source = source
        self._spans = spans
        self._cleared = cleared

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """The blocks of all lines, in line order."""
        out: list[Part] = []
        seen: tuple[int, ...] = ()
        for span in self._spans:
            record = _parsed(self._source.raw(span))
            content = content_of(record) if isinstance(record, dict) else None
            if len(self._spans) > 1 and isinstance(content, list):
                content, seen = unseen(content, seen)
            out += parse_content(content)
        if self._cleared:
            out = [_emptied(part, self._cleared) for part in out]
        return tuple(out)

    def record(self) -> object:
        """The record, or the list of records when there are several."""
        found = [exact.loads(self._source.raw(span)) for span in self._spans]
        return found[0] if len(found) == 1 else found


def _parsed(raw: bytes) -> object:
    # orjson is several times faster. Only arguments of calls are written out again as JSON, so
    # only there would a number that it spells otherwise show; all else is text either way.
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return exact.loads(raw)
    if b'"tool_use"' in raw and _respelled(record, raw):
        return exact.loads(raw)
    return record


def _respelled(record: object, raw: bytes) -> bool:
    """Whether `input` of a call may hold a number that orjson would write differently."""
    content = content_of(record) if isinstance(record, dict) else None
    blocks = content if isinstance(content, list) else ()
    left: list[object] = [block.get("input") for block in blocks if isinstance(block, dict)]
    while left:
        value = left.pop()
        if isinstance(value, float):
            return True
        if type(value) is int and value == 0 and _MINUS_ZERO.search(raw):
            return True
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
    return False


def _emptied(part: Part, cleared: frozenset[str]) -> Part:
    if isinstance(part, ToolResult) and part.call_id in cleared:
        return ToolResult(part.call_id, (Text(CLEARED),), part.is_error, part.name, cleared=True)
    return part


def content_of(record: Mapping[str, Any]) -> object:
    """What a line sends: the content of its message, or the prompt that was queued."""
    held = record.get("message")
    if isinstance(held, dict):
        return held.get("content")
    attachment = record.get("attachment")
    return attachment.get("prompt") if isinstance(attachment, dict) else None


def unseen(blocks: list[Any], seen: tuple[int, ...]) -> tuple[list[Any], tuple[int, ...]]:
    """The blocks that no earlier line of the response had, and the marks of all seen so far.

    A response copied into the file again, or written once more by a resumed session, repeats
    its blocks under other line ids. Blocks of one line are never repeats of each other.
    """
    marks = [_mark(block) for block in blocks]
    if seen:
        blocks = [block for block, mark in zip(blocks, marks, strict=True) if mark not in seen]
    return blocks, (*seen, *marks)


def _mark(block: object) -> int:
    if isinstance(block, dict):
        kind = block.get("type")
        for key in ("id", "text", "thinking", "signature"):
            value = block.get(key)
            if isinstance(value, str) and value:
                return hash((kind if isinstance(kind, str) else str(kind), value))
    return hash(str(block))
