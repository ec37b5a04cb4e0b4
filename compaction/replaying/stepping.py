"""A policy stepped over the calls of a session, with a list made and planned where it fires.

For policies that cannot be walked by jumps: it is right for every policy that can be planned, and
each time the trigger holds costs as much as a plan of the list as it stands.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction.altering import altered_messages
from compaction.arranging import order_of
from compaction.groups import find_groups
from compaction.messages import Message, Session, Source, message
from compaction.planning import Plan, Planner, summary_estimate
from compaction.policy import Policy
from compaction.replaying.timeline import Timeline
from compaction.replaying.walking import (
    Compaction,
    Declined,
    Stretch,
    SummarySize,
    Walked,
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message of the list: its index in the session (-1 for a summary), and its tokens."""

    index: int
    message: Message
    tokens: int


def step(line: Timeline, policy: Policy, size: SummarySize | None = None) -> Walked:
    """The policy over all calls. Raises PolicyError when it needs an unknown window."""
    return _Steps(line, policy, size).run()


class _Steps:
    def __init__(self, line: Timeline, policy: Policy, size: SummarySize | None) -> None:
        self.line = line
        self.policy = policy
        self.size = size
        self.budget = policy.trigger.tokens(line.session.window)
        clauses = (*policy.trigger.any, *policy.trigger.all)
        self.by_groups = any(each.groups is not None for each in clauses)
        self.listed: list[_Entry] = []
        self.read = 0
        self.total = line.counts.overhead
        self.turns = 0
        self.cut = -1
        self.stay: tuple[int, ...] = ()

    def run(self) -> Walked:
        line = self.line
        compactions: list[Compaction] = []
        declined: list[Declined] = []
        stretches: list[Stretch] = []
        begun = 0
        for call in range(len(line)):
            self.take(line.starts[call])
            if not self.fires():
                continue
            plan = self.planned()
            if not plan.compacts:
                why = re.sub(r"#(\d+)", self._named, plan.reason)
                _decline(declined, call, line.starts[call], self.total, why)
                continue
            if call > begun:
                stretches.append(Stretch(begun, call, self.total - line.sent[call]))
            compactions.append(self.compact(call, plan))
            begun = call
        self.take(line.starts[-1] if len(line) else 0)
        if len(line) > begun:
            stretches.append(Stretch(begun, len(line), self.total - line.sent[len(line) - 1]))
        return Walked(tuple(compactions), tuple(declined), tuple(stretches))

    def _named(self, place: re.Match[str]) -> str:
        """A message of the list, by its number in the session."""
        number = int(place[1])
        index = self.listed[number].index if number < len(self.listed) else -1
        return f"#{index}" if index >= 0 else "made here"

    def take(self, end: int) -> None:
        """Read the messages up to `end`."""
        messages, tokens = self.line.session.messages, self.line.counts.tokens
        for index in range(self.read, end):
            self.listed.append(_Entry(index, messages[index], tokens[index]))
            self.total += tokens[index]
            self.turns += messages[index].typed
        self.read = max(self.read, end)

    def fires(self) -> bool:
        """Whether the trigger holds for the list as it stands."""
        groups = 0
        if self.by_groups:
            groups = len(find_groups([entry.message for entry in self.listed]).starts)
        return self.policy.trigger.fires(
            self.total, len(self.listed), self.turns, self.budget, groups
        )

    def planned(self) -> Plan:
        """The plan of the list as it stands."""
        session = Session(
            Source(b""),
            self.line.session.format,
            tuple(entry.message for entry in self.listed),
            window=self.line.session.window,
        )
        tokens = array("q", (entry.tokens for entry in self.listed))
        counts = replace(self.line.counts, tokens=tokens)
        # Pins are indexes of the session; here they are places in the list.
        pins = tuple(
            place for place, entry in enumerate(self.listed) if entry.index in self.policy.head.pins
        )
        head = replace(self.policy.head, pins=pins)
        plan = Planner(session, counts).plan(self.policy.replace(head=head))
        if "shrink-recent" in self.policy.fit_steps and plan.summarizes:
            while (smaller := plan.shrink(plan.summary_estimate)) is not None:
                plan = smaller
        return plan

    def compact(self, call: int, plan: Plan) -> Compaction:
        """Carry out a plan on the list, with a summary of the size that is expected."""
        before, old = self.total, self.listed
        start = self.cut if self.cut >= 0 else plan.head_end
        cut = self._cut(plan) if plan.summarizes else start
        made = self._summary(call, plan, start, cut)
        altered = altered_messages(plan).messages
        order = order_of(plan) if plan.summarizes else list(range(plan.n))
        listed: list[_Entry] = []
        for place in order:
            if place >= 0:
                entry = old[place]
                if place in altered:
                    entry = self._altered(plan, entry, place, altered[place])
                listed.append(entry)
            elif made is not None:
                listed.append(made)
        self.listed = listed
        self.total = self.line.counts.overhead + sum(entry.tokens for entry in listed)
        self.turns = sum(entry.message.typed for entry in listed)
        self.cut = cut
        if plan.summarizes:
            stay = {old[place].index for place in (*plan.kept, *plan.cleared)}
            self.stay = tuple(sorted(index for index in stay if 0 <= index < cut))
        return Compaction(
            call=call,
            at=self.line.starts[call],
            start=start,
            cut=cut,
            stay=self.stay,
            replaced=plan.tokens_summarized,
            summary=made.tokens if made is not None else 0,
            before=before,
            after=self.total,
            steady=self.line.counts.overhead + _same(old, listed),
            cleared=tuple(sorted(old[place].index for place in altered if old[place].index >= 0)),
            standing=sum(entry.tokens for entry in listed if entry.index < 0),
        )

    def _cut(self, plan: Plan) -> int:
        recent = (self.listed[place].index for place in range(plan.cut, plan.n))
        return next((index for index in recent if index >= 0), self.read)

    def _summary(self, call: int, plan: Plan, start: int, cut: int) -> _Entry | None:
        if not plan.summarizes or self.policy.summary.middle != "summarize":
            return None
        replaced = plan.tokens_summarized
        tokens = summary_estimate(self.policy, replaced)
        if self.size is not None:
            tokens = self.size(replaced, start, cut)
        role = self.policy.summary.role
        said = message(role, f"summary at call {call}", summary="compaction")
        return _Entry(-1, said, tokens)

    def _altered(self, plan: Plan, entry: _Entry, place: int, changed: Message) -> _Entry:
        if plan.truncated is not None and plan.truncated[0] == place:
            return _Entry(entry.index, changed, plan.truncated[1])
        tokens = plan.eased.tokens[place] if plan.eased is not None else entry.tokens
        return _Entry(entry.index, changed, tokens)


def _same(old: Sequence[_Entry], new: Sequence[_Entry]) -> int:
    """The tokens of the beginning that both lists share."""
    tokens = 0
    for one, other in zip(old, new, strict=False):
        if one is not other:
            break
        tokens += one.tokens
    return tokens


def _decline(declined: list[Declined], call: int, at: int, before: int, why: str) -> None:
    if declined and declined[-1].until == call:
        declined[-1] = replace(declined[-1], until=call + 1)
    else:
        declined.append(Declined(call, call + 1, at, before, why))
