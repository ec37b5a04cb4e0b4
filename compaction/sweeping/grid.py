"""Many settings of one policy walked over one session together, one compaction a step.

What `replaying.walking` does for one setting is done here for whole arrays of budgets and
amounts. The cost grows with the number of compactions of the setting that has most of them, and
hardly with the number of settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from compaction.policy import Policy
from compaction.replaying.thrash import SOON
from compaction.replaying.timeline import Timeline
from compaction.replaying.walking import walkable
from compaction.sweeping.dominance import Dominance, Ints

if TYPE_CHECKING:
    from collections.abc import Callable

    from compaction.needing import Needs

#: How a summary is estimated, as in `planning.summary_estimate`.
_MESSAGE_TOKENS, _SUMMARY_SHARE = 4, 4

Bools = NDArray[np.bool_]

#: Compactions that are looked at together for what was needed later.
_BATCH = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """What each setting came to; arrays with one entry a setting.

    Tokens as in `replaying.Totals`. `late` counts the calls at which the trigger held and nothing
    was compacted, `soon` the compactions that came right after another. `lost` is the score of
    what was needed later and had left the window (a summary is not asked what it holds),
    `refetched` the tokens of calls made again.
    """

    sent: Ints
    cached: Ints
    peak: Ints
    compactions: Ints
    late: Ints
    soon: Ints
    lost: Ints
    refetched: Ints
    summary_input: Ints
    summary_output: Ints


def walks_as_grid(policy: Policy) -> bool:
    """Whether settings of a policy can be walked together."""
    head, trigger = policy.head, policy.trigger
    return (
        not walkable(policy)
        and not trigger.any
        and not trigger.all
        and not head.keeps_middle
        and policy.recent.unit in ("messages", "groups", "turns", "tokens")
        and policy.safety.unit != "off"
        and policy.safety.snap == "keep-more"
        and policy.fit_steps in ((), ("none",))
        and policy.summary.accept == "smaller"
    )


class Grid:
    """One session, ready for many settings of policies that differ in budget and amount only."""

    def __init__(self, line: Timeline, policy: Policy, needs: Needs | None = None) -> None:
        from compaction.cuts import safe_cuts
        from compaction.planning import Planner

        groups = line.groups
        self.line = line
        self.policy = policy
        self.head_end = Planner(line.session, line.counts, groups).head_end(policy)
        self.prefix = np.asarray(line.counts.prefix, dtype=np.int64)
        self.starts = np.asarray(line.starts, dtype=np.int64)
        self.sent = np.asarray(line.sent, dtype=np.int64)
        self.sums = np.asarray(line.sums, dtype=np.int64)
        self.cuts = np.asarray(safe_cuts(groups, policy.safety), dtype=np.int64)
        self.units = self._units()
        self.latest = self._latest()
        self.fixed = line.counts.overhead + int(self.prefix[self.head_end])
        self.frame = _MESSAGE_TOKENS + len(policy.summary.label) // 4
        self.needed_of: Ints | None = None
        if needs is not None and needs.needs:
            self.needed_of = np.asarray(needs.of, dtype=np.int64)
            weights = [(need.weight, need.tokens) for need in needs.needs]
            self.needed = Dominance(needs.at, weights)

    def _units(self) -> Ints:
        groups = self.line.groups
        held = groups.turns if self.policy.recent.unit == "turns" else groups.starts
        return np.asarray(held, dtype=np.int64)

    def _latest(self) -> Ints:
        """The last cut that is allowed at every call."""
        starts = np.asarray(self.line.groups.starts, dtype=np.int64)
        newest = np.minimum(np.asarray(self.line.unanswered, dtype=np.int64), self.starts - 1)
        latest = _last(starts, newest, 0)
        if self.policy.safety.unit == "turn":
            latest = _last(self.cuts, latest, self.head_end)
        return np.maximum(latest, self.head_end)

    def walk(
        self, budgets: Ints, amounts: Ints, progress: Callable[[], None] | None = None
    ) -> Swept:
        """Every setting (budgets[i], amounts[i]) over all calls."""
        walk = _Walk(self, budgets, amounts)
        while walk.advance():
            if progress is not None:
                progress()
        return walk.swept()


def _last(ascending: Ints, limits: Ints, otherwise: int) -> Ints:
    """For each limit the largest of `ascending` that is not beyond it."""
    at = np.searchsorted(ascending, limits, side="right") - 1
    if not len(ascending):
        return np.full_like(limits, otherwise)
    return np.where(at >= 0, ascending[np.maximum(at, 0)], otherwise)


class _Walk:
    """All settings under way; `live` are the numbers of those that are not at the end."""

    def __init__(self, grid: Grid, budgets: Ints, amounts: Ints) -> None:
        self.grid = grid
        self.budgets = np.asarray(budgets, dtype=np.int64)
        self.amounts = np.asarray(amounts, dtype=np.int64)
        count = len(self.budgets)
        self.live = np.arange(count)
        self.cut = np.full(count, grid.head_end, dtype=np.int64)
        self.summary = np.zeros(count, dtype=np.int64)
        first = int(np.searchsorted(grid.starts, grid.head_end, side="left"))
        self.call = np.full(count, first, dtype=np.int64)
        self.begun = np.zeros(count, dtype=np.int64)
        self.before = np.zeros(count, dtype=np.int64)
        self.asked: list[tuple[Ints, Ints, Ints, Ints]] = []
        self.waiting = 0
        self.out = {name: np.zeros(count, dtype=np.int64) for name in Swept.__slots__}
        # Before the head is complete there is nothing that a policy could do.
        base = grid.fixed - grid.prefix[grid.head_end]
        side: Literal["left", "right"] = "left" if grid.policy.trigger.when == "reach" else "right"
        fires = np.searchsorted(grid.sent, self.budgets - base, side=side)
        self.out["late"] += np.maximum(0, first - fires)

    def _settle(self) -> None:
        """Find what the compactions took away that was needed: many at once cost less."""
        grid, out = self.grid, self.out
        if grid.needed_of is None or not self.asked:
            return
        live, begin, cut, at = (np.concatenate(each) for each in zip(*self.asked, strict=True))
        self.asked, self.waiting = [], 0
        start = np.searchsorted(grid.needed_of, begin, side="left")
        end = np.searchsorted(grid.needed_of, cut, side="left")
        lost = grid.needed.sums(start, end, at)
        for name, column in (("lost", 0), ("refetched", 1)):
            sums = np.bincount(live, weights=lost[:, column], minlength=len(out[name]))
            out[name] += sums.astype(np.int64)

    def swept(self) -> Swept:
        """What it came to."""
        self._settle()
        return Swept(**self.out)

    def advance(self) -> bool:
        """One compaction more for every setting that has one; False when none is left."""
        grid, live = self.grid, self.live
        calls = len(grid.starts)
        if not len(live) or not calls:
            return False
        base = grid.fixed + self.summary[live] - grid.prefix[self.cut[live]]
        side: Literal["left", "right"] = "left" if grid.policy.trigger.when == "reach" else "right"
        fires = np.searchsorted(grid.sent, self.budgets[live] - base, side=side)
        fires = np.maximum(fires, self.call[live])
        at, cut = self._possible(live, np.minimum(fires, calls))
        self.out["late"][live] += np.where(fires < calls, at - fires, 0)
        self._stretch(live, base, np.minimum(at, calls))
        going = at < calls
        self._compact(live[going], at[going], cut[going])
        self.live = live[going]
        return bool(len(self.live))

    def _cut_at(self, live: Ints, call: Ints) -> Ints:
        grid, amounts = self.grid, self.amounts[live]
        at = grid.starts[call]
        unit = grid.policy.recent.unit
        if unit == "messages":
            wanted = at - amounts
        elif unit == "tokens":
            wanted = np.searchsorted(grid.prefix, grid.prefix[at] - amounts, side="left")
        else:
            place = np.searchsorted(grid.units, at, side="left") - amounts
            wanted = np.where(place >= 0, _taken(grid.units, place), 0)
            wanted = np.where(amounts == 0, at, wanted)
        latest = grid.latest[call]
        wanted = np.maximum(self.cut[live], wanted)
        cut = np.where(wanted < latest, _last(grid.cuts, wanted, grid.head_end), wanted)
        return np.maximum(self.cut[live], np.minimum(cut, latest))

    def _gains(self, live: Ints, call: Ints) -> tuple[Bools, Ints]:
        """Whether a compaction at each call gets anywhere, and where it would cut."""
        cut = self._cut_at(live, call)
        replaced = self._replaced(live, cut)
        return (cut > self.cut[live]) & (replaced > self._estimate(replaced)), cut

    def _replaced(self, live: Ints, cut: Ints) -> Ints:
        prefix = self.grid.prefix
        return self.summary[live] + prefix[cut] - prefix[self.cut[live]]

    def _estimate(self, replaced: Ints) -> Ints:
        limit = self.grid.policy.summary.max_tokens
        return self.grid.frame + np.minimum(limit, replaced // _SUMMARY_SHARE)

    def _possible(self, live: Ints, fires: Ints) -> tuple[Ints, Ints]:
        """The first call from `fires` on at which a compaction gets anywhere, and its cut."""
        calls = len(self.grid.starts)
        gains, cuts = self._gains(live, np.minimum(fires, calls - 1))
        stuck = np.flatnonzero(~gains & (fires < calls))
        if not len(stuck):
            return fires, cuts
        out = fires.copy()
        low, high = fires[stuck] + 1, np.full(len(stuck), calls, dtype=np.int64)
        while True:
            open_ = np.flatnonzero(low < high)
            if not len(open_):
                break
            middle = (low[open_] + high[open_]) // 2
            gains, _ = self._gains(live[stuck[open_]], middle)
            high[open_] = np.where(gains, middle, high[open_])
            low[open_] = np.where(gains, low[open_], middle + 1)
        out[stuck] = low
        there = stuck[low < calls]
        cuts[there] = self._cut_at(live[there], out[there])
        return out, cuts

    def _stretch(self, live: Ints, base: Ints, until: Ints) -> None:
        """Add up the calls since the last compaction."""
        grid, out = self.grid, self.out
        some = until > self.begun[live]
        if not some.all():
            live, base, until = live[some], base[some], until[some]
        begun = self.begun[live]
        part = base * (until - begun) + grid.sums[until] - grid.sums[begun]
        last = base + grid.sent[until - 1]
        out["sent"][live] += part
        first = np.where(begun > 0, np.minimum(grid.fixed, self.before[live]), 0)
        first = np.where(out["compactions"][live] > 0, first, 0)
        out["cached"][live] += part - last + first
        out["peak"][live] = np.maximum(out["peak"][live], last)
        self.before[live] = last

    def _compact(self, live: Ints, call: Ints, cut: Ints) -> None:
        out, grid = self.out, self.grid
        replaced = self._replaced(live, cut)
        made = self._estimate(replaced)
        soon = (call - self.begun[live] <= SOON) & (out["compactions"][live] > 0)
        out["soon"][live] += soon
        if grid.needed_of is not None:
            self.asked.append((live, self.cut[live], cut, grid.starts[call]))
            self.waiting += len(live)
            if self.waiting >= _BATCH:
                self._settle()
        out["compactions"][live] += 1
        out["summary_input"][live] += replaced
        out["summary_output"][live] += made
        self.summary[live], self.cut[live] = made, cut
        self.begun[live], self.call[live] = call, call + 1


def _taken(values: Ints, places: Ints) -> Ints:
    if not len(values):
        return np.zeros_like(places)
    return values[np.clip(places, 0, len(values) - 1)]
