"""One value of a file that stands for several messages: a step with its calls and their results.

Formats that keep a call and its result in one record are read as two messages over one span. The
record is copied as long as all of its messages stay; else it is made anew from those that do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.formats.sketching import SpanBody
from compaction.messages import Part, Source, Span, Usage


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the messages that a record stands for; `injected` and `usage` as of a message."""

    role: str
    parts: tuple[Part, ...]
    injected: bool = False
    usage: Usage | None = None


#: The messages a record stands for; the same for the same record.
Cut = Callable[[Mapping[str, Any]], Sequence[Piece]]

#: The record again, holding only the pieces of these indexes.
Keep = Callable[[Mapping[str, Any], Sequence[int]], object]


class PieceBody(SpanBody):
    """The body of one message among several of the same record."""

    __slots__ = ("_keep", "count", "index")

    def __init__(
        self, source: Source, span: Span, cut: Cut, keep: Keep, index: int, count: int
    ) -> None:
        def parse(record: Any) -> tuple[Part, ...]:
            return cut(record)[index].parts

        super().__init__(source, span, parse)
        self._keep = keep
        self.index = index
        self.count = count

    def kept(self, indexes: Sequence[int]) -> object:
        """The record with only the pieces of these indexes."""
        record = self.record()
        assert isinstance(record, Mapping)
        return self._keep(record, indexes)
