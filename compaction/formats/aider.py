"""aider's chat history (`.aider.chat.history.md`): one run of the program after the other.

Lines after `####` are what the user typed, lines after `>` what the program told; the rest is
the model's. What the program put around it (files, the map of the repository) is not in there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats import marktext
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.choosing import chosen
from compaction.formats.converting import as_responses
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import where
from compaction.formats.layout import Layout, place
from compaction.formats.leaving import LeftOut
from compaction.formats.marktext import Lines, Run
from compaction.formats.pieces import Piece
from compaction.formats.plain_parts import as_text
from compaction.messages import (
    Conversation,
    Message,
    Session,
    Source,
    Span,
    Text,
)

_HEADING = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")

#: A list of the edits that were asked for, which aider's own tests are made from.
_EDITS = re.compile(rb"@@@ #### (.*) @{20}\s*$")

_MODEL = re.compile(rb"> (?:Main model|Models?): ([^\s,]+)")

#: Commands whose text is sent to the model; all others are for the program.
_SENT = re.compile(r"/(?:ask|code|architect|context|help)\s+\S")

#: Commands after which the model knows nothing of what was said before.
_CLEARING = re.compile(r"/(?:clear|reset)\s*$")

_COMMANDS = "commands of the client"
_CLEARED = "before the chat was cleared"


@dataclass(slots=True)
class _Block:
    """Lines of one kind: "user", "assistant", or "other" for what the program told."""

    kind: str
    first: int
    behind: int = 0


@dataclass(slots=True)
class _Chat:
    """One run of the program: its lines, when it began, and its blocks."""

    first: int
    time: str
    model: str = ""
    behind: int = 0
    blocks: list[_Block] = field(default_factory=list)

    @property
    def spoken(self) -> list[_Block]:
        return [block for block in self.blocks if block.kind != "other"]


class Aider:
    """The format."""

    name = "aider"
    title = "aider chat history"
    dialect: Dialect = "openai-chat"
    suffix = ".md"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A text with the heading of a run, or a list of edits."""
        return sample.whole is None and (
            marktext.is_aider(sample.head) or _lists_edits(sample.head)
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """One run: the last in which something was said, or the one `options` asks for."""
        lines = Lines(source)
        if _lists_edits(lines.data[: 64 * 1024]):
            return _edits(lines, options)
        chats = _chats(lines)
        conversations = _conversations(lines, chats)
        last = max((i for i, one in enumerate(conversations) if one.messages), default=-1)
        if last < 0:
            raise SessionError(f"{where(source)} holds no chat: nothing was said in any run.")
        index, told = chosen(conversations, options.conversation, source, default=last)
        return _session(lines, chats[index], options, conversations, told)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same history with other messages in its run; a new run for any other session."""
        if session.format == self.name and session.document is None:
            # A list of edits is no history: only as it is can it be written back.
            read = _edits(Lines(session.source), ReadOptions()).messages
            if [one.spans for one in messages] == [one.spans for one in read]:
                return Written((session.source.data,))
        notes = Notes(self.title)
        layout = place(messages, session, self.name)
        if layout is not None and layout.listings[0].elements:
            numbers = {id(message): index for index, message in enumerate(messages)}

            def render(message: Message) -> str:
                return _rendered(message, notes.at(numbers.get(id(message))))

            written = marktext.write_text(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        blocks = [f"# aider chat started at {_started(messages)}"]
        before = ""
        for index, message in enumerate(as_responses(messages, session, notes)):
            if message.role in ("system", "developer"):
                notes.at(index).tell("system", "a system prompt")
                continue
            text = _rendered(message, notes.at(index))
            if before == "assistant" == message.role and text:
                # Without a line between them, both would be read as one.
                blocks.append(">  ")
            blocks.append(text)
            before = message.role if text else before
        return Written((b"\n", marktext.new_text(blocks)), notes.findings())


# ----------------------------------------------------------------------------------- reading


def _chats(lines: Lines) -> list[_Chat]:
    """The runs; what stands before the first heading is one, too."""
    chats = [_Chat(0, "")]
    block: _Block | None = None
    for index in range(len(lines)):
        line = lines[index]
        if line[:2] == b"# " and (heading := _HEADING.match(line)):
            chats[-1].behind = index
            chats.append(_Chat(index + 1, heading[1].decode()))
            block = None
            continue
        chat = chats[-1]
        blank = not line.strip()
        if line[:5] == b"#### ":
            kind = "user"
        elif line[:2] == b"> ":
            kind = "other"
            if not chat.model and (model := _MODEL.match(line)):
                chat.model = model[1].decode("utf-8", "replace")
        elif blank:
            if block is not None and block.kind != "assistant":
                block = None
            continue
        else:
            # A line right behind one of the program goes on with it.
            kind = "other" if block is not None and block.kind == "other" else "assistant"
        if block is None or block.kind != kind:
            block = _Block(kind, index)
            chat.blocks.append(block)
        block.behind = index + 1
    chats[-1].behind = len(lines)
    if not chats[0].spoken and len(chats) > 1:
        del chats[0]
    return chats


def _conversations(lines: Lines, chats: Sequence[_Chat]) -> tuple[Conversation, ...]:
    taken: set[str] = set()
    out: list[Conversation] = []
    for number, chat in enumerate(chats, 1):
        name = chat.time if chat.time and chat.time not in taken else str(number)
        taken.add(name)
        sent = [block for block in chat.spoken if not _is_command(_text(lines, block), block.kind)]
        first = next((block for block in sent if block.kind == "user"), None)
        title = _typed(_text(lines, first)).strip()[:80] if first is not None else ""
        out.append(Conversation(name, title, len(sent)))
    return tuple(out)


def _session(
    lines: Lines,
    chat: _Chat,
    options: ReadOptions,
    conversations: tuple[Conversation, ...],
    told: tuple[Finding, ...],
) -> Session:
    left = LeftOut(options)
    source = lines.source
    spans = [lines.span(block.first, block.behind, b"\r\n") for block in chat.blocks]
    texts = [_text(lines, block) for block in chat.blocks]
    others: set[int] = set()
    cleared = -1
    for index, (block, text) in enumerate(zip(chat.blocks, texts, strict=True)):
        if block.kind == "user" and _CLEARING.match(_typed(text)):
            cleared = index
    messages: list[Message] = []
    for index, (block, span) in enumerate(zip(chat.blocks, spans, strict=True)):
        reason = ""
        if _is_command(texts[index], block.kind):
            reason = _COMMANDS
        elif block.kind == "other":
            others.add(index)
            continue
        elif index < cleared and options.history == "live":
            reason = _CLEARED
        if reason:
            others.add(index)
            left.add(reason, span)
            continue
        run = Run(span, model=chat.model)
        messages += marktext.messages_of(source, run, _cut, marktext.whole_text)
    # What the program told at its start stays in front of all messages.
    first = next((index for index in range(len(spans)) if index not in others), len(spans))
    spans, others = spans[first:], {index - first for index in others if index >= first}
    start = spans[0].start if spans else lines.end(chat.behind - 1)
    end = lines.end(chat.behind - 1) if chat.behind else len(lines.data)
    listing = marktext.listing_of(start, end, spans, frozenset(others))
    several = conversations if len(conversations) > 1 else ()
    return Session(
        source,
        Aider.name,
        tuple(messages),
        title=f"run of {chat.time}" if chat.time else "",
        model=chat.model,
        history=options.history,
        problems=(*lines.problems, *told),
        left_out=dict(left.counts),
        conversations=several,
        document=Layout(
            start, end, (listing,), order=tuple(one.spans[0].start for one in messages)
        ),
    )


def _text(lines: Lines, block: _Block) -> str:
    return lines.source.raw(lines.span(block.first, block.behind, b"\r\n")).decode(
        "utf-8", "replace"
    )


def _is_command(text: str, kind: str) -> bool:
    if kind != "user":
        return False
    typed = _typed(text)
    return typed[:1] in ("/", "!") and not _SENT.match(typed) and "\n" not in typed.strip()


def _cut(text: str) -> Sequence[Piece]:
    if text.startswith("#### "):
        return (Piece("user", (Text(_typed(text)),)),)
    return (Piece("assistant", (Text(_unescaped(text)),)),)


def _typed(text: str) -> str:
    """What was typed: the lines without their mark and the two blanks that break them."""
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return "\n".join(
        "" if line == "####" else line.removeprefix("#### ").removesuffix("  ") for line in lines
    )


# -------------------------------------------------------------------------------------- edits


def _lists_edits(head: bytes) -> bool:
    line = head.lstrip().partition(b"\n")[0]
    return _EDITS.match(line) is not None and b"\n@@@ SEARCH: " in head


def _edits(lines: Lines, options: ReadOptions) -> Session:
    """A list of edits: each request, and the edits that were made for it."""
    messages: list[Message] = []
    heads = [i for i in range(len(lines)) if _EDITS.match(lines[i])]
    for head, after in zip(heads, (*heads[1:], len(lines)), strict=True):
        start = lines.starts[head] + len(b"@@@ #### ")
        stop = start + len(lines[head].rstrip()) - len(b"@@@ #### ") - len(b" " + b"@" * 20)
        asked = Run(Span(start, stop, head + 1))
        messages += marktext.messages_of(lines.source, asked, _request, marktext.whole_text)
        if head + 1 < after and (span := lines.span(head + 1, after)).end > span.start:
            messages += marktext.messages_of(lines.source, Run(span), _answer, marktext.whole_text)
    return Session(
        lines.source,
        Aider.name,
        tuple(messages),
        title="edits of a chat history",
        history=options.history,
        problems=lines.problems,
    )


def _request(text: str) -> Sequence[Piece]:
    return (Piece("user", (Text(text),)),)


def _answer(text: str) -> Sequence[Piece]:
    return (Piece("assistant", (Text(text),)),)


# ----------------------------------------------------------------------------------- writing

#: Lines of an answer that would be taken for marks get a blank in front, which is taken away
#: again where they are read.
_MARK = re.compile(r"(?= *(?:#### |> |# aider chat started at ))", re.MULTILINE)
_ESCAPED = re.compile(r"^ (?= *(?:#### |> |# aider chat started at ))", re.MULTILINE)


def _rendered(message: Message, notes: Notes) -> str:
    text = as_text(message, notes)
    if not text.strip():
        notes.tell("empty-message", "a message")
        return ""
    if message.role in ("system", "developer"):
        notes.tell("system-inside", f"a {message.role} message")
    if message.role == "assistant":
        return "\n".join(_escaped(text.strip().split("\n")))
    return "\n".join(f"#### {line}  " for line in text.split("\n"))


def _escaped(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f" {line}" if _MARK.match(line) else line


def _unescaped(text: str) -> str:
    return _ESCAPED.sub("", text)


def _started(messages: Sequence[Message]) -> str:
    for message in messages:
        try:
            moment = datetime.fromisoformat(message.time)
        except ValueError:
            continue
        moment = moment.astimezone(UTC) if moment.tzinfo else moment
        return moment.strftime("%Y-%m-%d %H:%M:%S")
    return "1970-01-01 00:00:00"
