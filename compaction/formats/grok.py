"""Grok CLI histories (`chat_history.jsonl`): chat messages that say their role as a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import media, openai_like
from compaction.formats.dialects.blocks import opaque, parse_block, parse_content, text_of
from compaction.formats.dialects.ids import CHAT_LIMIT, Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Part, Session, Source, Text, Thinking

NAME = "grok"

#: The types of lines, and the roles they mean.
_ROLES: Mapping[str, str] = {
    "assistant": "assistant",
    "backend_tool_call": "assistant",
    "reasoning": "assistant",
    "system": "system",
    "tool_result": "tool",
    "user": "user",
}

#: Members that tell these lines from those of other tools.
_TELLING = frozenset({"model_fingerprint", "model_id", "prompt_index", "synthetic_reason"})


def is_message(value: object) -> bool:
    """Whether a value is a line of a history."""
    if not isinstance(value, Mapping) or "message" in value or "role" in value:
        return False
    kind = value.get("type")
    return isinstance(kind, str) and kind in _ROLES


def _role(line: Mapping[str, Any], _: Sequence[Part]) -> str:
    return _ROLES.get(text_of(line.get("type")), "user")


def _parse(line: Mapping[str, Any]) -> tuple[Part, ...]:
    match line.get("type"):
        case "reasoning":
            parts = [*parse_content(line.get("summary")), *parse_content(line.get("content"))]
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            return (Thinking(text, sealed=len(text_of(line.get("encrypted_content")))),)
        case "tool_result":
            return openai_like.parse_blocks({**line, "role": "tool"})
        case "backend_tool_call":
            # It ran where the model runs; no result of it is sent.
            return (opaque(line),)
    content = line.get("content")
    blocks = content if isinstance(content, list) else [content]
    said = tuple(part for block in blocks for part in _block(block))
    calls = openai_like.parse_blocks({"role": "x", "tool_calls": line.get("tool_calls")})
    return (*said, *calls)


def _block(block: object) -> tuple[Part, ...]:
    if isinstance(block, dict) and block.get("type") == "image":
        url = block.get("url")
        return (media.from_url(url, "image"),) if isinstance(url, str) else parse_block(block)
    return parse_content(block)


def _facts(line: Mapping[str, Any]) -> Facts:
    return Facts(
        model=text_of(line.get("model_id")),
        injected=line.get("type") == "user" and bool(line.get("synthetic_reason")),
    )


SHAPE = Shape(
    format=NAME,
    lists=(),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_message,
    bound=lambda line: line.get("type") == "reasoning",
    facts=_facts,
)


class Grok:
    """The format."""

    name = NAME
    title = "Grok CLI"
    dialect: Dialect = "openai-chat"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Lines with a role as their type, and members that only this tool has."""
        lines = [line for line in sample.lines if isinstance(line, Mapping)]
        if not lines or not all(is_message(line) for line in lines):
            return False
        return any(
            not _TELLING.isdisjoint(line) or line.get("type") == "backend_tool_call"
            for line in lines
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages, one a line."""
        return chatfile.read(open_document(source, frozenset()), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same lines with other messages; a new history for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, NAME):

            def render(message: Message) -> list[dict[str, Any]]:
                ids = Ids(verbatim=True)
                return [
                    _line(one, message.model or session.model)
                    for one in openai_like.render_message(message, ids, notes)
                ]

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        turns = as_responses(messages, session, notes)
        ids = Ids(limit=CHAT_LIMIT)
        lines = [
            exact.dump_bytes(_line(one, message.model or session.model)) + b"\n"
            for index, message in enumerate(turns)
            for one in openai_like.render_message(message, ids, notes.at(index))
        ]
        notes.tell_ids(ids.changed)
        return Written(tuple(lines), notes.findings())


def _line(chat: Mapping[str, Any], model: str) -> dict[str, Any]:
    """A chat message as a line."""
    content = chat.get("content")
    if chat["role"] == "tool":
        call = chat["tool_call_id"]
        return {"type": "tool_result", "tool_call_id": call, "content": content}
    if chat["role"] == "assistant":
        line: dict[str, Any] = {"type": "assistant", "content": content or ""}
        if "tool_calls" in chat:
            line["tool_calls"] = [
                {"id": call["id"], **call["function"]} for call in chat["tool_calls"]
            ]
        return {**line, "model_id": model or "grok"}
    if chat["role"] in ("system", "developer"):
        return {"type": "system", "content": content}
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return {"type": "user", "content": [_spelled(block) for block in blocks]}


def _spelled(block: Mapping[str, Any]) -> Mapping[str, Any]:
    if block["type"] != "image_url":
        return block
    return {"type": "image", "url": block["image_url"]["url"]}
