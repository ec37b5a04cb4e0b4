"""The log of a newer Gemini CLI: one record a line, where later ones change earlier ones.

A record replaces the one of the same id, `$rewindTo` takes one back with all that follow it, and
`$set` changes what is said of the session, or with `messages` puts another list in their place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import exact, gemini_cli_records
from compaction.formats.base import ReadOptions, Written
from compaction.formats.converting import is_same
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonl import Faults, Record, records
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.layout import whole_records
from compaction.formats.leaving import LeftOut
from compaction.formats.mending import Mended
from compaction.formats.pieces import PieceBody
from compaction.formats.recognising import called
from compaction.formats.sketching import sketch, stands_in
from compaction.messages import Message, RecordedCompaction, Session, Source, Span

_REPLACED = "written twice"
_BACK = "turns taken back"
_BEFORE = "before the last compaction"


@dataclass(frozen=True, slots=True)
class Log:
    """What writing back needs: lines about the session, and records that are never sent.

    `silent` has each of those with the number of the message it stands before.
    """

    heads: tuple[Span, ...]
    updates: tuple[Span, ...]
    silent: tuple[tuple[int, Span], ...]


@dataclass(slots=True)
class _Entry:
    record: Mapping[str, Any]
    span: Span
    live: bool = True


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no record in it is of one."""
    faults = Faults()
    reading = _Reading(source, options, LeftOut(options))
    for record in records(source, options, faults):
        reading.take(record)
    return reading.finish(faults)


@dataclass(slots=True)
class _Reading:
    """The state while lines are taken in their order."""

    source: Source
    options: ReadOptions
    left: LeftOut
    entries: list[_Entry] = field(default_factory=list)
    by_id: dict[str, _Entry] = field(default_factory=dict)
    heads: list[Span] = field(default_factory=list)
    updates: list[Span] = field(default_factory=list)
    compacted: list[_Entry] = field(default_factory=list)
    title: str = ""

    def take(self, taken: Record) -> None:
        """One record of the file."""
        value, span = taken
        if isinstance(value.get("$rewindTo"), str):
            self._rewind(value["$rewindTo"])
        elif gemini_cli_records.is_record(value):
            self._put(_Entry(value, span))
        elif isinstance(value.get("$set"), dict):
            self._set(value["$set"], span)
        elif "sessionId" in value:
            self.heads.append(span)
            self.title = text_of(value.get("summary")) or self.title
        else:
            self.left.add("records of no known type", span)

    def _put(self, entry: _Entry) -> None:
        name = entry.record.get("id")
        known = self.by_id.get(name) if isinstance(name, str) else None
        if known is not None:
            self.left.add(_REPLACED, known.span)
            known.record, known.span = entry.record, entry.span
            return
        if isinstance(name, str):
            self.by_id[name] = entry
        self.entries.append(entry)
        if gemini_cli_records.is_snapshot(entry.record) and len(self._live()) > 1:
            self._drop(self._live()[:-1], _BEFORE)
            self.compacted.append(entry)

    def _live(self) -> list[_Entry]:
        return [entry for entry in self.entries if entry.live]

    def _drop(self, gone: Sequence[_Entry], reason: str, *, wholly: bool = False) -> None:
        for entry in gone:
            entry.live = False
            name = entry.record.get("id")
            if isinstance(name, str):
                self.by_id.pop(name, None)
        if self.options.history == "live" or wholly:
            self.left.add(reason, *(entry.span for entry in gone))
        if wholly:
            self.entries = [entry for entry in self.entries if entry.live]

    def _rewind(self, name: str) -> None:
        live = self._live()
        ids = [entry.record.get("id") for entry in live]
        # The tool forgets all of them when it does not know the one to go back to.
        self._drop(live[ids.index(name) :] if name in ids else live, _BACK)

    def _set(self, update: Mapping[str, Any], span: Span) -> None:
        self.title = text_of(update.get("summary")) or self.title
        listed = update.get("messages")
        self.updates.append(span)
        if not isinstance(listed, list) or not listed:
            return
        live = self._live()
        before = [entry for entry in live if gemini_cli_records.is_snapshot(entry.record)]
        snapshots = [one for one in listed if gemini_cli_records.is_snapshot(one)]
        known = {text_of(entry.record.get("id")) for entry in before}
        fresh = any(text_of(one.get("id")) not in known for one in snapshots)
        self._drop(live, _BEFORE if fresh else _REPLACED, wholly=not fresh)
        start = len(self.entries)
        for entry in self._nested(span):
            self.entries.append(entry)
            if isinstance(name := entry.record.get("id"), str):
                self.by_id[name] = entry
        if fresh and len(self.entries) > start:
            self.compacted.append(self.entries[start])

    def _nested(self, span: Span) -> Iterator[_Entry]:
        """The records of a list that `$set` puts in place, each with the bytes it stands in."""
        raw = self.source.raw(span)
        text = exact.decode_bytes(raw)
        offsets = Bytes(text, raw)
        node = scan(text, ("$set", "messages")).get("$set", "messages")
        for held in (node.items or ()) if node else ():
            start, end = offsets.at(held.start), offsets.at(held.end)
            own = Span(span.start + start, span.start + end, span.line)
            if gemini_cli_records.is_record(held.value):
                yield _Entry(held.value, own)
            else:
                self.left.add("records of no known type", own)

    # ------------------------------------------------------------------------------- result

    def finish(self, faults: Faults) -> Session:
        """The session. Raises SessionError when no record of it is of the tool."""
        if not self.entries and not self.heads and not self.updates:
            raise SessionError(f"{called(self.source)} holds no record of a Gemini CLI session.")
        full = self.options.history == "full"
        shown = self.entries if full else self._live()
        hidden = gemini_cli_records.hidden([entry.record for entry in shown])
        messages: list[Message] = []
        silent: list[tuple[int, Span]] = []
        marks = self.compacted if full else self.compacted[-1:]
        compactions: list[RecordedCompaction] = []
        for index, entry in enumerate(shown):
            if any(entry is mark for mark in marks):
                compactions.append(RecordedCompaction(len(messages), line=entry.span.line))
            if index in hidden:
                self.left.add(hidden[index], entry.span)
                silent.append((len(messages), entry.span))
                continue
            messages += self._messages(entry)
        if not messages:
            faults.tell("warning", "no-messages", "The session holds no message.")
        return Session(
            self.source,
            "gemini-cli",
            tuple(messages),
            title=self.title,
            model=next((one.model for one in reversed(messages) if one.model), ""),
            history=self.options.history,
            problems=faults.findings,
            left_out=dict(self.left.counts),
            compactions=tuple(compactions),
            document=Log(tuple(self.heads), tuple(self.updates), tuple(silent)),
        )

    def _messages(self, entry: _Entry) -> list[Message]:
        record, span = entry.record, entry.span
        cut, keep = gemini_cli_records.cut, gemini_cli_records.keep
        pieces = cut(record)
        facts = gemini_cli_records.facts(record)
        out: list[Message] = []
        for index, piece in enumerate(pieces):
            made = sketch(
                piece.parts,
                role=piece.role,
                body=PieceBody(self.source, span, cut, keep, index, len(pieces)),
                span=span,
                record=record,
                summary=gemini_cli_records.summary(record),
            )
            if index:
                made = replace(made, model="", usage=None)
            else:
                made = replace(made, usage=facts.usage, injected=facts.injected)
            out.append(made)
        return out


