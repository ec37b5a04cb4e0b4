"""The columns of a sawtooth: many calls in few cells, without a look at every call."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Tooth(NamedTuple):
    """Calls [call, until) between two compactions: call k reads `base` + its prefix sum.

    `head` and `summary` are the tokens of these parts of it.
    """

    call: int
    until: int
    base: int
    head: int
    summary: int


@dataclass(frozen=True, slots=True, eq=False)
class Saw:
    """What a sawtooth shows. `sent` are the tokens of all messages before each call.

    `overhead` is what every call reads beside messages. `compactions` and `recorded` (those a
    tool really made) are calls, `declined` runs of calls [first, until).
    """

    sent: Sequence[int]
    overhead: int
    teeth: tuple[Tooth, ...]
    budget: int
    compactions: tuple[int, ...] = ()
    declined: tuple[tuple[int, int], ...] = ()
    recorded: tuple[int, ...] = ()

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return len(self.sent)

    def tooth(self, call: int) -> Tooth:
        """The stretch that a call is in."""
        return self.teeth[bisect_right(self.teeth, call, key=lambda each: each.call) - 1]

    def context(self, call: int) -> int:
        """The tokens that a call reads."""
        return self.tooth(call).base + self.sent[call]

    def without(self, call: int) -> int:
        """What it would read had nothing been compacted."""
        return self.overhead + self.sent[call]


class Column(NamedTuple):
    """The calls [first, until) in one cell; `peak` is the largest context of them."""

    first: int
    until: int
    peak: int
    head: int
    summary: int
    without: int


class Shape:
    """A saw in `width` columns; its cost grows with them and with the compactions."""

    def __init__(self, saw: Saw, width: int) -> None:
        self.saw = saw
        self.width = width
        calls = saw.calls
        self.columns: list[Column] = []
        for x in range(width):
            first = x * calls // width
            self.columns.append(self._column(first, max(first + 1, (x + 1) * calls // width)))
        self.peak = max(column.peak for column in self.columns)
        self.without = saw.without(calls - 1)
        # What nothing would be without a policy may be many times as high: it is let go above.
        wanted = max(self.peak, saw.budget if saw.budget < 4 * self.without else 0, 1)
        self.top = max(round(wanted * 1.12), min(self.without, wanted * 2))

    def _column(self, first: int, until: int) -> Column:
        saw = self.saw
        # Within a stretch contexts only grow, so its last call in the column is its highest.
        at = bisect_right(saw.teeth, first, key=lambda each: each.call) - 1
        best, peak = first, -1
        for tooth in saw.teeth[at:]:
            if tooth.call >= until:
                break
            last = min(tooth.until, until) - 1
            context = tooth.base + saw.sent[last]
            if context > peak:
                best, peak = last, context
        tooth = saw.tooth(best)
        return Column(first, until, peak, tooth.head, tooth.summary, saw.without(until - 1))

    def column_of(self, call: int) -> tuple[int, int]:
        """The columns [first, until) that stand for a call."""
        calls, width = self.saw.calls, self.width
        if calls >= width:
            # The one whose calls hold it.
            x = bisect_right(self.columns, call, key=lambda each: each.first) - 1
            return x, x + 1
        first = -(-call * width // calls)
        return first, max(first + 1, -(-(call + 1) * width // calls))

    def call_at(self, x: int) -> int:
        """The call that a click on a column means: a compaction, else the last one there."""
        column = self.columns[max(0, min(x, self.width - 1))]
        made = self.saw.compactions
        place = bisect_left(made, column.first)
        if place < len(made) and made[place] < column.until:
            return made[place]
        return column.until - 1
