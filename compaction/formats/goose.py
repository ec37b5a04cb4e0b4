"""Goose sessions: exports (`goose session export --format json`), databases, older JSON lines."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.goose_blocks import is_shown_only, parse, render
from compaction.formats.layout import Layout, place, write_back
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session, Source

_NAMESPACE = uuid.UUID("7c2f0d63-55c5-5f1a-9a44-0d7e7d5a3a90")

_ROLES = ("user", "assistant")


def is_message(value: object) -> bool:
    """Whether a value is a message: a role, when it was created, and blocks."""
    return (
        isinstance(value, Mapping)
        and value.get("role") in _ROLES
        and isinstance(value.get("created"), (int, float))
        and isinstance(value.get("content"), list)
    )


def _is_heading(value: object) -> bool:
    return isinstance(value, Mapping) and "working_dir" in value and "role" not in value


def _is_export(value: object) -> bool:
    return (
        _is_heading(value)
        and isinstance(value, Mapping)
        and isinstance(value.get("conversation"), list)
    )


def _metadata(message: object) -> Mapping[str, Any]:
    held = message.get("metadata") if isinstance(message, Mapping) else None
    return held if isinstance(held, Mapping) else {}


def _is_hidden(message: object) -> bool:
    return _metadata(message).get("agentVisible") is False


def _only_agent(message: object) -> bool:
    return _metadata(message).get("userVisible") is False and not _is_hidden(message)


def _live_from(values: Sequence[object]) -> int:
    """A compaction hides all that was there from the model: the first message it still sees."""
    spoken = False
    for index, value in enumerate(values):
        if not _is_hidden(value):
            return index if spoken else 0
        spoken = spoken or not is_shown_only(value)
    return 0


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    del holder
    first = _live_from(values)
    out: dict[int, str] = {}
    for index, value in enumerate(values):
        if is_shown_only(value):
            out[index] = "shown on the screen only"
        elif index >= first and _is_hidden(value):
            out[index] = "hidden from the model"
    return out


def _facts(message: Mapping[str, Any]) -> Facts:
    return Facts(injected=message.get("role") == "user" and _only_agent(message))


def _about(record: Mapping[str, Any], document: object) -> dict[str, Any]:
    """Title, model, window and usage, as an export or the first line of a log has them."""
    del document
    config = record.get("model_config")
    config = config if isinstance(config, Mapping) else {}
    about: dict[str, Any] = {"title": record.get("name") or record.get("description")}
    about["model"] = config.get("model_name")
    about["context_window"] = config.get("context_limit")
    read, wrote = record.get("input_tokens"), record.get("output_tokens")
    if isinstance(read, int) and isinstance(wrote, int) and read > 0:
        about["usage"] = {"prompt_tokens": read, "completion_tokens": wrote}
    return about


SHAPE = Shape(
    format="goose",
    lists=(("conversation",),),
    answers=(),
    parse=parse,
    role=anthropic_like.message_role,
    is_message=is_message,
    live_from=_live_from,
    hidden=_hidden,
    facts=_facts,
    about=_about,
    heading=_is_heading,
    growing=False,
)


class Goose:
    """The format."""

    name = "goose"
    title = "Goose session"
    dialect: Dialect = "anthropic"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """An export with its conversation, or lines of messages that say when they were made."""
        held = sample.whole
        if isinstance(held, list):
            return bool(held) and all(_is_export(one) or is_message(one) for one in held[:20])
        if _is_export(held):
            return True
        lines = sample.lines
        return bool(lines) and (
            all(is_message(line) for line in lines[1:])
            and (is_message(lines[0]) or (_is_heading(lines[0]) and len(lines) > 1))
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages that the model sees; of several sessions the first, the newest one."""
        session = chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)
        for made in session.compactions:
            first = session.messages[made.at] if made.at < len(session) else None
            if first is None or first.role != "user" or first.summary:
                continue
            summary = replace(first, summary="goose", injected=False)
            messages = (*session.messages[: made.at], summary, *session.messages[made.at + 1 :])
            session = replace(session, messages=messages)
        return session

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; an export for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            rendering = _Rendering(messages, session, notes)
            written = write_back(messages, session, layout, rendering)
            chunks = _alone(written, session, layout)
            return Written(chunks, (*written.findings, *notes.findings()))
        return whole(_export(messages, session, notes), notes)


