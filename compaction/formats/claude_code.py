"""Claude Code transcripts (`~/.claude/projects/**/*.jsonl`): the format.

How a file is read stands in `claude_code_reading`, what a line holds in `claude_code_lines`, and
how one is written in `claude_code_writing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.messages import Message, Session, Source, Span

NAME = "claude-code"
TITLE = "Claude Code"

#: Records of the tool that hold no message, by their type, and what they are.
BOOKKEEPING = {
    "agent-name": "bookkeeping",
    "ai-title": "title of a session",
    "bridge-session": "bookkeeping",
    "custom-title": "title of a session",
    "file-history-delta": "file history",
    "file-history-snapshot": "file history",
    "last-prompt": "bookkeeping",
    "mode": "bookkeeping",
    "permission-mode": "bookkeeping",
    "pr-link": "bookkeeping",
    "progress": "progress display",
    "queue-operation": "prompt queue",
    "summary": "title of a session",
}

#: Members that tell a line of bookkeeping of this tool from one of another.
_TELLING = frozenset({"leafUuid", "sessionId", "messageId", "parentUuid"})


@dataclass(frozen=True, slots=True)
class Transcript:
    """What writing back needs: lines that set a title, and the marks of cleared outputs.

    A mark is a line with the ids of the calls whose outputs it clears.
    """

    titles: tuple[Span, ...] = ()
    clearings: tuple[tuple[Span, frozenset[str]], ...] = ()
    session_id: str = ""


class ClaudeCode:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "anthropic"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Lines with a type, a parent and a session around an Anthropic message."""
        if any(is_envelope(line) for line in sample.lines):
            return True
        # A session that was left before anything was said has nothing but bookkeeping.
        return bool(sample.lines) and all(_is_bookkeeping(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The live context, or with `history="full"` all that was ever sent."""
        from compaction.formats.claude_code_reading import read

        return read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """A transcript that the tool resumes: a compaction boundary, then the messages."""
        from compaction.formats.claude_code_writing import write

        return write(messages, session)


def is_envelope(line: object) -> bool:
    """Whether a record is a line of a transcript that holds a message, or a compaction."""
    if not isinstance(line, dict):
        return False
    kind = line.get("type")
    if kind == "system" and line.get("subtype") == "compact_boundary":
        return "parentUuid" in line
    if kind not in ("user", "assistant", "system") or "parentUuid" not in line:
        return False
    held = line.get("message")
    return (
        isinstance(held, dict) and "parts" not in held and ("sessionId" in line or "uuid" in line)
    )


def _is_bookkeeping(line: object) -> bool:
    return (
        isinstance(line, dict)
        and isinstance(line.get("type"), str)
        and line["type"] in BOOKKEEPING
        and not _TELLING.isdisjoint(line)
    )
