"""Writing a Claude Code transcript: the kept lines as they are, behind a compaction boundary.

This is what the tool itself writes when it compacts: a `compact_boundary` line, the summary as a
user line marked `isCompactSummary`, then what goes on. Of a kept line only `parentUuid` changes,
and only where the line it names is gone.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.base import ReadOptions, Written
from compaction.formats.claude_code import NAME, TITLE, Transcript
from compaction.formats.claude_code_body import LinesBody
from compaction.formats.converting import as_responses, is_same
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonl import Faults, records
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.mending import Mended
from compaction.messages import Message, Session, Source, Span

#: Envelope members that a new line takes from its neighbour, in the order the tool writes them.
_ENVELOPE = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "agentId")

_NAMESPACE = uuid.UUID("5b6f1f5e-3a41-5d0e-9d6a-6f2d0a4c7b11")

_NO_TIME = "1970-01-01T00:00:00.000Z"


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a transcript; the very file when nothing of it was changed."""
    native = isinstance(session.document, Transcript) and session.format == NAME
    notes, mended = Notes(TITLE), Mended()
    if native and is_same(messages, session.messages):
        return mended.file(session.source)
    if native:
        chunks = tuple(_Writing(session, notes, mended).lines(messages))
    else:
        chunks = tuple(_foreign(messages, session, notes))
    return Written(chunks, (*notes.findings(), *mended.findings()))


def _new_id(*parts: object) -> str:
    text = "\0".join(str(part) for part in parts)
    return str(uuid.uuid5(_NAMESPACE, text.encode("utf-8", "replace").decode()))


def _line(record: Mapping[str, Any]) -> bytes:
    return exact.dump_bytes(record) + b"\n"


def _stands_in(message: Message, source: Source) -> bool:
    return isinstance(message.body, LinesBody) and message.body.reads(source)


class _Writing:
    """One transcript being written from the lines of another."""

    def __init__(self, session: Session, notes: Notes, mended: Mended) -> None:
        self._session = session
        self._source = session.source
        self._notes = notes
        self._mended = mended
        self._parents = _parents(session.source)
        self._written: set[str] = set()
        # Lines that a typed line answers: a second one would make the first an abandoned attempt.
        self._answered: set[str | None] = set()
        self._last: str | None = None
        self._time = _NO_TIME
        document = session.document
        assert isinstance(document, Transcript)
        self._document = document

    def lines(self, messages: Sequence[Message]) -> Iterator[bytes]:
        """The lines of the file."""
        envelope = self._envelope(messages)
        for span in self._document.titles[-1:]:
            yield self._mended.line(self._source, span)
        # The list was compacted after its last message: what stays is older than its summary.
        self._time = max((message.time for message in messages if message.time), default=_NO_TIME)
        compacted_at = self._time
        yield self._boundary(envelope, messages)
        run: list[Message] = []
        for index, message in enumerate(messages):
            if _stands_in(message, self._source):
                run.append(message)
                continue
            yield from self._kept(run)
            run = []
            if message.summary:
                self._time = compacted_at
            yield from self._made(message, index, envelope)
        yield from self._kept(run)
        kept = {one for message in messages for one in message.results}
        for span, ids in self._document.clearings:
            if not ids.isdisjoint(kept):
                yield self._repointed(span)

    def _envelope(self, messages: Sequence[Message]) -> dict[str, Any]:
        for message in (*messages, *self._session.messages):
            if _stands_in(message, self._source):
                record = exact.loads(self._source.raw(message.spans[0]))
                # In the file of a sub-agent every line is of a side conversation, new ones too.
                return {"isSidechain": False} | {k: record[k] for k in _ENVELOPE if k in record}
        return {"isSidechain": False, "sessionId": self._document.session_id}

    def _boundary(self, envelope: Mapping[str, Any], messages: Sequence[Message]) -> bytes:
        # The id depends on what is written, so that two exports of a session differ in it.
        contents = (f"{m.role}{m.spans[0].start if m.spans else m.text}" for m in messages)
        made = _new_id("boundary", envelope.get("sessionId"), self._source.size, *contents)
        reported = [message.usage for message in self._session.messages if message.usage]
        before = reported[-1].context + reported[-1].output if reported else 0
        self._note(made)
        return _line(_boundary(made, self._time, envelope, before))

    def _note(self, made: str) -> None:
        self._written.add(made)
        self._last = made

    def _kept(self, run: Sequence[Message]) -> Iterator[bytes]:
        """Lines as they were read, in the order of the file."""
        for span, typed in sorted((span, one.typed) for one in run for span in one.spans):
            yield self._repointed(span, typed=typed)

    def _repointed(self, span: Span, *, typed: bool = False) -> bytes:
        """One line; its parent is the nearest ancestor that is written, if its own is not."""
        raw = self._mended.line(self._source, span)
        text = exact.decode_bytes(raw)
        node = scan(text, ("",))
        value = node.value if isinstance(node.value, dict) else {}
        parent = value.get("parentUuid")
        wanted = self._ancestor(parent)
        if typed:
            wanted = self._last if wanted in self._answered else wanted
            self._answered.add(wanted)
        member = node.member("parentUuid")
        made = value.get("uuid")
        if isinstance(made, str):
            self._note(made)
        if isinstance(value.get("timestamp"), str):
            self._time = value["timestamp"]
        if member is None or parent == wanted:
            return raw
        # Bytes that are no UTF-8 would shift the offsets behind them; the envelope has none.
        offsets = Bytes(text, raw)
        start, end = offsets.at(member.node.start), offsets.at(member.node.end)
        if raw[start:end] != text[member.node.start : member.node.end].encode():
            return raw
        return raw[:start] + exact.dump_bytes(wanted) + raw[end:]

    def _ancestor(self, parent: object) -> str | None:
        steps = 0
        while isinstance(parent, str) and steps <= len(self._parents):
            if parent in self._written:
                return parent
            parent = self._parents.get(parent)
            steps += 1
        return self._last

    def _made(self, message: Message, index: int, envelope: Mapping[str, Any]) -> Iterator[bytes]:
        """Lines for a message that was not in the file, such as the summary."""
        notes = self._notes.at(index)
        if message.role in ("system", "developer") and not message.summary:
            notes.tell("system-inside", f"a {message.role} message")
        rendered = anthropic_like.render_message(message, Ids(verbatim=True), notes)
        if rendered is None:
            notes.tell("empty-message", "a message")
            return
        made = _new_id(message.role, message.text, self._last)
        if message.typed:
            self._answered.add(self._last)
        record: dict[str, Any] = {"parentUuid": self._last, **envelope}
        record["type"] = rendered["role"]
        record["message"] = _message(rendered, made, self._session.model)
        if message.summary and rendered["role"] == "user":
            record["isVisibleInTranscriptOnly"] = True
            record["isCompactSummary"] = True
        record["uuid"] = made
        record["timestamp"] = message.time or self._time
        self._note(made)
        yield _line(record)


