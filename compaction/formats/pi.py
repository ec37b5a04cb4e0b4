"""pi sessions (`~/.pi/agent/sessions/**/*.jsonl`), which OpenClaw writes, too: the format.

Entries stand in a tree by `parentId`; the branch of the last one is what goes on. How a file is
read stands in `pi_reading`, what its entries mean in `pi_messages`, and how one is written in
`pi_writing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.messages import Message, Session, Source, Span

NAME = "pi"
TITLE = "pi"


@dataclass(frozen=True, slots=True)
class Tree:
    """What writing back needs.

    `chain` has the entries from the root to the leaf, `asides` those of them that are no message
    of the list and stay with it. `linear` is the first version of the format, without ids.
    `order` has the offset of every message as read.
    """

    header: Span | None
    linear: bool
    chain: tuple[Span, ...]
    asides: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()


class Pi:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "anthropic"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A `session` line that says where and when, or messages that name their parent."""
        first = next((line for line in sample.lines if isinstance(line, Mapping)), None)
        if first is None or _is_header(first):
            return first is not None
        kinds = (line.get("type") for line in sample.lines if isinstance(line, Mapping))
        return "session_start" not in kinds and any(_is_entry(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What a resumed session sends, or with `history="full"` all that was ever sent."""
        from compaction.formats.pi_reading import read

        return read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """A file that pi resumes: what was replaced stands in a `compaction` entry."""
        from compaction.formats.pi_writing import write

        return write(messages, session)


def _is_header(line: Mapping[str, object]) -> bool:
    return (
        line.get("type") == "session"
        and isinstance(line.get("id"), str)
        and isinstance(line.get("timestamp"), str)
        and "payload" not in line
    )


def _is_entry(line: object) -> bool:
    if not isinstance(line, Mapping) or line.get("type") != "message" or "parentId" not in line:
        return False
    held = line.get("message")
    return isinstance(line.get("id"), str) and isinstance(held, Mapping) and "role" in held
