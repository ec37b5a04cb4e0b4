"""Which message stands on which line of a list, with all that stands between messages.

An item is what the cursor can stand on: a message, or a record of the file that is in no window.
A line is a place on the paper that scrolls; marks and the boundary are lines and no items.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field


def _none() -> array[int]:
    return array("l")


@dataclass(frozen=True, slots=True)
class Places:
    """`n` messages, of which `rows` are shown (None: all), with the boundary before `cut`.

    `cut` is None where there is no boundary. `before` has for every record that is shown too the
    message it stands before, ascending, and `spots` the item each of them is; a list of chosen
    `rows` has none. `marks` are the items that marks stand before, ascending. Everything is a
    comparison or a bisect.
    """

    n: int = 0
    rows: array[int] | None = None
    cut: int | None = None
    before: array[int] = field(default_factory=_none)
    spots: array[int] = field(default_factory=_none)
    marks: tuple[int, ...] = ()

    @property
    def items(self) -> int:
        """How many messages and records are shown."""
        return self.n + len(self.before) if self.rows is None else len(self.rows)

    @property
    def lines(self) -> int:
        """How many lines there are, marks and boundary included."""
        return self.items + len(self.marks) + (self.cut is not None)

    @property
    def boundary(self) -> int | None:
        """The line of the boundary."""
        return None if self.cut is None else self._inner(self.item(self.cut))

    def record(self, item: int) -> int | None:
        """Which record an item is; None for a message."""
        if self.rows is not None:
            return None
        place = bisect_left(self.spots, item)
        return place if place < len(self.spots) and self.spots[place] == item else None

    def message(self, item: int) -> int:
        """The message of an item; for a record the one after it, which is `n` past the last."""
        if self.rows is not None:
            return self.rows[item]
        return item - bisect_left(self.spots, item)

    def item(self, message: int) -> int:
        """The first item that is `message` or a later one; `items` when there is none."""
        if self.rows is not None:
            return bisect_left(self.rows, message)
        message = max(0, min(message, self.n))
        return message + bisect_right(self.before, message)

    def nearest(self, message: int) -> int:
        """The item that is `message` or the nearest one to it. There must be an item."""
        if self.rows is None:
            return self.item(min(message, self.n - 1)) if self.n else 0
        item = self.item(message)
        if item == self.items or (
            item and self.message(item) - message > message - self.message(item - 1)
        ):
            item -= 1
        return item

    def line_of(self, item: int) -> int:
        """The line of an item."""
        boundary, line = self.boundary, self._inner(item)
        return line + (boundary is not None and line >= boundary)

    def item_at(self, line: int) -> int | None:
        """The item on a line; None for marks, the boundary, and lines that are not there."""
        boundary = self.boundary
        if boundary is not None:
            if line == boundary:
                return None
            line -= line > boundary
        place = self._marks_above(line)
        if place < len(self.marks) and self.marks[place] + place == line:
            return None
        item = line - place
        return item if 0 <= item < self.items else None

    def mark_at(self, line: int) -> int | None:
        """Which mark stands on a line."""
        boundary = self.boundary
        if boundary is not None:
            if line == boundary:
                return None
            line -= line > boundary
        place = self._marks_above(line)
        return place if place < len(self.marks) and self.marks[place] + place == line else None

    def cut_at(self, line: int) -> int:
        """The message the boundary stands before when it is put on a line."""
        item = max(0, min(line - self._marks_above(line), self.items))
        return self.n if item == self.items else min(self.message(item), self.n)

    def item_from(self, line: int) -> int:
        """The item on a line or the next one below; the last one past the end."""
        for place in range(line, self.lines):
            item = self.item_at(place)
            if item is not None:
                return item
        return max(0, self.items - 1)

    def item_until(self, line: int) -> int:
        """The item on a line or the next one above; the first one before it."""
        for place in range(min(line, self.lines - 1), -1, -1):
            item = self.item_at(place)
            if item is not None:
                return item
        return 0

    def _inner(self, item: int) -> int:
        """The line of an item where there is no boundary."""
        return item + bisect_right(self.marks, item)

    def _marks_above(self, line: int) -> int:
        """How many marks stand above a line, the boundary left aside."""
        marks = self.marks
        return bisect_left(range(len(marks)), line, key=lambda place: marks[place] + place)
