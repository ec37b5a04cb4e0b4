"""opencode exports, written: with other messages in them, or whole from another session.

A call and its result are one part there, so new messages are put together before they are laid
out. What is written can be imported: ids sort where the messages stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects.notes import Notes
from compaction.formats.layout import Layout, write_back
from compaction.formats.opencode_parts import info_of, mapping, parts_of
from compaction.formats.opencode_rendering import (
    EPOCH,
    answered,
    complete,
    hashed,
    maker_of,
    model_of,
    new_record,
)
from compaction.formats.pieces import PieceBody
from compaction.formats.sketching import stands_in
from compaction.messages import Inline, Message, Session, ToolCall, ToolResult

_PARENT = re.compile(rb'("parentID"\s*:\s*)"[^"\\]*"')


@dataclass(slots=True)
class _Unit:
    """Messages that are written as one: as they stand in the file, or as a record made new."""

    messages: list[Message]
    record: dict[str, Any] | None = None

    @property
    def info(self) -> Mapping[str, Any]:
        return info_of(self.record if self.record is not None else self.messages[0].record)


# --------------------------------------------------------------------------- the same session


def again(messages: Sequence[Message], session: Session, layout: Layout, title: str) -> Written:
    """The export that `session` was read from, with `messages` in it."""
    notes = Notes(title)
    units = _Joining(session, notes).units(messages)
    _place(units, session)
    parents = _parents(units)
    listed: list[Message] = []
    for unit in units:
        if unit.record is None:
            listed += unit.messages
        else:
            first = unit.messages[0]
            listed.append(Message(first.role, Inline(first.parts, unit.record)))

    def render(message: Message) -> list[object]:
        return [message.record]

    def repair(message: Message, raw: bytes) -> bytes | None:
        parent = parents.get(message.spans[0].start)
        if parent is None:
            return None
        return _PARENT.sub(lambda m: m[1] + exact.dump_bytes(parent), raw, count=1)

    written = write_back(listed, session, layout, render, repair)
    chunks = tuple(written.chunks)
    data = session.source.data
    if data.lstrip()[:1] == b"[" and layout.start:
        # A list of exports is made here of a database; the tool reads one.
        body = b"".join(chunks)
        chunks = (body[layout.start : len(body) - (session.source.size - layout.end)], b"\n")
    told = Finding(
        "info",
        "export-import",
        f"{title}: `opencode import` passes over messages that it has already.",
        remedy="delete the session in opencode before the import, or import elsewhere",
    )
    changed = any(unit.record is not None for unit in units)
    found = (*written.findings, *notes.findings())
    return Written(chunks, (*found, told) if changed else found)


class _Joining:
    """Puts messages together as opencode keeps them: a response with the results of its calls."""

    def __init__(self, session: Session, notes: Notes) -> None:
        self._session = session
        self._notes = notes
        self._units: list[_Unit] = []

    def units(self, messages: Sequence[Message]) -> list[_Unit]:
        """`messages` as the records they are written as."""
        for number, message in enumerate(messages):
            self._notes.at(number)
            if stands_in(message, self._session.source):
                self._standing(message)
            else:
                self._made(message)
        for unit in self._units:
            self._settle(unit)
        return self._units

    def _standing(self, message: Message) -> None:
        last = self._units[-1] if self._units else None
        if last is not None and message.spans in (last.messages[0].spans, last.messages[-1].spans):
            last.messages.append(message)
        else:
            self._units.append(_Unit([message]))

    def _made(self, message: Message) -> None:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        for result in results:
            self._answer(result, message)
        if rest or not results:
            record = new_record(message.role, rest, self._notes)
            if message.role in ("system", "developer"):
                self._notes.tell("system-inside", f"a {message.role} message")
            if record["parts"]:
                self._units.append(_Unit([message], record))
            else:
                self._notes.tell("empty-message", "a message")

    def _answer(self, result: ToolResult, message: Message) -> None:
        for unit in reversed(self._units[-20:]):
            if result.call_id not in {call for one in unit.messages for call in one.calls}:
                continue
            if unit.record is None:
                unit.record = _partly(unit.messages)
            for part in unit.record["parts"]:
                if part.get("type") == "tool" and part.get("callID") == result.call_id:
                    part["state"] = answered(mapping(part.get("state")), result, self._notes)
            return
        call = ToolCall(result.call_id, result.name or message.tool, "{}")
        record = new_record("assistant", [call], self._notes)
        record["parts"][0]["state"] = answered({}, result, self._notes)
        self._units.append(_Unit([message], record))

    def _settle(self, unit: _Unit) -> None:
        """Make a record new of which not all messages are left."""
        body = unit.messages[0].body
        standing = unit.record is None and isinstance(body, PieceBody)
        if standing and isinstance(body, PieceBody) and len(unit.messages) < body.count:
            unit.record = _partly(unit.messages)


def _partly(messages: Sequence[Message]) -> dict[str, Any]:
    """The record of standing messages, with what they come from."""
    body = messages[0].body
    if isinstance(body, PieceBody):
        indexes = [one.body.index for one in messages if isinstance(one.body, PieceBody)]
        record = body.kept(indexes)
    else:
        record = messages[0].record
    held = mapping(record)
    return {**held, "parts": [dict(part) for part in parts_of(held)]}


def _place(units: Sequence[_Unit], session: Session) -> None:
    """Give new records the ids, the time and the model that fit where they stand."""
    sample = next((unit.info for unit in units if unit.record is None), {})
    agent = next((i["agent"] for u in units if isinstance((i := u.info).get("agent"), str)), None)
    owner = sample.get("sessionID")
    if not isinstance(owner, str):
        owner = "ses_" + hashed(session.source.data[:65536], 26)
    before: Mapping[str, Any] = {}
    for number, unit in enumerate(units):
        if unit.record is not None and not unit.record["info"].get("id"):
            after = next((one.info for one in units[number + 1 :] if one.info.get("id")), {})
            near = before or after
            seed = exact.dump_bytes(unit.record["parts"])
            name = before.get("id")
            made = _between(name if isinstance(name, str) else "", seed)
            created = mapping(near.get("time")).get("created")
            complete(unit.record, made, owner, created, model_of(near, session), agent)
            if unit.record["info"]["role"] == "assistant":
                unit.record["info"]["parentID"] = made
        before = unit.info


def _between(before: str, seed: bytes) -> str:
    """An id behind `before`, and before all that come behind that."""
    if before.startswith("msg"):
        return before + hashed(seed, 8)
    return "msg_" + "0" * 12 + hashed(seed, 14)


def _parents(units: Sequence[_Unit]) -> dict[int, str]:
    """For responses whose user message is gone, the one that stands before them: set in new
    records, by the place of the record for those that stand.
    """
    out: dict[int, str] = {}
    users: set[object] = set()
    last = ""
    for unit in units:
        info = unit.info
        name = info.get("id")
        if info.get("role") == "user" and isinstance(name, str):
            users.add(name)
            last = name
        elif last and isinstance(of := info.get("parentID"), str) and of not in users:
            if unit.record is not None:
                unit.record["info"] = {**info, "parentID": last}
            else:
                out[unit.messages[0].spans[0].start] = last
    return out


# --------------------------------------------------------------------------- another session


def export(messages: Sequence[Message], session: Session, title: str) -> Written:
    """A whole export of a session from elsewhere."""
    notes = Notes(title)
    turns: list[Message] = []
    for index, message in enumerate(as_responses(messages, session, notes)):
        if message.role in ("system", "developer"):
            notes.at(index).tell("system", "a system prompt")
        else:
            turns.append(message)
    units = _Joining(Session(session.source, "", ()), notes).units(
        [Message(m.role, Inline(m.parts), calls=m.calls, tool=m.tool, time=m.time) for m in turns]
    )
    seed = exact.dump_bytes([unit.record for unit in units])
    owner = "ses_" + hashed(seed, 26)
    model = (maker_of(session.model), session.model or "unknown")
    time = next((t for unit in units if (t := _milliseconds(unit.messages[0].time))), EPOCH)
    started = time
    parent = ""
    for number, unit in enumerate(units):
        assert unit.record is not None
        time = max(time, _milliseconds(unit.messages[0].time))
        stamp = (started * 4096 + number) & (2**48 - 1)
        name = f"msg_{stamp:012x}{hashed(seed + str(number).encode(), 14)}"
        complete(unit.record, name, owner, time, model, None)
        if unit.record["info"]["role"] == "user":
            parent = name
        elif parent:
            unit.record["info"]["parentID"] = parent
    info = {
        "id": owner,
        "slug": f"imported-{hashed(seed, 8)}",
        "version": "1.0.0",
        "projectID": "global",
        "directory": "/",
        "title": session.title or "Imported session",
        "time": {"created": started, "updated": time},
    }
    return whole({"info": info, "messages": [unit.record for unit in units]}, notes)


def _milliseconds(time: str) -> int:
    try:
        moment = datetime.fromisoformat(time)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0, int(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0
