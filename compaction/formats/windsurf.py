"""Windsurf transcripts (`~/.windsurf/transcripts/*.jsonl`): a step of the agent in each line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.errors import ExportError
from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.dialects.blocks import text_of
from compaction.formats.documents import open_document
from compaction.formats.pieces import Piece
from compaction.messages import Message, Part, Session, Source, Text, ToolCall, ToolResult

NAME = "windsurf"

_READ_ONLY = (
    "A Windsurf transcript can only be read: the editor writes it for hooks and never opens one."
)

#: Steps that are what somebody says, and where they have the text.
_SPOKEN: Mapping[str, tuple[str, str]] = {
    "user_input": ("user", "user_response"),
    "planner_response": ("assistant", "response"),
}

#: Members of a step that came back from the tool; the others are what it was called with.
_RESULTS = frozenset(
    {
        "acknowledgement_type",
        "content",
        "error",
        "exit_code",
        "output",
        "result",
        "results",
        "summary",
        "total_results",
        "user_rejected",
    }
)

#: Members that the editor keeps to show a change.
_SHOWN = frozenset({"original_content"})


def is_step(value: object) -> bool:
    """Whether a value is a line of a transcript: its step stands under the name of its type."""
    if not isinstance(value, Mapping) or not isinstance(value.get("status"), str):
        return False
    kind = value.get("type")
    return isinstance(kind, str) and isinstance(value.get(kind), Mapping)


def _cut(line: Mapping[str, Any]) -> list[Piece]:
    """What somebody says, or a call and its result."""
    kind = text_of(line.get("type"))
    step = line.get(kind)
    step = step if isinstance(step, Mapping) else {}
    if kind in _SPOKEN:
        role, key = _SPOKEN[kind]
        text = text_of(step.get(key))
        return [Piece(role, (Text(text),) if text else ())]
    given = {k: v for k, v in step.items() if k not in _RESULTS and k not in _SHOWN}
    # A line has no id; the same call with the same result gets the same one.
    name = f"{kind}-{hashlib.sha256(exact.dumps(line).encode('utf-8', 'replace')).hexdigest()[:8]}"
    call = Piece("assistant", (ToolCall(name, kind, exact.dumps(given)),))
    if line.get("status") not in ("done", "error"):
        return [call]
    failed = line.get("status") == "error" or step.get("user_rejected") is True
    return [call, Piece("tool", (ToolResult(name, _output(step), failed, kind),))]


def _output(step: Mapping[str, Any]) -> tuple[Text, ...]:
    """The text that came back, and what else did as JSON."""
    held = {key: value for key, value in step.items() if key in _RESULTS}
    texts = [held.pop(key) for key in ("content", "output") if isinstance(held.get(key), str)]
    rest = (Text(exact.dumps(held)),) if held else ()
    return (*(Text(text) for text in texts if text), *rest)


def _parse(line: Mapping[str, Any]) -> tuple[Part, ...]:
    return tuple(part for piece in _cut(line) for part in piece.parts)


def _keep(line: Mapping[str, Any], indexes: Sequence[int]) -> object:
    del indexes
    return line


SHAPE = Shape(
    format=NAME,
    lists=(),
    answers=(),
    parse=_parse,
    role=lambda _line, _parts: "assistant",
    is_message=is_step,
    cut=_cut,
    keep=_keep,
)


class Windsurf:
    """The format."""

    name = NAME
    title = "Windsurf"
    dialect: Dialect = "openai-chat"
    suffix = ".jsonl"
    read_only = _READ_ONLY

    def recognise(self, sample: Sample) -> bool:
        """Steps, among them one in which somebody says something."""
        steps = [line for line in sample.lines if isinstance(line, Mapping) and is_step(line)]
        spoken = any(step.get("type") in _SPOKEN for step in steps)
        return spoken and len(steps) * 2 > len(sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The steps as messages, in their order."""
        return chatfile.read(open_document(source, frozenset()), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """Nothing: see `read_only`."""
        del messages, session
        raise ExportError(self.read_only)
