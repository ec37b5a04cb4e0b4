"""What a slider tick costs the planner at 1,000 and at 100,000 messages, as ratios.

Run as `python -m tests.benchmarks.bench_planning`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from time import process_time

from compaction.groups import find_groups
from compaction.planning import Planner
from compaction.policy import Head, Policy, Recent, Safety
from tests.compaction.planning_strategies import (
    assistant,
    calls,
    counts_of,
    results,
    session_of,
    system,
    user,
)

_SMALL, _LARGE = 1_000, 100_000
_TICKS = 4_000


def planner_for(messages: int) -> Planner:
    """A planner over a coding session of about so many messages."""
    block = [user(), calls("a", "b"), results("a"), results("b"), assistant()]
    sizes = (40, 90, 900, 400, 60)
    rounds = messages // len(block)
    listed = [system(), *block * rounds]
    counts = counts_of([800, *sizes * rounds])
    return Planner(session_of(listed), counts)


def ticks(planner: Planner, policy: Policy) -> Callable[[], None]:
    """One drag of a slider: budget and keep_recent move a little with every plan."""
    amounts: Iterator[int] = cycle(range(4, 60))

    def drag() -> None:
        for _ in range(_TICKS):
            step = next(amounts)
            moved = policy.replace(budget=100_000 + 1_000 * step)
            if policy.recent.unit != "fit":
                moved = moved.replace(keep_recent=step)
            planner.plan(moved)

    return drag


def seconds(work: Callable[[], None]) -> float:
    """The CPU seconds of the fastest of three runs, after one to warm up."""
    work()
    best = float("inf")
    for _ in range(3):
        before = process_time()
        work()
        best = min(best, process_time() - before)
    return best


def main() -> None:
    """Print the ratios."""
    policies = {
        "messages, group": Policy(),
        "tokens, turn": Policy(recent=Recent("tokens", 9_000), safety=Safety("turn")),
        "fit": Policy(recent=Recent("fit")),
        "pins and users": Policy(head=Head(pins=(7, 300), first_user=True, users=4_000)),
    }
    small, large = planner_for(_SMALL), planner_for(_LARGE)
    out = sys.stdout.write
    for name, policy in policies.items():
        ratio = seconds(ticks(large, policy)) / seconds(ticks(small, policy))
        out(f"a plan at {_LARGE:,} messages costs {ratio:.2f}x one at {_SMALL:,} ({name})\n")
    groups = large.groups
    arrays = (groups.starts, groups.turns, groups.turn_cuts, groups.split_cuts)
    held = sum(sys.getsizeof(each) for each in arrays)
    out(f"groups of {groups.n:,} messages: {held / groups.n:.1f} bytes a message and its links\n")
    messages = large.session.messages

    def find_once() -> None:
        find_groups(messages)

    plan, find = seconds(ticks(large, Policy())), seconds(find_once)
    out(f"finding all groups once costs as much as {find / (plan / _TICKS):,.0f} plans\n")


if __name__ == "__main__":
    main()
