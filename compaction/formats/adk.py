"""Sessions of Google's Agent Development Kit: a list of events around contents of Gemini.

Names of members are read in both spellings the kit has had. An event may be taken back by a
rewind, or be covered by the summary of a compaction; neither is sent again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import gemini_like, gemini_rendering
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.sketching import usage_of
from compaction.messages import Message, Part, RecordedCompaction, Session, Source

NAME = "adk"
TITLE = "Google ADK"

_NAMESPACE = uuid.UUID("2f6f6a0e-3b7e-5c1b-8a77-9c5f2f4e9d10")

#: Calls by which the kit itself asks the client, and never the model.
_ASKING = frozenset({"adk_request_credential", "adk_request_confirmation"})

_BACK = "turns taken back"
_BEFORE = "before the last compaction"
_SILENT = "events without a message"


def _get(holder: object, camel: str, snake: str) -> Any:
    if not isinstance(holder, Mapping):
        return None
    found = holder.get(camel)
    return holder.get(snake) if found is None else found


def is_event(value: object) -> bool:
    """Whether a value is an event: somebody's, of an invocation."""
    if not isinstance(value, Mapping) or not isinstance(value.get("author"), str):
        return False
    if _get(value, "invocationId", "invocation_id") is not None:
        return True
    return gemini_like.is_content(value.get("content"))


