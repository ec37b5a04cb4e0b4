"""opencode sessions: exports (`opencode export`), its database, and its older storage folders.

A message of the export holds the calls of a response together with their results; it is read as
the messages that are sent for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.dialects.blocks import text_of
from compaction.formats.documents import Document, open_document, where
from compaction.formats.layout import Layout, place
from compaction.formats.opencode_parts import COMPACTION, cut, info_of, is_failed, keep, parts_of
from compaction.formats.sketching import time_of
from compaction.messages import (
    Conversation,
    Message,
    Part,
    RecordedCompaction,
    Session,
    Source,
)

#: Where the document made of a storage folder keeps parts whose message is gone.
LOST = "partsWithoutMessage"


def is_message(value: object) -> bool:
    """Whether a value is a message: what it says of itself, and its parts."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("parts"), list)
        and info_of(value).get("role") in ("user", "assistant")
    )


def _is_export(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("info"), Mapping):
        return False
    listed = value.get("messages")
    if not isinstance(listed, list):
        return False
    about = value["info"]
    return any(map(is_message, listed[:20])) or (
        not listed and "projectID" in about and "directory" in about
    )


def _is_piece(value: object) -> bool:
    """Whether a value is a file of a storage folder: a message whose parts are in other files."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("sessionID"), str)
        and value.get("role") in ("user", "assistant")
        and isinstance(value.get("time"), Mapping)
        and "parts" not in value
        and "content" not in value
    )


def _parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    return tuple(part for piece in cut(record) for part in piece.parts)


def _role(record: Mapping[str, Any], parts: Sequence[Part]) -> str:
    del parts
    return text_of(info_of(record).get("role"))


def _is_summary(record: object) -> bool:
    """Whether a response is a summary that was made: it ended, and not in an error."""
    info = info_of(record)
    return (
        info.get("role") == "assistant"
        and info.get("summary") is True
        and bool(info.get("finish"))
        and not info.get("error")
    )


def _live_from(values: Sequence[object]) -> int:
    """The request for the last compaction that was made, or what is kept from before it."""
    made: set[object] = set()
    until: object = None
    for index in range(len(values) - 1, -1, -1):
        info = info_of(values[index])
        name = info.get("id") if isinstance(info.get("id"), str) else None
        if until is not None:
            if name == until:
                return index
            continue
        if _is_summary(values[index]):
            made.add(text_of(info.get("parentID")))
        elif info.get("role") == "user" and name in made:
            asked = _asked(values[index])
            if asked is None:
                continue
            until = asked.get("tail_start_id") or None
            if until is None or until == name:
                return index
    return 0


def _asked(record: object) -> Mapping[str, Any] | None:
    """The part of a user message that asks for a compaction."""
    return next((part for part in parts_of(record) if part.get("type") == "compaction"), None)


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    out: dict[int, str] = {}
    about = holder.get("info")
    revert = about.get("revert") if isinstance(about, Mapping) else None
    undone = revert.get("messageID") if isinstance(revert, Mapping) else None
    # With a part, the message itself stays up to that part.
    partly = isinstance(revert, Mapping) and bool(revert.get("partID"))
    gone = False
    for index, value in enumerate(values):
        here = isinstance(undone, str) and info_of(value).get("id") == undone
        if gone or (here and not partly):
            out[index] = "abandoned attempts"
        elif isinstance(value, Mapping) and not cut(value):
            out[index] = "error notices" if is_failed(value) else "empty messages"
        gone = gone or here
    return out


def _facts(record: Mapping[str, Any]) -> Facts:
    info = info_of(record)
    held, time = info.get("model"), info.get("time")
    chosen = held.get("modelID") if isinstance(held, Mapping) else None
    spoken = info.get("role") == "assistant"
    created = time.get("created") if isinstance(time, Mapping) else None
    return Facts(
        id=text_of(info.get("id")),
        time=time_of({"ts": created}),
        model=text_of(info.get("modelID") or chosen) if spoken else "",
    )


def _about(record: Mapping[str, Any], document: object) -> dict[str, Any]:
    del document
    return {"title": info_of(record).get("title")}


SHAPE = Shape(
    format="opencode",
    lists=(("messages",),),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_message,
    live_from=_live_from,
    hidden=_hidden,
    facts=_facts,
    summary=lambda record: "opencode" if _is_summary(record) else "",
    cut=cut,
    keep=keep,
    about=_about,
    called=lambda record: text_of(info_of(record).get("id")),
    growing=False,
)


class OpenCode:
    """The format."""

    name = "opencode"
    title = "opencode session"
    dialect: Dialect = "anthropic"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """An export, or a list of them: messages that say what they are beside their parts."""
        held = sample.whole
        if isinstance(held, list):
            return bool(held) and all(map(_is_export, held[:20]))
        return _is_export(held) or _is_piece(held)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What opencode sends of a session; of several the first, the newest one."""
        document = open_document(source, SHAPE.structural)
        if _is_piece(document.roots[0].value):
            raise SessionError(
                f"{where(source)} is one message of an opencode storage folder, without its "
                "parts; open the folder that holds `session`, `message` and `part`."
            )
        session = chatfile.read(document, options, SHAPE)
        left = dict(session.left_out)
        exports = _exports(document)
        start = session.document.start if isinstance(session.document, Layout) else 0
        lost = exports.get(start, exports.get(0, {})).get(LOST)
        if isinstance(lost, list) and lost:
            left["parts whose message is gone"] = len(lost)
        infos = map(info_of, exports.values())
        titles = {text_of(info.get("id")): text_of(info.get("title")) for info in infos}
        named = tuple(
            Conversation(one.id, titles.get(one.id) or one.title, one.messages)
            for one in session.conversations
        )
        compactions = tuple(_compactions(session.messages))
        return replace(session, left_out=left, conversations=named, compactions=compactions)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same export with other messages; a new one for a session from elsewhere."""
        from compaction.formats import opencode_writing

        if layout := place(messages, session, self.name):
            return opencode_writing.again(messages, session, layout, self.title)
        return opencode_writing.export(messages, session, self.title)


def _exports(document: Document) -> dict[int, Mapping[str, Any]]:
    """The exports of a document by where they start; one that is the whole document by 0."""
    root = document.roots[0]
    if root.items is None:
        return {0: root.value} if isinstance(root.value, Mapping) else {}
    return {
        document.span(item).start: item.value
        for item in root.items
        if isinstance(item.value, Mapping)
    }


def _compactions(messages: Sequence[Message]) -> list[RecordedCompaction]:
    """Where a summary follows the request for it: what opencode sends begins anew there."""
    out: list[RecordedCompaction] = []
    for index, message in enumerate(messages):
        if message.summary != "opencode" or message.role != "assistant":
            continue
        asked = messages[index - 1] if index else None
        at, trigger = index, ""
        if asked is not None and asked.injected and asked.preview == COMPACTION:
            at = index - 1
            auto = (_asked(asked.record) or {}).get("auto")
            trigger = "auto" if auto is True else "manual" if auto is False else ""
        if not out or out[-1].at != at:
            out.append(RecordedCompaction(at, trigger, line=messages[at].spans[0].line))
    return out
