"""Codex rollouts (`~/.codex/sessions/**/rollout-*.jsonl`): the format.

How a file is read stands in `codex_reading`, what an item holds in `codex_items`, and how one is
written in `codex_writing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.messages import Message, Session, Source, Span

NAME = "codex"
TITLE = "Codex CLI"

_TYPES = frozenset(
    {
        "compacted",
        "event_msg",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "response_item",
        "session_meta",
        "turn_context",
        "world_state",
    }
)


@dataclass(frozen=True, slots=True)
class Rollout:
    """What writing back needs: where the session starts, and whether turns were taken back."""

    meta: Span | None = None
    flat: bool = False
    rolled_back: bool = False


class Codex:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "openai-responses"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Lines with a type of the rollout and a payload, or the flat lines of mid-2025."""
        if any(_is_line(line) for line in sample.lines):
            return True
        return _is_flat(sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The live context, or with `history="full"` all that was ever sent."""
        from compaction.formats.codex_reading import read

        return read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """A rollout that the tool resumes: what was replaced stands in one `compacted` line."""
        from compaction.formats.codex_writing import write

        return write(messages, session)


def _is_line(line: object) -> bool:
    return (
        isinstance(line, dict)
        and str(line.get("type")) in _TYPES
        and isinstance(line.get("payload"), dict)
    )


def _is_flat(lines: Sequence[object]) -> bool:
    if len(lines) < 2 or not isinstance(lines[0], dict):
        return False
    first = lines[0]
    if "type" in first or not {"id", "timestamp"} <= first.keys():
        return False
    return any(
        isinstance(line, dict) and (line.get("record_type") == "state" or is_item(line))
        for line in lines[1:]
    )


def is_item(line: Mapping[str, Any]) -> bool:
    """Whether a line is an item by itself, as flat rollouts hold them."""
    kind = line.get("type", "message")
    if kind == "message":
        return isinstance(line.get("role"), str)
    return isinstance(kind, str) and (
        kind == "reasoning" or kind.endswith(("_call", "_output", "_result"))
    )
