"""What a walk sends: tokens over all calls, with a prompt cache, and what each message costs.

The cache is modelled as providers describe it: a call finds in it what the call before it had
read, up to the first change; all else is written to it. A compaction changes everything behind
the head.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from compaction.decision import holds
from compaction.policy import Policy
from compaction.pricing import Prices
from compaction.replaying.timeline import Timeline
from compaction.replaying.walking import Compaction, Walked


@dataclass(frozen=True, slots=True)
class Totals:
    """Tokens over a whole session.

    `sent` is all that the calls read, `cached` the part of it that was in the cache, `written`
    the rest, `output` what the calls wrote. `summary_input` and `summary_output` are what the
    summarizer reads and writes, were it the model of the session: nothing where the policy drops
    what is old, or puts one sentence in its place.
    """

    calls: int
    sent: int
    cached: int
    written: int
    output: int
    summary_input: int = 0
    summary_output: int = 0


@dataclass(frozen=True, slots=True)
class MessageCost:
    """What one message costs until it leaves the window, in tokens.

    `own` when it is first read, `carried` while it is read again from the cache, `rebuilt` when
    it is read anew because a compaction changed what stands before it.
    """

    own: int
    carried: int
    rebuilt: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.own + self.carried + self.rebuilt


def money_of(prices: Prices | None, spent: Totals) -> float | None:
    """Dollars for all calls and for the summaries; None where prices are not known.

    A summarizer reads what it replaces from the cache of the call before.
    """
    if prices is None:
        return None
    return prices.cost(
        cached=spent.cached + spent.summary_input,
        written=spent.written,
        output=spent.output + spent.summary_output,
    )


def asks_model(policy: Policy) -> bool:
    """Whether the summaries of a policy are taken to be written by a model."""
    return policy.summary.middle == "summarize" and policy.summary.summarizer != "none"


def totals(line: Timeline, walked: Walked, *, asks: bool = True) -> Totals:
    """The tokens of a walk. Takes time in proportion to its compactions.

    `asks`: the summaries are written by a model.
    """
    sums = line.sums
    sent = cached = read = wrote = 0
    before = 0
    for index, stretch in enumerate(walked.stretches):
        first, until, base = stretch.call, stretch.until, stretch.base
        part = base * (until - first) + sums[until] - sums[first]
        last = base + line.sent[until - 1]
        sent += part
        cached += part - last
        if index:
            made = _made_at(walked, first)
            cached += min(made.steady if made is not None else before, before)
        before = last
    for each in walked.compactions:
        if asks and each.summary:
            read += each.replaced
            wrote += each.summary
    output = line.outputs[-1]
    return Totals(len(line), sent, cached, sent - cached, output, read, wrote)


def _made_at(walked: Walked, call: int) -> Compaction | None:
    place = bisect_left(walked.compactions, call, key=lambda each: each.call)
    if place < len(walked.compactions) and walked.compactions[place].call == call:
        return walked.compactions[place]
    return None


def context_at(line: Timeline, walked: Walked, call: int) -> int:
    """The tokens that a call reads."""
    place = bisect_right(walked.stretches, call, key=lambda each: each.call) - 1
    return walked.stretches[place].base + line.sent[call]


def peak(line: Timeline, walked: Walked) -> tuple[int, int]:
    """The largest context of any call, and the first call that reads it; (0, -1) without calls."""
    best, at = 0, -1
    for stretch in walked.stretches:
        last = stretch.until - 1
        context = stretch.base + line.sent[last]
        if context > best:
            best, at = context, last
    return best, at


def message_cost(line: Timeline, walked: Walked, index: int) -> MessageCost:
    """What message `index` costs over the walk. Takes time in proportion to the compactions."""
    tokens = line.counts.tokens[index]
    enters = line.call_of(index)
    calls = len(line)
    if enters >= calls:
        return MessageCost(0, 0, 0)
    leaves, rebuilt = calls, 0
    made = walked.compactions
    if made and index >= made[0].start:
        for each in made[bisect_left(made, enters, key=lambda one: one.call) :]:
            if index < each.cut and not holds(each.stay, index):
                leaves = each.call
                break
            rebuilt += each.call > enters
    read = leaves - enters
    if read <= 0:
        return MessageCost(0, 0, 0)
    return MessageCost(tokens, tokens * (read - 1 - rebuilt), tokens * rebuilt)


def pays_back(made: Compaction, *, read: float, write: float, output: float) -> int | None:
    """After how many calls a compaction has cost less than it saves; None when it never does.

    `read`, `write` and `output` are prices a token: from the cache, into it, and written by the
    summarizer. Without the compaction all would have been in the cache.
    """
    freed = made.before - made.after
    if freed <= 0 or read <= 0:
        return None
    anew = made.after - made.steady
    once = anew * (write - read) + made.replaced * read + made.summary * output
    return max(1, -int(-(once / (freed * read)) // 1))
