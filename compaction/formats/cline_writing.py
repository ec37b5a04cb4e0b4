"""Writing for Cline: kept messages as they are, new ones with the members its own have."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.cline import NAME, TITLE, is_roo
from compaction.formats.cline_messages import is_message
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.layout import Layout, Listing, place, write_back
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session

_NAMESPACE = uuid.UUID("7e2b6d2e-55d4-5f0e-8a53-0d6c2a1b9f30")
_NO_TIME = 0


def write(messages: Sequence[Message], session: Session) -> Written:
    """`messages` in the file they came from, or in a new file of the SDK."""
    notes = Notes(TITLE)
    layout = place(messages, session, NAME)
    if layout is None:
        return _foreign(messages, session, notes)
    making = _Making(messages, session, notes)
    written = write_back(messages, session, _without_hidden(layout, session), making.render)
    return Written(written.chunks, (*written.findings, *notes.findings()))


class _Making:
    """Makes the messages that are new in a file."""

    def __init__(self, messages: Sequence[Message], session: Session, notes: Notes) -> None:
        self._notes = notes
        self._session = session
        self._places = {id(message): index for index, message in enumerate(messages)}
        self._times = _times(messages, session)
        self._sdk = not session.source.data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
        # Roo starts from its newest summary, so only one that leads the list is marked.
        leads = next((m for m in messages if m.role not in ("system", "developer")), None)
        self._marked = leads if leads is not None and leads.summary and is_roo(session) else None

    def render(self, message: Message) -> list[dict[str, Any]]:
        """One message as the tool would have written it."""
        index = self._places.get(id(message))
        self._notes.at(index)
        if message.role in ("system", "developer") and not message.summary:
            self._notes.tell("system-inside", f"a {message.role} message")
        made = anthropic_like.render_message(message, Ids(verbatim=True), self._notes)
        if made is None:
            return []
        stamp = self._times[index or 0]
        record = _blocks(made)
        if self._sdk:
            record = {"id": _name(record, stamp), **record}
        if stamp:
            record["ts"] = stamp
        if self._sdk and message.summary:
            record["metadata"] = _metadata(message.text, self._session, stamp)
        elif message is self._marked:
            record["isSummary"] = True
            record["condenseId"] = str(uuid.uuid5(_NAMESPACE, exact.dumps(record)))
        return [record]


def _blocks(made: Mapping[str, Any]) -> dict[str, Any]:
    content = made["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return {"role": made["role"], "content": content}


def _name(record: Mapping[str, Any], stamp: int) -> str:
    return f"msg_{uuid.uuid5(_NAMESPACE, f'{stamp}{exact.dumps(record)}').hex[:12]}"


def _metadata(text: str, session: Session, stamp: int) -> dict[str, Any]:
    reported = [message.usage for message in session.messages if message.usage]
    before = reported[-1].context + reported[-1].output if reported else 0
    return {
        "kind": "compaction_summary",
        "summary": text,
        "details": {"readFiles": [], "modifiedFiles": []},
        "tokensBefore": before or sum(message.chars for message in session.messages) // 4,
        "generatedAt": stamp,
    }


def _times(messages: Sequence[Message], session: Session) -> list[int]:
    """For each message a time in milliseconds: its own, or right before the one it leads to."""
    out = [_milliseconds(one.time) if stands_in(one, session.source) else 0 for one in messages]
    following = 0
    for index in range(len(out) - 1, -1, -1):
        if not out[index] and following:
            out[index] = following - 1
        following = out[index] or following
    last = 0
    for index, stamp in enumerate(out):
        out[index] = stamp or (last + 1 if last else 0)
        last = out[index]
    return out


def _milliseconds(time: str) -> int:
    try:
        return int(datetime.fromisoformat(time).timestamp() * 1000) if time else _NO_TIME
    except (ValueError, OverflowError, OSError):
        return _NO_TIME


def _without_hidden(layout: Layout, session: Session) -> Layout:
    """A layout from which the messages that were not sent go, too.

    They name the summary that replaced them; without it they would be sent again.
    """
    if not session.left_out:
        return layout
    return replace(layout, listings=tuple(_only_others(each, session) for each in layout.listings))


def _only_others(listing: Listing, session: Session) -> Listing:
    source = session.source
    others = frozenset(
        index
        for index in listing.others
        if not is_message(exact.loads(source.raw(listing.elements[index])))
    )
    return replace(listing, others=others)


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Written:
    turns = as_responses(messages, session, notes)
    request = anthropic_like.render(turns, notes, session.format)
    time = next((one.time for one in reversed(messages) if one.time), "")
    stamp = _milliseconds(time)
    summaries = {message.text for message in messages if message.summary}
    listed: list[dict[str, Any]] = []
    for number, made in enumerate(request.messages):
        record = _blocks(made)
        record = {"id": _name(record, number), **record}
        if made["content"] in summaries if isinstance(made["content"], str) else False:
            record["metadata"] = _metadata(str(made["content"]), session, stamp)
        if made["role"] == "assistant" and session.model:
            record["modelInfo"] = {"id": session.model, "provider": "cline"}
        listed.append(record)
    moment = datetime.fromtimestamp(stamp / 1000, UTC)
    document: dict[str, Any] = {
        "version": 1,
        "updated_at": moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{stamp % 1000:03}Z",
        "agent": "lead",
        "sessionId": str(uuid.uuid5(_NAMESPACE, f"{session.format}{session.source.size}")),
        "messages": listed,
    }
    if request.system:
        document["system_prompt"] = "\n\n".join(
            str(block.get("text", "")) for block in request.system
        )
    return whole(document, notes)
