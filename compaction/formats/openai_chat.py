"""OpenAI Chat Completions: requests, bare lists, training files, responses and proxy logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.findings import Finding
from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses, spelled_role, whole
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Part, Session, Source, ToolResult

#: Where training files keep the answer that is to be unlearned.
_REJECTED = frozenset({"non_preferred_output", "rejected", "rejected_messages"})

#: Keys that only chat messages have.
_TELLING = frozenset({"tool_calls", "tool_call_id", "function_call", "reasoning_content"})


def is_message(value: object) -> bool:
    """Whether a value can be a chat message: an object with a role, or with content."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("role"), str):
        return True
    return "content" in value and "type" not in value


def _role(message: Mapping[str, Any], parts: Sequence[Part]) -> str:
    role = role_of(message)
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        return "tool"
    return role


def _plain(values: Sequence[object], holder: Mapping[str, Any]) -> bool:
    """Whether nothing tells OpenAI from Anthropic: user and assistant exchanging text."""
    if holder.get("tools") or holder.get("model") or not values:
        return False
    for value in values:
        if not isinstance(value, Mapping) or role_of(value) not in ("user", "assistant"):
            return False
        content = value.get("content")
        if not isinstance(content, str) and not (
            isinstance(content, list)
            and all(isinstance(b, Mapping) and b.get("type") == "text" for b in content)
        ):
            return False
        if not _TELLING.isdisjoint(value):
            return False
    return True


def rejected_answer(holder: Mapping[str, Any]) -> Iterator[Finding]:
    """That a record of a preference pair has another answer, which is none of its messages."""
    if not _REJECTED.isdisjoint(holder):
        yield Finding(
            "info",
            "rejected-answer",
            "The chosen answer is shown; the rejected one is no part of the conversation and "
            "stays in the file.",
        )


SHAPE = Shape(
    format="openai-chat",
    lists=(
        ("messages",),
        ("request", "messages"),
        ("request", "body", "messages"),
        ("body", "messages"),
        ("kwargs", "messages"),
        ("input", "messages"),
        ("input",),
        ("traj",),
        ("trajectory",),
        ("history",),
        ("conversation",),
        ("dialogue",),
        ("prompt",),
    ),
    answers=(
        ("response", "choices", 0, "message"),
        ("response", "body", "choices", 0, "message"),
        ("choices", 0, "message"),
        ("preferred_output",),
        ("chosen",),
        ("completion",),
    ),
    parse=openai_like.parse_blocks,
    role=_role,
    is_message=is_message,
    look=rejected_answer,
    plain=_plain,
)


class OpenAIChat:
    """The format, and the fallback for every list of roles and contents."""

    name = "openai-chat"
    title = "OpenAI Chat Completions"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Anything that holds messages with a role and content."""
        if sample.yaml:
            return False
        if sample.whole is not None:
            return holds_chat(sample.whole)
        if sample.lines:
            return any(holds_chat(line) for line in sample.lines)
        # A text that speaks of messages is none, unless it begins as JSON does.
        torn = sample.head.lstrip()[:1] in (b"{", b"[")
        return torn and (b'"messages"' in sample.head or b'"role"' in sample.head)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The conversation in a file; of several the first, or the one `options` asks for."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a request object for a session from elsewhere."""
        if layout := place(messages, session, self.name):
            return write_back(messages, session, layout, _renderer(session))
        notes = Notes(self.title)
        chat = openai_like.render(as_responses(messages, session, notes), notes)
        document: dict[str, Any] = {"model": session.model} if session.model else {}
        document["messages"] = chat
        tools = tools_for(session.tools, self.dialect, notes)
        if tools:
            document["tools"] = tools
        return whole(document, notes)


def _renderer(session: Session) -> Any:
    notes = Notes(OpenAIChat.title)

    def render(message: Message) -> list[dict[str, Any]]:
        chat = openai_like.render_message(message, Ids(verbatim=True), notes)
        for one in chat:
            one["role"] = spelled_role(session, one["role"])
        return chat

    return render


def holds_chat(value: object) -> bool:
    """Whether a JSON value is, or holds, a list of chat messages."""
    if isinstance(value, list):
        return any(is_message(item) or holds_chat(item) for item in value[:20] if item != value)
    if not isinstance(value, Mapping):
        return False
    if is_message(value):
        return True
    if value.get("messages") == [] and "sessionId" not in value:
        # A request that has nothing to say yet; sessions of other tools name themselves.
        return True
    for path in SHAPE.lists + SHAPE.answers:
        found: object = value
        for step in path:
            if isinstance(found, Mapping):
                found = found.get(str(step))
            elif isinstance(found, list) and isinstance(step, int):
                found = found[step] if step < len(found) else None
            else:
                found = None
        if is_message(found) or (
            isinstance(found, list) and any(is_message(item) for item in found)
        ):
            return True
    return False
