"""What replays and sweeps cost: per setting, per compaction, and against the number of messages.

Run as `python -m tests.benchmarks.bench_replay`. CPU time; ratios compare sizes of session.
"""

from __future__ import annotations

import random
from array import array
from time import process_time

import numpy as np

from compaction.groups import find_groups
from compaction.messages import Message, Session, Source, Text, ToolCall, ToolResult, message
from compaction.needing import Need, Needs
from compaction.policy import Policy
from compaction.replaying.timeline import Timeline, timeline
from compaction.replaying.walking import Walker
from compaction.sweeping.grid import Grid
from compaction.tokens import Counts

_SIZES = (1_000, 10_000, 100_000)
_SIDE = 100


def line_of(length: int) -> tuple[Timeline, Needs]:
    """A session of turns of twelve calls, and a need a message."""
    dice = random.Random(1)
    messages: list[Message] = [message("system", "Depot.")]
    while len(messages) < length:
        messages.append(message("user", "Weigh."))
        for _ in range(12):
            call = f"c{len(messages)}"
            messages.append(message("assistant", [ToolCall(call, "weigh", "{}")]))
            messages.append(message("tool", [ToolResult(call, (Text("12 kg"),))]))
        messages.append(message("assistant", "Done."))
    tokens = array("q", (dice.randint(20, 400) for _ in messages))
    session = Session(Source(b""), "openai-chat", tuple(messages))
    pairs = sorted(
        (of, min(len(messages), of + dice.randint(1, 3_000)))
        for of in (dice.randrange(len(messages)) for _ in range(length))
    )
    needs = [Need("v", "id", of, at, "answer") for of, at in pairs]
    of, at = array("q", (n.of for n in needs)), array("q", (n.at for n in needs))
    counts = Counts("o200k_base", tokens)
    return timeline(session, counts, find_groups(messages)), Needs(tuple(needs), of, at)


def main() -> None:
    """Print the table."""
    budgets = np.repeat(np.linspace(20_000, 1_000_000, _SIDE).astype(int), _SIDE)
    amounts = np.tile(np.linspace(2, 200, _SIDE).astype(int), _SIDE)
    print(f"{'messages':>9} {'one replay':>11} {'compactions':>12} {'10k cells':>10} "
          f"{'with needs':>11} {'a compaction':>13}")  # fmt: skip
    for length in _SIZES:
        line, needs = line_of(length)
        walker, policy = Walker(line), Policy(budget=100_000, keep_recent=20)
        begun = process_time()
        for _ in range(20):
            walker.walk(policy)
        alone = (process_time() - begun) / 20
        times = []
        for wanted in (None, needs):
            grid = Grid(line, Policy(), wanted)
            begun = process_time()
            swept = grid.walk(budgets, amounts)
            times.append(process_time() - begun)
        made = int(swept.compactions.sum())
        print(
            f"{length:>9,} {alone * 1000:>8.2f} ms {made / len(budgets):>12.1f} {times[0]:>8.2f} s "
            f"{times[1]:>9.2f} s {times[0] / max(1, made) * 1e6:>10.2f} µs"
        )


if __name__ == "__main__":
    main()
