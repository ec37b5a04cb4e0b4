"""A preset held against its original: what both keep of every case, how often it is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from compaction.compacting import compact
from compaction.planning import Planner
from compaction.policy import Policy
from compaction.summary import FromCallable
from tests.differential.cases import Case

#: The text of every summary, on both sides.
SUMMARY = "So far."


@dataclass(frozen=True)
class Outcome:
    """What is left: the messages kept as they are, those changed in place, whether one is new."""

    kept: tuple[int, ...]
    changed: tuple[int, ...] = ()
    summary: bool = False


@dataclass
class Tally:
    """The comparisons of one original: equal ones, known differences by reason, and all others."""

    same: int = 0
    known: dict[str, int] = field(default_factory=dict)
    unexplained: list[str] = field(default_factory=list)
    acted: int = 0

    @property
    def total(self) -> int:
        return self.same + sum(self.known.values()) + len(self.unexplained)


def ours(case: Case, policy: Policy) -> Outcome:
    """What `policy` leaves of `case`."""
    plan = Planner(case.session(), case.counts()).plan(policy)
    done = compact(plan, FromCallable(lambda _: SUMMARY, "stub"))
    if not done.made:
        return Outcome(tuple(range(len(case.entries))))
    kept, changed = [], []
    for index, fate in enumerate(done.account):
        if fate.region == "cleared":
            changed.append(index)
        elif fate.region != "summarized":
            kept.append(index)
    return Outcome(tuple(kept), tuple(changed), done.summary is not None)


#: Why `ours` and `theirs` may differ on a case under a policy; "" when nothing explains it.
Explain = Callable[[Case, Outcome, Outcome], str]


def compare(
    cases: Iterable[Case],
    original: Callable[[Case, int], Outcome],
    policy: Callable[[Case, int], Policy],
    explain: Explain,
    budgets: Callable[[Case], Iterable[int]],
) -> Tally:
    """Hold both against each other on every case at every budget."""
    tally = Tally()
    for case in cases:
        for budget in budgets(case):
            mine, theirs = ours(case, policy(case, budget)), original(case, budget)
            everything = tuple(range(len(case.entries)))
            tally.acted += theirs.kept != everything
            if mine == theirs:
                tally.same += 1
            elif why := explain(case, mine, theirs):
                tally.known[why] = tally.known.get(why, 0) + 1
            else:
                tally.unexplained.append(f"{case.name} at {budget}: {mine} for {theirs}")
    return tally


def quarters(case: Case) -> list[int]:
    """Budgets from far too small to larger than the list."""
    return sorted({max(1, case.total * part // 8) for part in (1, 3, 5, 7, 9)})
