"""Copilot's event logs: `~/.copilot/session-state/*/events.jsonl`, and VS Code's transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.messages import Message, Session, Source, Span

NAME = "copilot-cli"
TITLE = "Copilot CLI"

#: Events that only this log has. Each has a `data` object, an `id` and a `parentId`.
_TELLING = frozenset(
    {
        "session.start",
        "session.resume",
        "session.info",
        "session.model_change",
        "session.compaction_complete",
        "user.message",
        "assistant.message",
        "assistant.turn_start",
        "assistant.turn_end",
        "tool.execution_start",
        "tool.execution_complete",
    }
)


@dataclass(frozen=True, slots=True)
class EventLog:
    """What of a log is needed to write it back: the events that start calls, by call id.

    `header` are the events before the first message that say what the session is, in file order.
    """

    header: tuple[Span, ...] = ()
    starts: tuple[tuple[str, Span], ...] = ()


class CopilotCli:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "openai-chat"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Lines that are events: a dotted type, a `data` object, an `id` and a `parentId`."""
        return any(_is_event(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What a resumed session has in its window, or with `history="full"` all that was sent."""
        from compaction.formats.copilot_cli_reading import read

        return read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """A log that the tool resumes: kept events as they are, linked anew."""
        from compaction.formats.copilot_cli_writing import write

        return write(messages, session)


def _is_event(line: object) -> bool:
    return (
        isinstance(line, dict)
        and isinstance(line.get("type"), str)
        and line["type"] in _TELLING
        and isinstance(line.get("data"), dict)
        and "id" in line
    )