class _Rendering:
    """Renders new messages as their neighbours are: with an id and metadata where those have."""

    def __init__(self, messages: Sequence[Message], session: Session, notes: Notes) -> None:
        self._messages = messages
        self._session = session
        self._notes = notes
        self._numbers = {id(message): index for index, message in enumerate(messages)}

    def __call__(self, message: Message) -> list[dict[str, Any]]:
        index = self._numbers.get(id(message), 0)
        if message.role in ("system", "developer"):
            self._notes.at(index).tell("system-inside", f"a {message.role} message")
        near = self._neighbour(index)
        made = _message(message, near.get("created", 0), self._notes.at(index))
        if not made["content"]:
            self._notes.tell("empty-message", "a message")
            return []
        if "metadata" not in near:
            del made["metadata"]
        return [made if "id" in near else {k: v for k, v in made.items() if k != "id"}]

    def _neighbour(self, index: int) -> Mapping[str, Any]:
        around = (*reversed(self._messages[:index]), *self._messages[index + 1 :])
        for message in (*around, *self._session.messages):
            if stands_in(message, self._session.source):
                record = message.record
                if isinstance(record, Mapping):
                    return record
        return {"id": None, "metadata": None}


def _message(message: Message, created: object, notes: Notes) -> dict[str, Any]:
    content = render(message.parts, notes)
    name = f"{message.role}\0{exact.dumps(content)}".encode("utf-8", "replace").decode()
    return {
        "id": f"msg_{uuid.uuid5(_NAMESPACE, name)}",
        "role": "assistant" if message.role == "assistant" else "user",
        "created": created if isinstance(created, int) else 0,
        "content": content,
        "metadata": {"userVisible": not message.summary, "agentVisible": True},
    }


def _alone(written: Written, session: Session, layout: Layout) -> tuple[bytes, ...]:
    """Of a list of exports, which no tool reads, only the one that was shown."""
    chunks = tuple(written.chunks)
    if not session.source.data.lstrip().startswith(b"[") or not layout.start:
        return chunks
    data = b"".join(chunks)
    return (data[layout.start : len(data) - (session.source.size - layout.end)], b"\n")


def _export(messages: Sequence[Message], session: Session, notes: Notes) -> dict[str, Any]:
    turns = as_responses(messages, session, notes)
    made: list[dict[str, Any]] = []
    for index, message in enumerate(turns):
        if message.role in ("system", "developer"):
            notes.at(index).tell("system", "a system prompt")
            continue
        one = _message(message, _seconds(message.time), notes.at(index))
        if one["content"]:
            made.append(one)
    time = next((message.time for message in turns if _seconds(message.time)), "")
    stamp = datetime.fromtimestamp(_seconds(time), UTC).isoformat().replace("+00:00", "Z")
    name = exact.dumps([one["id"] for one in made])
    export: dict[str, Any] = {
        "id": str(uuid.uuid5(_NAMESPACE, name)),
        "working_dir": "/",
        "name": session.title or "Imported session",
        "created_at": stamp,
        "updated_at": stamp,
        "extension_data": {},
        "total_tokens": None,
        "input_tokens": None,
        "output_tokens": None,
        "conversation": made,
        "message_count": len(made),
    }
    return {**export, "model_config": {"model_name": session.model}} if session.model else export


def _seconds(time: str) -> int:
    try:
        return max(0, int(datetime.fromisoformat(time).timestamp()))
    except (ValueError, OverflowError, OSError):
        return 0
