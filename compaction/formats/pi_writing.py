"""Writing a pi session: the kept entries as they are, each hung below the one before it.

What was replaced becomes a `compaction` entry at the end, which names the first entry that is
kept: pi sends its summary and what stands from there on, and knows that what was reported of the
kept answers is out of date. A summary behind other messages is a message of its own in its place.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.converting import as_responses
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.mending import Mended
from compaction.formats.pi import NAME, TITLE, Tree
from compaction.formats.pi_messages import OWN, message_in
from compaction.formats.pi_rendering import render
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session, Span, ToolCall

_NAMESPACE = uuid.UUID("2f4cbb52-7d0f-5b62-9a35-90a6bd5c7e1d")
_NO_TIME = "1970-01-01T00:00:00.000Z"
_VERSION = 3

#: The lines of one message or entry, with their line feeds.
_Lines = list[bytes]


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a session; the very file when nothing of it was changed."""
    notes, mended = Notes(TITLE), Mended()
    tree = session.document
    native = isinstance(tree, Tree) and session.format == NAME
    if native and isinstance(tree, Tree):
        if _is_as_read(messages, session, tree):
            return mended.file(session.source)
        writing = _Writing(session, tree, notes, mended)
        turns = list(messages)
    else:
        writing = _Writing(session, Tree(None, False, ()), notes, mended, foreign=True)
        turns = as_responses(messages, session, notes)
    chunks = tuple(writing.lines(turns))
    return Written(chunks, (*notes.findings(), *mended.findings()))


