"""Qwen Code sessions (`~/.qwen/projects/*/chats/*.jsonl`): the format.

Lines stand in a tree as Claude Code's do, around contents of Gemini. How a file is read stands in
`qwen_code_reading`, and how one is written in `qwen_code_writing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from compaction.formats import exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.dialects import gemini_like
from compaction.messages import Message, Part, Session, Source, Span

NAME = "qwen-code"
TITLE = "Qwen Code"

#: Types of lines that hold a content.
SPOKEN = frozenset({"user", "assistant", "tool_result"})


@dataclass(frozen=True, slots=True)
class Chat:
    """What writing back needs: the lines of the chain in order, and the last title."""

    chain: tuple[Span, ...]
    titles: tuple[Span, ...] = ()


class LinesBody:
    """A body behind the content of one or several lines. `ids` are those of its calls."""

    __slots__ = ("_source", "ids", "spans")
    #: Members of a record that repeat the output of a tool for the screen.
    repeats: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, source: Source, spans: tuple[Span, ...], ids: tuple[str, ...]) -> None:
        self._source = source
        self.spans = spans
        self.ids = ids

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """The content of the lines, one after another."""
        return self.again([self._source.raw(span) for span in self.spans])

    def spans_read(self) -> tuple[Span, ...]:
        """Where the lines stand."""
        return self.spans

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What the content would be if `raws` stood there."""
        return gemini_like.parse_parts(_content(raws), self.ids)

    def content(self) -> list[Any]:
        """The parts of the lines as Gemini's."""
        return _content([self._source.raw(span) for span in self.spans])

    def record(self) -> object:
        """The line, or the list of lines."""
        lines = [exact.loads(self._source.raw(span)) for span in self.spans]
        return lines[0] if len(lines) == 1 else lines


def _content(raws: Sequence[bytes]) -> list[Any]:
    lines = map(exact.loads, raws)
    return [part for line in lines for part in gemini_like.parts_of(line["message"])]


class QwenCode:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "gemini"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Lines of a tree around contents, or what only this tool notes between them."""
        return any(_is_line(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What a resumed session sends, or with `history="full"` all that was ever sent."""
        from compaction.formats.qwen_code_reading import read

        return read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """A file that the tool resumes: what was replaced stands in one line of its own kind."""
        from compaction.formats.qwen_code_writing import write

        return write(messages, session)


def _is_line(line: object) -> bool:
    if not isinstance(line, Mapping) or "uuid" not in line or "sessionId" not in line:
        return False
    if line.get("type") == "system":
        return isinstance(line.get("subtype"), str) and "systemPayload" in line
    return is_spoken(line)


def is_spoken(line: Mapping[str, Any]) -> bool:
    """Whether a line holds a content."""
    held = line.get("message")
    kind = line.get("type")
    return (
        isinstance(kind, str) and kind in SPOKEN and isinstance(held, Mapping) and "parts" in held
    )
