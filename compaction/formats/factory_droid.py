"""Factory Droid sessions (`~/.factory/sessions/**/*.jsonl`): lines around Anthropic messages."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape, last_with
from compaction.formats.converting import as_responses
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import Layout, place, write_back
from compaction.formats.listpaths import records_of
from compaction.formats.sketching import stands_in
from compaction.marker import is_own_summary
from compaction.messages import Message, Part, Session, Source, Text

NAME = "factory-droid"

_NAMESPACE = uuid.UUID("d201d6a0-6a5c-5f6b-9f32-1c1c7f2b7a55")
_NO_TIME = "1970-01-01T00:00:00.000Z"

_REMINDER = "<system-reminder>"


def _message(line: Mapping[str, Any]) -> Mapping[str, Any]:
    held = line.get("message")
    return held if isinstance(held, Mapping) else {}


def _is_start(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "session_start"


def is_line(value: object) -> bool:
    """Whether a value is a line that comes after the first."""
    return (
        isinstance(value, Mapping) and isinstance(value.get("type"), str) and not _is_start(value)
    )


def _parse(line: Mapping[str, Any]) -> tuple[Part, ...]:
    if _summary(line):
        return (Text(text_of(line.get("summaryText"))),)
    return anthropic_like.parse_blocks(_message(line))


def _role(line: Mapping[str, Any], parts: Sequence[Part]) -> str:
    return anthropic_like.message_role(_message(line), parts) or "user"


def _summary(line: Mapping[str, Any]) -> str:
    text = line.get("summaryText")
    if line.get("type") != "compaction_state" or not isinstance(text, str) or not text:
        return ""
    return "compaction" if is_own_summary(text) else NAME


def _hidden(values: Sequence[object], _: Mapping[str, Any]) -> dict[int, str]:
    return {
        index: "state of the client"
        for index, value in enumerate(values)
        if isinstance(value, Mapping) and not _message(value) and not _summary(value)
    }


def _facts(line: Mapping[str, Any]) -> Facts:
    texts = [part.text.lstrip() for part in _parse(line) if isinstance(part, Text)]
    reminds = bool(texts) and all(text.startswith(_REMINDER) for text in texts)
    return Facts(
        model=text_of(_message(line).get("model")),
        injected=reminds and _message(line).get("role") == "user",
    )


def _about(line: Mapping[str, Any], _: object) -> Mapping[str, Any]:
    title = text_of(line.get("title")) or text_of(line.get("sessionTitle"))
    return {"title": title} if title else {}


SHAPE = Shape(
    format=NAME,
    lists=(),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_line,
    live_from=last_with(_summary),
    hidden=_hidden,
    facts=_facts,
    summary=_summary,
    about=_about,
    heading=_is_start,
)


class FactoryDroid:
    """The format."""

    name = NAME
    title = "Factory Droid"
    dialect: Dialect = "anthropic"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A `session_start` line, and messages in lines with an id and a time."""
        starts = any(
            isinstance(line, Mapping) and _is_start(line) and "id" in line and "payload" not in line
            for line in sample.lines
        )
        others = [line for line in sample.lines if is_line(line)]
        spoken = any(isinstance(one, Mapping) and bool(_message(one)) for one in others)
        return starts and (spoken or not others)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages, from the last compaction on when live."""
        return chatfile.read(open_document(source, frozenset()), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same lines with other messages; a new session for one from elsewhere."""
        notes = Notes(self.title)
        layout = place(messages, session, NAME)
        if layout is None:
            return _foreign(messages, session, notes)
        lines = _Lines(messages, session, layout, notes)
        written = write_back(
            messages, session, _with_start(layout, session), lines.render, lines.repair
        )
        return Written(written.chunks, (*written.findings, *notes.findings()))


def _with_start(layout: Layout, session: Session) -> Layout:
    """A layout in which state from before the window goes with the messages it was about."""
    if session.history != "live" or not session.compactions:
        return layout
    first = min(layout.order, default=0)
    listings = []
    for each in layout.listings:
        spans = each.elements
        others = frozenset(
            index
            for index in each.others
            if spans[index].start >= first
            or _is_start(exact.loads(session.source.raw(spans[index])))
        )
        listings.append(replace(each, others=others))
    return replace(layout, listings=tuple(listings))


class _Lines:
    """Makes new lines, and hangs lines that name their parent below the message before them."""

    def __init__(
        self, messages: Sequence[Message], session: Session, layout: Layout, notes: Notes
    ) -> None:
        self._notes = notes
        records = records_of(layout, session.source)
        self._messages = {text_of(one.get("id")) for one in records if _message(one)}
        self._last: str | None = None
        self._linked = any("parentId" in one for one in records if _message(one))
        times = [m.time if stands_in(m, session.source) else "" for m in messages]
        following = next((one for one in reversed(times) if one), _NO_TIME)
        self._times: dict[int, str] = {}
        for message, time in zip(reversed(messages), reversed(times), strict=True):
            following = time or following
            self._times[id(message)] = following

    def render(self, message: Message) -> list[dict[str, Any]]:
        """One message as a line."""
        made = anthropic_like.render_message(message, Ids(verbatim=True), self._notes)
        if made is None:
            return []
        line = _line(made, self._times[id(message)])
        if self._linked:
            line["parentId"] = self._last
        self._last = line["id"]
        return [line]

    def repair(self, message: Message, raw: bytes) -> bytes | None:
        """A kept line with the parent it has now; None where that is the one it names."""
        before, self._last = self._last, message.id or self._last
        if not self._linked or b'"parentId"' not in raw:
            return None
        value = exact.loads(raw)
        parent = value.get("parentId") if isinstance(value, dict) else None
        if parent == before or parent not in self._messages:
            # Its parent may be a line that is no message, which stays.
            return None
        return exact.dump_bytes({**value, "parentId": before})


def _line(made: Mapping[str, Any], time: str) -> dict[str, Any]:
    content = made["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    message = {"role": made["role"], "content": content}
    name = str(uuid.uuid5(_NAMESPACE, exact.dumps([time, message])))
    return {"type": "message", "id": name, "timestamp": time, "message": message}


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Written:
    turns = as_responses(messages, session, notes)
    request = anthropic_like.render(turns, notes, session.format)
    if request.system:
        notes.at(0).tell("system", "the system prompt")
    time = next((one.time for one in messages if one.time), _NO_TIME)
    name = str(uuid.uuid5(_NAMESPACE, f"{session.format}{session.source.size}"))
    title = session.title or "New Session"
    lines: list[dict[str, Any]] = [
        {"type": "session_start", "id": name, "title": title, "version": 2, "cwd": "/"}
    ]
    lines += [_line(made, time) for made in request.messages]
    return Written(tuple(exact.dump_bytes(one) + b"\n" for one in lines), notes.findings())
