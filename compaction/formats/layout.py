"""Where the messages of a session stand in its file, and the file with other messages in it.

What stays is copied with its own bytes, gaps included; what is new is laid out as its
neighbours are. Everything around the messages is never touched.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.json_style import style_of
from compaction.formats.pieces import PieceBody
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session, Span

#: A message as the values that stand for it in the file, normally one.
Rendered = Callable[[Message], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of values in the file: a JSON array, or the lines of a file (`lines`).

    `open` is the offset after its `[`, `close` the one of its `]`. `elements` are all values in
    it; `others` are the indexes of those that are no message and stay where they are. `single`
    is an array that the file leaves out because its only element is a plain string. `gap` is what
    stands between two elements where they do not say so themselves.
    """

    open: int
    close: int
    elements: tuple[Span, ...]
    others: frozenset[int] = frozenset()
    lines: bool = False
    single: bool = False
    gap: bytes = b""


@dataclass(frozen=True, slots=True)
class Slot:
    """A message that stands outside of the lists, and the bytes to cut out when it goes."""

    value: Span
    cut: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one conversation within `start` and `end` of the source.

    `closers` end a document that breaks off. `order` has the offset of every message as read.
    """

    start: int
    end: int
    listings: tuple[Listing, ...]
    slots: tuple[Slot, ...] = ()
    closers: bytes = b""
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes from `start` to `end`."""

    start: int
    end: int
    new: bytes


#: A new value as bytes, as the list it goes into is laid out; given the whole source, too.
LayOut = Callable[[object, Listing, bytes], bytes]

#: Changes the bytes of a kept message where its API would refuse them; None for no change.
Repair = Callable[[Message, bytes], bytes | None]


def write_back(
    messages: Sequence[Message],
    session: Session,
    layout: Layout,
    render: Rendered,
    repair: Repair | None = None,
) -> Written:
    """The JSON of `session` with `messages` in the places of its own."""
    data = session.source.data
    lines = any(listing.lines for listing in layout.listings)
    unchanged = is_unchanged(messages, session, layout) and not layout.closers
    if unchanged and _sound(data[layout.start : layout.end], lines):
        return Written((data,))
    body, findings = compose(messages, session, layout, render, repair, lay_out_json)
    if not lines and not _sound(body, lines):
        value, constants = exact.loads_telling(body)
        body = exact.dump_bytes(value, style_of(body))
        findings = (*findings, _nulls(constants))
    after = b"" if layout.closers else data[layout.end :]
    return Written((data[: layout.start], body, after), findings)


def compose(
    messages: Sequence[Message],
    session: Session,
    layout: Layout,
    render: Rendered,
    repair: Repair | None,
    lay_out: LayOut,
) -> tuple[bytes, tuple[Finding, ...]]:
    """The bytes from the start to the end of a layout, with `messages` in it."""
    writer = _Writer(session, layout, render, repair, lay_out)
    return writer.body(messages), tuple(writer.found)


def place(messages: Sequence[Message], session: Session, name: str) -> Layout | None:
    """The layout of a session of format `name`, where `messages` can go into it."""
    layout = session.document
    if session.format != name or not isinstance(layout, Layout):
        return None
    return layout if layout.listings or is_unchanged(messages, session, layout) else None


def is_unchanged(messages: Sequence[Message], session: Session, layout: Layout) -> bool:
    """Whether `messages` are those that were read, and nothing else."""
    source = session.source
    return len(messages) == len(layout.order) and all(
        stands_in(message, source) and message.spans[0].start == start
        for message, start in zip(messages, layout.order, strict=True)
    )


def _sound(body: bytes, lines: bool) -> bool:
    if lines:
        return b"NaN" not in body and b"Infinity" not in body
    return exact.is_valid(body.removeprefix(b"\xef\xbb\xbf"))


def _nulls(count: int, message: int | None = None) -> Finding:
    what = f"{count:,} number{'' if count == 1 else 's'} that JSON cannot hold (NaN, Infinity)"
    return Finding("warning", "export-nan", f"{what} written as null.", message=message)


