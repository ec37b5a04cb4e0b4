"""Anthropic Messages: request bodies, their messages alone, responses and logs of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.findings import Finding
from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape, last_with
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.openai_chat import is_message
from compaction.messages import Message, Session, Source


def _compaction(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(block, Mapping)
        and block.get("type") == "compaction"
        and (block.get("content") or block.get("encrypted_content"))
        for block in content
    )


def _summary(message: Mapping[str, Any]) -> str:
    # Only a message that is nothing but the summary; with text beside it, it is an answer too.
    content = message.get("content")
    alone = isinstance(content, list) and len(content) == 1 and _compaction(message)
    return "anthropic" if alone else ""


SHAPE = Shape(
    format="anthropic",
    lists=(
        ("messages",),
        ("request", "messages"),
        ("request", "body", "messages"),
        ("body", "messages"),
        ("kwargs", "messages"),
    ),
    answers=(("response", "body"), ("response",)),
    parse=anthropic_like.parse_blocks,
    role=anthropic_like.message_role,
    is_message=is_message,
    instructions="system",
    # The API drops everything before the last message with a `compaction` block.
    live_from=last_with(_compaction),
    summary=_summary,
)


class AnthropicMessages:
    """The format."""

    name = "anthropic"
    title = "Anthropic Messages"
    dialect: Dialect = "anthropic"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A `system` beside the messages, tools with an `input_schema`, or blocks that say so."""
        if sample.yaml:
            return False
        if sample.whole is not None:
            return holds_anthropic(sample.whole)
        if sample.lines:
            if any(_is_request(line) for line in sample.lines):
                return True
            return anthropic_like.speaks(sample.lines)
        return b'"messages"' in sample.head and b'"system":' in sample.head.replace(b" ", b"")

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The conversation, its `system` as message 0; from the last compaction when live."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a request object for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            numbers = {id(message): index for index, message in enumerate(messages)}
            repairs: list[Finding] = []

            def render(message: Message) -> list[dict[str, Any]]:
                notes.at(numbers.get(id(message)))
                made = anthropic_like.render_message(message, Ids(verbatim=True), notes)
                return [made] if made else []

            def repair(message: Message, raw: bytes) -> bytes | None:
                fixed = _without_empty_text(raw)
                if fixed is not None:
                    repairs.append(_left_out(numbers.get(id(message))))
                return fixed

            written = write_back(messages, session, layout, render, repair)
            found = (*written.findings, *repairs, *notes.findings())
            return Written(written.chunks, found)
        turns = as_responses(messages, session, notes)
        request = anthropic_like.render(turns, notes, session.format)
        document: dict[str, Any] = {"model": session.model} if session.model else {}
        document["max_tokens"] = 4096
        if request.system:
            document["system"] = anthropic_like.system_value(request.system)
        tools = tools_for(session.tools, self.dialect, notes)
        if tools:
            document["tools"] = tools
        document["messages"] = list(request.messages)
        return whole(document, notes)


def _left_out(index: int | None) -> Finding:
    return Finding(
        "warning",
        "export-empty-text",
        f"An empty text block of #{index} is left out, since the API refuses it.",
        message=index,
    )


def _without_empty_text(raw: bytes) -> bytes | None:
    """A message without its empty text blocks, when another block remains; None if it has none.

    The bytes of all else stay.
    """
    if b'""' not in raw:
        return None
    from compaction.formats.jsonspans import Bytes, scan

    text = raw.decode("utf-8")
    node = scan(text, ("content",))
    content = node.get("content") if node.members is not None else None
    items = content.items if content is not None else None
    if not items or content is None:
        return None
    empty = [
        isinstance(item.value, dict)
        and item.value.get("type") == "text"
        and item.value.get("text") == ""
        for item in items
    ]
    if not any(empty) or all(empty):
        return None
    offsets = Bytes(text, raw)
    pieces: list[bytes] = []
    kept = [index for index, gone in enumerate(empty) if not gone]
    pieces.append(raw[: offsets.at(items[0].start)])
    for number, index in enumerate(kept):
        if number:
            before = items[index - 1]
            pieces.append(raw[offsets.at(before.end) : offsets.at(items[index].start)])
        pieces.append(raw[offsets.at(items[index].start) : offsets.at(items[index].end)])
    pieces.append(raw[offsets.at(items[-1].end) :])
    return b"".join(pieces)


def holds_anthropic(value: object) -> bool:
    """Whether a JSON value is a request, a response or a list of messages of this dialect."""
    if isinstance(value, list):
        return anthropic_like.speaks(value) or (
            bool(value) and all(isinstance(v, Mapping) and _is_request(v) for v in value[:20])
        )
    return _is_request(value)


def _is_request(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    for path in (("request", "body"), ("request",), ("body",), ("kwargs",)):
        inner: object = value
        for step in path:
            inner = inner.get(step) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and "messages" in inner and _is_request(inner):
            return True
    messages = value.get("messages")
    if not isinstance(messages, list):
        return value.get("type") == "message" and role_of(value) == "assistant"
    if anthropic_like.speaks_chat(messages):
        return False
    if isinstance(value.get("system"), (str, list)) or "anthropic_version" in value:
        return True
    tools = value.get("tools")
    if isinstance(tools, list) and any(
        isinstance(t, Mapping) and "input_schema" in t for t in tools
    ):
        return True
    return anthropic_like.speaks(messages)
