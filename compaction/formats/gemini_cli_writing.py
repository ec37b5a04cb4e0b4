"""Messages as records of a Gemini CLI session."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compaction.formats.base import Written
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import gemini_rendering
from compaction.formats.dialects.notes import Notes
from compaction.messages import Message, Session

_NAMESPACE = uuid.UUID("5b0c2c3e-5d0e-5f0a-9f0e-3c8c7b3f2a71")
_NO_TIME = "1970-01-01T00:00:00.000Z"

Record = dict[str, Any]


def renderer(
    messages: Sequence[Message], notes: Notes, session: Session
) -> Callable[[Message], list[Record]]:
    """How one message among `messages` becomes records."""
    numbers = {id(message): index for index, message in enumerate(messages)}

    def render(message: Message) -> list[Record]:
        index = numbers.get(id(message), 0)
        notes.at(index)
        if message.role in ("system", "developer") and not message.summary:
            notes.tell("system", "a system message")
            return []
        content = gemini_rendering.render_content(message, notes, session.format)
        time = _time(messages, index)
        return [_record(content, time, index, message.model)] if content else []

    return render


def foreign(messages: Sequence[Message], session: Session) -> Written:
    """A whole document of messages that come from another format."""
    from compaction.formats.gemini_cli import TITLE

    notes = Notes(TITLE)
    turns = as_responses(messages, session, notes)
    leading = 0
    while leading < len(turns) and turns[leading].role in ("system", "developer"):
        notes.at(leading).tell("system", "a system message")
        leading += 1
    request = gemini_rendering.render(turns[leading:], notes, session.format)
    time = _time(messages, 0)
    records: list[Record] = []
    for index, content in enumerate(request.contents):
        record = _record(content, time, index, session.model)
        if not _joined(record, records):
            records.append(record)
    last = next((one.time for one in reversed(messages) if one.time), time)
    document = {
        "sessionId": str(uuid.uuid5(_NAMESPACE, f"{session.format}\0{session.source.size}")),
        "projectHash": hashlib.sha256(session.format.encode()).hexdigest(),
        "startTime": time,
        "lastUpdated": last,
        "messages": records,
    }
    return whole(document, notes)


def _record(content: Mapping[str, Any], time: str, index: int, model: str) -> Record:
    parts = content["parts"]
    record: Record = {
        "id": str(uuid.uuid5(_NAMESPACE, f"{index}\0{time}\0{parts!r}")),
        "timestamp": time,
    }
    if content["role"] == "user":
        return {**record, "type": "user", "content": parts}
    said = [part for part in parts if "functionCall" not in part]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    record = {**record, "type": "gemini", "content": said}
    if any("thoughtSignature" in part for part in parts):
        # A signature belongs to its very part, so all of them stay parts.
        record["content"] = parts
    elif all(set(part) == {"text"} for part in said):
        record["content"] = "\n\n".join(part["text"] for part in said)
    if calls:
        record["toolCalls"] = [
            {
                "id": call.get("id") or f"{call['name']}-{number}",
                "name": call["name"],
                "args": call.get("args", {}),
                "status": "success",
                "timestamp": time,
            }
            for number, call in enumerate(calls, 1)
        ]
    return {**record, "model": model} if model else record


def _joined(record: Record, records: list[Record]) -> bool:
    """Put results into the record that made the calls; False where something else is left."""
    last = records[-1] if records else {}
    calls = {call["id"]: call for call in last.get("toolCalls", ())}
    if record["type"] != "user" or not calls:
        return False
    rest: list[Any] = []
    taken: Record | None = None
    order = iter(last["toolCalls"])
    for part in record["content"]:
        answer = part.get("functionResponse")
        if answer is not None:
            taken = calls.get(answer["id"]) if "id" in answer else next(order, None)
            if taken is None:
                rest.append(part)
                continue
            answer.setdefault("id", taken["id"])
            taken.setdefault("result", []).append(part)
            if "error" in answer["response"]:
                taken["status"] = "error"
        else:
            rest.append(part)
    record["content"] = rest
    return not rest


def _time(messages: Sequence[Message], index: int) -> str:
    """The time of a message, or of the nearest before or after it."""
    before = next((one.time for one in reversed(messages[: index + 1]) if one.time), "")
    return before or next((one.time for one in messages[index:] if one.time), _NO_TIME)
