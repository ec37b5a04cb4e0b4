"""What it costs to open a large Claude Code transcript, as ratios to a bare `orjson.loads`.

Run as `python -m tests.benchmarks.bench_open [MEGABYTES ...]` (50 and 200 unless said). Each size
is written to a temporary folder and opened in a process of its own, so that peak memory is that
of one opening. The mix of lines and their sizes is the one counted in 923 real transcripts.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import orjson

_MEGABYTE = 1024 * 1024

#: Lines of a generated session between two compactions.
_COMPACT_EVERY = 4_000

_WORDS = ["return", "value", "path", "session", "config", "render", "parse", "token", "buffer"]
_WORDS += ["index", "error", "result", "window", "update", "handler", "client", "server", "retry"]


class Writer:
    """Writes one transcript: prompts, responses over several lines, tool results, side records."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._last: str | None = None
        self._number = 0

    def lines(self, size: int) -> Iterator[bytes]:
        """Lines of about `size` bytes in all."""
        written = count = 0
        while written < size:
            for record in self._turn():
                line = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()
                written += len(line) + 1
                count += 1
                yield line + b"\n"
            if count > _COMPACT_EVERY:
                count = 0
                for record in self._compaction():
                    yield json.dumps(record, separators=(",", ":")).encode() + b"\n"

    def _id(self) -> str:
        self._number += 1
        return f"{self._number:08x}-5f3a-4c1e-9b7d-{self._random.getrandbits(48):012x}"

    def _prose(self, characters: int) -> str:
        words = self._random.choices(_WORDS, k=max(1, characters // 7))
        return " ".join(words)[:characters]

    def _listing(self, characters: int) -> str:
        """Lines of a program as a tool prints them: numbered, indented, with quotes."""
        out: list[str] = []
        length = number = 0
        while length < characters:
            number += 1
            a, b, c = self._random.choices(_WORDS, k=3)
            out.append(f'{number:>6}→\t{" " * (number % 4 * 4)}{a}.{b}("{c}", {number}) # {c} {a}')
            length += len(out[-1]) + 1
        return "\n".join(out)

    def _line(self, kind: str, **members: Any) -> dict[str, Any]:
        own = self._id()
        minute, second = self._number // 60 % 60, self._number % 60
        record = {
            "parentUuid": self._last,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/project",
            "sessionId": "0d0c8f3e-1111-4222-8333-444455556666",
            "version": "2.1.36",
            "gitBranch": "main",
            "type": kind,
            **members,
            "uuid": own,
            "timestamp": f"2026-03-01T10:{minute:02d}:{second:02d}.000Z",
        }
        self._last = own
        return record

    def _turn(self) -> Iterator[dict[str, Any]]:
        pick = self._random
        yield self._line("user", message={"role": "user", "content": self._prose(400)})
        yield {
            "type": "file-history-snapshot",
            "messageId": self._last,
            "snapshot": {"trackedFileBackups": {self._prose(20): {"version": 1}}},
            "isSnapshotUpdate": False,
        }
        for _ in range(pick.randint(4, 14)):
            yield from self._response()
        yield self._line("system", subtype="turn_duration", durationMs=1200, isMeta=False)

    def _response(self) -> Iterator[dict[str, Any]]:
        pick = self._random
        response = f"msg_{self._id().replace('-', '')}"
        blocks: list[dict[str, Any]] = []
        if pick.random() < 0.35:
            sealed = f"{pick.getrandbits(6_000):x}"
            blocks.append({"type": "thinking", "thinking": self._prose(900), "signature": sealed})
        if pick.random() < 0.45:
            blocks.append({"type": "text", "text": self._prose(600)})
        calls = [f"toolu_{self._id().replace('-', '')}" for _ in range(pick.choice((1, 1, 1, 2)))]
        for call in calls:
            given = {"file_path": f"/home/dev/{self._prose(12)}.py", "old": self._listing(600)}
            blocks.append({"type": "tool_use", "id": call, "name": "Edit", "input": given})
        for number, block in enumerate(blocks):
            yield self._line(
                "assistant",
                message={
                    "id": response,
                    "type": "message",
                    "role": "assistant",
                    "model": "claude-opus-4-6",
                    "content": [block],
                    "stop_reason": None,
                    "usage": {
                        "input_tokens": 8,
                        "cache_creation_input_tokens": 900,
                        "cache_read_input_tokens": 60_000,
                        "output_tokens": 400 if number == len(blocks) - 1 else 2,
                    },
                },
                requestId="req_1",
            )
        for call in calls:
            if pick.random() < 0.35:
                data = {"type": "bash_progress", "output": self._prose(250), "elapsed": 2}
                yield self._line("progress", data=data, toolUseID=call)
            if pick.random() < 0.05:
                held = {"role": "assistant", "content": [{"type": "text", "text": "x" * 30_000}]}
                data = {"type": "agent_progress", "message": {"type": "user", "message": held}}
                yield self._line("progress", data=data, toolUseID=call)
            text = self._listing(int(pick.paretovariate(1.3) * 1_000) % 60_000)
            block = {"tool_use_id": call, "type": "tool_result", "content": text}
            yield self._line(
                "user",
                message={"role": "user", "content": [block]},
                toolUseResult={"type": "text", "file": {"content": text, "numLines": 80}},
            )

    def _compaction(self) -> Iterator[dict[str, Any]]:
        before, self._last = self._last, None
        yield self._line(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=before,
            content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 155_000},
        )
        yield self._line(
            "user",
            message={"role": "user", "content": f"This session continues. {self._prose(8_000)}"},
            isVisibleInTranscriptOnly=True,
            isCompactSummary=True,
        )

    def short(self, size: int) -> Iterator[bytes]:
        """Lines of nothing but prompts and answers of a few hundred characters: the worst case."""
        written = 0
        while written < size:
            for role in ("user", "assistant"):
                record = self._line(role, message={"role": role, "content": self._prose(500)})
                line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
                written += len(line)
                yield line


#: The kinds of transcripts measured.
KINDS = ("compacted", "all live", "all live and short")


def write_transcript(path: Path, size: int, kind: str = "all live") -> None:
    """A transcript of about `size` bytes of one of the KINDS."""
    with path.open("wb") as file:
        if kind == "all live and short":
            file.writelines(Writer().short(size))
            return
        for line in Writer().lines(size):
            if kind == "compacted" or b'"compact_boundary"' not in line:
                file.write(line)


def seconds(work: Any, times: int = 3) -> float:
    """The CPU seconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(times):
        before = process_time()
        work()
        best = min(best, process_time() - before)
    return best


def bare(path: str) -> None:
    """What nobody can do without: read the file and parse every line, keeping nothing."""
    data = Path(path).read_bytes()
    for line in data.split(b"\n"):
        if line:
            orjson.loads(line)


def parse_alone(path: str) -> float:
    """The CPU seconds of parsing the lines when they are read and split already."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line]

    def parse() -> None:
        for line in lines:
            orjson.loads(line)

    return seconds(parse)


def peak() -> int:
    """The most memory this process has had, in bytes."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def measure(path: str, kind: str) -> None:
    """Print what opening one file costs. Runs in a process of its own."""
    import compaction
    from compaction.tokens import estimate

    size = Path(path).stat().st_size
    before = peak()

    def open_it() -> compaction.Session:
        session = compaction.load(path)
        estimate(session)
        return session

    session = open_it()
    used = peak()
    count, left_out = len(session), sum(session.left_out.values())
    del session
    opened, parsed = seconds(open_it), seconds(lambda: bare(path))
    full = seconds(lambda: compaction.load(path, history="full"), 1)
    alone = parse_alone(path)
    sys.stdout.write(
        f"{size / _MEGABYTE:.0f} MB, {kind}: {count:,} messages, {left_out:,} records left out; "
        f"{opened / parsed:.2f}x reading and parsing every line ({full / parsed:.2f}x with the "
        f"full history), {opened / alone:.2f}x parsing alone; "
        f"peak memory {used / size:.2f}x the file, "
        f"{(used - 2 * size) / _MEGABYTE:+.0f} MB to twice the file "
        f"({before / _MEGABYTE:.0f} MB before opening)\n"
    )


def main(arguments: list[str]) -> None:
    """Generate and measure every kind in every size asked for."""
    if arguments[:1] == ["--measure"]:
        measure(arguments[1], arguments[2])
        return
    with tempfile.TemporaryDirectory() as folder:
        for size in [int(one) for one in arguments] or [50, 200]:
            for kind in KINDS:
                path = Path(folder) / "session.jsonl"
                write_transcript(path, size * _MEGABYTE, kind)
                command = [sys.executable, "-m", "tests.benchmarks.bench_open", "--measure"]
                subprocess.run([*command, str(path), kind], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
