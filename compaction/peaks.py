"""The largest value in any range of an array, at the cost of a few scans of a block."""

from __future__ import annotations

from array import array

#: Values in a block; a query scans two blocks at most, and the largest of each between them.
_BLOCK = 512


class Peaks:
    """The largest value of every block of `values`, to find the largest one in a range.

    Built by one scan in C; it holds a value a block and refers to `values`, which must not change.
    """

    __slots__ = ("_largest", "_values")

    def __init__(self, values: array[int]) -> None:
        self._values = values
        self._largest = array(
            "q", (max(values[at : at + _BLOCK]) for at in range(0, len(values), _BLOCK))
        )

    def largest(self, start: int, stop: int) -> int | None:
        """The index of the first largest value in [start, stop); None when the range is empty."""
        values = self._values
        start, stop = max(start, 0), min(stop, len(values))
        if start >= stop:
            return None
        first, last = -(-start // _BLOCK), stop // _BLOCK
        if first >= last:
            return values.index(max(values[start:stop]), start, stop)
        blocks = self._largest
        inside = max(blocks[first:last])
        before = max(values[start : first * _BLOCK], default=inside)
        after = max(values[last * _BLOCK : stop], default=inside)
        if before >= inside and before >= after:
            at = start
            most = before
        elif inside >= after:
            at = blocks.index(inside, first, last) * _BLOCK
            most = inside
        else:
            at = last * _BLOCK
            most = after
        return values.index(most, at, stop)
