"""Warnings about a policy that compacts in vain: too soon again, or for less each time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from compaction.findings import Finding
from compaction.replaying.timeline import Timeline
from compaction.replaying.walking import Walked

#: Calls between two compactions that are too few.
SOON = 3

#: Compactions in a row, each freeing clearly less than the one before, that are a pattern.
_ROUNDS = 3
_LESS = 0.8


def thrash(line: Timeline, walked: Walked) -> Iterator[Finding]:
    """What is wrong with the rhythm of a walk."""
    made = walked.compactions
    soon = [two for one, two in pairwise(made) if two.call - one.call <= SOON]
    if soon:
        many = "1 compaction comes" if len(soon) == 1 else f"{len(soon):,} compactions come"
        yield Finding(
            "warning",
            "thrash-soon",
            f"{many} within {SOON} calls of the one before, the first at call {soon[0].call}.",
            message=soon[0].at,
            remedy="raise the budget, or keep less of the end",
        )
    run = 1
    for one, two in pairwise(made):
        less = two.before - two.after < _LESS * (one.before - one.after)
        run = run + 1 if less else 1
        if run == _ROUNDS:
            yield Finding(
                "warning",
                "thrash-less",
                f"{_ROUNDS} compactions in a row free less and less, up to call {two.call}: "
                f"{two.before - two.after:,} tokens there.",
                message=two.at,
                remedy="raise the budget, or keep less of the end",
            )
            break
    over = sum(each.until - each.call for each in walked.declined)
    if over:
        first = walked.declined[0]
        many = "1 call" if over == 1 else f"{over:,} calls"
        yield Finding(
            "warning",
            "over-trigger",
            f"At {many} of {len(line):,} the trigger holds and nothing is compacted, first at "
            f"call {first.call}: {first.why}.",
            message=first.at,
        )
