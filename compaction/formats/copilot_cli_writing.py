"""Writing a Copilot event log: kept events as they are, each linked to the one before it.

The tool resumes a session by taking its events in order. What is left out goes with the events
that only belong to it; the unchanged end of a session keeps all of its events.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.base import ReadOptions, Written
from compaction.formats.converting import as_responses, is_same
from compaction.formats.copilot_cli import NAME, TITLE, EventLog
from compaction.formats.copilot_cli_reading import SUMMARY
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonl import Faults, records
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.mending import Mended
from compaction.formats.sketching import stands_in
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Session,
    Span,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_NAMESPACE = uuid.UUID("c1d0b6a4-62a7-5c1e-8f0b-3f4ad6a0f7c2")
_NO_TIME = "1970-01-01T00:00:00.000Z"

#: Events that are messages, or end with one; they stay only with it.
_WITH_MESSAGES = frozenset(
    {
        "user.message",
        "assistant.message",
        "system.message",
        "tool.execution_complete",
        "session.compaction_start",
        "session.compaction_complete",
        "session.context_cleared",
        "session.snapshot_rewind",
    }
)


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a log; the very file when nothing of it was changed."""
    native = isinstance(session.document, EventLog) and session.format == NAME
    notes, mended = Notes(TITLE), Mended()
    if native and is_same(messages, session.messages):
        return mended.file(session.source)
    writing = _Writing(session, notes, mended)
    chunks = tuple(writing.own(messages) if native else writing.foreign(messages))
    return Written(chunks, (*notes.findings(), *mended.findings()))


class _Writing:
    """One log being written."""

    def __init__(self, session: Session, notes: Notes, mended: Mended) -> None:
        self._session = session
        self._source = session.source
        self._notes = notes
        self._mended = mended
        self._ids: set[str] = set()
        self._last: str | None = None
        self._time = next((one.time for one in session.messages if one.time), _NO_TIME)

    # ------------------------------------------------------------------------------- own

    def own(self, messages: Sequence[Message]) -> Iterator[bytes]:
        """The events of a log made from those of another."""
        document = self._session.document
        assert isinstance(document, EventLog)
        starts = dict(document.starts)
        tail = _tail(messages, self._session)
        front = messages[: len(messages) - len(tail)]
        first = tail[0].spans[0].start if tail else self._source.size
        for span in document.header:
            if span.start < first:
                yield self._kept(span)
        for index, message in enumerate(front):
            if not stands_in(message, self._source) or _would_hide(messages, index):
                yield from self._made(message, index)
                continue
            for call in message.results:
                if call in starts and starts[call].start < message.spans[0].start < first:
                    yield self._kept(starts[call])
            yield self._kept(message.spans[0])
        if not tail:
            return
        staying = {message.spans[0].start for message in tail}
        calls = {call for message in messages for call in message.calls}
        for event, span in records(self._source, ReadOptions(), Faults()):
            if span.start < first:
                continue
            if span.start in staying or not _belongs_to_message(event, calls):
                yield self._kept(span)

    def _kept(self, span: Span) -> bytes:
        """One event as it was read; it names the event before it, if its own is not written."""
        raw = self._mended.line(self._source, span)
        text = exact.decode_bytes(raw)
        node = scan(text)
        value = node.value if isinstance(node.value, dict) else {}
        member = node.member("parentId")
        parent, before = value.get("parentId"), self._last
        made = value.get("id")
        if isinstance(made, str):
            self._ids.add(made)
            self._last = made
        if isinstance(value.get("timestamp"), str):
            self._time = value["timestamp"]
        if member is None or parent == before or (isinstance(parent, str) and parent in self._ids):
            return raw
        offsets = Bytes(text, raw)
        start, end = offsets.at(member.node.start), offsets.at(member.node.end)
        if raw[start:end] != text[member.node.start : member.node.end].encode():
            # Bytes that are no UTF-8 shift what stands behind them.
            return raw
        return raw[:start] + exact.dump_bytes(before) + raw[end:]

    def _event(self, kind: str, data: Mapping[str, Any]) -> bytes:
        made = _new_id(kind, exact.dumps(data), self._last)
        record = {
            "type": kind,
            "data": data,
            "id": made,
            "timestamp": self._time,
            "parentId": self._last,
        }
        self._last = made
        self._ids.add(made)
        return exact.dump_bytes(record) + b"\n"

    # ------------------------------------------------------------------------- rendering

    def foreign(self, messages: Sequence[Message]) -> Iterator[bytes]:
        """A log of messages that come from another format."""
        session = self._session
        turns = as_responses(messages, session, self._notes)
        start: dict[str, Any] = {
            "sessionId": _new_id("session", session.format, session.source.size, len(messages)),
            "version": 1,
            "producer": "copilot-agent",
            "copilotVersion": "0.0.0",
            "startTime": self._time,
        }
        if session.model:
            start["selectedModel"] = session.model
        yield self._event("session.start", start)
        for index, message in enumerate(turns):
            yield from self._made(message, index)

    def _made(self, message: Message, index: int) -> Iterator[bytes]:
        """The events of a message that was in no event log, such as the summary."""
        self._notes.at(index)
        self._time = message.time or self._time
        parts = message.parts
        results = [part for part in parts if isinstance(part, ToolResult)]
        rest = [part for part in parts if not isinstance(part, ToolResult)]
        for result in results:
            yield from self._result(result)
        system = message.role in ("system", "developer")
        if system and index:
            # A later system prompt replaces the one before it.
            self._notes.tell("system-inside", f"a {message.role} message")
        if system and not index:
            text = "\n".join(one for part in rest if (one := self._text(part)))
            yield self._event("system.message", {"role": message.role, "content": text})
        elif message.role == "assistant":
            yield self._event("assistant.message", self._response(rest))
        elif rest or not results:
            yield self._event("user.message", self._said(rest))

    def _result(self, result: ToolResult) -> Iterator[bytes]:
        texts = [part.text for part in result.content if not isinstance(part, Media)]
        pictures = [part for part in result.content if isinstance(part, Media)]
        held: dict[str, Any] = {"content": "\n".join(texts)}
        blocks = [
            {"type": "image", "data": one.data, "mimeType": one.mime}
            for one in pictures
            if one.data
        ]
        if len(blocks) < len(pictures):
            self._notes.tell("media", "a picture of a tool result")
            held["content"] = "\n".join([*texts, *(one.label for one in pictures if not one.data)])
        if blocks:
            held["contents"] = blocks
        data = {"toolCallId": result.call_id, "success": not result.is_error, "result": held}
        yield self._event("tool.execution_complete", data)

    def _response(self, parts: Sequence[Part]) -> dict[str, Any]:
        texts: list[str] = []
        calls: list[dict[str, Any]] = []
        thinking: list[str] = []
        for part in parts:
            if isinstance(part, Thinking):
                if part.text:
                    thinking.append(part.text)
                else:
                    self._notes.tell("thinking", "reasoning of another provider")
            elif isinstance(part, ToolCall):
                calls.append(
                    {
                        "toolCallId": part.id,
                        "name": part.name,
                        "arguments": _arguments(part.arguments),
                        "type": "function",
                    }
                )
            elif text := self._text(part):
                texts.append(text)
        content = "\n".join(texts)
        data: dict[str, Any] = {
            "messageId": _new_id("message", content, self._last),
            "content": content,
            "toolRequests": calls,
        }
        return {**data, "reasoningText": "\n".join(thinking)} if thinking else data

    def _said(self, parts: Sequence[Part]) -> dict[str, Any]:
        attachments = [
            {"type": "blob", "data": part.data, "mimeType": part.mime, "displayName": part.name}
            for part in parts
            if isinstance(part, Media) and part.data
        ]
        told = [p for p in parts if not (isinstance(p, Media) and p.data)]
        content = "\n".join(text for part in told if (text := self._text(part)))
        return {"content": content, "attachments": attachments}

    def _text(self, part: Part) -> str:
        match part:
            case Text(text=text):
                return text
            case Media():
                self._notes.tell("media", f"{part.mime or part.kind} content")
                return part.label
            case Opaque(kind=kind, text=text):
                self._notes.tell("opaque", f"a block of type {kind}")
                return text
            case Thinking():
                self._notes.tell("thinking", "reasoning of another provider")
                return ""
            case ToolCall(name=name, arguments=arguments):
                self._notes.tell("opaque", f"a call of {name} outside an assistant message")
                return f"{name} {arguments}"
            case ToolResult():
                return part.text
        raise AssertionError("unreachable")


