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
from compaction.formats.codex import NAME, TITLE, Rollout
from compaction.formats.codex_items import ItemBody
from compaction.formats.converting import is_same
from compaction.formats.dialects import responses_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonl import Faults, records
from compaction.formats.jsonspans import scan
from compaction.formats.mending import Mended
from compaction.messages import Message, Session, Source

_NAMESPACE = uuid.UUID("0f7a6c52-94f0-5d0c-8f2b-6d8e0c2f4a10")
_NO_TIME = "1970-01-01T00:00:00.000Z"

#: Records that are kept where they stand after the first kept line.
_KEPT = frozenset({"event_msg", "turn_context"})


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a rollout; the very file when nothing of it was changed."""
    document = session.document
    mended = Mended()
    native = isinstance(document, Rollout) and session.format == NAME
    if native and is_same(messages, session.messages):
        return mended.file(session.source)
    notes = Notes(TITLE)
    if isinstance(document, Rollout) and native and not document.flat:
        chunks = tuple(_own(messages, session, document, notes, mended))
    else:
        chunks = tuple(_foreign(messages, session, notes))
    return Written(chunks, (*notes.findings(), *mended.findings()))


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
    messages: Sequence[Message],
    session: Session,
    document: Rollout,
    notes: Notes,
    mended: Mended,
) -> Iterator[bytes]:
    """The lines of a rollout made from those of another."""
    source = session.source
    meta = document.meta
    if meta is not None:
        yield mended.line(source, meta)
    else:
        # A piece of a rollout has no first line; without one the tool does not resume it.
        yield _line(_meta(session, len(messages), _time(messages)))
    body = [m for m in messages if not (_stands_in(m, source) and meta in m.spans)]
    if session.messages[:1] and len(body) == len(messages) and _is_prompt(session.messages[0]):
        notes.at(0).tell("kept-system", "the system prompt")
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
            str(value.get("type")) in _KEPT and not document.rolled_back and not _is_rollback(value)
        ):
            yield mended.line(source, span)


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
            return [_payload(session.source.raw(message.spans[0]))]
    notes.at(index)
    rendered = responses_like.render_items(message, Ids(verbatim=True), notes)
    return [exact.dump_bytes(item) for item in rendered]


def _payload(raw: bytes) -> bytes:
    """The item of a line, with its own bytes."""
    text = exact.decode_bytes(raw)
    member = scan(text).member("payload")
    assert member is not None
    item = text[member.node.start : member.node.end].encode()
    return item if exact.is_valid(item) else exact.dump_bytes(member.node.value)


def _is_prompt(message: Message) -> bool:
    return message.role == "system" and "instructions" in message.pointer


def _meta(session: Session, number: int, time: str) -> dict[str, Any]:
    """A first line for a session that has none of its own."""
    made = uuid.uuid5(_NAMESPACE, f"{session.format}\0{session.source.size}\0{number}")
    payload = {
        "id": str(made),
        "timestamp": time,
        "cwd": "/",
        "originator": "compaction-workbench",
        "cli_version": "0.0.0",
        "source": "cli",
        "model_provider": "openai",
    }
    return {"timestamp": time, "type": "session_meta", "payload": payload}


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Iterator[bytes]:
    """A rollout of messages that come from another format."""
    instructions, items = responses_like.render(messages, notes, session.format)
    time = _time(messages)
    meta = _meta(session, len(items), time)
    if instructions is not None:
        meta["payload"]["base_instructions"] = {"text": instructions}
    yield _line(meta)
    for item in items:
        item = item if "type" in item else {"type": "message", **item}
        yield _line({"timestamp": time, "type": "response_item", "payload": item})
