"""What a session format is: how it is recognised, read, and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from compaction.findings import Finding
from compaction.messages import IsCancelled, Message, OnProgress, Session, Source, Span

#: The API rules a list of messages is held against.
Dialect = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]

DIALECTS: tuple[Dialect, ...] = ("openai-chat", "openai-responses", "anthropic", "gemini")

History = Literal["live", "full"]


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, parsed as far as it goes, to recognise its format from.

    `whole` is the parsed document when the file is one JSON (or YAML) value, None otherwise.
    `lines` are the first JSON values of a file with one value a line (also when it has just one
    line). `head` is the beginning of the bytes, without a byte order mark.
    """

    head: bytes
    whole: object = None
    lines: tuple[object, ...] = ()
    yaml: bool = False


@dataclass(frozen=True, slots=True)
class Omitted:
    """A record of the file that is not in the window, and why."""

    span: Span
    reason: str


OnOmitted = Callable[[Omitted], None]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read: which history, which conversation, and whom to tell how far it is.

    `omitted` is told of every record that is not in the window, in no particular order.
    """

    history: History = "live"
    conversation: str | None = None
    progress: OnProgress | None = None
    cancelled: IsCancelled = _never
    omitted: OnOmitted | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a format writes: the chunks of the file, and what the format could not hold."""

    chunks: Iterable[bytes]
    findings: tuple[Finding, ...] = ()


class Format(Protocol):
    """One session format. Stateless; registered in `compaction.formats`."""

    #: Stable name, as in `--as` and `--format`.
    name: str
    #: As a person calls it.
    title: str
    #: The API whose rules its message lists follow.
    dialect: Dialect
    #: The usual ending of its files, with the dot.
    suffix: str
    #: Why nothing can be written in this format, as a sentence; "" where it can.
    read_only: str

    def recognise(self, sample: Sample) -> bool:
        """Whether the sample is of this format, from its content alone."""
        ...

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The session in `source`. Raises SessionError when nothing in it can be used."""
        ...

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """`messages` as a file of this format.

        Messages that come from a session of this format (`session`) are written with the very
        bytes they were read from; others (a summary, messages of another format) are rendered.
        Raises ExportError where the format is read only.
        """
        ...


Render = Callable[[Message], object]
