"""The order of a compacted list: what stays, and where the summary stands among it."""

from __future__ import annotations

from bisect import bisect_left

from compaction.loose_results import members
from compaction.planning import Plan


def order_of(plan: Plan) -> list[int]:
    """Source indexes in the order of the result, with -1 for the summary."""
    between = sorted([*plan.kept, *(index for index in plan.cleared if index < plan.cut)])
    loose = members(plan).loose
    recent = (index for index in range(plan.cut, plan.n) if index not in loose)
    stay = [*plan.head, *between, *recent]
    stay.insert(_place(plan, stay), -1)
    return stay


def _place(plan: Plan, stay: list[int]) -> int:
    """Before which of the messages that stay the summary is put."""
    match plan.policy.summary.place:
        case "first":
            return 0
        case "last":
            return len(stay)
        case "before-recent":
            return bisect_left(stay, plan.cut)
        case "at-the-gap":
            return bisect_left(stay, plan.summarized[0])
        case "after-head":
            at = len(plan.head)
            # Stacked summaries stand in the order in which they were made.
            stacked = set(plan.groups.summaries) if plan.policy.iterate == "stack" else set()
            while at < len(stay) and stay[at] in stacked and stay[at] < plan.cut:
                at += 1
            return at
