"""Chats in Markdown, as people and pages save them: a mark of a role, then what was said.

Only marks at the start of a line and outside of fenced code count, and only those of the kind
that the first one is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from compaction.errors import SessionError
from compaction.formats import marktext
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.converting import as_responses
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import where
from compaction.formats.layout import Layout, place
from compaction.formats.leaving import LeftOut
from compaction.formats.markdown_text import FIRST, cut, mark_of, render, role_of
from compaction.formats.marktext import Lines, Run
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session, Source, Span

_FIRST_BYTES = frozenset(letter.encode() for letter in FIRST)

#: How a role that no mark of the file names is marked, in the style of the others.
_HEADS: Mapping[str, str] = {"bold": "**{}:**", "said": "{} said:", "heading": "## {}"}


#: What a transcript begins with that was written here; it may have one message only.
_COMMENT = "<!-- Chat transcript in Markdown -->"


def marks_in(lines: Lines) -> Iterator[tuple[int, str]]:
    """The marks of roles: index of the line, and the role."""
    style = ""
    own = _is_own(lines.data)
    for index, line in marktext.outside_fences(lines):
        if line[:1] not in _FIRST_BYTES:
            continue
        found = mark_of(line.decode("utf-8", "replace").rstrip("\r\n"), style)
        if found is None:
            continue
        role = role_of(found[1])
        if style or own or role in ("user", "system", "developer"):
            style = found[0]
            yield index, role


def _is_own(data: bytes) -> bool:
    return data.startswith(_COMMENT.encode())


def is_transcript(head: bytes) -> bool:
    """Whether marks of the user and of the model take turns at the beginning of a text."""
    if head.lstrip()[:1] in (b"{", b"["):
        return False
    roles = [role for _, role in marks_in(Lines(Source(head)))]
    return (bool(roles) and _is_own(head)) or any(
        {a, b} == {"user", "assistant"} for a, b in pairwise(roles)
    )


class Markdown:
    """The format."""

    name = "markdown"
    title = "Markdown transcript"
    dialect: Dialect = "openai-chat"
    suffix = ".md"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A text in which marks of the user and of the model take turns."""
        return sample.whole is None and is_transcript(sample.head)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What was said under each mark."""
        lines = Lines(source)
        source = lines.source
        marks = list(marks_in(lines))
        if not marks:
            raise SessionError(
                f"{where(source)} holds no marks of roles, such as **User:** and **Assistant:**."
            )
        left = LeftOut(options)
        spans: list[Span] = []
        messages: list[Message] = []
        others: set[int] = set()
        ends = [index for index, _ in marks[1:]] + [len(lines)]
        for (index, _), end in zip(marks, ends, strict=True):
            behind = end
            while behind > index + 1 and lines[behind - 1].strip() in (b"", b"---", b"***"):
                behind -= 1
            span = lines.span(index, behind)
            made = marktext.messages_of(source, Run(span), cut, marktext.whole_text)
            if not made:
                others.add(len(spans))
                left.add("empty messages", span)
            spans.append(span)
            messages += made
        first, size = spans[0].start, len(source.data)
        heading = re.search(rb"^# (.+)$", source.data[:first], re.MULTILINE)
        listing = marktext.listing_of(first, size, spans, frozenset(others))
        return Session(
            source,
            self.name,
            tuple(messages),
            title=heading[1].decode("utf-8", "replace").strip() if heading else "",
            history=options.history,
            problems=lines.problems,
            left_out=dict(left.counts),
            document=Layout(
                first, size, (listing,), order=tuple(one.spans[0].start for one in messages)
            ),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same text with other messages; a whole one for a session from elsewhere."""
        notes = Notes(self.title)
        layout = place(messages, session, self.name)
        if layout is not None:
            style, heads = _manners(session)
            numbers = {id(message): index for index, message in enumerate(messages)}

            def rendered(message: Message) -> str:
                notes.at(numbers.get(id(message)))
                return _under(message, style, heads, notes)

            written = marktext.write_text(messages, session, layout, rendered)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        title = " ".join(session.title.split())
        blocks = [_COMMENT]
        if title and mark_of(f"# {title}") is None:
            blocks.append(f"# {title}")
        for index, message in enumerate(as_responses(messages, session, notes)):
            blocks.append(_under(message, "heading", {}, notes.at(index)))
        return Written((marktext.new_text(blocks),), notes.findings())


def _under(message: Message, style: str, heads: Mapping[str, str], notes: Notes) -> str:
    """A message with its mark."""
    said = render(message, notes)
    if not said:
        notes.tell("empty-message", "a message")
        return ""
    head = heads.get(message.role) or _HEADS[style].format(message.role.capitalize())
    if mark_of(head) is None:
        # A role that nobody knows.
        head = _HEADS[style].format("User")
    return f"{head}\n\n{said}"


def _manners(session: Session) -> tuple[str, dict[str, str]]:
    """The style of the marks of a file, and how each role is marked there."""
    style, heads = "heading", dict[str, str]()
    for message in session.messages:
        if message.role in heads or not stands_in(message, session.source):
            continue
        line = str(message.record).partition("\n")[0].rstrip("\r")
        found = mark_of(line)
        if found is not None:
            style, mark = found
            rest = mark.groupdict().get("rest") or ""
            heads[message.role] = line.removesuffix(rest).rstrip()
    return style, heads