def _moved(message: int) -> Finding:
    text = (
        "The recorded answer is written as a message of the list, since others follow it; what "
        "was recorded with it is left out."
    )
    return Finding("info", "export-answer", text, message=message)


class _Writer:
    def __init__(
        self,
        session: Session,
        layout: Layout,
        render: Rendered,
        repair: Repair | None,
        lay_out: LayOut,
    ) -> None:
        self._data = session.source.data
        self._layout = layout
        self._render = render
        self._repair = repair
        self._source = session.source
        self._lay_out = lay_out
        self._json = lay_out is lay_out_json
        self.found: list[Finding] = []
        self._place: dict[int, tuple[int, int]] = {}
        for number, listing in enumerate(layout.listings):
            for index, span in enumerate(listing.elements):
                if index not in listing.others:
                    self._place[span.start] = (number, index)
        self._slots = {slot.value.start: slot for slot in layout.slots}
        self._answers = self._behind_lists()

    def _behind_lists(self) -> frozenset[int]:
        """The slots that are read after messages of a list: answers that were recorded."""
        order = self._layout.order
        first = next((at for at, start in enumerate(order) if start in self._place), len(order))
        return frozenset(start for start in order[first:] if start in self._slots)

    def body(self, messages: Sequence[Message]) -> bytes:
        """The bytes from the start to the end of the layout."""
        edits: list[Edit] = []
        kept_slots: set[int] = set()
        rows: list[list[tuple[int | None, bytes]]] = [[] for _ in self._layout.listings]
        here = 0
        whole = whole_records(messages)
        last = self._last_new(messages)
        for number, message in enumerate(messages):
            at = message.spans[0].start if stands_in(message, self._source) else -1
            # A list is read before the answer to it, so what follows an answer takes it along.
            if at in self._slots and not (at in self._answers and number < last):
                kept_slots.add(at)
                span = self._slots[at].value
                if (fixed := self._mended(message, span, number)) is not None:
                    edits.append(Edit(span.start, span.end, fixed))
            elif at in self._place:
                here, index = self._place[at]
                span = self._layout.listings[here].elements[index]
                raw = self._mended(message, span, number)
                listing = self._layout.listings[here]
                if isinstance(message.body, PieceBody):
                    indexes = whole[number]
                    if not indexes:
                        continue
                    if len(indexes) < message.body.count:
                        raw = self._lay_out(message.body.kept(indexes), listing, self._data)
                kept = self._data[span.start : span.end] if raw is None else raw
                if listing.single:
                    kept = b'{"role":"user","content":' + kept + b"}"
                rows[here].append((index, kept))
                rows[here] += self._further(message)
            else:
                listing = self._layout.listings[here]
                rows[here] += [
                    (None, self._lay_out(value, listing, self._data))
                    for value in self._render(message)
                ]
                if at in self._slots:
                    self.found.append(_moved(number))
        edits += [Edit(*slot.cut, b"") for at, slot in self._slots.items() if at not in kept_slots]
        edits += [
            Edit(listing.open, listing.close, self._list(listing, row))
            for listing, row in zip(self._layout.listings, rows, strict=True)
        ]
        return self._applied(edits)

    def _last_new(self, messages: Sequence[Message]) -> int:
        """The index of the last message that has no place in the file; -1 without one."""
        for number in range(len(messages) - 1, -1, -1):
            message = messages[number]
            at = message.spans[0].start if stands_in(message, self._source) else -1
            if at not in self._place and at not in self._slots:
                return number
        return -1

    def _further(self, message: Message) -> list[tuple[int | None, bytes]]:
        """The values after the first of a message that several stand for."""
        return [
            (self._place[span.start][1], self._data[span.start : span.end])
            for span in message.spans[1:]
            if span.start in self._place
        ]

    def _applied(self, edits: list[Edit]) -> bytes:
        out: list[bytes] = []
        position = self._layout.start
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start < position:
                continue
            out += [self._data[position : edit.start], edit.new]
            position = edit.end
        out += [self._data[position : self._layout.end], self._layout.closers]
        return b"".join(out)

    def _mended(self, message: Message, span: Span, number: int) -> bytes | None:
        raw = self._data[span.start : span.end]
        if self._json and (b"NaN" in raw or b"Infinity" in raw) and not exact.is_valid(raw):
            value, constants = exact.loads_telling(raw)
            self.found.append(_nulls(constants, number))
            return exact.dump_bytes(value, style_of(raw))
        return self._repair(message, raw) if self._repair else None

    # --------------------------------------------------------------------------------- lists

    def _list(self, listing: Listing, row: list[tuple[int | None, bytes]]) -> bytes:
        """What stands between the ends of a list."""
        entries = _with_others(listing, row, self._data)
        elements = listing.elements
        if not elements:
            return _joined(entries, b"\n" if listing.lines else b",")
        lead = self._data[listing.open : elements[0].start]
        tail = self._data[elements[-1].end : listing.close]
        if listing.single:
            lead, tail = b"[", b"]"
        elif not entries:
            return b""
        gap = self._gap(listing, lead)
        out: list[bytes] = [lead]
        before: int | None = None
        for position, (index, raw) in enumerate(entries):
            if position:
                adjacent = index is not None and before is not None and index == before + 1
                if adjacent and index is not None and before is not None:
                    out.append(self._data[elements[before].end : elements[index].start])
                else:
                    out.append(gap)
            out.append(raw)
            before = index
        out.append(tail)
        return b"".join(out)

    def _gap(self, listing: Listing, lead: bytes) -> bytes:
        """What stands between two elements of a list."""
        elements = listing.elements
        if listing.lines:
            return b"\r\n" if b"\r\n" in self._data[:65536] else b"\n"
        if listing.gap:
            return listing.gap
        for first, second in itertools.pairwise(elements):
            between = self._data[first.end : second.start]
            if between.strip() == b",":
                return between
        if b"\n" in lead:
            return b"," + lead
        return b", " if style_of(self._data[:65536]).comma == ", " else b","


