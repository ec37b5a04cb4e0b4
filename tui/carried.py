"""A plan as it was really carried out: what a result left of every message.

A result can keep less than its plan asked for, shorten what the plan leaves alone, or be none at
all. Widgets that show a plan read of this what they read of one.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from compaction.groups import Groups
from compaction.policy import Policy
from compaction.tokens import Counts, count_message

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.planning import Region

#: The regions by the numbers they have here.
_REGIONS: tuple[Region, ...] = ("head", "summarized", "kept", "cleared", "recent")
_CLEARED, _RECENT = _REGIONS.index("cleared"), _REGIONS.index("recent")


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What became of a plan; the names are those of `compaction.planning.Plan`.

    `after` are the tokens of the messages that were changed, as they are now, by index.
    """

    policy: Policy
    counts: Counts
    groups: Groups
    n: int
    head_end: int
    cut: int
    kept: tuple[int, ...]
    budget: int
    over_budget: bool
    compacts: bool
    summarizes: bool
    reason: str
    unreachable: str
    summary_estimate: int
    after: Mapping[int, int]
    regions: bytes
    #: Prefix sums of the tokens that changed messages had.
    had: array[int]
    many: tuple[int, ...]
    tokens: tuple[int, ...]

    @property
    def overhead(self) -> int:
        """Tokens of the window that are no message."""
        return self.counts.overhead

    @property
    def tokens_head(self) -> int:
        """The head."""
        return self.tokens[0]

    @property
    def tokens_summarized(self) -> int:
        """What the summary replaced, or what was dropped."""
        return self.tokens[1]

    @property
    def tokens_kept(self) -> int:
        """What stays in the middle as it is."""
        return self.tokens[2]

    @property
    def tokens_recent(self) -> int:
        """The newest messages, as they are."""
        return self.tokens[4]

    @property
    def tokens_cleared(self) -> int:
        """The changed messages as they are now."""
        return sum(self.after.values())

    @property
    def tokens_freed(self) -> int:
        """What changing messages freed."""
        return self.tokens[_CLEARED] - self.tokens_cleared

    def region(self, index: int) -> Region:
        """Where a message went."""
        return _REGIONS[self.regions[index]]

    def messages_in(self, region: Region) -> int:
        """How many messages went there."""
        return self.many[_REGIONS.index(region)]

    def had_cleared(self, start: int, stop: int) -> int:
        """The tokens that the changed messages of [start, stop) had."""
        return self.had[stop] - self.had[start] if stop > start else 0


def carried(result: Compacted) -> Carried:
    """What became of the plan of a result. Takes time in proportion to the session."""
    plan, messages = result.plan, result.session.messages
    tokens = plan.counts.tokens
    if result.made:
        regions = bytearray(_REGIONS.index(fate.region) for fate in result.account)
    else:
        # What would have been summarized is where everything else is.
        regions = bytearray(bytes(plan.head_end) + bytes([_RECENT]) * (plan.n - plan.head_end))
    after: dict[int, int] = {}
    for index, fate in enumerate(result.account):
        if fate.into is None or fate.region == "summarized":
            continue
        now = result.messages[fate.into]
        if now is not messages[index]:
            regions[index] = _CLEARED
            after[index] = count_message(now, plan.counts.counter)
    had = accumulate(
        (tokens[index] if region == _CLEARED else 0 for index, region in enumerate(regions)),
        initial=0,
    )
    sums = [0] * len(_REGIONS)
    for index, region in enumerate(regions):
        sums[region] += tokens[index]
    summarizes = plan.summarizes and result.made
    return Carried(
        policy=plan.policy,
        counts=plan.counts,
        groups=plan.groups,
        n=plan.n,
        head_end=plan.head_end,
        cut=plan.cut if summarizes else plan.head_end,
        kept=plan.kept if summarizes else (),
        budget=plan.budget,
        over_budget=result.over_budget,
        compacts=result.made,
        summarizes=summarizes,
        reason=result.failure or plan.reason,
        unreachable=plan.unreachable if result.over_budget else "",
        summary_estimate=result.summary.tokens if result.summary is not None else 0,
        after=after,
        regions=bytes(regions),
        had=array("q", had),
        many=tuple(regions.count(number) for number in range(len(_REGIONS))),
        tokens=tuple(sums),
    )
