"""Fuzzing of every reader by chance, with the number of inputs and the lines reached.

    python -m tests.fuzz --seconds 60 [--inputs N] [--format NAME] [--seed N] [--size BYTES]

Seeds are the samples and what the tests of the formats are made of; each input is one of them with
something wrong, words of a format in no order, or bytes of chance. Every input is read by the name
of a format or by what it is recognised as, and exported, inspected, planned and compacted.

It fails (exit code 1) on an exception that is no refusal, on reading that takes more than a second
for each MB (and half a second), and on memory over ten times the input and 50 MB (or, for values
that are more than that themselves, twice what parsing them takes). What failed is
written to a folder that is named, one file each.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
import traceback
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import compaction.formats
from compaction.errors import CompactionError, SessionError
from compaction.formats import FORMATS, load
from tests.mutating import damaged, exercise, grown, made_up, mutated, parsed, seeds

_MEGABYTE = 1_000_000

#: Seconds of work on one input after which it hangs, whatever the machine does besides.
_PATIENCE = 60
#: What reading may take: seconds whatever the size, and for each MB.
_CONSTANT, _PER_MEGABYTE = 0.5, 1.0
#: What reading may keep: bytes whatever the size, and times the input.
_SPARE, _TIMES = 50 * _MEGABYTE, 10

#: Bytes under which time and memory say nothing of the input.
_TELLING = 20_000

#: Every so many inputs a large one is timed, and one has its lines counted.
_LARGE_EVERY, _TRACE_EVERY, _MEMORY_EVERY = 25, 10, 50

_HOME = str(Path(compaction.formats.__file__).parent)


class Hang(Exception):  # noqa: N818 - it is what it is
    """An input took too long."""


@dataclass(slots=True)
class Tally:
    """What came of the inputs of one reader."""

    inputs: int = 0
    sessions: int = 0
    slowest: float = 0.0
    memory: float = 0.0


@dataclass(slots=True)
class Failure:
    """One input that failed: under which name it was read, why, and its bytes."""

    reader: str
    named: str | None
    why: str
    data: bytes


@dataclass(slots=True)
class Report:
    """What a run has found."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    reached: set[tuple[str, int]] = field(default_factory=set)

    @property
    def inputs(self) -> int:
        """How many inputs there were."""
        return sum(each.inputs for each in self.tallies.values())

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"{'reader':<18} {'inputs':>8} {'sessions':>9} {'s per MB':>9} {'memory':>8}"
        for name, each in self.tallies.items():
            memory = f"{each.memory:.1f}x" if each.memory else "-"
            yield (
                f"{name:<18} {each.inputs:>8,} {each.sessions:>9,} {each.slowest:>9.2f} "
                f"{memory:>8}"
            )
        total = _lines_there()
        hit = sum((path, line) in self.reached for path, lines in total.items() for line in lines)
        there = sum(map(len, total.values()))
        yield (
            f"{self.inputs:,} inputs of {len(self.tallies)} readers; {hit:,} of {there:,} lines of "
            f"compaction/formats reached ({hit / max(1, there):.0%}); "
            f"{len(self.failures)} failures."
        )


def run(
    *,
    seed: int,
    seconds: float | None = None,
    inputs: int | None = None,
    names: tuple[str, ...] = (),
    size: int = _MEGABYTE,
) -> Report:
    """Give every reader (or those of `names`) inputs in turn, until one of the limits."""
    chance = Random(seed)
    report = Report({name: Tally() for name in names or [each.name for each in FORMATS]})
    seeds()
    until = time.monotonic() + seconds if seconds is not None else None
    number = 0
    while inputs is None or number < inputs:
        for place, (name, tally) in enumerate(report.tallies.items()):
            if until is not None and time.monotonic() > until:
                return report
            # Shifted, so that large inputs do not come all at once.
            _one(report, name, tally, chance, number + place, size)
        number += 1
    return report


def _one(
    report: Report, name: str, tally: Tally, chance: Random, number: int, size: int
) -> None:
    large = number % _LARGE_EVERY == 0
    data = _input(name, chance)
    if large:
        data = grown(data, chance, size) or b"{"
    named = name if chance.random() < 0.7 else None
    tally.inputs += 1
    try:
        with _alarm(_PATIENCE):
            if large:
                _measured(tally, data, named, memory=number % _MEMORY_EVERY == 0)
                tally.sessions += _is_read(data, named)
            elif number % _TRACE_EVERY == 0:
                with _tracing(report.reached):
                    tally.sessions += exercise(data, named)
            else:
                tally.sessions += exercise(data, named)
    except (Exception, Hang) as error:  # noqa: BLE001 - finding them is what this is for
        report.failures.append(Failure(name, named, _why(error), data))


