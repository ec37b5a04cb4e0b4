"""Where a list is cut: the head's end, the first recent message, and what stays between them.

Everything is found by bisection over arrays that exist already; nothing here walks the messages.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compaction.groups import Groups
from compaction.policy_blocks import Head, Recent, Safety

if TYPE_CHECKING:
    from compaction.passes import Eased
    from compaction.tokens import Counts

#: Tokens under which no part of a user message is worth keeping.
LEAST_TRUNCATED = 16


def safe_cuts(groups: Groups, safety: Safety) -> Sequence[int]:
    """The indexes at which a list may be cut under `safety`, ascending.

    The end of the list is one of them only where nothing is protected: otherwise the newest
    message always stays.
    """
    if safety.unit == "off":
        return range(groups.n + 1)
    if safety.unit == "group":
        return groups.starts
    return groups.split_cuts if safety.split_newest else groups.turn_cuts


def latest_cut(groups: Groups, safety: Safety, head_end: int) -> int:
    """The last cut that is allowed: the newest group and the unanswered user stay behind it."""
    n = groups.n
    if safety.unit == "off":
        return n
    if n == 0:
        return 0
    latest = groups.snap_back(min(groups.unanswered, n - 1))
    if safety.unit == "turn":
        cuts = safe_cuts(groups, safety)
        at = bisect_right(cuts, latest)
        latest = cuts[at - 1] if at else head_end
    return max(latest, head_end)


def snapped(cut: int, cuts: Sequence[int], safety: Safety, head_end: int, latest: int) -> int:
    """`cut` moved to a safe one, and into [head_end, latest]."""
    if safety.snap == "keep-less":
        at = bisect_left(cuts, cut)
        cut = cuts[at] if at < len(cuts) else latest
    elif cut < latest:
        at = bisect_right(cuts, cut)
        cut = cuts[at - 1] if at else head_end
    return max(head_end, min(cut, latest))


def next_cut(cuts: Sequence[int], cut: int, latest: int) -> int | None:
    """The next safe cut after `cut`; None when that would be past `latest`."""
    at = bisect_right(cuts, cut)
    if at < len(cuts) and cuts[at] <= latest:
        return cuts[at]
    return None


def first_fitting(cuts: Sequence[int], cut: int, latest: int, fits: Callable[[int], bool]) -> int:
    """The earliest safe cut from `cut` on that `fits`; `latest` when none does.

    `fits` must stay true once it is true.
    """
    if fits(cut):
        return cut
    low, high = bisect_right(cuts, cut), bisect_right(cuts, latest)
    at = bisect_left(range(low, high), True, key=lambda position: fits(cuts[position]))
    return cuts[low + at] if low + at < high else latest


def wanted_cut(recent: Recent, groups: Groups, prefix: Sequence[int]) -> int:
    """The first recent message as `recent` asks, before any snapping; "fit" asks for all."""
    n, amount = groups.n, recent.amount
    match recent.unit:
        case "messages":
            return max(0, n - int(amount))
        case "groups":
            return _from_end(groups.starts, int(amount), n)
        case "turns":
            return _from_end(groups.turns, int(amount), n)
        case "tokens":
            return bisect_left(prefix, prefix[n] - int(amount))
        case "fraction":
            return bisect_left(prefix, prefix[n] - int(amount * prefix[n]))
        case "fit":
            return 0


def _from_end(starts: array[int], amount: int, n: int) -> int:
    if amount == 0:
        return n
    return starts[-amount] if amount <= len(starts) else 0


def effective_amount(
    recent: Recent, cut: int, groups: Groups, prefix: Sequence[int]
) -> int | float | None:
    """How much [cut, n) is, in the unit of `recent`; None for "fit"."""
    n = groups.n
    match recent.unit:
        case "messages":
            return n - cut
        case "groups":
            return len(groups.starts) - bisect_left(groups.starts, cut)
        case "turns":
            return len(groups.turns) - bisect_left(groups.turns, cut)
        case "tokens":
            return prefix[n] - prefix[cut]
        case "fraction":
            return round((prefix[n] - prefix[cut]) / prefix[n], 4) if prefix[n] else 1.0
        case "fit":
            return None


class Kept:
    """The messages between head and recent that stay verbatim, for any cut.

    Pins, the first and last user message and `stacked` earlier summaries bring their whole group
    along unless safety is off. The newest user messages within `head.users` tokens stay too,
    those that belong to no group; of the next one before them what fits stays where
    `head.overflow` says so.
    """

    __slots__ = ("_alone", "_fixed", "_fixed_prefix", "_head_end", "_truncates", "_users")

    def __init__(
        self,
        head: Head,
        safety: Safety,
        head_end: int,
        groups: Groups,
        counts: Counts | Eased,
        alone: Alone | None,
        stacked: Sequence[int] = (),
    ) -> None:
        members: set[int] = set()
        pins = [pin for pin in head.pins if head_end <= pin < groups.n]
        if head.first_user and groups.turns and groups.turns[0] >= head_end:
            pins.append(groups.turns[0])
        if head.last_user and groups.turns and groups.turns[-1] >= head_end:
            pins.append(groups.turns[-1])
        pins += [index for index in stacked if index >= head_end]
        for pin in pins:
            members.update((pin,) if safety.unit == "off" else groups.group_of(pin))
        self._fixed = sorted(members)
        total = 0
        self._fixed_prefix = [0]
        for index in self._fixed:
            total += counts.tokens[index]
            self._fixed_prefix.append(total)
        self._head_end = head_end
        self._users = head.users
        self._truncates = head.overflow == "truncate"
        self._alone = alone

    def _users_before(self, cut: int) -> range:
        """The rows of `alone` that stay for their budget, when the list is cut there."""
        alone = self._alone
        if alone is None:
            return range(0)
        first = bisect_left(alone.indexes, self._head_end)
        last = bisect_left(alone.indexes, cut)
        if first >= last:
            return range(first, first)
        return range(bisect_left(alone.prefix, alone.prefix[last] - self._users, first, last), last)

    @property
    def fixed(self) -> Sequence[int]:
        """The messages that stay wherever the list is cut, ascending."""
        return self._fixed

    def truncated(self, cut: int) -> tuple[int, int] | None:
        """The user message of which only a part fits its budget, and the tokens it may have."""
        alone, rows = self._alone, self._users_before(cut)
        if alone is None or not self._truncates:
            return None
        row = rows.start - 1
        if row < 0 or alone.indexes[row] < self._head_end or alone.indexes[row] >= cut:
            return None
        left = self._users - (alone.prefix[rows.stop] - alone.prefix[rows.start])
        if left < LEAST_TRUNCATED or _holds(self._fixed, alone.indexes[row]):
            return None
        return alone.indexes[row], left

    def before(self, cut: int) -> tuple[int, ...]:
        """The messages that stay although they are before `cut`, ascending."""
        fixed = self._fixed[: bisect_left(self._fixed, cut)]
        rows = self._users_before(cut)
        if self._alone is None or not rows:
            return tuple(fixed)
        users = self._alone.indexes[rows.start : rows.stop]
        return tuple(sorted({*fixed, *users})) if fixed else tuple(users)

    def tokens(self, cut: int) -> int:
        """The tokens of `before(cut)`, without listing it."""
        end = bisect_left(self._fixed, cut)
        total = self._fixed_prefix[end]
        rows, alone = self._users_before(cut), self._alone
        truncated = self.truncated(cut)
        total += truncated[1] if truncated is not None else 0
        if alone is None or not rows:
            return total
        total += alone.prefix[rows.stop] - alone.prefix[rows.start]
        # What is pinned and a user message within the budget counts once.
        for at in range(bisect_left(self._fixed, alone.indexes[rows.start]), end):
            row = bisect_left(alone.indexes, self._fixed[at], rows.start, rows.stop)
            if row < rows.stop and alone.indexes[row] == self._fixed[at]:
                total -= alone.prefix[row + 1] - alone.prefix[row]
        return total


def _holds(ascending: Sequence[int], value: int) -> bool:
    at = bisect_left(ascending, value)
    return at < len(ascending) and ascending[at] == value


class Alone:
    """The messages people typed that no group holds, with prefix sums of their tokens.

    With safety off every typed message counts as alone.
    """

    __slots__ = ("indexes", "prefix")

    def __init__(self, groups: Groups, tokens: Sequence[int], *, ungrouped: bool) -> None:
        self.indexes = array("q")
        self.prefix = array("q", (0,))
        total = 0
        for index in groups.turns:
            if ungrouped or len(groups.group_of(index)) == 1:
                total += tokens[index]
                self.indexes.append(index)
                self.prefix.append(total)
