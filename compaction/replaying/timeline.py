"""A session as a row of model calls, ready to be jumped through: sums of sums, nothing a message.

Call k reads the messages before `starts[k]` and writes those up to `ends[k]`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from compaction.calls import call_starts
from compaction.groups import Groups
from compaction.messages import Message, Session
from compaction.tokens import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The calls of one session under one counting.

    `sent[k]` are the tokens of all messages before call k, `sums` their prefix sums (one more),
    `outputs` the prefix sums of the tokens written. `unanswered[k]` is the first user message
    that is without an answer when call k is made.
    """

    session: Session
    counts: Counts
    groups: Groups
    starts: array[int]
    ends: array[int]
    sent: array[int]
    sums: array[int]
    outputs: array[int]
    unanswered: array[int]

    def __len__(self) -> int:
        return len(self.starts)

    def call_of(self, message: int) -> int:
        """The first call that reads the message of that index; `len(self)` for none."""
        return bisect_right(self.starts, message)


def timeline(session: Session, counts: Counts, groups: Groups) -> Timeline:
    """The calls of `session`. Takes one pass over its messages."""
    messages, prefix = session.messages, counts.prefix
    starts = call_starts(messages)
    ends, unanswered = array("q"), array("q")
    for number, start in enumerate(starts):
        last = starts[number + 1] if number + 1 < len(starts) else len(messages)
        end = start + 1
        while end < last and messages[end].role == "assistant":
            end += 1
        ends.append(end)
        unanswered.append(_unanswered(messages, start, answered=number > 0))
    sent = array("q", (prefix[start] for start in starts))
    written = (prefix[end] - prefix[start] for start, end in zip(starts, ends, strict=True))
    return Timeline(
        session=session,
        counts=counts,
        groups=groups,
        starts=starts,
        ends=ends,
        sent=sent,
        sums=array("q", accumulate(sent, initial=0)),
        outputs=array("q", accumulate(written, initial=0)),
        unanswered=unanswered,
    )


def _unanswered(messages: Sequence[Message], start: int, *, answered: bool) -> int:
    """The request that a call from message `start` on answers, as `Groups.unanswered` has it."""
    if not answered:
        users = (at for at in range(start - 1, -1, -1) if messages[at].role == "user")
        return next(users, start)
    first = start
    while first > 0 and messages[first - 1].role != "assistant":
        first -= 1
    while first < start and messages[first].role != "user":
        first += 1
    return first
