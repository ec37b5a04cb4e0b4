"""What the running app costs on the thread of the screen: slider ticks, pages, and stalls.

Run from the root of the repository: python -m tests.benchmarks.bench_screen [PART ...]
with parts out of `costs`, `dragging` and `loading`; all of them unless said.

A cost is the CPU time of everything the event loop runs until the app is at rest again. A stall
is how late a timer of the loop comes, whatever kept it: work of the loop, or another thread that
holds the interpreter. Time the thread of the loop waited for a core is taken off on Linux; other
threads may have waited too, so it is repeated.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any

from textual.events import MouseDown, MouseEvent, MouseMove, MouseUp
from textual.pilot import Pilot
from textual.screen import Screen

import tui.app
from compaction.policy import Policy
from tests.benchmarks.bench_open import write_transcript
from tui.app import Workbench
from tui.opening import Opening
from tui.screens.workbench import WorkbenchScreen
from tui.settings import Settings
from tui.widgets.message_list import MessageList
from tui.widgets.slider import Slider

SIZE = (120, 40)
SHORT, LONG = 1_000, 100_000
#: A frame at 60 Hz.
FRAME = 0.016
_TICKS = 200
_BEAT = 0.002
#: Places of the mouse while a slider is dragged.
_MOVES = 500


@dataclass
class Loop:
    """What the running event loop spends, and how late it is."""

    spent: float = 0.0
    late: list[tuple[float, float]] = field(default_factory=list)
    #: Stalls before it are of no interest.
    since: float = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Measure every callback and beat while this runs."""
        plain = events.Handle._run
        loop = asyncio.get_running_loop()
        beats = True

        def run(handle: Any) -> None:
            before = thread_time()
            plain(handle)
            self.spent += thread_time() - before

        def beat(due: float, waited: float) -> None:
            now, waits = loop.time(), waited_for_a_core()
            self.late.append((max(0.0, now - due - (waits - waited)), now))
            if beats:
                loop.call_at(now + _BEAT, beat, now + _BEAT, waits)

        events.Handle._run = run  # type: ignore[method-assign]
        beat(loop.time(), waited_for_a_core())
        try:
            yield
        finally:
            beats = False
            events.Handle._run = plain  # type: ignore[method-assign]

    def lateness(self) -> str:
        """The longest stall, and how many were longer than a frame."""
        late = sorted((late for late, at in self.late if at >= self.since), reverse=True)
        longest = ", ".join(f"{each * 1e3:.1f}" for each in late[:5])
        return f"longest stalls {longest} ms, {sum(each > FRAME for each in late)} over a frame"


