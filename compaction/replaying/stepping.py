"""A policy stepped over the calls of a session, with a list made and planned where it fires.

For policies that cannot be walked by jumps: it is right for every policy that can be planned, and
each time the trigger holds costs as much as a plan of the list as it stands.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

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
from compaction.tokens import Counts


@dataclass(slots=True)
class _List:
    """The list as it stands: the source index of each message (-1 a summary), and its tokens."""

    indexes: list[int]
    tokens: list[int]


def step(line: Timeline, policy: Policy, size: SummarySize | None = None) -> Walked:
    """The policy over all calls. Raises PolicyError when it needs an unknown window."""
    return _Steps(line, policy, size).run()


class _Steps:
    def __init__(self, line: Timeline, policy: Policy, size: SummarySize | None) -> None:
        self.line = line
        self.policy = policy
        self.size = size
        self.budget = policy.trigger.tokens(line.session.window)
        self.summary: Message | None = None
        self.listed = _List([], [])
        self.read = 0
        self.total = line.counts.overhead
        self.turns = 0
        self.cut = 0
        self.last_turn = 0

    def run(self) -> Walked:
        line = self.line
        compactions: list[Compaction] = []
        declined: list[Declined] = []
        stretches: list[Stretch] = []
        begun = 0
        for call in range(len(line)):
            self.take(line.starts[call])
            fires = self.policy.trigger.fires(
                self.total, len(self.listed.indexes), self.turns, self.budget
            )
            if not fires:
                continue
            plan = self.planned()
            if not plan.compacts:
                _decline(declined, call, line.starts[call], self.total, plan.reason)
                continue
            if call > begun:
                stretches.append(Stretch(begun, call, self.total - line.sent[call]))
            compactions.append(self.compact(call, plan))
            begun = call
        self.take(line.starts[-1] if len(line) else 0)
        if len(line) > begun:
            stretches.append(Stretch(begun, len(line), self.total - line.sent[len(line) - 1]))
        return Walked(tuple(compactions), tuple(declined), tuple(stretches))

    def take(self, end: int) -> None:
        """Read the messages up to `end`."""
        tokens, turns = self.line.counts.tokens, self.line.groups.turns
        for index in range(self.read, end):
            self.listed.indexes.append(index)
            self.listed.tokens.append(tokens[index])
            self.total += tokens[index]
            if self.last_turn < len(turns) and turns[self.last_turn] == index:
                self.last_turn += 1
                self.turns += 1
        self.read = max(self.read, end)

    def planned(self) -> Plan:
        """The plan of the list as it stands."""
        every = self.line.session.messages
        messages = tuple(self._messages(every))
        session = Session(Source(b""), self.line.session.format, messages)
        session = replace(session, window=self.line.session.window)
        old = self.line.counts
        counts = Counts(
            old.tokenizer, array("q", self.listed.tokens), overhead=old.overhead, model=old.model
        )
        # Pins are indexes of the session; here they are places in the list.
        pins = tuple(
            place
            for place, index in enumerate(self.listed.indexes)
            if index in self.policy.head.pins
        )
        head = replace(self.policy.head, pins=pins)
        return Planner(session, counts).plan(self.policy.replace(head=head))

    def _messages(self, every: tuple[Message, ...]) -> Iterator[Message]:
        for index in self.listed.indexes:
            if index >= 0:
                yield every[index]
            else:
                assert self.summary is not None
                yield self.summary

    def compact(self, call: int, plan: Plan) -> Compaction:
        """Put one summary in place of what the plan summarizes."""
        before, listed = self.total, self.listed
        replaced = plan.tokens_summarized
        recent = (listed.indexes[place] for place in plan.recent)
        cut = next((index for index in recent if index >= 0), self.read)
        start = self.cut if self.summary is not None else plan.head_end
        estimate = summary_estimate(self.policy, replaced)
        summary = self.size(replaced, start, cut) if self.size is not None else estimate
        role = self.policy.summary.role
        self.summary = message(role, f"summary at call {call}", summary="compaction")
        kept_at = [listed.indexes[place] for place in plan.kept]
        kept = [*plan.head, -1, *plan.kept, *plan.recent]
        self.listed = _List(
            [-1 if place < 0 else listed.indexes[place] for place in kept],
            [summary if place < 0 else listed.tokens[place] for place in kept],
        )
        self.total = sum(self.listed.tokens) + self.line.counts.overhead
        turns = self.line.groups.turns
        held = {index for index in self.listed.indexes if index >= 0}
        self.turns = sum(turns[at] in held for at in range(bisect_left(turns, self.read)))
        self.cut = cut
        return Compaction(
            call=call,
            at=self.line.starts[call],
            start=start,
            cut=cut,
            stay=tuple(sorted(at for at in kept_at if at >= 0)),
            replaced=replaced,
            summary=summary,
            before=before,
            after=self.total,
            steady=plan.tokens_head + self.line.counts.overhead,
        )


def _decline(declined: list[Declined], call: int, at: int, before: int, why: str) -> None:
    if declined and declined[-1].until == call:
        declined[-1] = replace(declined[-1], until=call + 1)
    else:
        declined.append(Declined(call, call + 1, at, before, why))