def _input(name: str, chance: Random) -> bytes:
    kind = chance.random()
    if kind < 0.7:
        return mutated(name, chance)
    if kind < 0.85:
        return made_up(name, chance)
    if kind < 0.95:
        return damaged(chance.choice(seeds().get(name) or seeds()["openai-chat"]), chance)
    return chance.randbytes(chance.choice((1, 4, 30, 300)))


def _is_read(data: bytes, named: str | None) -> bool:
    try:
        load(data, format=named)
    except SessionError:
        return False
    return True


def _measured(tally: Tally, data: bytes, named: str | None, *, memory: bool) -> None:
    """Fail when reading takes too long or too much."""
    if memory:
        tracemalloc.start()
        try:
            _is_read(data, named)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if len(data) > _TELLING:
            tally.memory = max(tally.memory, peak / len(data))
        # Values too small for their memory are that much for whoever parses them.
        limit = max(_TIMES * len(data) + _SPARE, 2 * _parsed_alone(data))
        assert peak <= limit, f"{peak / _MEGABYTE:.0f} MB for {len(data) / _MEGABYTE:.2f} MB"
    allowed = _CONSTANT + _PER_MEGABYTE * len(data) / _MEGABYTE
    took = allowed + 1
    # The fastest of two: others work on the machine too.
    for _ in range(2):
        if took > allowed:
            start = time.process_time()
            _is_read(data, named)
            took = min(took, time.process_time() - start)
    if len(data) > _TELLING:
        tally.slowest = max(tally.slowest, took * _MEGABYTE / len(data))
    assert took <= allowed, f"{took:.1f} s for {len(data) / _MEGABYTE:.2f} MB"


def _parsed_alone(data: bytes) -> int:
    """The memory that the values of a file take, all of them at once."""
    tracemalloc.start()
    try:
        values = parsed(data)
        peak = tracemalloc.get_traced_memory()[1]
        del values
    finally:
        tracemalloc.stop()
    return peak


def _why(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    kind = "unexpected refusal " if isinstance(error, CompactionError) else ""
    return (
        f"{kind}{type(error).__name__}: {str(error)[:200]} "
        f"({Path(last.filename).name}, line {last.lineno})"
    )


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """Raise Hang when the work in it takes longer; only where signals are to be had."""
    main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not main:
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Hang(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _tracing(reached: set[tuple[str, int]]) -> Iterator[None]:
    """Add the lines of compaction/formats that are run to `reached`."""

    def here(frame: FrameType, event: str, _given: Any) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(_HOME):
            return None
        if event == "line":
            reached.add((path, frame.f_lineno))
        return here

    before = sys.gettrace()
    sys.settrace(here)
    try:
        yield
    finally:
        sys.settrace(before)


def _lines_there() -> dict[str, set[int]]:
    """The lines with code inside of functions, by file."""
    out: dict[str, set[int]] = {}
    for path in sorted(Path(_HOME).rglob("*.py")):
        whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        out[str(path)] = set(_lines_of(whole))
    return out


def _lines_of(code: CodeType) -> Iterator[int]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            # The first line of a function is its `def`, that of a class is run when imported.
            if inner.co_flags & 0x02:
                lines = {line for _, _, line in inner.co_lines() if line}
                yield from lines - {inner.co_firstlineno}
            yield from _lines_of(inner)


def keep(failures: list[Failure]) -> Path:
    """Write the inputs that failed to a new folder."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for number, each in enumerate(failures):
        (folder / f"{number:03}-{each.reader}-as-{each.named}").write_bytes(each.data)
    return folder


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; 1 when something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--inputs", type=int, default=None, help="inputs for each reader")
    parser.add_argument("--format", action="append", default=[])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--size", type=int, default=_MEGABYTE, help="bytes of a large input")
    given = parser.parse_args(arguments)
    seconds = 60.0 if given.seconds is None and given.inputs is None else given.seconds
    sys.stdout.write(f"seed {given.seed}\n")
    report = run(
        seed=given.seed,
        seconds=seconds,
        inputs=given.inputs,
        names=tuple(given.format),
        size=given.size,
    )
    sys.stdout.writelines(f"{line}\n" for line in report.lines())
    if report.failures:
        for number, each in enumerate(report.failures):
            sys.stdout.write(f"{number:03} {each.reader} as {each.named}: {each.why}\n")
        sys.stdout.write(f"the inputs are in {keep(report.failures)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