# ------------------------------------------------------------------------------------ writing


def write(messages: Sequence[Message], session: Session, log: Log) -> Written:
    """A fresh log: what is said of the session, and the records that stay, in their own bytes."""
    from compaction.formats.gemini_cli import TITLE

    mended, notes = Mended(), Notes(TITLE)
    if is_same(messages, session.messages):
        return mended.file(session.source)
    chunks = tuple(_lines(messages, session, log, notes, mended))
    return Written(chunks, (*notes.findings(), *mended.findings()))


def _lines(
    messages: Sequence[Message], session: Session, log: Log, notes: Notes, mended: Mended
) -> Iterator[bytes]:
    from compaction.formats.gemini_cli_writing import renderer

    source = session.source
    render = renderer(messages, notes, session)
    for span in log.heads:
        yield mended.line(source, span)
    waiting = deque(log.silent)
    numbers: dict[int, int] = {}
    for index, message in enumerate(session.messages):
        numbers.setdefault(message.spans[0].start, index)
    whole = whole_records(messages)
    for number, message in enumerate(messages):
        if not stands_in(message, source):
            for record in render(message):
                yield exact.dump_bytes(record) + b"\n"
            continue
        span = message.spans[0]
        while waiting and waiting[0][0] <= numbers.get(span.start, -1):
            yield mended.line(source, waiting.popleft()[1])
        body = message.body
        if isinstance(body, PieceBody) and len(whole[number]) < body.count:
            if whole[number]:
                yield exact.dump_bytes(body.kept(whole[number])) + b"\n"
            continue
        yield mended.line(source, span)
    for _, span in waiting:
        yield mended.line(source, span)
    for span in log.updates:
        yield from _update(source, span, mended)


def _update(source: Source, span: Span, mended: Mended) -> Iterator[bytes]:
    """A change of what is said of the session, without the messages it may bring."""
    value = exact.loads(source.raw(span))
    update = value["$set"]
    if not isinstance(update.get("messages"), list):
        yield mended.line(source, span)
        return
    rest = {key: one for key, one in update.items() if key != "messages"}
    if rest:
        yield exact.dump_bytes({**value, "$set": rest}) + b"\n"
