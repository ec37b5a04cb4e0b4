"""SpecStory's Markdown: what its extensions and its command line keep of an agent's session.

Every block of an answer has a mark of its own. Calls of tools stand there as they are shown to a
person, the result below the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape, unescape

from compaction.errors import SessionError
from compaction.formats import marktext
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.converting import as_responses
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import where
from compaction.formats.layout import Layout, place
from compaction.formats.leaving import LeftOut
from compaction.formats.marktext import Lines, Run, fence_for
from compaction.formats.pieces import Piece
from compaction.formats.sketching import stands_in
from compaction.formats.specstory_text import blocks, call_in, without_outputs
from compaction.messages import (
    Inline,
    Media,
    Message,
    Opaque,
    Part,
    RecordedCompaction,
    Session,
    Source,
    Span,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_MARK = re.compile(
    rb"_\*\*(?P<who>User|Agent|Assistant)(?P<side> - sidechain)?"
    rb"(?: \((?P<about>[^)\r\n]*)\))?\*\*_\s*$"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?$")
_TITLE = re.compile(rb"# (.+)$", re.MULTILINE)

#: How a message begins that Claude Code puts in place of what it compacted.
_CONTINUED = "This session is being continued from a previous conversation"

#: How user messages begin that no person typed.
_INJECTED = (
    "<task-notification>",
    "<command-message>",
    "<command-name>",
    "<local-command-stdout>",
    "<system-reminder>",
    _CONTINUED,
)


@dataclass(frozen=True, slots=True)
class _Marked:
    """The lines from one mark to the next."""

    who: str
    side: bool
    model: str
    time: str
    span: Span


class SpecStory:
    """The format."""

    name = "specstory"
    title = "SpecStory Markdown"
    dialect: Dialect = "openai-chat"
    suffix = ".md"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """The comment that all of these files begin with."""
        return sample.whole is None and marktext.is_specstory(sample.head)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What was said since the last compaction, without the talk of sub-agents."""
        lines = Lines(source)
        source = lines.source
        marked = list(_marked(lines))
        if not marked:
            raise SessionError(f"{where(source)} holds no message: SpecStory marks each of them.")
        left = LeftOut(options)
        others: set[int] = set()
        messages: list[Message] = []
        compactions: list[RecordedCompaction] = []
        start = _live_from(source, marked)
        if options.history == "full":
            start = 0
        for index, one in enumerate(marked):
            continued = _continues(source, one)
            made: list[Message] = []
            if one.side:
                reason = "side conversations"
            elif index < start:
                reason = "before the last compaction"
            else:
                reason = "empty messages"
                summary = "claude-code" if continued else ""
                run = Run(one.span, one.time, one.model, summary)
                made = marktext.messages_of(source, run, _cut, _keep)
            if not made:
                others.add(index)
                left.add(reason, one.span)
                continue
            if continued:
                compactions.append(RecordedCompaction(len(messages), line=one.span.line))
            messages += made
        first = marked[0].span.start
        spans = [one.span for one in marked]
        listing = marktext.listing_of(first, len(source.data), spans, frozenset(others))
        title = _TITLE.search(source.data[:first])
        return Session(
            source,
            self.name,
            tuple(messages),
            title=title[1].decode("utf-8", "replace").strip() if title else "",
            model=next((one.model for one in reversed(messages) if one.model), ""),
            history=options.history,
            problems=lines.problems,
            left_out=dict(left.counts),
            compactions=tuple(compactions),
            document=Layout(
                first,
                len(source.data),
                (listing,),
                order=tuple(one.spans[0].start for one in messages),
            ),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a whole one for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            messages = _with_their_results(messages, session.source)
            found = {id(message): index for index, message in enumerate(messages)}
            pairs = _pairs([one for one in messages if not stands_in(one, session.source)])

            def render(message: Message) -> str:
                return _rendered(message, pairs, notes.at(found.get(id(message))))

            written = marktext.write_text(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        turns = as_responses(messages, session, notes)
        pairs = _pairs(turns)
        time = next((_stamp(one.time) for one in turns if _stamp(one.time)), "")
        blocks = ["<!-- Generated by SpecStory, Markdown v2.1.0 -->"]
        blocks.append(f"# {' '.join(session.title.split()) or time or 'Session'}")
        for index, message in enumerate(turns):
            blocks.append(_rendered(message, pairs, notes.at(index)))
        return Written((marktext.new_text(blocks),), notes.findings())


# ----------------------------------------------------------------------------------- reading


def _marked(lines: Lines) -> Iterator[_Marked]:
    found = [
        (index, mark)
        for index, line in marktext.outside_fences(lines)
        if line[:3] == b"_**" and (mark := _MARK.match(line))
    ]
    ends = [*(index for index, _ in found), len(lines)][1:]
    for (index, mark), end in zip(found, ends, strict=True):
        behind = end
        while behind > index + 1 and lines[behind - 1].strip() in (b"", b"---"):
            # A rule stands between turns; it is of neither.
            behind -= 1
        about = (mark["about"] or b"").decode("utf-8", "replace")
        time = _TIME.search(about)
        model = about[: time.start()].strip() if time else about.strip()
        who = "user" if mark["who"] == b"User" else "assistant"
        yield _Marked(
            who,
            mark["side"] is not None,
            model if who == "assistant" else "",
            time[0].replace(" ", "T", 1) if time else "",
            lines.span(index, behind),
        )


def _continues(source: Source, one: _Marked) -> bool:
    if one.who != "user" or one.side:
        return False
    start = source.data[one.span.start : min(one.span.end, one.span.start + 400)]
    return _said(start.decode("utf-8", "replace")).startswith(_CONTINUED)


def _live_from(source: Source, marked: Sequence[_Marked]) -> int:
    return next((i for i in range(len(marked) - 1, 0, -1) if _continues(source, marked[i])), 0)


def _said(text: str) -> str:
    """The lines below the mark."""
    return text.partition("\n")[2].strip()


def _cut(text: str) -> Sequence[Piece]:
    mark = _MARK.match(text.partition("\n")[0].encode("utf-8", "replace"))
    said = _said(text)
    if not said:
        return ()
    if mark is None or mark["who"] == b"User":
        injected = said.startswith(_INJECTED)
        return (Piece("user", (Text(_unescaped(said)),), injected),)
    parts: list[Part] = []
    results: list[Part] = []
    at = 0
    for block in blocks(said):
        parts += _plain(said[at : block.start])
        at = block.end
        inside = said[block.first : block.last]
        if block.given is None:
            parts.append(Thinking(unescape(inside.strip("\n"))))
            continue
        call, result = call_in(block.given, inside, len(results))
        parts.append(call)
        results.append(result)
    parts += _plain(said[at:])
    pieces = [Piece("assistant", tuple(parts))]
    return (*pieces, Piece("tool", tuple(results))) if results else pieces


def _plain(text: str) -> tuple[Part, ...]:
    return (Text(_unescaped(text.strip())),) if text.strip() else ()


def _keep(text: str, indexes: Sequence[int]) -> str:
    """The lines of a block; without what the tools gave, where only the calls stay."""
    return text if 1 in indexes else without_outputs(text)


# ----------------------------------------------------------------------------------- writing

#: Lines that would be taken for marks, or tags, get a backslash in front.
_TAKEN = re.compile(r"^(?=\\*(?:_\*\*(?:User|Agent|Assistant)|<tool-use|<think>|---\s*$))", re.M)
_ESCAPED = re.compile(
    r"^\\(?=\\*(?:_\*\*(?:User|Agent|Assistant)|<tool-use|<think>|---\s*$))", re.M
)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub("", text)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The results that new messages hold, by their call, and the calls that new messages make."""

    results: Mapping[str, ToolResult]
    calls: frozenset[str]


def _pairs(made: Sequence[Message]) -> _Pairs:
    results = {
        part.call_id: part
        for message in made
        if message.results
        for part in message.parts
        if isinstance(part, ToolResult)
    }
    return _Pairs(results, frozenset(call for message in made for call in message.calls))


def _with_their_results(messages: Sequence[Message], source: Source) -> list[Message]:
    """Calls as new messages where a result is one, since both are shown in one block."""
    made = {call for one in messages if not stands_in(one, source) for call in one.results}
    return [
        replace(one, body=Inline(one.parts), spans=())
        if stands_in(one, source) and not made.isdisjoint(one.calls)
        else one
        for one in messages
    ]


def _rendered(message: Message, pairs: _Pairs, notes: Notes) -> str:
    texts: list[str] = []
    spoken = message.role in ("assistant", "tool")
    for part in message.parts:
        if isinstance(part, ToolResult):
            if part.call_id not in pairs.calls:
                # Its call stands elsewhere, or is gone: it is shown alone.
                spoken = True
                texts.append(_shown(part.call_id, part.name or message.tool, "", part))
        else:
            texts += _text(part, pairs, notes)
    if not texts:
        if not message.results:
            notes.tell("empty-message", "a message")
        return ""
    if message.role in ("system", "developer"):
        notes.tell("system-inside", f"a {message.role} message")
    about = " ".join(one for one in (message.model if spoken else "", _stamp(message.time)) if one)
    who = "Agent" if spoken else "User"
    return f"_**{who}{f' ({about})' if about else ''}**_\n\n" + "\n\n".join(texts)


def _text(part: Part, pairs: _Pairs, notes: Notes) -> Iterator[str]:
    match part:
        case Text(text=text) if text.strip():
            said = _TAKEN.sub(r"\\", text)
            yield f"{said}\n{fence_for('')}" if marktext.has_open_fence(said) else said
        case Thinking(text=text) if text.strip():
            if part.signature:
                notes.tell("signature", "the signature of reasoning")
            inside = escape(text, quote=False)
            yield (
                f"<think><details><summary>Thought Process</summary>\n{inside}\n</details></think>"
            )
        case ToolCall(id=call, name=name, arguments=arguments):
            yield _shown(call, name, arguments, pairs.results.get(call))
        case Thinking():
            notes.tell("plain-thinking", "reasoning that is sealed")
        case Media():
            notes.tell("media", f"{part.mime or part.kind} content")
            yield part.label
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind}")
            yield text


def _shown(call: str, name: str, arguments: str, result: ToolResult | None) -> str:
    given = (
        f'data-tool-type="generic" data-tool-name="{escape(name)}" data-tool-id="{escape(call)}"'
    )
    lines = [
        f"<tool-use {given}><details>",
        f"<summary>Tool use: **{escape(name, quote=False)}**</summary>",
    ]
    if arguments.strip():
        lines += ["", _safe(arguments)]
    if result is not None:
        fence = fence_for(result.text)
        lines += ["", f"{fence}text", _safe(result.text), fence]
    return "\n".join([*lines, "</details></tool-use>"])


def _safe(text: str) -> str:
    # What begins a line there could be taken for a mark, a tag or a fence.
    return escape(text, quote=False).replace("`", "&#96;").replace("_**", "&#95;**")


def _stamp(time: str) -> str:
    return time[:19].replace("T", " ") + "Z" if _TIME.match(time[:19]) else ""
