"""A policy walked over the calls of a session, from compaction to compaction.

Between two compactions the context of a call is a constant plus a prefix sum, so the call at which
the trigger holds next, and the first at which a compaction would get anywhere, are found by
bisection. The cost of a walk grows with the number of compactions, not with that of messages.

What a list looks like after a compaction needs no list: head, one summary, what is kept, and the
messages from a cut on. `cut` is the index of that message in the session.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compaction.cuts import Kept, safe_cuts
from compaction.errors import PolicyError
from compaction.planning import Planner, summary_estimate
from compaction.policy import Policy
from compaction.replaying.timeline import Timeline

#: The summary message of a compaction: tokens, given the tokens it replaces and the messages
#: [start, end) that it newly takes in.
SummarySize = Callable[[int, int, int], int]


@dataclass(frozen=True, slots=True)
class Compaction:
    """One time the policy compacted: before call `call`, which would have read messages [0, at).

    The messages from `start` to `cut` and an earlier summary, together `replaced` tokens, became
    one summary of `summary` tokens, but for those that `stay`: pinned, or within a budget of user
    messages. `before` and `after` are the tokens of the whole context, `steady` those at its start
    that did not change. `cleared` are messages that were changed in place. `standing` are the
    tokens of all summaries in the list then, made now or before.
    """

    call: int
    at: int
    start: int
    cut: int
    stay: tuple[int, ...]
    replaced: int
    summary: int
    before: int
    after: int
    steady: int
    cleared: tuple[int, ...] = ()
    standing: int = 0


@dataclass(frozen=True, slots=True)
class Declined:
    """The trigger held at the calls [call, until), and nothing was compacted: `why`."""

    call: int
    until: int
    at: int
    before: int
    why: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Calls [call, until) between two compactions: call k reads `base` + its prefix sum."""

    call: int
    until: int
    base: int


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk to its end: what happened, in order, and the stretches between."""

    compactions: tuple[Compaction, ...]
    declined: tuple[Declined, ...]
    stretches: tuple[Stretch, ...]


def walkable(policy: Policy) -> str:
    """Why a policy cannot be walked by jumps; "" when it can."""
    if policy.before:
        return "passes before summarizing change messages in place"
    if policy.summary.middle != "summarize" or policy.iterate == "stack":
        return "what is old does not become one summary"
    head = policy.head
    if head.overflow == "truncate" and head.users:
        return "a user message is kept in part"
    if head.last_user:
        return "the newest user message is another one at every call"
    if policy.safety.split_newest:
        return "the newest turn is another one at every call"
    own_target = policy.trigger.target is not None or policy.trigger.to is not None
    if len(policy.fit_steps) > 1 or own_target:
        return "the list is brought under a target of its own"
    clauses = (*policy.trigger.any, *policy.trigger.all)
    if any(each.groups is not None for each in clauses):
        return "the trigger counts groups"
    by_turns = policy.recent.unit == "turns" or any(each.turns is not None for each in clauses)
    if by_turns and head.keeps_middle:
        return "kept user messages count as turns"
    if clauses and head.keeps_middle:
        return "kept messages count"
    if policy.recent.unit == "groups" and policy.safety.unit == "off":
        return "a group that a cut went through counts for what is left of it"
    return ""


class Walker:
    """Walks policies over one timeline; what does not depend on the policy is made once."""

    def __init__(self, line: Timeline) -> None:
        self.line = line
        self.planner = Planner(line.session, line.counts, line.groups)

    def walk(self, policy: Policy, size: SummarySize | None = None) -> Walked:
        """The policy over all calls. Raises PolicyError when it needs an unknown window."""
        return _Walk(self, policy, size).run()


class _Walk:
    """One policy under way: `cut` and `summary` are all that changes."""

    def __init__(self, walker: Walker, policy: Policy, size: SummarySize | None) -> None:
        line, planner = walker.line, walker.planner
        self.line = line
        self.policy = policy
        self.size = size
        self.prefix: Sequence[int] = line.counts.prefix
        self.budget = policy.trigger.tokens(line.session.window)
        self.head_end = planner.head_end(policy)
        self.fixed = line.counts.overhead + self.prefix[self.head_end]
        self.cuts = safe_cuts(line.groups, policy.safety)
        head = policy.head
        self.kept: Kept | None = None
        if head.keeps_middle:
            alone = None
            if head.users:
                alone = planner.alone(ungrouped=policy.safety.unit == "off")
            self.kept = Kept(head, policy.safety, self.head_end, line.groups, line.counts, alone)
        self.cut = self.head_end
        self.summary = 0
        self.kept_tokens = 0

    # ------------------------------------------------------------------------------ running

    def run(self) -> Walked:
        line = self.line
        calls = len(line)
        compactions: list[Compaction] = []
        declined: list[Declined] = []
        stretches: list[Stretch] = []
        # Before the head is complete there is nothing that a policy could do.
        call = bisect_left(line.starts, self.head_end)
        if (fires := self.fires_from(0)) < call:
            at, before = line.starts[fires], self.context(fires)
            declined.append(Declined(fires, call, at, before, "the head is the whole list"))
        begun = 0
        while True:
            call = self.fires_from(call)
            if call >= calls:
                break
            possible = self.possible_from(call)
            if possible > call:
                at = line.starts[call]
                before = self.context(call)
                declined.append(Declined(call, possible, at, before, self.why_not(call)))
                if possible >= calls:
                    break
                call = possible
            if call > begun:
                stretches.append(Stretch(begun, call, self.base()))
            compactions.append(self.compact(call))
            begun = call
            call += 1
        if calls > begun:
            stretches.append(Stretch(begun, calls, self.base()))
        return Walked(tuple(compactions), tuple(declined), tuple(stretches))

    def base(self) -> int:
        """What a context has beside the prefix sum of its call."""
        return self.fixed + self.summary + self.kept_tokens - self.prefix[self.cut]

    def context(self, call: int) -> int:
        """The tokens that a call reads as the list is now."""
        return self.base() + self.line.sent[call]

    # ------------------------------------------------------------------------------- firing

    def fires_from(self, call: int) -> int:
        """The first call from `call` on at which the trigger holds; the number of calls if none."""
        trigger, line = self.policy.trigger, self.line
        base = self.base()
        if not trigger.any and not trigger.all:
            search = bisect_left if trigger.when == "reach" else bisect_right
            return search(line.sent, self.budget - base, call)
        turns, more = line.groups.turns, self.head_end + (self.summary > 0) - self.cut
        before = bisect_left(turns, self.cut) - bisect_left(turns, self.head_end)

        def holds(number: int) -> bool:
            at = line.starts[number]
            return trigger.fires(
                base + line.sent[number],
                at + more,
                bisect_left(turns, at) - before,
                self.budget,
            )

        return bisect_left(range(len(line)), True, call, key=holds)

    def possible_from(self, call: int) -> int:
        """The first call from `call` on at which a compaction gets anywhere."""
        if self.gains(call):
            return call
        return bisect_left(range(len(self.line)), True, call + 1, key=self.gains)

    def gains(self, call: int) -> bool:
        """Whether something old is there at `call`, and a summary of it would be smaller."""
        cut = self.cut_at(call)
        if cut <= self.cut or self.members(cut) <= 0:
            return False
        if self.policy.summary.accept != "smaller":
            return True
        replaced, _ = self.replaced(cut)
        return replaced > summary_estimate(self.policy, replaced)

    def members(self, cut: int) -> int:
        """How many messages a compaction up to `cut` would newly take in."""
        members = cut - self.cut
        if self.kept is None:
            return members
        return members - len(self.kept.before(cut)) + len(self.kept.before(self.cut))

    def why_not(self, call: int) -> str:
        """Why nothing is compacted at `call`, in words."""
        cut = self.cut_at(call)
        if cut <= self.cut:
            if self.summary:
                return "nothing new is old: the recent part begins where the summary ends"
            return "nothing is old: head and recent messages are all there is"
        replaced, _ = self.replaced(cut)
        return (
            f"a summary would not be smaller: the old part has {replaced:,} tokens, a summary "
            f"about {summary_estimate(self.policy, replaced):,}"
        )

    # --------------------------------------------------------------------------- compacting

    def replaced(self, cut: int) -> tuple[int, int]:
        """The tokens a summary up to `cut` would replace, and those that are kept before it."""
        kept = self.kept.tokens(cut) if self.kept is not None else 0
        took = self.prefix[cut] - self.prefix[self.cut] + self.kept_tokens - kept
        return self.summary + took, kept

    def compact(self, call: int) -> Compaction:
        """Compact before `call`."""
        before, start = self.context(call), self.cut
        cut = self.cut_at(call)
        if self.policy.fit_steps == ("shrink-recent",):
            # With its summary the list is made to fit by keeping less.
            latest = self.latest(call, self.line.starts[call])
            cut = self.first_fitting(cut, latest, call, summarized=True)
        replaced, kept = self.replaced(cut)
        estimate = summary_estimate(self.policy, replaced)
        self.summary = self.size(replaced, start, cut) if self.size is not None else estimate
        self.cut, self.kept_tokens = cut, kept
        return Compaction(
            call=call,
            at=self.line.starts[call],
            start=start,
            cut=cut,
            stay=self.kept.before(cut) if self.kept is not None else (),
            replaced=replaced,
            summary=self.summary,
            before=before,
            after=self.context(call),
            steady=self.fixed,
            standing=self.summary,
        )

    def cut_at(self, call: int) -> int:
        """Where the policy would cut the list that call `call` reads; at least `self.cut`."""
        at = self.line.starts[call]
        latest = self.latest(call, at)
        wanted = self.wanted(at)
        if self.policy.recent.unit == "fit":
            cut = self.first_fitting(self.cut, latest, call)
        else:
            cut = self.snapped(max(self.cut, wanted), latest)
            if self.policy.fit_steps == ("shrink-recent",):
                cut = self.first_fitting(cut, latest, call)
        return max(self.cut, cut)

    def latest(self, call: int, at: int) -> int:
        """The last cut that is allowed in the messages before `at`."""
        safety, groups = self.policy.safety, self.line.groups
        if safety.unit == "off":
            return at
        if at == 0:
            return 0
        latest = groups.snap_back(min(self.line.unanswered[call], at - 1))
        if safety.unit == "turn":
            place = bisect_right(groups.turn_cuts, latest)
            latest = groups.turn_cuts[place - 1] if place else self.cut
        return max(latest, self.head_end)

    def wanted(self, at: int) -> int:
        """The first recent message the policy asks for, among those before `at`."""
        recent, groups, prefix = self.policy.recent, self.line.groups, self.prefix
        amount = recent.amount
        match recent.unit:
            case "messages":
                return at - int(amount)
            case "groups":
                return _from_end(groups.starts, int(amount), at)
            case "turns":
                return _from_end(groups.turns, int(amount), at)
            case "tokens":
                return bisect_left(prefix, prefix[at] - int(amount))
            case "fraction":
                listed = prefix[at] + self.base() - self.line.counts.overhead
                return bisect_left(prefix, prefix[at] - int(amount * listed))
            case "fit":
                return 0
        raise PolicyError(f"recent: {recent.unit} cannot be replayed.")

    def snapped(self, cut: int, latest: int) -> int:
        cuts = self.cuts
        if self.policy.safety.snap == "keep-less":
            at = bisect_left(cuts, cut)
            cut = cuts[at] if at < len(cuts) else latest
        elif cut < latest:
            at = bisect_right(cuts, cut)
            cut = cuts[at - 1] if at else self.head_end
        return min(cut, latest)

    def first_fitting(
        self, cut: int, latest: int, call: int, *, summarized: bool = False
    ) -> int:
        """The earliest safe cut from `cut` on after which the list keeps the budget.

        What fits is found without a summary first where the recent part gives way to the real one;
        with `summarized` that is counted in.
        """
        cut = max(cut, self.cut)
        gives_way = self.policy.recent.unit == "fit" and self.policy.fit_steps == ("shrink-recent",)
        without = gives_way and not summarized
        sent, fixed, prefix = self.line.sent[call], self.fixed, self.prefix
        passed = self.policy.trigger.passed

        def fits(place: int) -> bool:
            replaced, kept = self.replaced(place)
            summary = 0 if without else summary_estimate(self.policy, replaced)
            return not passed(fixed + kept + summary + sent - prefix[place], self.budget)

        if fits(cut):
            return cut
        cuts = self.cuts
        low, high = bisect_right(cuts, cut), bisect_right(cuts, latest)
        at = bisect_left(range(low, high), True, key=lambda position: fits(cuts[position]))
        return cuts[low + at] if low + at < high else latest


def _from_end(starts: array[int], amount: int, at: int) -> int:
    if amount == 0:
        return at
    place = bisect_left(starts, at) - amount
    return starts[place] if place >= 0 else 0
