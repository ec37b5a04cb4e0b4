"""The replay of the session on the screen, and the list as it stood at one of its calls.

Runs in threads, as `tui.loading` does: nothing here touches a widget.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from textual.message import Message as Event

from compaction.decision import holds
from compaction.errors import CompactionError
from compaction.messages import IsCancelled, Session
from compaction.needing import Forgotten, Needs, forgotten, needs_of
from compaction.policy import Policy
from compaction.pricing import Prices, prices_of
from compaction.replaying import (
    Replay,
    Timeline,
    Walker,
    recorded_walk,
    replayed,
    timeline,
    uncompacted,
)
from tui.widgets.sawtooth_shape import Saw, Tooth

if TYPE_CHECKING:
    from compaction.groups import Groups
    from compaction.replaying import Regions
    from compaction.tokens import Counts

Post = Callable[[Event], object]


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """A whole recorded session, ready to be replayed.

    `shown` and `counts` are the session on the screen and its counts, of which this was made.
    `places[i]` is the message of the whole session that message i of the list is (or that comes
    after it); None where both are the same. `needs` are None until they were looked for.
    """

    shown: Session
    counts: Counts
    line: Timeline
    walker: Walker
    prices: Prices | None
    places: array[int] | None
    needs: Needs | None = None
    #: What the compactions that the tool really made forgot; None where it made none.
    theirs: Forgotten | None = None

    @property
    def session(self) -> Session:
        """The session that is replayed."""
        return self.line.session

    def listed(self, index: int) -> int:
        """The first message of the list that is message `index` of the whole, or comes after."""
        if self.places is None:
            return index
        # A summary of the tool has the place of the message after it, which is the one meant.
        last = bisect_right(self.places, index) - 1
        same = last >= 0 and self.places[last] == index
        return last if same else bisect_left(self.places, index)

    def whole(self, index: int) -> int:
        """The message of the whole session that message `index` of the list is; -1 for none."""
        if self.places is None:
            return index
        place = self.places[index]
        return place if self.listed(place) == index else -1

    def found(self, index: int) -> int | None:
        """The message of the list that is message `index` of the whole; None for none."""
        place = self.listed(index)
        if place >= len(self.shown.messages):
            return None
        mine, theirs = self.shown.messages[place], self.session.messages[index]
        return place if _same(mine, theirs) else None


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One policy replayed. `gone` is None until it is known what is needed later."""

    past: Past
    replay: Replay
    gone: Forgotten | None
    saw: Saw
    #: Seconds it took.
    took: float


@dataclass
class Replayed(Event):
    """A replay is there; `reason` says why not."""

    ticket: int
    run: Run | None
    reason: str = ""


def replay(
    past: Past | None,
    shown: Session,
    counts: Counts,
    groups: Groups,
    policy: Policy,
    ticket: int,
    post: Post,
    stopped: IsCancelled,
) -> None:
    """Replay `policy`, at first without what was needed later where that must be looked for."""
    try:
        past = past_of(past, shown, counts, groups, policy, stopped)
        if past.needs is None:
            post(Replayed(ticket, run(past, policy)))
            past = with_needs(past, stopped)
        if not stopped():
            post(Replayed(ticket, run(past, policy)))
    except CompactionError as error:
        if not stopped():
            post(Replayed(ticket, None, str(error)))


def past_of(
    past: Past | None,
    shown: Session,
    counts: Counts,
    groups: Groups,
    policy: Policy,
    stopped: IsCancelled,
) -> Past:
    """`past` where it is still that of the session and the counts, else another."""
    if past is not None and past.shown is shown and past.counts is counts:
        return past
    kept = past if past is not None and past.shown is shown else None
    return make_past(shown, counts, groups, policy, kept, stopped)


def make_past(
    shown: Session,
    counts: Counts,
    groups: Groups,
    policy: Policy,
    kept: Past | None,
    stopped: IsCancelled,
) -> Past:
    """The whole session; `kept` is one of the same session under other counts."""
    whole = kept.session if kept is not None else uncompacted(shown)
    if whole is shown:
        line, places = timeline(shown, counts, groups), None
    else:
        from compaction.groups import find_groups

        places = _places(shown, whole)
        line = timeline(whole, _counted(whole, policy, stopped), find_groups(whole.messages))
    # What is needed later does not depend on how tokens are counted, but for what a call costs.
    same = kept is not None and kept.counts.exact == counts.exact
    needs, theirs = (kept.needs, kept.theirs) if kept is not None and same else (None, None)
    return Past(shown, counts, line, Walker(line), prices_of(whole.model), places, needs, theirs)