def _boundary(made: str, time: str, envelope: Mapping[str, Any], before: int) -> dict[str, Any]:
    """The line that says that the context starts anew; `before` is what it held, in tokens."""
    return {
        "parentUuid": None,
        "logicalParentUuid": None,
        **envelope,
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "timestamp": time,
        "uuid": made,
        "level": "info",
        "compactMetadata": {"trigger": "manual", "preTokens": before},
    }


def _message(rendered: Mapping[str, Any], made: str, model: str) -> dict[str, Any]:
    if rendered["role"] == "user":
        return {"role": "user", "content": rendered["content"]}
    content = rendered["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return {
        "id": f"msg_{made.replace('-', '')}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _parents(source: Source) -> dict[str, object]:
    """The parent of every line that has an id."""
    found: dict[str, object] = {}
    for value, _ in records(source, ReadOptions(), Faults()):
        own = value.get("uuid")
        if isinstance(own, str):
            # A boundary has no parent; the line it follows stands beside it.
            found.setdefault(own, value.get("parentUuid") or value.get("logicalParentUuid"))
    return found


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Iterator[bytes]:
    """A transcript of messages that come from another format."""
    turns = as_responses(messages, session, notes)
    request = anthropic_like.render(turns, notes, session.format)
    if request.system:
        notes.at(0).tell("system", "the system prompt")
    session_id = _new_id("session", session.format, session.source.size, len(messages))
    time = next((message.time for message in messages if message.time), _NO_TIME)
    last: str | None = None
    envelope = {
        "isSidechain": False,
        "userType": "external",
        "cwd": "/",
        "sessionId": session_id,
        "version": "2.0.0",
        "gitBranch": "",
    }
    summaries = {message.text for message in messages if message.summary}
    if summaries:
        last = _new_id(session_id, "boundary")
        yield _line(_boundary(last, time, envelope, 0))
    for number, rendered in enumerate(request.messages):
        made = _new_id(session_id, number)
        record: dict[str, Any] = {"parentUuid": last, **envelope, "type": rendered["role"]}
        record["message"] = _message(rendered, made, session.model)
        content = rendered["content"]
        if isinstance(content, str) and content in summaries:
            record["isVisibleInTranscriptOnly"] = True
            record["isCompactSummary"] = True
        record["uuid"] = made
        record["timestamp"] = time
        last = made
        yield _line(record)
