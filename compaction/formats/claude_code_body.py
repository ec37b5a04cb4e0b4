"""The content behind the lines of a Claude Code transcript, parsed when somebody looks at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import orjson

from compaction.formats import exact, quick
from compaction.formats.dialects.blocks import parse_content
from compaction.messages import Part, Source, Span, Text, ToolResult

#: What a cleared tool output reads as in the context of the tool.
CLEARED = "[Old tool result content cleared]"

#: Behind it stands what the screen showed of a result, mostly its content once more.
_SCREEN = b',"toolUseResult":'


class LinesBody:
    """A body behind the lines of one response, or behind one user line."""

    __slots__ = ("_cleared", "_source", "_spans")
    #: Members of a record that repeat the output of a tool for the screen.
    repeats: ClassVar[frozenset[str]] = frozenset({"toolUseResult"})

    def __init__(self, source: Source, spans: tuple[Span, ...], cleared: frozenset[str]) -> None:
        self._source = source
        self._spans = spans
        self._cleared = cleared

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """The blocks of all lines, in line order."""
        data = self._source.data
        return self.again([data[span.start : span.end] for span in self._spans])

    def spans_read(self) -> tuple[Span, ...]:
        """Where the lines stand."""
        return self._spans

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What the content would be if `raws` stood there."""
        if len(raws) == 1 and not self._cleared:
            return parse_content(_content(raws[0]))
        out: list[Part] = []
        seen: tuple[int, ...] = ()
        for raw in raws:
            content = _content(raw)
            if len(raws) > 1 and isinstance(content, list):
                content, seen = unseen(content, seen)
            out += parse_content(content)
        if self._cleared:
            out = [_emptied(part, self._cleared) for part in out]
        return tuple(out)

    def record(self) -> object:
        """The record, or the list of records when there are several."""
        found = [exact.loads(self._source.raw(span)) for span in self._spans]
        return found[0] if len(found) == 1 else found


def _content(raw: bytes) -> object:
    """What the line `raw` sends."""
    # orjson is several times faster. Only arguments of calls are written out again as JSON, so
    # only there would a number that it spells otherwise show; all else is text either way.
    try:
        record = _before_screen(raw) or orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _exactly(raw)
    content = content_of(record) if isinstance(record, dict) else None
    if isinstance(content, list):
        given = [
            block["input"] for block in content if isinstance(block, dict) and "input" in block
        ]
        if given and quick.respelled(given, raw):
            return _exactly(raw)
    return content


def _exactly(raw: bytes) -> object:
    record = exact.loads(raw)
    return content_of(record) if isinstance(record, dict) else None


def _before_screen(raw: bytes) -> dict[str, Any] | None:
    """The members before what was shown of a result, when the message is one of them.

    The latter repeats the content, so reading it would double the work. A quote behind a comma
    is never escaped, and the rest is whole only where the cut is between members of the record.
    """
    at = raw.find(_SCREEN)
    if at < 0 or raw.find(b'"message"', at) >= 0:
        return None
    try:
        record = orjson.loads(raw[:at] + b"}")
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) and "message" in record else None


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
