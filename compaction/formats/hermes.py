"""Hermes Agent sessions (`session_*.json`): chat messages beside the system prompt and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.layout import is_unchanged, place, write_back
from compaction.formats.openai_chat import SHAPE as CHAT
from compaction.formats.openai_chat import is_message
from compaction.messages import Message, Part, Session, Source

NAME = "hermes"

#: The role of a record about the session among its messages.
_META = "session_meta"


def _parse(message: Mapping[str, Any]) -> tuple[Part, ...]:
    name = message.get("tool_name")
    named = {**message, "name": name} if name and "name" not in message else message
    return openai_like.parse_blocks(named)


def _hidden(values: Sequence[object], _: Mapping[str, Any]) -> dict[int, str]:
    return {
        index: "state of the client"
        for index, value in enumerate(values)
        if isinstance(value, Mapping) and value.get("role") == _META
    }


SHAPE = Shape(
    format=NAME,
    lists=(("messages",),),
    answers=(),
    parse=_parse,
    role=CHAT.role,
    is_message=is_message,
    instructions="system_prompt",
    hidden=_hidden,
    growing=False,
)


class Hermes:
    """The format."""

    name = NAME
    title = "Hermes Agent"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A session with its start and its platform, or lines of one with a `session_meta`."""
        value = sample.whole
        if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
            about = ("platform", "system_prompt", "base_url")
            return (
                "session_id" in value
                and "session_start" in value
                and any(key in value for key in about)
            )
        lines = [line for line in sample.lines if isinstance(line, Mapping)]
        return any(line.get("role") == _META for line in lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages, the system prompt as message 0."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a new session for one from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, NAME):

            def render(message: Message) -> list[dict[str, Any]]:
                return openai_like.render_message(message, Ids(verbatim=True), notes)

            written = write_back(messages, session, layout, render)
            chunks = tuple(written.chunks)
            if not is_unchanged(messages, session, layout):
                chunks = (_counted(b"".join(chunks)),)
            return Written(chunks, (*written.findings, *notes.findings()))
        chat = openai_like.render(as_responses(messages, session, notes), notes)
        time = next((one.time for one in messages if one.time), "1970-01-01T00:00:00")
        document: dict[str, Any] = {
            "session_id": f"{session.format}_{session.source.size}",
            "model": session.model,
            "platform": "cli",
            "session_start": time,
            "last_updated": next((m.time for m in reversed(messages) if m.time), time),
            "message_count": 0,
        }
        if chat and chat[0]["role"] == "system" and isinstance(chat[0]["content"], str):
            document["system_prompt"] = chat.pop(0)["content"]
        tools = tools_for(session.tools, self.dialect, notes)
        if tools:
            document["tools"] = tools
        document["message_count"] = len(chat)
        document["messages"] = chat
        return whole(document, notes)


def _counted(data: bytes) -> bytes:
    """A document whose count of messages is the one it has."""
    try:
        text = data.decode("utf-8")
        node = scan(text, ("messages",))
    except (exact.ExactError, UnicodeDecodeError):
        return data
    member, listed = node.member("message_count"), node.get("messages")
    if member is None or listed is None or not isinstance(member.node.value, int):
        return data
    count = sum(
        isinstance(item.value, Mapping) and item.value.get("role") != _META
        for item in listed.items or ()
    )
    offsets = Bytes(text, data)
    start, end = offsets.at(member.node.start), offsets.at(member.node.end)
    return data[:start] + str(count).encode() + data[end:]
