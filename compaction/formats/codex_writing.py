"""Writing a Codex rollout: the kept lines as they are, what was replaced in one `compacted` line.

The tool resumes from the newest `compacted` line with a `replacement_history` and the response
items after it, so a compacted list is written just so. Events that repeat a message which is gone
are left out with it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.base import ReadOptions, Written
from compaction.formats.codex import Codex, ItemBody, Rollout
from compaction.formats.converting import is_same
from compaction.formats.dialects import responses_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonl import Faults, records
from compaction.messages import Message, Session, Source

_NAMESPACE = uuid.UUID("0f7a6c52-94f0-5d0c-8f2b-6d8e0c2f4a10")
_NO_TIME = "1970-01-01T00:00:00.000Z"

#: Records that are kept where they stand after the first kept line.
_KEPT = frozenset({"event_msg", "turn_context"})


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a rollout; the very file when nothing of it was changed."""
    document = session.document
    native = isinstance(document, Rollout) and session.format == Codex.name
    if native and is_same(messages, session.messages):
        return Written((session.source.data,))
    notes = Notes(Codex.title)
    if isinstance(document, Rollout) and native and document.meta and not document.flat:
        return Written(tuple(_own(messages, session, document, notes)), notes.findings())
    return Written(tuple(_foreign(messages, session, notes)), notes.findings())


def _line(record: Mapping[str, Any]) -> bytes:
    return exact.dump_bytes(record) + b"\n"


def _stands_in(message: Message, source: Source) -> bool:
    return isinstance(message.body, ItemBody) and message.body.reads(source)


def _is_line(message: Message, source: Source) -> bool:
    body = message.body
    return isinstance(body, ItemBody) and body.reads(source) and body.is_line


def _time(messages: Sequence[Message]) -> str:
    return next((message.time for message in messages if message.time), _NO_TIME)


def _own(
    messages: Sequence[Message], session: Session, document: Rollout, notes: Notes
) -> Iterator[bytes]:
    """The lines of a rollout made from those of another."""
    source = session.source
    meta = document.meta
    assert meta is not None
    yield source.raw(meta).rstrip(b"\r\n") + b"\n"
    body = [m for m in messages if not (_stands_in(m, source) and meta in m.spans)]
    tail = _tail(body, session)
    replaced = body[: len(body) - len(tail)]
    if replaced or not tail:
        elements = [_element(m, i, session, notes) for i, m in enumerate(replaced)]
        joined = b",".join(one for each in elements for one in each)
        stamp = exact.dump_bytes(_time([*reversed(replaced), *tail]))
        yield (
            b'{"timestamp":' + stamp + b',"type":"compacted","payload":{"message":"",'
            b'"replacement_history":[' + joined + b"]}}\n"
        )
    if not tail:
        return
    kept = {message.spans[0].start for message in tail}
    first = tail[0].spans[0].start
    for value, span in records(source, ReadOptions(), Faults()):
        if span.start < first:
            continue
        if span.start in kept or (
            value.get("type") in _KEPT and not document.rolled_back and not _is_rollback(value)
        ):
            yield source.raw(span).rstrip(b"\r\n") + b"\n"


def _is_rollback(value: Mapping[str, Any]) -> bool:
    payload = value.get("payload")
    return isinstance(payload, dict) and payload.get("type") == "thread_rolled_back"


def _tail(body: Sequence[Message], session: Session) -> list[Message]:
    """The end of the list that is the end of the session, each message a line of its own."""
    out: list[Message] = []
    for message, own in zip(reversed(body), reversed(session.messages), strict=False):
        if message is not own or not _is_line(message, session.source):
            break
        out.append(message)
    return out[::-1]


def _element(message: Message, index: int, session: Session, notes: Notes) -> list[bytes]:
    """The items of a message inside a replacement history."""
    if _stands_in(message, session.source):
        body = message.body
        assert isinstance(body, ItemBody)
        if message.pointer.startswith("/payload/replacement_history/"):
            return [session.source.raw(message.spans[0])]
        if body.is_line:
            record = message.record
            if isinstance(record, dict):
                return [exact.dump_bytes(record["payload"])]
    notes.at(index)
    rendered = responses_like.render_items(message, Ids(verbatim=True), notes)
    return [exact.dump_bytes(item) for item in rendered]


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Iterator[bytes]:
    """A rollout of messages that come from another format."""
    instructions, items = responses_like.render(messages, notes, session.format)
    time = _time(messages)
    made = str(uuid.uuid5(_NAMESPACE, f"{session.format}\0{session.source.size}\0{len(items)}"))
    meta: dict[str, Any] = {
        "id": made,
        "timestamp": time,
        "cwd": "/",
        "originator": "compaction-workbench",
        "cli_version": "0.0.0",
        "source": "cli",
        "model_provider": "openai",
    }
    if instructions is not None:
        meta["base_instructions"] = {"text": instructions}
    yield _line({"timestamp": time, "type": "session_meta", "payload": meta})
    for item in items:
        item = item if "type" in item else {"type": "message", **item}
        yield _line({"timestamp": time, "type": "response_item", "payload": item})
