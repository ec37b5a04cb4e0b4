"""Writing a Qwen Code session: the kept end as it is, and before it what replaced the rest.

The tool resumes from the newest `chat_compression` line with the lines after it, so a compacted
list is written just so. That line takes the id of the one that the first kept line follows.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.converting import as_responses, is_same
from compaction.formats.dialects import gemini_rendering
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonspans import scan
from compaction.formats.mending import Mended
from compaction.formats.qwen_code import NAME, TITLE, Chat, LinesBody
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session, Source, Span

_NAMESPACE = uuid.UUID("6a1d3b40-0c57-5d77-9f2a-1f0f3c9a6e55")
_NO_TIME = "1970-01-01T00:00:00.000Z"

#: The tool's number for a compaction that worked.
_COMPRESSED = 1


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` as a file of the tool; the very file when nothing of it was changed."""
    mended, notes = Mended(), Notes(TITLE)
    if session.format == NAME and isinstance(session.document, Chat):
        if is_same(messages, session.messages):
            return mended.file(session.source)
        chunks = tuple(_own(messages, session, session.document, notes, mended))
    else:
        chunks = tuple(_foreign(messages, session, notes))
    return Written(chunks, (*notes.findings(), *mended.findings()))


def _line(record: Mapping[str, Any]) -> bytes:
    return exact.dump_bytes(record) + b"\n"


def _own(
    messages: Sequence[Message], session: Session, chat: Chat, notes: Notes, mended: Mended
) -> Iterator[bytes]:
    source = session.source
    tail = _tail(messages, session)
    replaced = messages[: len(messages) - len(tail)]
    first = tail[0].spans[0] if tail else None
    envelope = _envelope(messages, session, chat)
    kept = [span for span in chat.chain if first is not None and span.start >= first.start]
    parent: object = None
    if first is not None:
        parent = exact.loads(source.raw(first)).get("parentUuid")
    known = {_uuid(source, span) for span in kept}
    name = parent if isinstance(parent, str) and parent not in known else None
    for span in chat.titles:
        if span not in kept:
            yield mended.line(source, span)
    if replaced or not tail:
        name = name or str(uuid.uuid5(_NAMESPACE, f"{source.size}\0{len(replaced)}"))
        yield _compression(replaced, session, {"uuid": name, **envelope}, notes)
    else:
        name = None
    for span in kept:
        if span == first and parent != name:
            yield _line({**exact.loads(source.raw(span)), "parentUuid": name})
        else:
            yield mended.line(source, span)


def _tail(messages: Sequence[Message], session: Session) -> list[Message]:
    """The end of the list that is the end of the session, each message in lines of its own."""
    out: list[Message] = []
    for message, own in zip(reversed(messages), reversed(session.messages), strict=False):
        if message is not own or not isinstance(message.body, LinesBody):
            break
        out.append(message)
    return out[::-1]


def _envelope(messages: Sequence[Message], session: Session, chat: Chat) -> dict[str, Any]:
    """What every line says of the session, as its last one does."""
    last = exact.loads(session.source.raw(chat.chain[-1])) if chat.chain else {}
    said = {key: last[key] for key in ("sessionId", "cwd", "version", "gitBranch") if key in last}
    time = next((one.time for one in reversed(messages) if one.time), _NO_TIME)
    return {"parentUuid": None, "timestamp": time, **said}


def _compression(
    replaced: Sequence[Message], session: Session, envelope: Mapping[str, Any], notes: Notes
) -> bytes:
    contents: list[bytes] = []
    for index, message in enumerate(replaced):
        notes.at(index)
        if message.role in ("system", "developer") and not message.summary:
            notes.tell("system", "a system message")
        elif (content := _content(message, session.source, notes)) is not None:
            contents.append(content)
    before = sum(one.chars for one in session.messages) // 4
    after = sum(one.chars for one in replaced) // 4
    info = {
        "originalTokenCount": before,
        "newTokenCount": after,
        "compressionStatus": _COMPRESSED,
    }
    record = {**envelope, "type": "system", "subtype": "chat_compression"}
    opened = exact.dump_bytes({**record, "systemPayload": {"info": info}})
    # The kept contents go in with their own bytes, before the two closing braces.
    return opened[:-2] + b',"compressedHistory":[' + b",".join(contents) + b"]}}\n"


def _content(message: Message, source: Source, notes: Notes) -> bytes | None:
    """A message as one content, with the bytes it was read from where it has them."""
    body = message.body
    if isinstance(body, LinesBody) and body.reads(source):
        raw = _held(source, body.spans[0]) if len(body.spans) == 1 else b""
        if not raw or not exact.is_valid(raw):
            role = "model" if message.role == "assistant" else "user"
            raw = exact.dump_bytes({"role": role, "parts": body.content()})
        return raw
    if stands_in(message, source):
        raw = source.raw(message.spans[0])
        return raw if exact.is_valid(raw) else exact.dump_bytes(exact.loads(raw))
    content = gemini_rendering.render_content(message, notes, NAME)
    return None if content is None else exact.dump_bytes(content)


def _held(source: Source, span: Span) -> bytes:
    """The bytes of the content in a line."""
    text = exact.decode_bytes(source.raw(span))
    member = scan(text).member("message")
    return text[member.node.start : member.node.end].encode() if member else b""


def _uuid(source: Source, span: Span) -> object:
    return exact.loads(source.raw(span)).get("uuid")


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Iterator[bytes]:
    """A file of messages that come from another format."""
    turns = as_responses(messages, session, notes)
    leading = 0
    while leading < len(turns) and turns[leading].role in ("system", "developer"):
        notes.at(leading).tell("system", "a system message")
        leading += 1
    request = gemini_rendering.render(turns[leading:], notes, session.format)
    time = next((one.time for one in messages if one.time), _NO_TIME)
    origin = f"{session.format}\0{session.source.size}"
    parent: str | None = None
    number = 0
    for content in request.contents:
        for kind, parts in _split(content):
            number += 1
            name = str(uuid.uuid5(_NAMESPACE, f"{origin}\0{number}\0{parts!r}"))
            record = {
                "uuid": name,
                "parentUuid": parent,
                "sessionId": str(uuid.uuid5(_NAMESPACE, origin)),
                "timestamp": time,
                "type": kind,
                "cwd": "/",
                "version": "0.0.0",
                "message": {"role": content["role"], "parts": parts},
            }
            if kind == "assistant" and session.model:
                record["model"] = session.model
            yield _line(record)
            parent = name


def _split(content: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """A content as the lines it stands in: results apart from what the user says."""
    parts = content["parts"]
    if content["role"] == "model":
        yield "assistant", parts
        return
    results = [part for part in parts if "functionResponse" in part]
    rest = [part for part in parts if "functionResponse" not in part]
    if results:
        yield "tool_result", results
    if rest:
        yield "user", rest
