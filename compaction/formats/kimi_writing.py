"""Writing a Kimi Code log: records of what is kept, and new messages as records that add them.

Such a log needs no compaction to be played: it leaves the very list that was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.converting import as_responses
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.ids import CHAT_LIMIT, Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.kimi import NAME, TITLE, LinesBody, Wire, summary_in
from compaction.formats.mending import Mended
from compaction.messages import Message, Session, Span

#: The version of the protocol that a new log is of.
_PROTOCOL = "1.4"

#: Records that tell of what is gone when messages before the kept end go.
_PASSING = ("turn.", "llm.request", "usage.", "token_counting.", "permission.record_")

#: Records that change the list of messages, and would change the one that is written.
_CHANGING = ("context.", "full_compaction.", "micro_compaction.")


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a log; the very file when nothing of it was changed."""
    notes, mended = Notes(TITLE), Mended()
    wire = session.document
    if session.format == NAME and isinstance(wire, Wire):
        if len(messages) == len(wire.order) and _end(messages, session, wire) == len(messages):
            return mended.file(session.source)
        chunks = tuple(_own(messages, session, wire, notes, mended))
    else:
        chunks = tuple(_foreign(messages, session, notes))
    return Written(chunks, (*notes.findings(), *mended.findings()))


def _line(record: Mapping[str, Any]) -> bytes:
    return exact.dump_bytes(record) + b"\n"


def _stands_in(message: Message, session: Session) -> bool:
    return isinstance(message.body, LinesBody) and message.body.reads(session.source)


def _own(
    messages: Sequence[Message], session: Session, wire: Wire, notes: Notes, mended: Mended
) -> Iterator[bytes]:
    source = session.source
    end = _end(messages, session, wire)
    begin = messages[len(messages) - end].spans[0].start if end else source.size
    waiting = [span for span in wire.others if _stays(span, session, begin)]
    # The state comes before everything else; what is written anew has no place of its own.
    first = min(wire.order, default=0)
    while waiting and waiting[0].start < first:
        yield _other(waiting.pop(0), session, mended)
    ids = Ids(verbatim=True)
    time = 0
    for index, message in enumerate(messages):
        if not _stands_in(message, session):
            yield from _made(message, ids, notes.at(index), time)
            continue
        record = message.record
        while waiting and waiting[0].start < message.spans[0].start and message.role != "system":
            yield _other(waiting.pop(0), session, mended)
        if isinstance(record, Mapping) and record.get("type") == "context.apply_compaction":
            said = {"role": "user", "content": [{"type": "text", "text": summary_in(record)}]}
            yield _added(said, "compaction_summary", _milliseconds(message.time))
            continue
        time = _milliseconds(message.time) or time
        for span in message.spans:
            yield mended.line(source, span)
    for span in waiting:
        yield _other(span, session, mended)


def _end(messages: Sequence[Message], session: Session, wire: Wire) -> int:
    """How many messages are the unchanged end of the session."""
    count = 0
    for message, start in zip(reversed(messages), reversed(wire.order), strict=False):
        if not _stands_in(message, session) or message.spans[0].start != start:
            break
        count += 1
    return count


def _stays(span: Span, session: Session, begin: int) -> bool:
    kind = text_of(exact.loads(session.source.raw(span)).get("type"))
    if kind.startswith(_CHANGING):
        return False
    return span.start >= begin or not kind.startswith(_PASSING)


def _other(span: Span, session: Session, mended: Mended) -> bytes:
    """A record that is no message; the last system prompt is one, and no other may come again."""
    value = exact.loads(session.source.raw(span))
    if isinstance(value.get("systemPrompt"), str):
        return _line({k: v for k, v in value.items() if k != "systemPrompt"})
    return mended.line(session.source, span)


def _made(message: Message, ids: Ids, notes: Notes, time: int) -> Iterator[bytes]:
    """Records that add a message which was not in the log."""
    if message.role in ("system", "developer") and not message.summary:
        notes.tell("system-inside", f"a {message.role} message")
    for chat in openai_like.render_message(message, ids, notes):
        origin = "compaction_summary" if message.summary else "user"
        yield _added(_spelled(chat), origin if chat["role"] != "assistant" else "", time)


def _spelled(chat: Mapping[str, Any]) -> dict[str, Any]:
    """A chat message as the tool has it."""
    content = chat.get("content") or []
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    for number, block in enumerate(blocks):
        if block["type"] == "image_url":
            blocks[number] = {"type": "image_url", "imageUrl": block["image_url"]}
    role = "user" if chat["role"] in ("system", "developer") else chat["role"]
    message: dict[str, Any] = {"role": role, "content": blocks}
    message["toolCalls"] = [
        {"type": "function", "id": call["id"], **call["function"]}
        for call in chat.get("tool_calls", ())
    ]
    if role == "tool":
        message["toolCallId"] = chat["tool_call_id"]
    return message


def _added(message: Mapping[str, Any], origin: str, time: int) -> bytes:
    held = {"toolCalls": [], **message}
    if origin and held["role"] == "user":
        held["origin"] = {"kind": origin}
    record = {"type": "context.append_message", "message": held}
    return _line({**record, "time": time} if time else record)


def _milliseconds(time: str) -> int:
    try:
        return int(datetime.fromisoformat(time).timestamp() * 1000) if time else 0
    except (ValueError, OverflowError, OSError):
        return 0


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Iterator[bytes]:
    turns = as_responses(messages, session, notes)
    time = next((stamp for m in messages if (stamp := _milliseconds(m.time))), 0)
    yield _line({"type": "metadata", "protocol_version": _PROTOCOL, "created_at": time})
    config: dict[str, Any] = {"type": "config.update", "profileName": "agent"}
    leading = 0
    while leading < len(turns) and turns[leading].role in ("system", "developer"):
        if turns[leading].summary:
            break
        leading += 1
    if leading:
        config["systemPrompt"] = "\n\n".join(one.text for one in turns[:leading])
    if session.model:
        config["modelAlias"] = session.model
    yield _line({**config, "time": time})
    ids = Ids(limit=CHAT_LIMIT)
    for index, message in enumerate(turns[leading:], leading):
        yield from _made(message, ids, notes.at(index), time)
    notes.tell_ids(ids.changed)