def _compaction(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = _get(event.get("actions"), "compaction", "compaction")
    held = _get(found, "compactedContent", "compacted_content")
    return found if isinstance(found, Mapping) and isinstance(held, Mapping) else None


def _content(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The content of an event: of its message, its compaction, or what was heard or said."""
    compaction = _compaction(event)
    if compaction is not None:
        held = _get(compaction, "compactedContent", "compacted_content")
        return {**held, "role": held.get("role") or "user"}
    held = event.get("content")
    if isinstance(held, Mapping):
        spoken = "user" if event.get("author") == "user" else "model"
        return {**held, "role": held.get("role") or spoken}
    for role, camel, snake in (
        ("user", "inputTranscription", "input_transcription"),
        ("model", "outputTranscription", "output_transcription"),
    ):
        heard = _get(event, camel, snake)
        if isinstance(heard, Mapping) and isinstance(heard.get("text"), str):
            return {"role": role, "parts": [{"text": heard["text"]}]}
    return {"role": "user", "parts": []}


def _parse(event: object, ids: Sequence[str] | None = None) -> tuple[Part, ...]:
    return gemini_like.parse_content(_content(event), ids) if isinstance(event, Mapping) else ()


def _parsers(events: Sequence[object]) -> list[Callable[[Any], tuple[Part, ...]]]:
    contents = [_content(event) if isinstance(event, Mapping) else {} for event in events]
    spoken = [gemini_like.content_role(one, ()) == "assistant" for one in contents]
    ids = gemini_like.ids_of([gemini_like.parts_of(one) for one in contents], spoken)
    return [partial(_parse, ids=each) for each in ids]


def _role(event: Mapping[str, Any], parts: Sequence[Part]) -> str:
    return gemini_like.content_role(_content(event), parts)


def _facts(event: Mapping[str, Any]) -> Facts:
    author = text_of(event.get("author"))
    spoken = _content(event).get("role") == "model"
    return Facts(
        name=author if spoken else "",
        model=text_of(_get(event, "modelVersion", "model_version")),
        usage=usage_of(_get(event, "usageMetadata", "usage_metadata")),
    )


def _never_sent(events: Sequence[object], _: Mapping[str, Any]) -> dict[int, str]:
    """The events that are no message to the model."""
    out: dict[int, str] = {}
    for index, event in enumerate(events):
        if not isinstance(event, Mapping):
            continue
        parts = gemini_like.parts_of(_content(event))
        names = {
            text_of(held.get("name"))
            for part in parts
            if isinstance(part, Mapping)
            for key in ("functionCall", "functionResponse")
            if isinstance(held := gemini_like.get(part, key), Mapping)
        }
        if not parts or (len(parts) == 1 and parts[0] == {"text": ""}):
            out[index] = _SILENT
        elif event.get("partial") is True:
            out[index] = "written twice"
        elif not _ASKING.isdisjoint(names):
            out[index] = "shown on the screen only"
    return out


def _hidden(events: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    """Those, and what was taken back or compacted."""
    out: dict[int, str] = {}
    held = [event if isinstance(event, Mapping) else {} for event in events]
    index = len(held) - 1
    while index >= 0:
        actions = held[index].get("actions")
        to = _get(actions, "rewindBeforeInvocationId", "rewind_before_invocation_id")
        if isinstance(to, str) and to:
            names = (_get(each, "invocationId", "invocation_id") for each in held[:index])
            first = next((i for i, name in enumerate(names) if name == to), index)
            out.update(dict.fromkeys(range(first, index), _BACK))
            out[index] = _SILENT
            index = first
        index -= 1
    ranges: list[tuple[float, float]] = []
    for index in reversed(range(len(held))):
        if index in out:
            continue
        if (compaction := _compaction(held[index])) is not None:
            start = _get(compaction, "startTimestamp", "start_timestamp")
            end = _get(compaction, "endTimestamp", "end_timestamp")
            if isinstance(start, (int, float)) and isinstance(end, (int, float)):
                ranges.append((start, end))
            continue
        time = held[index].get("timestamp")
        if isinstance(time, (int, float)) and any(a <= time <= b for a, b in ranges):
            out[index] = _BEFORE
    return {**_never_sent(events, holder), **out}


def _summary(event: Mapping[str, Any]) -> str:
    return NAME if _compaction(event) is not None else ""


SHAPE = Shape(
    format=NAME,
    lists=(("events",), ("session", "events")),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_event,
    hidden=_hidden,
    facts=_facts,
    summary=_summary,
    parsers=_parsers,
)
_FULL = replace(SHAPE, hidden=_never_sent)


class Adk:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "gemini"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A session of events, several of them, or events by themselves."""
        if sample.yaml:
            return False
        if isinstance(sample.whole, list):
            return any(_is_session(one) or is_event(one) for one in sample.whole[:20])
        if sample.whole is not None and _is_session(sample.whole):
            return True
        return any(_is_session(one) or is_event(one) for one in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The events that are sent again, or with `history="full"` all that ever were."""
        shape = _FULL if options.history == "full" else SHAPE
        session = chatfile.read(open_document(source, SHAPE.structural), options, shape)
        marks = tuple(
            RecordedCompaction(index, line=message.spans[0].line)
            for index, message in enumerate(session.messages)
            if message.summary == NAME
        )
        return replace(session, compactions=marks)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same session with other events; a new one for messages from elsewhere."""
        notes = Notes(TITLE)
        if layout := place(messages, session, NAME):
            numbers = {id(message): index for index, message in enumerate(messages)}

            def render(message: Message) -> list[dict[str, Any]]:
                index = numbers.get(id(message), 0)
                content = gemini_rendering.render_content(message, notes.at(index), NAME)
                return [_event(content, index, *_beside(messages, index))] if content else []

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        return _foreign(messages, session, notes)


def _is_session(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    inner = value.get("session")
    for holder in (value, inner):
        events = holder.get("events") if isinstance(holder, Mapping) else None
        if not isinstance(events, list):
            continue
        if any(is_event(event) for event in events[:20]):
            return True
        if not events and _get(holder, "appName", "app_name") is not None:
            return True
    return False


def _beside(messages: Sequence[Message], index: int) -> tuple[object, bool]:
    """The time of the nearest event of the file, and whether it spells names with a `_`."""
    for message in (*messages[index:], *reversed(messages[:index])):
        record = message.record if message.spans else None
        if isinstance(record, Mapping) and "timestamp" in record:
            return record["timestamp"], "invocation_id" in record
    return 0, False


def _event(
    content: Mapping[str, Any], index: int, time: object, snake: bool, author: str = "agent"
) -> dict[str, Any]:
    made = str(uuid.uuid5(_NAMESPACE, f"{index}\0{content!r}"))
    return {
        "invocation_id" if snake else "invocationId": f"e-{made}",
        "author": "user" if content["role"] == "user" else author,
        "content": dict(content),
        "id": made,
        "timestamp": time,
    }


def _foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Written:
    turns = as_responses(messages, session, notes)
    leading = 0
    while leading < len(turns) and turns[leading].role in ("system", "developer"):
        notes.at(leading).tell("system", "a system message")
        leading += 1
    request = gemini_rendering.render(turns[leading:], notes, session.format)
    document = {
        "id": str(uuid.uuid5(_NAMESPACE, f"{session.format}\0{session.source.size}")),
        "appName": "agent",
        "userId": "user",
        "state": {},
        "events": [
            _event(content, index, index, False) for index, content in enumerate(request.contents)
        ],
        "lastUpdateTime": len(request.contents),
    }
    return whole(document, notes)