def with_needs(past: Past, stopped: IsCancelled) -> Past:
    """`past` with what later messages use of earlier ones."""
    needs = needs_of(past.session, past.line.counts, cancelled=stopped)
    theirs = None
    if past.session.compactions:
        # As for a policy, whose summaries are not known here, no summary is asked what it holds.
        walked, _ = recorded_walk(past.line)
        theirs = forgotten(needs, walked)
    return replace(past, needs=needs, theirs=theirs)


def _counted(whole: Session, policy: Policy, stopped: IsCancelled) -> Counts:
    from compaction.planning import counts_for
    from compaction.tokens import count

    if policy.tokens in ("calibrated", "chars/4"):
        return counts_for(whole, policy)
    return count(whole, policy.tokens, cancelled=stopped)


def _same(one: object, other: object) -> bool:
    if one is other:
        return True
    return _key(one) == _key(other)


def _key(message: object) -> tuple[object, ...]:
    spans = getattr(message, "spans", ())
    own = (getattr(message, "id", ""), getattr(message, "pointer", ""))
    return (spans[:1], *own) if spans or any(own) else (id(message),)


def _places(shown: Session, whole: Session) -> array[int]:
    """For every message of the list its place in the whole session, or that of the next one."""
    at = {_key(message): index for index, message in enumerate(whole.messages)}
    out = array("q", bytes(8 * len(shown.messages)))
    following = len(whole.messages)
    for index in reversed(range(len(shown.messages))):
        following = min(following, at.get(_key(shown.messages[index]), following))
        out[index] = following
    return out


def run(past: Past, policy: Policy) -> Run:
    """One policy over a session that is ready. Raises PolicyError."""
    begun = perf_counter()
    made = replayed(past.line, policy, prices=past.prices, walker=past.walker)
    gone = forgotten(past.needs, made.walked) if past.needs is not None else None
    return Run(past, made, gone, saw_of(past, made), perf_counter() - begun)


def saw_of(past: Past, made: Replay) -> Saw:
    """What the chart shows of a replay."""
    line = past.line
    head = past.walker.planner.head_end(made.policy)
    fixed = line.counts.overhead + line.counts.prefix[head]
    by_call = {each.call: each.standing for each in made.compactions}
    summary, teeth = 0, []
    for each in made.walked.stretches:
        summary = by_call.get(each.call, summary)
        teeth.append(Tooth(each.call, each.until, each.base, fixed, summary))
    return Saw(
        sent=line.sent,
        overhead=line.counts.overhead,
        teeth=tuple(teeth),
        budget=made.budget,
        compactions=tuple(each.call for each in made.compactions),
        declined=tuple((each.call, each.until) for each in made.declined),
        recorded=tuple(each.call for each in made.recorded),
    )


@dataclass(frozen=True, slots=True)
class PastPlan:
    """The list as it stood at one call: what a list of messages reads of a plan.

    Indexes are of the list on the screen, but `cleared` are those of the whole session; of messages
    from `end` on there were none yet.
    """

    policy: Policy
    n: int
    end: int
    head_end: int
    cut: int
    kept: tuple[int, ...]
    cleared: frozenset[int]
    past: Past
    summarizes: bool
    tokens_summarized: int
    summary_estimate: int

    def region(self, index: int) -> str:
        """The region of a message."""
        if self.summarizes and index < self.head_end:
            return "head"
        stays = not self.summarizes or index >= self.cut
        if not stays and not holds(self.kept, index):
            return "summarized"
        if self.past.whole(index) in self.cleared:
            return "cleared"
        return "recent" if stays else "kept"

    def messages_in(self, region: str) -> int:
        """How many messages are in a region."""
        if region == "summarized" and self.summarizes:
            return self.cut - self.head_end - len(self.kept)
        return sum(self.region(index) == region for index in range(self.end))


def past_plan(past: Past, made: Replay, call: int) -> PastPlan:
    """The list at a call of a replay."""
    regions: Regions = made.regions_at(call)
    last, prefix = regions.last, past.line.counts.prefix
    gone = 0
    if last is not None:
        gone = prefix[regions.cut] - prefix[regions.head]
        gone -= sum(prefix[each + 1] - prefix[each] for each in regions.stay)
    cut = past.listed(regions.cut)
    head = past.listed(regions.head)
    kept = tuple(past.listed(each) for each in regions.stay)
    return PastPlan(
        policy=made.policy,
        n=len(past.shown.messages),
        end=past.listed(regions.end),
        head_end=head,
        cut=cut,
        kept=tuple(each for each in kept if head <= each < cut),
        cleared=regions.cleared,
        past=past,
        summarizes=last is not None and cut > head,
        tokens_summarized=gone,
        summary_estimate=last.standing if last is not None else 0,
    )
