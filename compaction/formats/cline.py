"""Cline, Roo and Kilo: `api_conversation_history.json` of a task, `*.messages.json` of the SDK.

Both hold Anthropic messages with members of their own. What stands beside them on disk is no
conversation, and is refused with the name of the file that is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.cline_messages import (
    ROO,
    TELLING,
    facts,
    hidden,
    is_message,
    last_summary,
    parse,
    speaks_of_environment,
    starts_anew,
    summary,
)
from compaction.formats.dialects.anthropic_like import message_role
from compaction.formats.documents import open_document, where
from compaction.formats.listpaths import records_in
from compaction.messages import Message, RecordedCompaction, Session, Source

NAME = "cline"
TITLE = "Cline"

#: Files beside a conversation, by members of theirs: what they are.
_BESIDE: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"session_id", "messages_path"}), "about a Cline session"),
    (frozenset({"files_in_context", "model_usage"}), "about a Cline task"),
)

SHAPE = Shape(
    format=NAME,
    lists=(("messages",),),
    answers=(),
    parse=parse,
    role=message_role,
    is_message=is_message,
    instructions=("system_prompt", "systemPrompt"),
    live_from=starts_anew,
    hidden=hidden,
    facts=facts,
    summary=summary,
)

#: Everything that was ever sent: nothing is hidden, and the last summary is where it began anew.
_FULL = replace(SHAPE, live_from=last_summary, hidden=lambda _a, _b: {})


class Cline:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "anthropic"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Members that only these tools give their messages, or what stands beside them."""
        value = sample.whole
        if isinstance(value, list):
            return _is_task(value) or _is_display(value)
        return isinstance(value, Mapping) and (_is_sdk(value) or bool(_beside(value)))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What the next request sends. Raises SessionError for a file beside the conversation."""
        file = open_document(source, SHAPE.structural)
        value = file.roots[0].value
        if isinstance(value, list) and _is_display(value):
            raise SessionError(
                f"{where(source)} is what Cline shows of a task; the conversation is in "
                "api_conversation_history.json beside it: open that."
            )
        if isinstance(value, Mapping) and (what := _beside(value)):
            raise SessionError(
                f"{where(source)} holds facts {what} and no messages; open {_conversation(value)}."
            )
        session = chatfile.read(file, options, SHAPE if options.history == "live" else _FULL)
        if not session.compactions:
            session = replace(session, compactions=tuple(_recorded(session)))
        return session

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a file of the SDK for a session from elsewhere."""
        from compaction.formats.cline_writing import write

        return write(messages, session)


def _is_task(values: Sequence[object]) -> bool:
    """Whether a list is the history of a task: messages of user and assistant, and a sign."""
    looked = [value for value in values[:50] if isinstance(value, Mapping)]
    if not any(is_message(value) for value in looked):
        return False
    if any(not TELLING.isdisjoint(value) for value in looked):
        return all(value.get("role") in ("user", "assistant") for value in looked)
    return any(speaks_of_environment(value) for value in looked)


def _is_display(values: Sequence[object]) -> bool:
    looked = [value for value in values[:20] if isinstance(value, Mapping)]
    return bool(looked) and all(
        "ts" in value and value.get("type") in ("ask", "say") and value["type"] in value
        for value in looked
    )


def _is_sdk(value: Mapping[str, Any]) -> bool:
    return (
        isinstance(value.get("messages"), list)
        and isinstance(value.get("sessionId"), str)
        and "updated_at" in value
        and ("agent" in value or "system_prompt" in value)
    )


def _beside(value: Mapping[str, Any]) -> str:
    """What a file beside a conversation is about; "" for any other."""
    if isinstance(value.get("messages"), list):
        return ""
    return next((what for keys, what in _BESIDE if keys <= value.keys()), "")


def _conversation(value: Mapping[str, Any]) -> str:
    path = value.get("messages_path")
    if isinstance(path, str) and path:
        return path
    name = value.get("session_id")
    if isinstance(name, str):
        return f"{name}.messages.json beside it"
    return "api_conversation_history.json beside it"


def _recorded(session: Session) -> list[RecordedCompaction]:
    """The compaction whose summary is in the window."""
    for index in range(len(session) - 1, -1, -1):
        message = session.messages[index]
        record = message.record if message.summary else None
        if isinstance(record, Mapping) and summary(record):
            metadata = record.get("metadata")
            before = metadata.get("tokensBefore") if isinstance(metadata, Mapping) else None
            known = isinstance(before, int) and not isinstance(before, bool)
            line = message.spans[0].line
            return [RecordedCompaction(index, before=before if known else None, line=line)]
    return []


def is_roo(session: Session) -> bool:
    """Whether the messages of a session have members of Roo's."""
    return any(not ROO.isdisjoint(record) for record in records_in(session))