def _tail(messages: Sequence[Message], session: Session) -> list[Message]:
    """The end of the list that is the end of the session, in the order of the file."""
    out: list[Message] = []
    for message, own in zip(reversed(messages), reversed(session.messages), strict=False):
        if message is not own or not stands_in(message, session.source):
            break
        if out and message.spans[0].start > out[-1].spans[0].start:
            break
        if _would_hide(messages, len(messages) - len(out) - 1):
            break
        out.append(message)
    return out[::-1]


def _would_hide(messages: Sequence[Message], index: int) -> bool:
    """Whether a message is a recorded compaction behind others, which it would stand for."""
    return messages[index].pointer == SUMMARY and any(
        message.role != "system" for message in messages[:index]
    )


def _belongs_to_message(event: Mapping[str, Any], calls: set[str]) -> bool:
    """Whether an event is written only with a message that is kept."""
    kind, data = event.get("type"), event.get("data")
    if not isinstance(data, dict) or event.get("agentId") or data.get("parentToolCallId"):
        return False
    if kind == "tool.execution_start":
        return text_of(data.get("toolCallId")) not in calls
    return isinstance(kind, str) and kind in _WITH_MESSAGES


def _arguments(text: str) -> object:
    try:
        value = exact.loads(text)
    except exact.ExactError:
        return text
    # Text that would come out differently, such as one with spaces, stays text.
    return value if isinstance(value, dict) and exact.dumps(value) == text else text


def _new_id(*parts: object) -> str:
    text = "\0".join(str(part) for part in parts)
    return str(uuid.uuid5(_NAMESPACE, text.encode("utf-8", "replace").decode()))