def waited_for_a_core() -> float:
    """Seconds this thread was kept from running by other programs; 0 where nobody knows."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[1]) / 1e9
    except OSError:
        return 0.0


def write_session(path: Path, n: int) -> None:
    """A session of `n` chat messages: a person, answers, calls of tools and their results."""
    with path.open("w", encoding="utf-8") as file:
        for index in range(n):
            kind = index % 5
            text = f"message {index}: " + "some words about the code " * (index * 7 % 23 + 1)
            record: dict[str, Any] = {"role": "assistant", "content": text}
            if kind in {1, 3}:
                call = {"name": "read_file", "arguments": json.dumps({"path": f"src/{index}.py"})}
                record["tool_calls"] = [{"id": f"c{index}", "type": "function", "function": call}]
            elif kind in {2, 4}:
                record = {"role": "tool", "tool_call_id": f"c{index - 1}", "content": text * 3}
            elif not index:
                record["role"] = "system"
            else:
                record["role"] = "user"
            file.write(json.dumps(record) + "\n")


async def until(pilot: Pilot[Any], done: Callable[[], bool]) -> None:
    """Wait for what happens in threads."""
    while not done():  # noqa: ASYNC110 - it asks about what other threads have done
        await asyncio.sleep(0.02)
    await pilot.pause()


def ready(app: Workbench) -> bool:
    """Whether the session is loaded, counted, and its summary made."""
    screen = app.screen
    return (
        isinstance(screen, WorkbenchScreen)
        and screen.counts is not None
        and screen.counts.exact
        and not screen.summarizing
    )


async def costs(pilot: Pilot[Any], action: Callable[[int], None], times: int) -> list[float]:
    """The CPU time the loop spends on each of `times` actions, until all is drawn."""
    loop = Loop()
    found: list[float] = []
    with loop.watched():
        for number in range(times):
            loop.spent = 0.0
            action(number)
            await asyncio.sleep(0.05)
            found.append(loop.spent)
    return found


async def measured(path: Path) -> dict[str, list[float]]:
    """Slider ticks and pages on one session, in seconds."""
    app = Workbench(Opening(str(path), path.name, policy=Policy()), Settings())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: ready(app))
        screen = app.screen
        budget, keep = screen.query_one("#budget", Slider), screen.query_one("#keep", Slider)
        rows = screen.query_one(MessageList)
        idle = median(await costs(pilot, lambda _: None, 20))
        for slider in (budget, keep):
            slider.action_to_end(-1)
        # Where a plan compacts, a tick costs most.
        budget.action_step(10)
        await until(pilot, lambda: ready(app))
        found = {
            "budget tick": await costs(pilot, lambda _: budget.action_step(1), _TICKS),
            "keep tick": await costs(pilot, lambda _: keep.action_step(1), _TICKS),
            "page down": await costs(pilot, lambda _: rows.action_page(1), 20),
        }
    return {name: [max(0.0, one - idle) for one in each] for name, each in found.items()}


async def dragged(path: Path) -> Loop:
    """Hold the keep slider with the mouse and move it to and fro, with rests, as a hand does."""
    app = Workbench(Opening(str(path), path.name, policy=Policy(budget=20_000)), Settings())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: ready(app))
        loop = Loop()
        keep = app.screen.query_one("#keep", Slider)
        parts, place = keep._parts, keep.content_region.offset

        def mouse(kind: type[MouseEvent], cell: int) -> None:
            x, y = place.x + parts.start + cell, place.y
            assert app._driver is not None
            app._driver.process_message(
                kind(None, x, y, 0, 0, 1, False, False, False, screen_x=x, screen_y=y)
            )

        mouse(MouseDown, 2)
        with loop.watched():
            for number in range(_MOVES):
                mouse(MouseMove, abs(number % (2 * parts.track) - parts.track))
                await asyncio.sleep(0.3 if number % 100 == 99 else 0.008)
        mouse(MouseUp, 2)
        await until(pilot, lambda: ready(app))
    return loop


async def loaded(path: Path) -> Loop:
    """Open a file; watched from the first frame until everything is counted."""
    loop = Loop()

    class Timed(Workbench):
        CSS_PATH = Path(tui.app.__file__).with_name(str(Workbench.CSS_PATH))

        def _display(self, screen: Screen[Any], renderable: Any) -> None:
            super()._display(screen, renderable)
            if isinstance(screen, WorkbenchScreen) and renderable is not None and not loop.since:
                loop.since = asyncio.get_running_loop().time() + _BEAT

    app = Timed(Opening(str(path), path.name, policy=Policy()), Settings())
    with loop.watched():
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: ready(app))
    return loop


def print_costs(folder: Path) -> None:
    """Ticks and pages on a short and on a long session."""
    found = {}
    for n in (SHORT, LONG):
        path = folder / f"{n}.jsonl"
        write_session(path, n)
        found[n] = asyncio.run(measured(path))
    for name, short in found[SHORT].items():
        long = found[LONG][name]
        for n, each in ((SHORT, short), (LONG, long)):
            worst = max(each)
            print(
                f"{name:12} {n:>7,} messages: median {median(each) * 1e3:5.1f} ms, "
                f"worst of {len(each)} {worst * 1e3:5.1f} ms"
            )
        print(f"{'':12} long against short: {median(long) / median(short):.2f}x")


def main(arguments: list[str]) -> None:
    """Print the figures of every part asked for."""
    parts = arguments or ["costs", "dragging", "loading"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["COMPACTION_CONFIG_DIR"] = name
        os.environ["COMPACTION_NO_CACHE"] = "1"
        if "costs" in parts:
            print_costs(folder)
        if "dragging" in parts:
            path = folder / "dragged.jsonl"
            write_session(path, LONG)
            for _ in range(3):
                loop = asyncio.run(dragged(path))
                print(f"dragging     {LONG:>7,} messages: {loop.lateness()}")
        if "loading" in parts:
            path = folder / "loaded.jsonl"
            write_transcript(path, 50 * 1024 * 1024)
            for _ in range(3):
                loop = asyncio.run(loaded(path))
                print(f"loading                 50 MB: {loop.lateness()}")


if __name__ == "__main__":
    main(sys.argv[1:])
