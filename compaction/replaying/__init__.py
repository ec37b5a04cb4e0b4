"""replay(session, policy) -> Replay: the session run again, call by call, under a policy.

No model is asked: a compaction's summary has the size the policy leads one to expect, or the one
the digest really has, or a given one. Passing over the calls is done in `walking` (by jumps) or,
for policies that change messages in place, in `stepping`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.errors import PolicyError
from compaction.findings import Finding
from compaction.groups import Groups, find_groups
from compaction.messages import IsCancelled, Session
from compaction.policy import Policy
from compaction.pricing import Prices, prices_of
from compaction.replaying.accounting import summarized_at, unaccounted
from compaction.replaying.costs import (
    MessageCost,
    Totals,
    asks_model,
    context_at,
    message_cost,
    money_of,
    pays_back,
    peak,
    totals,
)
from compaction.replaying.recorded import Recorded, recorded, recorded_walk, uncompacted
from compaction.replaying.sizes import DigestSizes, fixed_size, recorded_sizes
from compaction.replaying.stepping import step
from compaction.replaying.thrash import thrash
from compaction.replaying.timeline import Timeline, timeline
from compaction.replaying.walking import (
    Compaction,
    Declined,
    Stretch,
    SummarySize,
    Walked,
    Walker,
    walkable,
)
from compaction.tokens import Counts

__all__ = [
    "Compaction",
    "Declined",
    "MessageCost",
    "Prices",
    "Recorded",
    "Replay",
    "Stretch",
    "Timeline",
    "Totals",
    "Walker",
    "recorded_walk",
    "replay",
    "timeline",
    "uncompacted",
]

#: How large a summary is taken to be: what the policy lets expect, what the digest really has,
#: what those of the recording tool had.
SummaryMode = Literal["expected", "digest", "recorded"]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """A session under a policy, from its first call to its last.

    `baseline` is the same without any compaction. `prices` are None for a model without known
    ones; money is in US dollars, of the calls of the model alone. `recorded` are the compactions
    that the tool itself made, compared with these; they are known where the session was loaded
    with `history="full"`. `summaries` are the texts of the digests where those were made.
    """

    session: Session
    policy: Policy
    line: Timeline
    walked: Walked
    totals: Totals
    baseline: Totals
    peak: int
    peak_call: int
    baseline_peak: int
    budget: int
    prices: Prices | None
    recorded: tuple[Recorded, ...]
    summaries: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """Each time the policy compacted, in order."""
        return self.walked.compactions

    @property
    def declined(self) -> tuple[Declined, ...]:
        """Each run of calls at which the trigger held and nothing was compacted."""
        return self.walked.declined

    def context(self, call: int) -> int:
        """The tokens that call `call` reads."""
        return context_at(self.line, self.walked, call)

    def contexts(self) -> array[int]:
        """The tokens that every call reads."""
        out = array("q")
        for stretch in self.walked.stretches:
            sent = self.line.sent[stretch.call : stretch.until]
            out.extend(stretch.base + each for each in sent)
        return out

    def message_cost(self, index: int) -> MessageCost:
        """What message `index` costs until it leaves the window."""
        return message_cost(self.line, self.walked, index)

    def pays_back(self, made: Compaction) -> int | None:
        """After how many calls a compaction has paid for itself; None when it never does.

        With the ratios of prices that are usual where the model's own are not known: a tenth for
        what is read from the cache, five times as much for what is written by the model.
        """
        prices = self.prices
        read, write, output = 0.1, 1.25, 5.0
        if prices is not None:
            read, write, output = prices.cached, prices.written, prices.output
        return pays_back(made, read=read, write=write, output=output)

    @property
    def money(self) -> float | None:
        """Dollars for all calls and the summaries; None where the prices are not known."""
        return money_of(self.prices, self.totals)

    @property
    def baseline_money(self) -> float | None:
        """Dollars without any compaction."""
        return money_of(self.prices, self.baseline)

    def summarized_at(self, index: int) -> Compaction | None:
        """The compaction that took message `index` into its summary; None for a kept one."""
        number = summarized_at(self.walked, index)
        return None if number is None else self.compactions[number]

    def regions_at(self, call: int) -> Regions:
        """The list as it stood at a call."""
        made = [each for each in self.compactions if each.call <= call]
        at = self.line.starts[call]
        if not made:
            return Regions(at, 0, 0, (), frozenset(), None)
        last = made[-1]
        cleared = frozenset[int]().union(*(each.cleared for each in made))
        return Regions(at, made[0].start, last.cut, last.stay, cleared, last)

    def as_json(self) -> dict[str, object]:
        """The replay as `replay --json` prints it."""
        from compaction.replaying.reporting import as_json

        return as_json(self)


@dataclass(frozen=True, slots=True)
class Regions:
    """The list of one call: messages [0, head) and [cut, end), and those that `stay`.

    Of these, `cleared` were changed in place; it may name some that went since. Between head and
    cut stands the summary of `last`, None when nothing was compacted yet (then all of [0, end) is
    in the list).
    """

    end: int
    head: int
    cut: int
    stay: tuple[int, ...]
    cleared: frozenset[int]
    last: Compaction | None


def replay(
    session: Session,
    policy: Policy,
    *,
    counts: Counts | None = None,
    groups: Groups | None = None,
    summary: SummaryMode | int = "expected",
    prices: Prices | None = None,
    cancelled: IsCancelled | None = None,
) -> Replay:
    """Run `session` again under `policy`. Calls no model.

    `summary` is the size of each summary: "expected" by the policy, "digest" as the digest really
    makes it, "recorded" as the tool's own were, or a number of tokens. `prices` stand in for the
    list prices of the session's model.
    Raises PolicyError for a policy that needs an unknown window, Cancelled.
    """
    from compaction.planning import counts_for

    if isinstance(summary, int) and summary < 0:
        raise PolicyError(f"the size of summaries is {summary}; it must be 0 or more.")
    counted = counts_for(session, policy) if counts is None else counts
    line = timeline(session, counted, groups or find_groups(session.messages))
    return replayed(line, policy, summary=summary, prices=prices, cancelled=cancelled)


def replayed(
    line: Timeline,
    policy: Policy,
    *,
    summary: SummaryMode | int = "expected",
    prices: Prices | None = None,
    cancelled: IsCancelled | None = None,
    walker: Walker | None = None,
) -> Replay:
    """`replay` over a timeline that is known."""
    session = line.session
    size: SummarySize | None = None
    digests = DigestSizes(line, policy, cancelled)
    if summary == "digest":
        size = digests
    elif summary == "recorded":
        size = recorded_sizes(line)
    elif summary != "expected":
        size = fixed_size(int(summary))
    if walkable(policy):
        walked = step(line, policy, size)
    else:
        walked = (walker or Walker(line)).walk(policy, size)
    alone = Walked((), (), _one_stretch(line))
    most, at = peak(line, walked)
    return Replay(
        session=session,
        policy=policy,
        line=line,
        walked=walked,
        totals=totals(line, walked, asks=asks_model(policy)),
        baseline=totals(line, alone),
        peak=most,
        peak_call=at,
        baseline_peak=peak(line, alone)[0],
        budget=policy.trigger.tokens(session.window),
        prices=prices or prices_of(session.model),
        recorded=recorded(line, walked),
        summaries=_by_compaction(digests.texts, walked),
        findings=(*unaccounted(walked), *thrash(line, walked), *_unlike(session)),
    )


def _by_compaction(texts: Sequence[str], walked: Walked) -> tuple[str, ...]:
    """The text that stands in the list after each compaction; () where no texts are known."""
    if not texts:
        return ()
    left, newest, out = iter(texts), "", []
    for each in walked.compactions:
        if each.summary:
            newest = next(left, newest)
        out.append(newest)
    return tuple(out)


def _one_stretch(line: Timeline) -> tuple[Stretch, ...]:
    return (Stretch(0, len(line), line.counts.overhead),) if len(line) else ()


def _unlike(session: Session) -> Iterator[Finding]:
    if session.history == "live" and session.left_out.get("before the last compaction"):
        yield Finding(
            "info",
            "replay-live",
            "The replay begins at the last compaction of the file, since only what is live was "
            "loaded.",
            remedy="load the session with its full history to replay all of it",
        )
