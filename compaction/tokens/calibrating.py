"""Counts made true by what the provider reported: each message its share of the real numbers.

Between two responses the context grew by exactly what stands between them, so the reported growth
is spread over those messages in proportion to a fitted price: tokens a counted token, and tokens
a block of content. What the first response read beyond its messages is the overhead: the system
prompt and the tool definitions that the file does not hold, and what the client adds.

The fit is a robust least squares of two numbers, pulled towards what is known of the model's
family while there are few responses.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple

from compaction.calls import call_starts, reports_from
from compaction.messages import Message, Session
from compaction.policy_passes import PLACEHOLDER
from compaction.tokens.counts import Calibration, Counts

#: Tokens of a family's own tokenizer for one of o200k_base, by the beginning of the model's name.
_FAMILIES = (
    ("claude-3", 1.18),
    ("claude-sonnet-4-2", 1.18),
    ("claude-opus-4-1", 1.18),
    ("claude-sonnet-4-5", 1.18),
    ("claude-opus-4-5", 1.18),
    ("claude-haiku-4-5", 1.18),
    ("claude", 1.3),
    ("gemini", 1.15),
)

#: What is believed before anything was reported: tokens a block, and how many responses it is
#: worth.
_BLOCK = 12.0
_WEIGHT = 10.0

_RATIOS = (0.8, 2.5)
_ROUNDS = 20
_TUKEY = 2 * 1.4826

#: A response that read less than this share of what stands before it was not sent that list.
_PLAUSIBLE = 0.5
_LEAST = 50

#: Reported tokens for one counted from which on cleared results were still read.
_SWOLLEN = 3

#: One that read less of the messages than this share was asked something else.
_SENT = 0.1


class _Call(NamedTuple):
    """One response: the index of its first message, and the tokens it read."""

    start: int
    context: int


class _Row(NamedTuple):
    """What stands between two responses: messages, counted tokens, blocks, reported tokens."""

    start: int
    end: int
    tokens: int
    blocks: int
    grown: int
    fits: bool


def calibrate(session: Session, counts: Counts) -> Counts | None:
    """`counts` with the numbers of the provider; None where too little is reported.

    The messages before the last response that read the list, and the overhead, add up to what it
    read. Later ones are estimated by the fitted price.
    """
    messages = session.messages
    calls = _calls(session, counts)
    if not calls:
        return None
    blocks = array("q", map(_blocks, messages))
    cuts = [each.at for each in session.compactions]
    rows = _rows(messages, counts, calls, blocks, cuts)
    ratio, block = _fit([row for row in rows if row.fits], _prior(session.model))
    guesses = [ratio * t + block * b for t, b in zip(counts.tokens, blocks, strict=True)]
    tokens = array("q", (max(1, round(guess)) for guess in guesses))
    for row in rows:
        if row.grown > 0:
            tokens[row.start : row.end] = _spread(row.grown, guesses[row.start : row.end])
    first = calls[0]
    overhead = max(0, first.context - sum(tokens[: first.start]))
    last = _last(calls, overhead, list(accumulate(tokens, initial=0)))
    if not any(0 < cut <= last.start for cut in cuts):
        # Where a list was sent shortened in between, its parts shrink alike: the sum is true.
        tokens[: last.start] = _spread(last.context - overhead, tokens[: last.start])
    if _was_cleared(messages) and sum(tokens) > _SWOLLEN * sum(counts.tokens):
        return None
    told = _described(rows, ratio, block, calls, last)
    return replace(counts, tokens=tokens, overhead=overhead, calibration=told)


def _was_cleared(messages: Sequence[Message]) -> bool:
    """Whether results were cleared: what was reported before is of what they held then."""
    return any(one.results and one.preview == PLACEHOLDER for one in messages)


def _calls(session: Session, counts: Counts) -> list[_Call]:
    """The responses with believable numbers."""
    messages = session.messages
    cuts = sorted(each.at for each in session.compactions)
    out: list[_Call] = []
    believed = reports_from(messages)
    for start in call_starts(messages):
        end = start
        while (
            messages[end].usage is None
            and end + 1 < len(messages)
            and messages[end + 1].role == "assistant"
        ):
            end += 1
        usage = messages[end].usage
        if usage is None or usage.context <= _LEAST or end < believed:
            continue
        place = bisect_right(cuts, start)
        first = cuts[place - 1] if place else 0
        if usage.context > _PLAUSIBLE * counts.between(first, start):
            out.append(_Call(start, usage.context))
    return out


def _last(calls: Sequence[_Call], overhead: int, before: Sequence[int]) -> _Call:
    """The newest response that read the list: more than its overhead, and a part of the rest."""
    for call in reversed(calls):
        if call.context > overhead + _SENT * before[call.start]:
            return call
    return calls[0]


def _blocks(message: Message) -> int:
    plain = sum(kind in message.kinds for kind in ("text", "thinking", "media", "opaque"))
    return max(1, len(message.calls) + len(message.results) + plain)


def _rows(
    messages: Sequence[Message],
    counts: Counts,
    calls: Sequence[_Call],
    blocks: array[int],
    cuts: Sequence[int],
) -> list[_Row]:
    media = [index for index, one in enumerate(messages) if "media" in one.kinds]
    rows: list[_Row] = []
    for one, two in pairwise(calls):
        if any(one.start < cut <= two.start for cut in cuts):
            continue
        grown = two.context - one.context
        place = bisect_left(media, one.start)
        pure = place == len(media) or media[place] >= two.start
        rows.append(
            _Row(
                one.start,
                two.start,
                counts.between(one.start, two.start),
                sum(blocks[one.start : two.start]),
                grown,
                fits=pure and grown > 0,
            )
        )
    return rows


def _prior(model: str) -> float:
    name = model.rpartition("/")[2].lower()
    return next((ratio for start, ratio in _FAMILIES if name.startswith(start)), 1.0)


def _fit(rows: Sequence[_Row], prior: float) -> tuple[float, float]:
    """Tokens a counted token and tokens a block, by iterated reweighting (Huber)."""
    ratio, block = prior, _BLOCK
    if not rows:
        return ratio, block
    base = [1 / max(row.grown, 50) for row in rows]
    trust = [1.0] * len(rows)
    for _ in range(_ROUNDS):
        pull_t = _WEIGHT * _mean([row.tokens**2 * w for row, w in zip(rows, base, strict=True)])
        pull_b = _WEIGHT * _mean([row.blocks**2 * w for row, w in zip(rows, base, strict=True)])
        tt, tb, bb = pull_t, 0.0, pull_b
        ty, by = pull_t * prior, pull_b * _BLOCK
        for row, own, trusted in zip(rows, base, trust, strict=True):
            weight = own * trusted
            tt += weight * row.tokens * row.tokens
            tb += weight * row.tokens * row.blocks
            bb += weight * row.blocks * row.blocks
            ty += weight * row.tokens * row.grown
            by += weight * row.blocks * row.grown
        whole = tt * bb - tb * tb
        if whole <= 0:
            break
        ratio = min(max((ty * bb - by * tb) / whole, _RATIOS[0]), _RATIOS[1])
        block = max(0.0, (by - ratio * tb) / bb)
        off = [
            abs(row.grown - ratio * row.tokens - block * row.blocks) * own**0.5
            for row, own in zip(rows, base, strict=True)
        ]
        limit = _TUKEY * median(off) or 1.0
        trust = [min(1.0, limit / each) if each else 1.0 for each in off]
    return ratio, block


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _spread(total: int, weights: Sequence[float]) -> array[int]:
    """`total` in whole numbers in proportion to `weights`; they add up to it."""
    whole = sum(weights) or 1.0
    out = array("q")
    given, seen = 0, 0.0
    for weight in weights:
        seen += weight
        upto = round(total * seen / whole)
        out.append(upto - given)
        given = upto
    if out:
        out[-1] += total - given
    return out


def _described(
    rows: Sequence[_Row], ratio: float, block: float, calls: Sequence[_Call], last: _Call
) -> Calibration:
    used = [row for row in rows if row.grown > 0]
    grown = sum(row.grown for row in used)
    counted = sum(row.tokens for row in used)
    off = [abs(row.grown - ratio * row.tokens - block * row.blocks) / row.grown for row in used]
    return Calibration(
        responses=len(calls),
        ratio=ratio,
        block=block,
        covered=last.start,
        plain_error=(counted - grown) / grown if grown else None,
        spread=median(off) if off else None,
        reported=last.context,
    )
