"""Rule 1 across chained compactions: every message is in exactly one place at the end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from compaction.findings import Finding
from compaction.replaying.walking import Walked


def summarized_at(walked: Walked, index: int) -> int | None:
    """The number of the compaction that summarized message `index`; None while it is in the list.

    Messages of the head, those that stay, and those no call has read are in no summary.
    """
    made = walked.compactions
    if not made or index < made[0].start:
        return None
    for number, each in enumerate(made):
        if index < each.cut and index not in each.stay:
            return number
    return None


def taken(walked: Walked, number: int) -> int:
    """How many messages compaction `number` took out of the list."""
    each = walked.compactions[number]
    before = walked.compactions[number - 1].stay if number else ()
    passed = sum(each.start <= index < each.cut for index in each.stay)
    return each.cut - each.start - passed + len(set(before) - set(each.stay))


def unaccounted(walked: Walked) -> Iterator[Finding]:
    """Where a walk loses a message, or takes one twice; nothing for a walk that is right."""
    for one, two in pairwise(walked.compactions):
        known = {*one.stay, *range(one.cut, two.cut)}
        if two.start < one.start or two.cut < one.cut or two.call <= one.call:
            yield _wrong(two.call, "goes back over the one before")
        elif not known.issuperset(two.stay):
            lost = min(set(two.stay) - known)
            yield _wrong(two.call, f"keeps message #{lost}, which an earlier one summarized")


def _wrong(call: int, what: str) -> Finding:
    return Finding("error", "replay-account", f"The compaction at call {call} {what}.")
