"""What reading a file of each JSONL format costs, as ratios to a bare `orjson.loads` of its lines.

Run as `python -m tests.benchmarks.bench_formats [MEGABYTES] [FORMAT ...]` (20 and all unless said).
One made-up session of an agent is written in every format that has one record a line; each file is
read in a process of its own, so that peak memory is that of one reading.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from compaction.errors import CompactionError
from tests.benchmarks.bench_open import Writer, bare, parse_alone, seconds
from tests.benchmarks.bench_open import peak as peak_of_all

_MEGABYTE = 1024 * 1024

#: What the issue asks for: times the CPU of the bare loop, of these formats.
_LIMITS = {"claude-code": 3.0, "codex": 3.0}


def turns(size: int) -> Iterator[dict[str, Any]]:
    """Chat messages of about `size` bytes: prompts, answers, calls and what tools print."""
    writer = Writer(seed=5)
    written = number = 0
    while written < size:
        made: list[dict[str, Any]] = [{"role": "user", "content": writer._prose(400)}]
        for _ in range(6):
            number += 1
            given = {"file_path": f"/home/dev/{number}.py", "old": writer._listing(500)}
            call = {"name": "Edit", "arguments": json.dumps(given)}
            calls = [{"id": f"call_{number}", "type": "function", "function": call}]
            said = writer._prose(500)
            made.append({"role": "assistant", "content": said, "tool_calls": calls})
            text = writer._listing(300 + 700 * (number % 7))
            made.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
        made.append({"role": "assistant", "content": writer._prose(700)})
        for turn in made:
            written += len(json.dumps(turn))
            yield turn


def written(size: int, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The session in every format that has one record a line; about `size` bytes each."""
    from compaction.export import render_bytes
    from compaction.formats import FORMATS, load

    chat = list(turns(size))
    lines = b"\n".join(json.dumps(turn).encode() for turn in chat) + b"\n"
    session = load(lines, format="openai-chat")
    for each in FORMATS:
        if names and each.name not in names:
            continue
        if each.name == session.format:
            yield each.name, lines
            continue
        try:
            # As from elsewhere: nothing of its bytes is copied.
            data, _ = render_bytes(replace(session, document=None), each.name)
        except CompactionError:
            continue
        if data.count(b"\n") > len(chat) // 8 and _is_record(data[: data.find(b"\n")]):
            yield each.name, data


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def peak() -> int:
    """The most memory of this program; what it was before it became this one does not count."""
    status = Path("/proc/self/status")
    if not status.exists():
        return peak_of_all()
    (line,) = [one for one in status.read_text().splitlines() if one.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def measure(path: str, name: str) -> None:
    """Print what reading one file costs. Runs in a process of its own."""
    from compaction.formats import load, recognise

    size = Path(path).stat().st_size
    before = peak()
    session = load(path)
    used = peak()
    told, messages = session.format, len(session)
    del session
    data = Path(path).read_bytes()
    looked = seconds(lambda: recognise(data))
    read, parsed = seconds(lambda: load(path)), seconds(lambda: bare(path))
    alone = parse_alone(path)
    limit = _LIMITS.get(name)
    verdict = "" if limit is None else f"  (at most {limit:.0f}x: {_word(read / parsed <= limit)})"
    wrong = "" if told == name else f"  TOLD AS {told}"
    sys.stdout.write(
        f"{name:<18} {size / _MEGABYTE:>5.1f} MB {messages:>7,} messages  {read / parsed:>6.2f}x "
        f"the bare loop, {read / alone:>6.2f}x parsing alone  recognised in {looked * 1000:>5.1f} "
        f"ms  peak {used / size:>5.2f}x, {(used - before) / size:>5.2f}x over the empty program"
        f"{verdict}{wrong}\n"
    )


def _word(held: bool) -> str:
    return "held" if held else "MISSED"


def main(arguments: list[str]) -> None:
    """Make and measure a file of every format, or of those that are named."""
    if arguments[:1] == ["--measure"]:
        measure(arguments[1], arguments[2])
        return
    numbers = [int(one) for one in arguments if one.isdigit()]
    names = [one for one in arguments if not one.isdigit()]
    size = (numbers or [20])[0] * _MEGABYTE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        for name, data in written(size, names):
            path.write_bytes(data)
            command = [sys.executable, "-m", "tests.benchmarks.bench_formats", "--measure"]
            subprocess.run([*command, str(path), name], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
