"""What counting costs, against tiktoken by itself on the same texts: ratios and rates.

Run as `python -m tests.benchmarks.bench_tokens [FILE]`. Without a file a Claude Code transcript of
some 20 MB is made up. "of tiktoken" is the CPU time of bare tiktoken over the texts of the session
divided by that of the whole count, its parsing included.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

from compaction.errors import PolicyError
from compaction.formats import load
from compaction.messages import Inline, Message, Session, Source, Text
from compaction.tokens import CountCache, count_steps, counter, counters, estimate
from compaction.tokens.costs import message_cost
from compaction.tokens.counters import CHAT_FRAMING
from compaction.tokens.ranks import o200k_base
from compaction.tokens.slicing import slices
from compaction.validity import check

_MEGABYTE = 1_000_000
_TURNS = 2_500
_ESTIMATED = 100_000


def transcript(turns: int) -> bytes:
    """A Claude Code transcript in which no text comes twice: prose, code, JSON and logs."""
    dice = random.Random(7)
    words = [
        "".join(dice.choices("etaoinshrdlucmfwyp", k=dice.randint(2, 9))) for _ in range(4_000)
    ]

    def prose(length: int) -> str:
        return " ".join(dice.choices(words, k=length))

    def code(lines: int) -> str:
        return "\n".join(
            f"    {dice.choice(words)} = {dice.choice(words)}({dice.randint(0, 999)})"
            for _ in range(lines)
        )

    def line(kind: str, number: int, message: dict[str, Any], **more: Any) -> str:
        envelope = {
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "made-up",
            "cwd": "/srv/depot",
            "version": "2.1.0",
            "type": kind,
            "message": message,
            "uuid": f"u{number}",
            "timestamp": "2026-03-01T09:00:00.000Z",
        }
        return json.dumps({**envelope, **more})

    def lines() -> Iterator[str]:
        number = 0
        for turn in range(turns):
            call = f"toolu_{turn:08}"
            output = dice.choice((prose(400), code(120), json.dumps([prose(3)] * 120)))
            use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": prose(9)}}
            result = {"type": "tool_result", "tool_use_id": call, "content": output}
            text = {"type": "text", "text": prose(60)}
            yield line("user", number, {"role": "user", "content": prose(40)})
            yield line(
                "assistant",
                number + 1,
                {"id": f"msg_{turn}", "role": "assistant", "content": [text, use]},
            )
            yield line(
                "user",
                number + 2,
                {"role": "user", "content": [result]},
                toolUseResult={"stdout": output, "stderr": ""},
            )
            number += 3

    return "\n".join(lines()).encode()


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """The CPU seconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(rounds):
        before = process_time()
        work()
        best = min(best, process_time() - before)
    return best


def run(session: Session, tokenizer: str, cache: CountCache) -> int:
    """Counts a session, nothing known but what `cache` has."""
    counters._counters.clear()
    return sum(sum(batch) for _, batch in count_steps(session, tokenizer, cache=cache))


def bare(texts: list[str]) -> Callable[[], int]:
    """tiktoken over texts that are sliced already, and nothing else."""
    encode = o200k_base().encode
    return lambda: sum(len(encode(text, disallowed_special=())) for text in texts)


def main() -> None:
    """Print what counting, counting again, estimating and checking cost."""
    source = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else transcript(_TURNS)
    session = load(source)
    texts = [
        piece
        for message in session.messages
        for text in message_cost(message, CHAT_FRAMING)[0]
        for piece in slices(text)
    ]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / _MEGABYTE
    whole = len(source) / _MEGABYTE
    print(f"{whole:.1f} MB, {len(session):,} messages, {size:.1f} MB of text")
    raw = seconds(bare(texts))
    first = seconds(lambda: run(session, "o200k_base", CountCache()))
    print(f"counted: {raw / first:.0%} of tiktoken's own rate (at least 80 % is wanted)")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts"
        run(session, "o200k_base", CountCache(path))
        again = seconds(lambda: run(session, "o200k_base", CountCache(path)))
    print(f"counted again from its file: {first / again:.0f} times as fast (10 is wanted)")
    try:
        counter("fast")
    except PolicyError as error:
        print(error)
    else:
        fast = seconds(lambda: run(session, "fast", CountCache()))
        print(f"counted by toktok-rs: {first / fast:.1f} times as fast")
    checked = seconds(lambda: check(session.messages, "anthropic"))
    print(f"checked: {first / checked:.1f} times as fast as counted")
    body = Inline((Text("x"),))
    kinds = frozenset({"text"})
    many = tuple(
        Message("user", body, preview="One two three", chars=40, kinds=kinds)
        for _ in range(_ESTIMATED)
    )
    listed = Session(Source(b""), "openai-chat", many)
    guess = seconds(lambda: estimate(listed))
    floor = seconds(lambda: [message.chars for message in many])
    print(f"estimated: {guess / floor:.0f} times a bare loop over {_ESTIMATED:,} messages")


if __name__ == "__main__":
    main()
