"""Which message stands on which line of a list, with a filter and a boundary in between.

An item is a place among the shown messages; a line is a place on the paper that scrolls.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Places:
    """`n` messages, of which `rows` are shown (None: all), with the boundary before `cut`.

    `cut` is None where there is no boundary. Everything is a comparison or a bisect.
    """

    n: int = 0
    rows: array[int] | None = None
    cut: int | None = None

    @property
    def items(self) -> int:
        """How many messages are shown."""
        return self.n if self.rows is None else len(self.rows)

    @property
    def lines(self) -> int:
        """How many lines there are, the boundary included."""
        return self.items + (self.cut is not None)

    @property
    def boundary(self) -> int | None:
        """The line of the boundary."""
        return None if self.cut is None else self.item(self.cut)

    def message(self, item: int) -> int:
        """The message of an item."""
        return item if self.rows is None else self.rows[item]

    def item(self, message: int) -> int:
        """The first item that is `message` or comes after it; `items` when there is none."""
        if self.rows is None:
            return max(0, min(message, self.n))
        return bisect_left(self.rows, message)

    def nearest(self, message: int) -> int:
        """The item that is `message` or the nearest one to it. There must be an item."""
        item = self.item(message)
        if item == self.items or (
            item and self.message(item) - message > message - self.message(item - 1)
        ):
            item -= 1
        return item

    def line_of(self, item: int) -> int:
        """The line of an item."""
        boundary = self.boundary
        return item + (boundary is not None and item >= boundary)

    def item_at(self, line: int) -> int | None:
        """The item on a line; None for the boundary and for lines that are not there."""
        boundary = self.boundary
        if boundary is not None:
            if line == boundary:
                return None
            line -= line > boundary
        return line if 0 <= line < self.items else None

    def item_from(self, line: int) -> int:
        """The item on a line or, on the boundary, the one below; the last one past the end."""
        item = self.item_at(line)
        if item is None:
            item = self.item_at(line + 1)
        return max(0, self.items - 1) if item is None else item

    def item_until(self, line: int) -> int:
        """The item on a line or, on the boundary, the one above; the first one before it."""
        item = self.item_at(min(line, self.lines - 1))
        if item is None:
            item = self.item_at(line - 1)
        return 0 if item is None else item