def whole_records(messages: Sequence[Message]) -> dict[int, tuple[int, ...]]:
    """For each message that is a piece of a record: the pieces that stand with it, () behind the
    first of them.
    """
    out: dict[int, tuple[int, ...]] = {}
    first = -1
    for number, message in enumerate(messages):
        if not isinstance(message.body, PieceBody):
            first = -1
            continue
        if first >= 0 and messages[first].spans == message.spans:
            out[first] = (*out[first], message.body.index)
            out[number] = ()
        else:
            first = number
            out[number] = (message.body.index,)
    return out


def lay_out_json(value: object, listing: Listing, data: bytes) -> bytes:
    """A new value in the style of the list it goes into."""
    if not listing.elements:
        style = exact.COMPACT if listing.lines else style_of(data[:65536])
        return exact.dump_bytes(value, style)
    first = listing.elements[0]
    raw = data[first.start : min(first.end, first.start + 65536)]
    style = replace(style_of(raw), ascii=data.isascii() and b"\\u" in data)
    if listing.lines or not style.indent:
        return exact.dump_bytes(value, replace(style, indent=""))
    lead = data[listing.open : first.start]
    margin = lead[lead.rfind(b"\n") + 1 :]
    text = exact.dump_bytes(value, style)
    return text.replace(b"\n", b"\n" + margin) if not margin.strip() else text


def _with_others(
    listing: Listing, row: list[tuple[int | None, bytes]], data: bytes
) -> list[tuple[int | None, bytes]]:
    """`row` with the values that are no messages put back where they stood."""
    if not listing.others:
        return row
    waiting = sorted(listing.others)
    entries: list[tuple[int | None, bytes]] = []
    for index, raw in row:
        while index is not None and waiting and waiting[0] < index:
            other = waiting.pop(0)
            span = listing.elements[other]
            entries.append((other, data[span.start : span.end]))
        entries.append((index, raw))
    for other in waiting:
        span = listing.elements[other]
        entries.append((other, data[span.start : span.end]))
    return entries


def _joined(entries: list[tuple[int | None, bytes]], gap: bytes) -> bytes:
    return gap.join(raw for _, raw in entries)
