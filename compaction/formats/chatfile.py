"""Files that hold a list of messages, in whichever of their many wrappings.

A `Shape` says where a dialect keeps its messages, system prompt and answer; the reading is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compaction.errors import Cancelled
from compaction.findings import Finding
from compaction.formats.base import ReadOptions
from compaction.formats.chatshape import File, Shape
from compaction.formats.conversations import Finder, Found, nothing
from compaction.formats.dialects.blocks import parse_content
from compaction.formats.dialects.tools import tools_in
from compaction.formats.jsonspans import Member, Node
from compaction.formats.layout import Layout, Listing, Slot
from compaction.formats.leaving import LeftOut
from compaction.formats.pieces import PieceBody
from compaction.formats.sketching import Parse, sketch, usage_of
from compaction.messages import (
    Message,
    Progress,
    RecordedCompaction,
    Session,
    Span,
    Usage,
)

#: How often reading says how far it is, in messages.
_EVERY = 2000


def read(file: File, options: ReadOptions, shape: Shape) -> Session:
    """The session in `file`. Raises SessionError when no message is in it."""
    return _Reading(file, options, shape).session()


class _Reading:
    def __init__(self, file: File, options: ReadOptions, shape: Shape) -> None:
        self._file = file
        self._options = options
        self._shape = shape
        self._problems = list(file.problems)
        self._finder = Finder(file, shape, options.conversation)

    def session(self) -> Session:
        file, shape = self._file, self._shape
        if file.lines:
            found = [f for root in file.roots if (f := self._finder.locate(root))]
            if len(found) * 2 < len([r for r in file.roots if isinstance(r.value, dict)]):
                return self._message_lines()
            return self._build(self._finder.choose(found))
        root = file.roots[0]
        if isinstance(root.value, list):
            if any(shape.is_message(item.value) for item in root.items or ()):
                return self._build(Found(root, root, root))
            found = [f for item in root.items or () if (f := self._finder.locate(item))]
            return self._build(self._finder.choose(found))
        here = self._finder.locate(root)
        if here is None and (found := self._finder.grouped(root)):
            return self._build(self._finder.choose(found))
        if here is None and shape.is_message(root.value):
            return self._message_lines()
        return self._build(self._finder.choose([here] if here else []))

    def _tell(self, level: Any, code: str, text: str, **more: Any) -> None:
        self._problems.append(Finding(level, code, text, **more))

    # ------------------------------------------------------------------------------ building

    def _message_lines(self) -> Session:
        """One message a line (or a single message)."""
        roots = self._file.roots
        # A message that breaks off is none.
        others = frozenset(
            i
            for i, root in enumerate(roots)
            if root.closers or not self._shape.is_message(root.value)
        )
        if len(others) == len(roots):
            raise nothing(self._file, self._shape)
        spans = tuple(self._file.span(root) for root in roots)
        size = self._file.source.size
        listing = Listing(0, size, spans, others, lines=True)
        layout = Layout(0, size, (listing,))
        entries = [
            (root, span, f"line {span.line}")
            for i, (root, span) in enumerate(zip(roots, spans, strict=True))
            if i not in others
        ]
        heads = [root.value for root in roots if self._shape.heading(root.value)]
        self._others(len(others) - len(heads))
        about = self._shape.about(heads[0], None) if heads else {}
        return self._finish([], entries, layout, about, {})

    def _build(self, found: Found) -> Session:
        file, shape = self._file, self._shape
        fronts: list[tuple[Message, Slot]] = []
        slots: list[Slot] = []
        holder = found.holder.value if isinstance(found.holder.value, dict) else {}
        keys = shape.instructions
        keys = (keys,) if isinstance(keys, str) else keys
        member = next((one for key in keys if key and (one := found.holder.member(key))), None)
        if member and (front := self._instructions(found.holder, member)):
            fronts.append(front)
            slots.append(front[1])
        listings: list[Listing] = []
        entries: list[tuple[Node, Span, str]] = []
        if found.listing is not None:
            self._list(found.listing, listings, entries)
        if found.answer is not None and found.answer.items is not None:
            self._list(found.answer, listings, entries)
        elif found.answer is not None:
            span = file.span(found.answer)
            entries.append((found.answer, span, "answer"))
            if found.answer_cut:
                slots.append(Slot(span, found.answer_cut))
        whole = file.span(found.root)
        start, end = (whole.start, whole.end) if self._partly(found) else (0, file.source.size)
        root = file.roots[0]
        if root.closers:
            start, end = 0, file.span(root).end
        layout = Layout(start, end, tuple(listings), tuple(slots), root.closers.encode())
        outer = found.root.value if isinstance(found.root.value, dict) else {}
        document = None if file.lines else root.value
        about = shape.about(outer, document)
        return self._finish(
            [message for message, _ in fronts],
            entries,
            layout,
            {**outer, **holder, **about},
            found.response,
        )

    def _partly(self, found: Found) -> bool:
        return self._file.lines or found.root is not self._file.roots[0]

    def _instructions(self, holder: Node, member: Member) -> tuple[Message, Slot] | None:
        node = member.node
        if not isinstance(node.value, (str, list, dict)) or not node.value:
            return None
        span = self._file.span(node)
        instruct = self._shape.instruct
        parts = instruct(node.value)
        body = self._file.body(node, span, instruct)
        message = sketch(parts, role="system", body=body, span=span, pointer=f"/{member.key}")
        return message, Slot(span, self._file.cut(holder, member))

    def _list(
        self, node: Node, listings: list[Listing], entries: list[tuple[Node, Span, str]]
    ) -> None:
        file = self._file
        if node.items is None:
            span = file.span(node)
            listings.append(Listing(span.start, span.end, (span,), single=True))
            entries.append((node, span, "0"))
            return
        spans = tuple(file.span(item) for item in node.items)
        others = frozenset(
            i for i, item in enumerate(node.items) if not self._shape.is_message(item.value)
        )
        self._others(len(others))
        opened, closed = file.inside(node)
        listings.append(Listing(opened, closed, spans, others))
        entries += [
            (item, span, str(i))
            for i, (item, span) in enumerate(zip(node.items, spans, strict=True))
            if i not in others
        ]

    def _others(self, count: int) -> None:
        if count:
            self._tell(
                "warning",
                "no-message",
                f"{count:,} value{'s' if count > 1 else ''} among the messages "
                f"{'are' if count > 1 else 'is'} no message; kept where it stands.",
            )

    def _finish(
        self,
        fronts: list[Message],
        entries: list[tuple[Node, Span, str]],
        layout: Layout,
        holder: Mapping[str, Any],
        response: Mapping[str, Any],
    ) -> Session:
        shape, options = self._shape, self._options
        values = [node.value for node, _, _ in entries]
        live = shape.live_from(values)
        left_out = LeftOut(options)
        compacted = entries[live][1] if live else None
        first = live
        if live and options.history == "live":
            left_out.add("before the last compaction", *(span for _, span, _ in entries[:live]))
            entries, values, first = entries[live:], values[live:], 0
        if hidden := shape.hidden(values, holder):
            for index, reason in hidden.items():
                left_out.add(reason, entries[index][1])
            layout = _staying(layout, {entries[index][1].start for index in hidden})
            entries = [entry for index, entry in enumerate(entries) if index not in hidden]
            values = [node.value for node, _, _ in entries]
            first -= sum(index < first for index in hidden)
        parsers = shape.parsers(values) if shape.parsers else ()
        messages = [*fronts]
        compactions: tuple[RecordedCompaction, ...] = ()
        model = _said(holder, response, ("model", "modelVersion"))
        answered = _usage(response) or _usage(holder)
        for number, (node, span, pointer) in enumerate(entries):
            if number % _EVERY == 0:
                self._report(number, len(entries))
            if compacted is not None and number == first:
                compactions = (RecordedCompaction(len(messages), line=compacted.line),)
            parse = parsers[number] if parsers else shape.parse
            messages += self._messages(node, span, pointer, parse)
        if not model:
            model = next((one.model for one in reversed(messages) if one.model), "")
        if answered and messages and messages[-1].role == "assistant" and not messages[-1].usage:
            messages[-1] = _with_usage(messages[-1], answered)
        if not messages:
            self._tell("warning", "no-messages", "The list of messages is empty.")
        self._problems.extend(shape.look(holder))
        title = _string(holder.get("title"))
        if shape.plain(values, holder):
            title = "chat messages"
            self._tell(
                "info",
                "ambiguous-format",
                "Plain chat messages: OpenAI and Anthropic write them alike. Read as openai-chat.",
            )
        return Session(
            self._file.source,
            shape.format,
            tuple(messages),
            title=title,
            model=model,
            history=options.history,
            tools=tools_in(holder),
            window=_window(holder),
            problems=(*self._problems, *self._finder.problems),
            left_out=dict(left_out.counts),
            compactions=compactions,
            conversations=self._finder.conversations,
            document=replace(layout, order=tuple(one.spans[0].start for one in messages)),
        )

    def _report(self, done: int, total: int) -> None:
        if self._options.cancelled():
            raise Cancelled("The reading was stopped.")
        if self._options.progress:
            self._options.progress(Progress(done, total, "messages"))

    def _messages(self, node: Node, span: Span, pointer: str, parse: Parse) -> list[Message]:
        cut, keep = self._shape.cut, self._shape.keep
        value = node.value
        if cut is None or keep is None or not isinstance(value, Mapping):
            return [self._with_facts(self._message(node, span, pointer, parse), value)]
        pieces = cut(value)
        if not pieces:
            return []
        source = self._file.source
        out = [
            sketch(
                piece.parts,
                role=piece.role,
                body=PieceBody(source, span, cut, keep, index, len(pieces)),
                span=span,
                record=value,
                summary=self._shape.summary(value),
                pointer=f"{pointer}:{index}" if index else pointer,
            )
            for index, piece in enumerate(pieces)
        ]
        out = [
            replace(one, injected=piece.injected, usage=piece.usage or one.usage)
            for one, piece in zip(out, pieces, strict=True)
        ]
        # What the record says of its response belongs to one of its messages, not to each; whose
        # record it is, and from when, holds for all.
        spoke = next((i for i, piece in enumerate(pieces) if piece.role == "assistant"), 0)
        told = self._with_facts(out[spoke], value)
        return [
            told
            if index == spoke
            else replace(one, usage=pieces[index].usage, model="", id=told.id, time=told.time)
            for index, one in enumerate(out)
        ]

    def _with_facts(self, message: Message, value: object) -> Message:
        if self._shape.facts is None or not isinstance(value, Mapping):
            return message
        facts = self._shape.facts(value)
        return replace(
            message,
            id=facts.id or message.id,
            name=facts.name or message.name,
            time=facts.time or message.time,
            model=facts.model or message.model,
            usage=facts.usage or message.usage,
            injected=facts.injected or message.injected,
        )

    def _message(self, node: Node, span: Span, pointer: str, parse: Parse) -> Message:
        shape, value = self._shape, node.value
        if not isinstance(value, Mapping):
            # A plain string where a message is expected is what a user said.
            body = self._file.body(node, span, parse_content)
            return sketch(parse_content(value), role="user", body=body, span=span, pointer=pointer)
        parts = parse(value)
        role = shape.role(value, parts)
        if not role:
            role = "user"
            self._tell(
                "warning",
                "no-role",
                f"The message in line {span.line:,} has no role; it is taken for the user's.",
                line=span.line,
            )
        return sketch(
            parts,
            role=role,
            body=self._file.body(node, span, parse),
            span=span,
            record=value,
            summary=shape.summary(value),
            bound=shape.bound(value),
            pointer=pointer,
        )


def _staying(layout: Layout, starts: set[int]) -> Layout:
    """A layout in which the values that start there are no messages, and stay where they are."""
    listings = (
        replace(
            each,
            others=each.others
            | {index for index, span in enumerate(each.elements) if span.start in starts},
        )
        for each in layout.listings
    )
    return replace(layout, listings=tuple(listings))


def _with_usage(message: Message, usage: Any) -> Message:
    return replace(message, usage=usage)


def _said(holder: Mapping[str, Any], response: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    found = (_string(each.get(key)) for each in (holder, response) for key in keys)
    return next((one for one in found if one), "")


def _usage(holder: Mapping[str, Any]) -> Usage | None:
    return usage_of(holder.get("usage")) or usage_of(holder.get("usageMetadata"))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _window(holder: Mapping[str, Any]) -> int | None:
    stated = holder.get("context_window")
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else None
