"""What the widgets cost on long sessions against short ones, as ratios.

Run from the root of the repository: python -m tests.benchmarks.bench_widgets
"""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

from textual.containers import Vertical
from textual.widget import Widget

from compaction.groups import find_groups
from compaction.messages import Session
from tests.tui.widgets.samples import (
    FakePlan,
    conversation,
    counts_of,
    session_of,
)
from tests.tui.widgets.stage import Stage
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.message_list import MessageList
from tui.widgets.minimap import Minimap

SIZE = (120, 40)
SHORT, LONG = 1_000, 100_000


class Bench:
    """The main widgets around a session of `n` messages."""

    def __init__(self, n: int) -> None:
        base, counts, _ = conversation(SHORT)
        times = n // SHORT
        self.session: Session = session_of(base.messages * times)
        self.groups = find_groups(self.session.messages)
        self.plan = FakePlan(counts_of(counts.tokens * times), 1, n - 20, 100_000)
        self.list, self.bars, self.map = MessageList(), BudgetBars(), Minimap()
        self.stage = Stage(self.bars, Vertical(self.list), self.map)
        self._ticks = 0

    def fill(self) -> None:
        """Show the session."""
        self.list.show(self.session, self.plan.counts, self.plan, self.groups)
        self.bars.show(self.plan)
        self.map.show(self.plan, self.plan.counts)

    def draw(self, *widgets: Widget) -> None:
        """Draw every line of `widgets`."""
        for widget in widgets:
            for y in range(widget.size.height):
                widget.render_line(y)

    def tick(self) -> None:
        """One move of a slider: another plan, everything visible drawn again."""
        self._ticks += 1
        plan = replace(self.plan, cut=self.plan.n - 20 - self._ticks % 30)
        self.list.plan = plan
        self.bars.show(plan)
        self.map.show(plan, plan.counts)
        self.draw(self.list, self.bars, self.map)

    def page(self) -> None:
        """One page down, from the top again when the end is near."""
        if self.list.cursor > self.plan.n - 200:
            self.list.action_cursor_first()
        self.list.action_page(1)
        self.draw(self.list)


def cheapest(action: Callable[[], None], times: int = 60) -> float:
    """The least CPU time of one call, in seconds."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time_ns()
        action()
        best = min(best, (time.process_time_ns() - start) / 1e9)
    return best


async def measured(n: int) -> dict[str, float]:
    """Costs of a slider tick and of a page down on a session of `n` messages."""
    bench = Bench(n)
    async with bench.stage.run_test(size=SIZE) as pilot:
        bench.fill()
        await pilot.pause()
        return {"slider tick": cheapest(bench.tick), "page down": cheapest(bench.page)}


async def held() -> int:
    """Bytes the list adds for a long session once it was looked at."""
    bench = Bench(LONG)
    async with bench.stage.run_test(size=SIZE) as pilot:
        await pilot.pause()
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        bench.list.show(bench.session, bench.plan.counts, bench.plan, bench.groups)
        for _ in range(50):
            bench.page()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return after - before


def main() -> None:
    """Print the ratios."""
    short, long = asyncio.run(measured(SHORT)), asyncio.run(measured(LONG))
    for name, cost in long.items():
        print(f"{name:12} {LONG:,} against {SHORT:,} messages: {cost / short[name]:.2f}x")
        print(f"{'':12} {cost / 0.016:.0%} of a frame of 16 ms")
    print(f"the list adds {asyncio.run(held()) / 1e6:.1f} MB for {LONG:,} messages")


if __name__ == "__main__":
    main()
