"""The changes of passes as far as one policy lets them go, as counts a list is cut by."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from compaction.passes.changes import Changes

if TYPE_CHECKING:
    from compaction.tokens import Counts


class Eased:
    """Changes as far as one policy lets them go: in [start, stop), and not at `spared`.

    It stands for Counts where a list is cut: `prefix` and `tokens` are those after the passes.
    """

    __slots__ = (
        "_counts",
        "_saved",
        "changes",
        "overhead",
        "prefix",
        "spared",
        "start",
        "stop",
        "tokens",
    )

    def __init__(
        self, changes: Changes, counts: Counts, start: int, stop: int, spared: Sequence[int]
    ) -> None:
        self.changes = changes
        self._counts = counts
        self.overhead = counts.overhead
        self.start, self.stop = start, max(start, stop)
        self.spared = spared
        saved = (changes.freed[i + 1] - changes.freed[i] for i in spared if start <= i < stop)
        self._saved = list(accumulate(saved, initial=0))
        self.prefix = _Prefix(counts.prefix, self.freed)
        self.tokens = _Tokens(counts.tokens, self)

    def freed(self, end: int) -> int:
        """The tokens that are freed before message `end`."""
        end = min(max(end, self.start), self.stop)
        freed = self.changes.freed
        if not self.spared:
            return freed[end] - freed[self.start]
        low, high = bisect_left(self.spared, self.start), bisect_left(self.spared, end)
        return freed[end] - freed[self.start] - self._saved[max(0, high - low)]

    @property
    def total(self) -> int:
        """All tokens that are freed."""
        return self.freed(self.stop)

    def holds(self, index: int) -> bool:
        """Whether message `index` is changed."""
        if not self.start <= index < self.stop:
            return False
        return _within(self.changes.indexes, index) and not _within(self.spared, index)

    def without(self, index: int) -> Eased:
        """The same, but message `index` is spared too."""
        spared = sorted({*self.spared, index})
        return Eased(self.changes, self._counts, self.start, self.stop, spared)

    def had(self, start: int, stop: int) -> int:
        """The tokens that the changed messages of [start, stop) had before."""
        indexes, sizes = self.changes.indexes, self.changes.sizes
        start, stop = max(start, self.start), max(min(stop, self.stop), self.start)
        if start >= stop:
            return 0
        total = sizes[bisect_left(indexes, stop)] - sizes[bisect_left(indexes, start)]
        for at in range(bisect_left(self.spared, start), bisect_left(self.spared, stop)):
            if _within(indexes, self.spared[at]):
                total -= self._counts.tokens[self.spared[at]]
        return total

    def many(self, start: int, stop: int) -> int:
        """How many messages of [start, stop) are changed."""
        indexes = self.changes.indexes
        start, stop = max(start, self.start), min(stop, self.stop)
        if start >= stop:
            return 0
        spared = self.spared[bisect_left(self.spared, start) : bisect_left(self.spared, stop)]
        found = bisect_left(indexes, stop) - bisect_left(indexes, start)
        return found - sum(_within(indexes, each) for each in spared)

    def between(self, start: int, stop: int) -> Iterator[int]:
        """The messages of [start, stop) that are changed, ascending."""
        indexes = self.changes.indexes
        start, stop = max(start, self.start), min(stop, self.stop)
        for at in range(bisect_left(indexes, start), bisect_left(indexes, stop)):
            if not _within(self.spared, indexes[at]):
                yield indexes[at]


def _within(ascending: Sequence[int], value: int) -> bool:
    at = bisect_left(ascending, value)
    return at < len(ascending) and ascending[at] == value


class _Prefix(Sequence[int]):
    """Prefix sums with what is freed taken off, one subtraction at a time."""

    __slots__ = ("_freed", "_prefix")

    def __init__(self, prefix: Sequence[int], freed: Callable[[int], int]) -> None:
        self._prefix = prefix
        self._freed = freed

    def __getitem__(self, at: int) -> int:  # type: ignore[override]
        return self._prefix[at] - self._freed(at)

    def __len__(self) -> int:
        return len(self._prefix)


class _Tokens(Sequence[int]):
    """The tokens of every message after the passes."""

    __slots__ = ("_eased", "_tokens")

    def __init__(self, tokens: Sequence[int], eased: Eased) -> None:
        self._tokens = tokens
        self._eased = eased

    def __getitem__(self, at: int) -> int:  # type: ignore[override]
        eased = self._eased
        return eased.changes.tokens[at] if eased.holds(at) else self._tokens[at]

    def __len__(self) -> int:
        return len(self._tokens)