class _Writing:
    """One session being written."""

    def __init__(
        self, session: Session, tree: Tree, notes: Notes, mended: Mended, *, foreign: bool = False
    ) -> None:
        self._session = session
        self._source = session.source
        self._tree = tree
        self._notes = notes
        self._mended = mended
        self._foreign = foreign
        self._ids = Ids(verbatim=not foreign, unique=foreign)
        self._taken: set[str] = set()
        self._last: str | None = None
        self._time = next((one.time for one in session.messages if one.time), _NO_TIME)
        self._written = 0
        self._tools: dict[str, str] = {}

    def lines(self, messages: Sequence[Message]) -> Iterator[bytes]:
        """The lines of the file."""
        self._tools = {
            part.id: part.name
            for message in messages
            if message.calls
            for part in message.parts
            if isinstance(part, ToolCall)
        }
        leading = 0
        if self._foreign:
            while leading < len(messages) and messages[leading].role in ("system", "developer"):
                if messages[leading].summary:
                    break
                self._notes.at(leading).tell("system", "a system message")
                leading += 1
        rest = list(enumerate(messages))[leading:]
        summary = (
            rest[0][1] if rest and rest[0][1].summary and not self._is_branch(rest[0][1]) else None
        )
        if summary is not None:
            rest = rest[1:]
        yield self._header()
        first: tuple[int, str] | None = None
        waiting = [span for span in self._tree.chain if span.start in self._tree.asides]
        begin = self._end_begins([message for _, message in rest])
        for index, message in rest:
            if self._is_line(message):
                while waiting and waiting[0].start < message.spans[0].start:
                    yield from self._aside(waiting.pop(0), begin)
            for line, name in self._message(message, index):
                first = first or (self._written - 1, name)
                yield line
        for span in waiting:
            yield from self._aside(span, begin)
        if summary is not None:
            yield self._compaction(summary, first)

    def _end_begins(self, messages: Sequence[Message]) -> int:
        """Where the unchanged end of the session begins in the file."""
        begin = self._source.size
        for message, start in zip(reversed(messages), reversed(self._tree.order), strict=False):
            if not self._is_line(message) or message.spans[0].start != start:
                break
            begin = start
        return begin

    # ------------------------------------------------------------------------------- entries

    def _header(self) -> bytes:
        self._written += 1
        if self._tree.header is not None:
            return self._mended.line(self._source, self._tree.header)
        origin = f"{self._session.format}\0{self._source.size}\0{len(self._session.messages)}"
        made = str(uuid.uuid5(_NAMESPACE, origin))
        record = {"type": "session", "version": _VERSION, "id": made, "timestamp": self._time}
        return _line({**record, "cwd": "/"})

    def _is_line(self, message: Message) -> bool:
        """Whether a message is a line of the file that can be copied."""
        if self._foreign or not stands_in(message, self._source):
            return False
        record = message.record
        return (
            isinstance(record, Mapping)
            and record.get("type") != "compaction"
            and message_in(record) is not None
        )

    def _is_branch(self, message: Message) -> bool:
        record = message.record if stands_in(message, self._source) else None
        return isinstance(record, Mapping) and "fromId" in record

    def _aside(self, span: Span, begin: int) -> Iterator[bytes]:
        """An entry that is no message; one that is never sent stays only in the end."""
        value = exact.loads(self._source.raw(span))
        if value.get("type") != "message" or span.start > begin:
            yield self._copied(span)[0]

    def _message(self, message: Message, index: int) -> Iterator[tuple[bytes, str]]:
        self._time = message.time or self._time
        if self._is_line(message):
            yield self._copied(message.spans[0])
            return
        if stands_in(message, self._source) and not self._foreign:
            record = message.record
            if isinstance(record, Mapping):
                held = message_in(record) if record.get("type") == "compaction" else record
                if held is not None:
                    yield self._entry({"type": "message"}, {"message": self._dated(held)})
                    return
        self._notes.at(index)
        if message.summary:
            made: dict[str, Any] = {"role": "compactionSummary", "summary": message.text}
            made |= {"tokensBefore": _before(self._session), "details": OWN}
            yield self._entry({"type": "message"}, {"message": self._dated(made)})
            return
        for one in render(message, self._ids, self._notes, self._tools, self._session.model):
            yield self._entry({"type": "message"}, {"message": self._dated(one)})

    def _dated(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message with its time, in milliseconds as the tool has it."""
        if "timestamp" in message:
            return dict(message)
        try:
            moment = datetime.fromisoformat(self._time).timestamp()
        except (ValueError, OverflowError, OSError):
            moment = 0
        return {**message, "timestamp": int(moment * 1000)}

    def _entry(self, record: Mapping[str, Any], rest: Mapping[str, Any]) -> tuple[bytes, str]:
        """A new entry below the last one, and its id."""
        name = ""
        if self._tree.linear:
            made = {**record, "timestamp": self._time, **rest}
        else:
            name = self._name(exact.dumps(rest))
            made = {**record, "id": name, "parentId": self._last, "timestamp": self._time, **rest}
            self._last = name
        self._written += 1
        return _line(made), name

    def _name(self, content: str) -> str:
        """An id as the tool makes them, of the content of an entry and what is before it."""
        count = 0
        while True:
            said = f"{self._last}\0{count}\0{content}".encode("utf-8", "replace")
            made = hashlib.sha256(said).hexdigest()[:8]
            if made not in self._taken:
                self._taken.add(made)
                return made
            count += 1

    def _copied(self, span: Span) -> tuple[bytes, str]:
        """An entry as it was read, below the last one; and its id."""
        raw = self._mended.line(self._source, span)
        self._written += 1
        if self._tree.linear:
            return raw, ""
        text = exact.decode_bytes(raw)
        node = scan(text, ("",))
        value = node.value if isinstance(node.value, dict) else {}
        name = text_of(value.get("id"))
        if not name or name in self._taken:
            self._written -= 1
            whole = exact.loads(raw)
            rest = {k: v for k, v in whole.items() if k not in ("id", "parentId", "type")}
            line, name = self._entry({"type": whole.get("type")}, rest)
            return line, name
        self._taken.add(name)
        parent, self._last = self._last, name
        member = node.member("parentId")
        if value.get("parentId") == parent and member is not None:
            return raw, name
        if member is None:
            whole = exact.loads(raw)
            return _line({**whole, "parentId": parent}), name
        # Bytes that are no UTF-8 would shift the offsets behind them; the envelope has none.
        offsets = Bytes(text, raw)
        start, end = offsets.at(member.node.start), offsets.at(member.node.end)
        if raw[start:end] != text[member.node.start : member.node.end].encode():
            return _line({**exact.loads(raw), "parentId": parent}), name
        return raw[:start] + exact.dump_bytes(parent) + raw[end:], name

    def _compaction(self, summary: Message, first: tuple[int, str] | None) -> bytes:
        """The entry that the tool resumes from."""
        held = summary.record if stands_in(summary, self._source) else None
        known = held if isinstance(held, Mapping) and not self._foreign else {}
        text = text_of(known.get("summary")) or summary.text
        before = known.get("tokensBefore")
        record: dict[str, Any] = {"summary": text}
        if self._tree.linear:
            record["firstKeptEntryIndex"] = first[0] if first else self._written
        else:
            record["firstKeptEntryId"] = first[1] if first else self._last or ""
        record["tokensBefore"] = before if isinstance(before, int) else _before(self._session)
        if not known or "details" in known:
            record["details"] = known.get("details", OWN)
        if not known or "fromHook" in known:
            # The tool reads the details of its own compactions.
            record["fromHook"] = known.get("fromHook", True)
        return self._entry({"type": "compaction"}, record)[0]


def _is_as_read(messages: Sequence[Message], session: Session, tree: Tree) -> bool:
    """Whether `messages` are those that were read, and nothing else."""
    return len(messages) == len(tree.order) and all(
        stands_in(message, session.source) and message.spans[0].start == start
        for message, start in zip(messages, tree.order, strict=True)
    )


def _before(session: Session) -> int:
    """The tokens of the window before: as last reported, or a quarter of the characters."""
    reported = [message.usage for message in session.messages if message.usage]
    if reported:
        return reported[-1].context + reported[-1].output
    return sum(message.chars for message in session.messages) // 4


def _line(record: Mapping[str, Any]) -> bytes:
    return exact.dump_bytes(record) + b"\n"
