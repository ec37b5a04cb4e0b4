"""Gemini contents: request bodies, answers, logs of both, and bare lists such as saved chats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import gemini_like, gemini_rendering
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Part, Session, Source

NAME = "gemini-contents"
TITLE = "Gemini contents"


#: Members of a request, by which one that has nothing to say yet is told.
_REQUEST = frozenset(
    {
        "cachedContent",
        "contents",
        "generationConfig",
        "model",
        "safetySettings",
        "systemInstruction",
        "toolConfig",
        "tools",
    }
)


def is_message(value: object) -> bool:
    """Whether a value can be a content, or a text that stands for one."""
    return isinstance(value, str) or gemini_like.is_content(value)


def _instruct(value: Any) -> tuple[Part, ...]:
    """A system instruction: a content, a text, a part, or a list of parts."""
    if isinstance(value, Mapping) and "parts" not in value:
        return gemini_like.parse_parts([value])
    if isinstance(value, list):
        return gemini_like.parse_parts(value)
    return gemini_like.parse_content(value)


SHAPE = Shape(
    format=NAME,
    lists=(
        ("contents",),
        ("request", "contents"),
        ("request", "body", "contents"),
        ("body", "contents"),
        ("history",),
    ),
    answers=(
        ("response", "candidates", 0, "content"),
        ("response", "body", "candidates", 0, "content"),
        ("candidates", 0, "content"),
    ),
    parse=gemini_like.parse_content,
    role=gemini_like.content_role,
    is_message=is_message,
    instructions=("systemInstruction", "system_instruction"),
    instruct=_instruct,
    parsers=gemini_like.parsers,
)


class GeminiContents:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "gemini"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A list of contents by itself, or under one of the keys of the API."""
        if sample.yaml:
            return False
        if sample.whole is not None:
            return holds_contents(sample.whole)
        return any(holds_contents(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The conversation in a file, its system instruction as message 0."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a request body for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            numbers = {id(message): index for index, message in enumerate(messages)}

            def render(message: Message) -> list[dict[str, Any]]:
                notes.at(numbers.get(id(message)))
                made = gemini_rendering.render_content(message, notes, self.name)
                return [made] if made else []

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        turns = as_responses(messages, session, notes)
        request = gemini_rendering.render(turns, notes, session.format)
        document: dict[str, Any] = {}
        if request.system:
            document["systemInstruction"] = request.system
        if tools := tools_for(session.tools, self.dialect, notes):
            document["tools"] = tools
        document["contents"] = list(request.contents)
        return whole(document, notes)


def holds_contents(value: object) -> bool:
    """Whether a JSON value is, or holds, a list of contents."""
    if isinstance(value, list):
        return any(_is_spoken(one) or _is_request(one) for one in value[:20])
    return isinstance(value, Mapping) and (_is_request(value) or _is_spoken(value))


def _is_spoken(value: object) -> bool:
    return (
        gemini_like.is_content(value)
        and isinstance(value, Mapping)
        and isinstance(value.get("role"), str)
    )


def _is_request(value: object) -> bool:
    if isinstance(value, Mapping) and value.get("contents") == [] and value.keys() <= _REQUEST:
        return True
    for path in SHAPE.lists + SHAPE.answers:
        found = _at(value, path)
        if isinstance(found, Mapping) and gemini_like.is_content(found):
            return True
        if not isinstance(found, list):
            continue
        if any(_is_spoken(one) for one in found):
            return True
        if path[-1] == "contents" and any(map(gemini_like.is_content, found)):
            return True
    return False


def _at(value: object, path: Sequence[str | int]) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
