"""The largest value in any range of an array, in O(log n)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence


class Peaks:
    """A tree over `values` that finds the index of the largest one in a range.

    Built in one pass; it holds two indexes a value and refers to `values`, which must not change.
    """

    __slots__ = ("_tree", "_values")

    def __init__(self, values: Sequence[int]) -> None:
        n = len(values)
        tree = array("q", bytes(8 * n))
        tree.extend(range(n))
        for node in range(n - 1, 0, -1):
            left, right = tree[2 * node], tree[2 * node + 1]
            tree[node] = right if values[right] > values[left] else left
        self._tree = tree
        self._values = values

    def largest(self, start: int, stop: int) -> int | None:
        """The index of the largest value in [start, stop); None when the range is empty."""
        values, tree, n = self._values, self._tree, len(self._values)
        start, stop = max(start, 0) + n, min(stop, n) + n
        best: int | None = None
        while start < stop:
            if start & 1:
                best = _larger(values, best, tree[start])
                start += 1
            if stop & 1:
                stop -= 1
                best = _larger(values, best, tree[stop])
            start //= 2
            stop //= 2
        return best


def _larger(values: Sequence[int], best: int | None, other: int) -> int:
    if best is None or values[other] > values[best]:
        return other
    # Equal values: the earlier one, whatever the shape of the tree.
    return min(best, other) if values[other] == values[best] else best
