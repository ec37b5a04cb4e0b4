"""Plan: the decision for one session under one policy, as boundaries and totals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from compaction.findings import Finding
from compaction.groups import Groups
from compaction.messages import Session
from compaction.policy import Policy

if TYPE_CHECKING:
    from compaction.passes import Eased
    from compaction.planning import Planner
    from compaction.tokens import Counts

Region = Literal["head", "summarized", "kept", "cleared", "recent"]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The decision for one session under one policy.

    Messages [0, head_end) are the head and [cut, n) recent; what is between is summarized but
    for `kept`. When nothing is summarized, `cut` is `head_end`, `kept` is empty, and all after
    the head is recent. `reason` says in a sentence why it compacts, or why not.

    `requested` and `effective` are keep_recent as asked and as given, in the unit of the policy
    (None for "fit"); `snap_note` explains a difference. `unreachable` is "" or says that no
    keep_recent brings the list under the budget, and what prevents it. All sizes are tokens.

    `eased` are the changes of the passes before, None where they change nothing. `summarizes` says
    whether anything is taken out of the list at all: with it, `cut` to the end is what is left;
    without it and with changes, these are all that happens. `altered` are kept messages that a
    pass changes; `truncated` is a user message of which only so many tokens are kept. `target` is
    what the list is brought under where it is made to fit.
    """

    session: Session
    counts: Counts
    groups: Groups
    policy: Policy
    n: int
    head_end: int
    cut: int
    kept: tuple[int, ...]
    compacts: bool
    reason: str
    budget: int
    over_budget: bool
    tokens_kept: int
    summary_estimate: int
    requested: int | float | None
    effective: int | float | None
    snap_note: str
    unreachable: str
    findings: tuple[Finding, ...]
    planner: Planner
    summarizes: bool
    target: int
    eased: Eased | None = None
    altered: tuple[int, ...] = ()
    truncated: tuple[int, int] | None = None

    @property
    def head(self) -> range:
        """The messages kept first."""
        return range(self.head_end)

    @property
    def summarized(self) -> Sequence[int]:
        """The messages that one summary replaces, or that are dropped; often a range."""
        middle = range(self.head_end, self.cut)
        stay = {*self.kept, *self._altered_middle}
        if not stay:
            return middle
        return tuple(index for index in middle if index not in stay)

    @property
    def _altered_middle(self) -> tuple[int, ...]:
        if self.truncated is None:
            return self.altered
        return tuple(sorted((*self.altered, self.truncated[0])))

    @property
    def cleared(self) -> Sequence[int]:
        """The messages that stay, but are changed in place."""
        middle = self._altered_middle
        if self.eased is None:
            return middle
        return (*middle, *self.eased.between(self.cut, self.n))

    @property
    def recent(self) -> Sequence[int]:
        """The newest messages, kept verbatim; a range unless some of them are cleared."""
        newest = range(self.cut, self.n)
        if self.eased is None:
            return newest
        cleared = set(self.eased.between(self.cut, self.n))
        return tuple(index for index in newest if index not in cleared) if cleared else newest

    def region(self, i: int) -> Region:
        """Where message `i` goes."""
        if not 0 <= i < self.n:
            raise IndexError(f"there is no message #{i} among {self.n}")
        if i < self.head_end:
            return "head"
        if i >= self.cut:
            return "cleared" if self.eased is not None and self.eased.holds(i) else "recent"
        if holds(self.kept, i):
            return "kept"
        return "cleared" if holds(self._altered_middle, i) else "summarized"

    def messages_in(self, region: Region) -> int:
        """How many messages are in a region, without listing them."""
        middle = len(self._altered_middle)
        newest = 0 if self.eased is None else self.eased.many(self.cut, self.n)
        match region:
            case "head":
                return self.head_end
            case "summarized":
                return self.cut - self.head_end - len(self.kept) - middle
            case "kept":
                return len(self.kept)
            case "cleared":
                return middle + newest
            case "recent":
                return self.n - self.cut - newest

    def had_cleared(self, start: int, stop: int) -> int:
        """The tokens that the cleared messages of [start, stop) have before they are changed."""
        middle = self._altered_middle
        inside = middle[bisect_left(middle, start) : bisect_left(middle, stop)]
        had = sum(self.counts.tokens[index] for index in inside)
        return had if self.eased is None else had + self.eased.had(max(start, self.cut), stop)

    @property
    def overhead(self) -> int:
        """Tokens of the window that are no message: tool definitions the file holds."""
        return self.counts.overhead

    @property
    def tokens_before(self) -> int:
        """All messages and the overhead."""
        return self.counts.prefix[self.n] + self.counts.overhead

    @property
    def tokens_head(self) -> int:
        """The head."""
        return self.counts.prefix[self.head_end]

    @property
    def tokens_summarized(self) -> int:
        """What the summary replaces, or what is dropped."""
        prefix = self.counts.prefix
        stays = self.tokens_kept + sum(self.counts.tokens[i] for i in self._altered_middle)
        return prefix[self.cut] - prefix[self.head_end] - stays

    @property
    def tokens_recent(self) -> int:
        """The recent messages."""
        return self.counts.prefix[self.n] - self.counts.prefix[self.cut] - self._had_recent

    @property
    def _had_recent(self) -> int:
        return 0 if self.eased is None else self.eased.had(self.cut, self.n)

    @property
    def tokens_freed(self) -> int:
        """What changing messages in place frees, of those that stay."""
        freed = 0
        if self.eased is not None:
            freed = self.eased.freed(self.n) - self.eased.freed(self.cut)
            now = self.eased.tokens
            freed += sum(self.counts.tokens[i] - now[i] for i in self.altered)
        if self.truncated is not None:
            freed += self.counts.tokens[self.truncated[0]] - self.truncated[1]
        return freed

    @property
    def tokens_cleared(self) -> int:
        """The cleared messages as they are then."""
        return self.had_cleared(self.head_end, self.n) - self.tokens_freed

    @property
    def tokens_after_estimate(self) -> int:
        """The compacted list and the overhead, with the summary as estimated."""
        gone = self.tokens_summarized + self.tokens_freed
        return self.tokens_before - gone + self.summary_estimate

    @property
    def over_by(self) -> int:
        """How far the list is over the budget; 0 when it is not."""
        return max(0, self.tokens_before - self.budget) if self.over_budget else 0

    @property
    def nothing_changes_past(self) -> int:
        """The smallest budget under which nothing is compacted: the session's own total."""
        return self.tokens_before + (self.policy.trigger.when == "reach")

    def fits(self, summary_tokens: int) -> bool:
        """Whether the compacted list keeps the target with a summary of that many tokens."""
        after = self.tokens_before - self.tokens_summarized - self.tokens_freed + summary_tokens
        return not self.policy.trigger.passed(after, self.target)

    def shrink(self, summary_tokens: int | None = None) -> Plan | None:
        """The plan whose recent part is smaller by one safe cut; None when there is none.

        With `summary_tokens`, None also when the list fits with such a summary already.
        """
        if not self.compacts or (summary_tokens is not None and self.fits(summary_tokens)):
            return None
        return self.planner.shrunk(self)

    def as_json(self) -> dict[str, object]:
        """The plan as `plan --json` prints it: half-open ranges, one entry a message in lists."""
        session, policy = self.session, self.policy
        return {
            "session": {
                "format": session.format,
                "messages": self.n,
                "problems": [problem.as_json() for problem in session.problems],
            },
            "policy": {
                "name": policy.name,
                "budget": self.budget,
                "keep_recent": policy.keep_recent,
                "unit": policy.recent.unit,
                "requested": self.requested,
                "effective": self.effective,
                "snapped": self.snap_note,
            },
            "tokens": {
                "before": self.tokens_before,
                "head": self.tokens_head,
                "summarized": self.tokens_summarized,
                "kept": self.tokens_kept,
                "cleared": self.tokens_cleared,
                "freed": self.tokens_freed,
                "recent": self.tokens_recent,
                "overhead": self.overhead,
                "after": None,
                "after_estimate": self.tokens_after_estimate,
                "tokenizer": self.counts.named,
                "exact": self.counts.sure,
            },
            "over_budget": self.over_budget,
            "compacts": self.compacts,
            "reason": self.reason,
            "unreachable": self.unreachable,
            "head": [0, self.head_end],
            "summarized": _span(self.summarized, self.cut),
            "kept": list(self.kept),
            "cleared": list(self.cleared),
            "recent": _span(self.recent, self.n),
            "regions": [self.region(index) for index in range(self.n)],
            "message_tokens": list(self.counts.tokens),
            "findings": [finding.as_json() for finding in self.findings],
        }


def holds(ascending: Sequence[int], i: int) -> bool:
    """Whether `i` is one of `ascending`, found by bisection."""
    at = bisect_left(ascending, i)
    return at < len(ascending) and ascending[at] == i


def _span(indexes: Sequence[int], empty_at: int) -> list[int] | None:
    """[start, end) of `indexes` when they are contiguous, else None."""
    if not indexes:
        return [empty_at, empty_at]
    first, last = indexes[0], indexes[-1]
    return [first, last + 1] if last - first + 1 == len(indexes) else None
