"""Letta agent files (.af): agents with their messages, of which some are in the context."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.errors import ExportError
from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.dialects import media, openai_like
from compaction.formats.dialects.blocks import parse_block, parse_content, result_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.documents import open_document
from compaction.formats.jsonspans import Node, scan
from compaction.formats.layout import Layout, is_unchanged, place, write_back
from compaction.messages import (
    Media,
    Message,
    Part,
    RecordedCompaction,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_OUTSIDE = "no longer in the context"

#: What the server itself says in the name of the user, by the `type` of the JSON it sends.
_SERVER = frozenset({"heartbeat", "login", "reboot", "system_alert", "bootup"})

#: What clients put into a user message, and how a summary of what left the context begins.
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_EVICTED = "prior messages have been hidden from view"


def parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message: reasoning and text, its calls, or results."""
    role = _role(record, ())
    if role == "tool":
        return _results(record)
    said = _content(record)
    calls = openai_like.parse_blocks({"role": role, "tool_calls": record.get("tool_calls")})
    # Newer servers say a call in the content as well.
    held = {part.id for part in said if isinstance(part, ToolCall)}
    return (
        *said,
        *(c for c in calls if not (isinstance(c, ToolCall) and c.id in held)),
    )


def _content(record: Mapping[str, Any]) -> tuple[Part, ...]:
    content = record.get("content")
    if not isinstance(content, list):
        return parse_content(content)
    return tuple(part for block in content for part in _block(block))


def _block(block: object) -> tuple[Part, ...]:
    if not isinstance(block, Mapping):
        return parse_block(block)
    kind, source = block.get("type"), block.get("source")
    if kind == "reasoning" and isinstance(block.get("reasoning"), str):
        return (Thinking(block["reasoning"], text_of(block.get("signature"))),)
    if kind == "omitted_reasoning":
        return (Thinking("", sealed=len(text_of(block.get("signature")))),)
    if kind == "tool_call":
        return parse_block({**block, "type": "tool_use"})
    if kind == "tool_return":
        return parse_block({**block, "type": "tool_result"})
    if kind == "image" and isinstance(source, Mapping) and source.get("type") == "letta":
        mime, name = text_of(source.get("media_type")), text_of(source.get("file_id"))
        if isinstance(source.get("data"), str):
            return (media.from_base64(source["data"], mime, "image", name=name),)
        return (Media("image", mime=mime, name=name),)
    return parse_block(dict(block))


def _results(record: Mapping[str, Any]) -> tuple[Part, ...]:
    content = result_content(_content(record))
    name = text_of(record.get("name"))
    returned = [
        one
        for key in ("tool_returns", "approvals")
        for one in _mappings(record.get(key))
        if "tool_call_id" in one and ("func_response" in one or "tool_return" in one)
    ]
    if len(returned) < 2:
        failed = bool(returned) and returned[0].get("status") == "error"
        call = record.get("tool_call_id") or (returned and returned[0].get("tool_call_id"))
        held = content or (_returned(returned[0]) if returned else ())
        return (ToolResult(text_of(call or None), held, is_error=failed, name=name),)
    return tuple(
        ToolResult(text_of(one["tool_call_id"]), _returned(one), one.get("status") == "error", name)
        for one in returned
    )


def _returned(one: Mapping[str, Any]) -> Any:
    return result_content(parse_content(one.get("func_response", one.get("tool_return"))))


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _role(record: Mapping[str, Any], _: Sequence[Part]) -> str:
    role = role_of(record)
    if role != "approval":
        return role
    # A call that waits for a person's consent, or the answer: results, or yes and no.
    return "assistant" if record.get("tool_calls") else "tool"


def _server_said(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON in a user message that the server wrote; {} where a person did."""
    if role_of(record) != "user":
        return {}
    parts = _content(record)
    text = parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else ""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = exact.loads(text)
    except exact.ExactError:
        return {}
    return value if isinstance(value, dict) and value.get("type") in _SERVER else {}


def _summary(record: Mapping[str, Any]) -> str:
    return "letta" if _EVICTED in text_of(_server_said(record).get("message")) else ""


def _facts(record: Mapping[str, Any]) -> Facts:
    if role_of(record) != "user":
        return Facts()
    parts = _content(record)
    wrapped = bool(parts) and all(
        isinstance(part, Text) and not _REMINDER.sub("", part.text).strip() for part in parts
    )
    grouped = isinstance(record.get("group_id"), str)
    return Facts(injected=wrapped or grouped or bool(_server_said(record)))


def _hidden(values: Sequence[object], agent: Mapping[str, Any]) -> dict[int, str]:
    """The messages that are kept for search and no longer sent."""
    sent = agent.get("in_context_message_ids")
    if not isinstance(sent, list):
        return {}
    ids = {one for one in sent if isinstance(one, str)}
    return {
        index: _OUTSIDE
        for index, value in enumerate(values)
        if not (isinstance(value, Mapping) and text_of(value.get("id")) in ids)
    }


def _about(agent: Mapping[str, Any], document: object) -> Mapping[str, Any]:
    """The model and window of an agent, and its tools, which the file holds for all agents."""
    config = agent.get("llm_config")
    about: dict[str, Any] = {"title": text_of(agent.get("name")), "tools": []}
    if isinstance(config, Mapping):
        about["model"] = config.get("model")
        about["context_window"] = config.get("context_window")
    listed = agent.get("tool_ids")
    ids = {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
    if isinstance(document, Mapping):
        about["tools"] = [
            tool["json_schema"]
            for tool in _mappings(document.get("tools"))
            if text_of(tool.get("id")) in ids and isinstance(tool.get("json_schema"), Mapping)
        ]
    return about


SHAPE = Shape(
    format="letta",
    lists=(("messages",),),
    answers=(),
    parse=parse,
    role=_role,
    is_message=lambda value: isinstance(value, Mapping) and isinstance(value.get("role"), str),
    groups=(("agents",),),
    hidden=_hidden,
    facts=_facts,
    summary=_summary,
    about=_about,
    growing=False,
)


class Letta:
    """The format."""

    name = "letta"
    title = "Letta agent file"
    dialect: Dialect = "openai-chat"
    suffix = ".af"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Agents beside their blocks and tools, or an agent that says what is in its context."""
        value = sample.whole
        if sample.yaml or not isinstance(value, Mapping):
            return False
        agents = value.get("agents")
        if not isinstance(agents, list) or not all(isinstance(one, Mapping) for one in agents):
            return False
        told = any("in_context_message_ids" in one for one in agents)
        return told or ("blocks" in value and "tools" in value and bool(agents))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages in the context of an agent; all that it keeps when the history is full."""
        full = options.history == "full"
        shape = replace(SHAPE, hidden=lambda _a, _b: {}) if full else SHAPE
        session = chatfile.read(open_document(source, SHAPE.structural), options, shape)
        if not full:
            return session
        made = (
            RecordedCompaction(index, line=one.spans[0].line)
            for index, one in enumerate(session.messages)
            if one.summary == "letta"
        )
        return replace(session, compactions=tuple(made))

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages, and only those in the agent's context."""
        layout = place(messages, session, self.name)
        if layout is None:
            raise ExportError(
                "A Letta agent file cannot be made of another session: it holds the memory, the "
                "tools and the model of an agent. Choose another format, such as openai-chat."
            )
        notes = Notes(self.title)
        fresh = _Fresh(session, messages)
        written = write_back(messages, session, layout, lambda one: fresh.records(one, notes))
        found = (*written.findings, *notes.findings())
        if is_unchanged(messages, session, layout):
            return Written(written.chunks, found)
        kept = {one.id for one in messages if one.id}
        return Written((_in_context(b"".join(written.chunks), layout, kept | fresh.ids),), found)


class _Fresh:
    """New messages, with the members that those of the file have and ids that none has."""

    def __init__(self, session: Session, messages: Sequence[Message]) -> None:
        numbers = re.findall(rb'"message-(\d{1,9})"', session.source.data)
        self._next = max((int(number) for number in numbers), default=-1) + 1
        self._like: Mapping[str, Any] = {}
        for one in reversed(session.messages):
            if isinstance(record := one.record, Mapping):
                self._like = record
                break
        self.ids: set[str] = set()
        # A new message is as old as the one before it.
        self._times: dict[int, str] = {}
        time = next((one.time for one in messages if one.time), "")
        for one in messages:
            time = self._times[id(one)] = one.time or time

    def records(self, message: Message, notes: Notes) -> list[dict[str, Any]]:
        """One message as records of the file."""
        return [
            self._record(chat, self._times.get(id(message), ""))
            for chat in openai_like.render_message(message, Ids(verbatim=True), notes)
        ]

    def _record(self, chat: Mapping[str, Any], time: str) -> dict[str, Any]:
        name = f"message-{self._next}"
        self._next += 1
        self.ids.add(name)
        content = chat.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        own = {
            "type": "message",
            "role": chat["role"],
            "content": blocks or [],
            "id": name,
            "tool_calls": chat.get("tool_calls"),
            "tool_call_id": chat.get("tool_call_id"),
        }
        if time:
            own["created_at"] = time
        made = {key: own.get(key, _empty(key, value)) for key, value in self._like.items()}
        return {**made, **own}


def _empty(key: str, value: object) -> object:
    """What a member of a message holds where nothing is to be said."""
    if key == "agent_id":
        return value
    return [] if isinstance(value, list) else None


def _in_context(data: bytes, layout: Layout, ids: set[str]) -> bytes:
    """A file whose agent, where it stood before, has in its context the messages of `ids`."""
    text = data[layout.start :].decode("utf-8", "replace")
    try:
        agent = scan(text, ("messages", "in_context_message_ids"))
    except exact.ExactError:
        return data
    messages, listed = agent.get("messages"), agent.get("in_context_message_ids")
    if messages is None or listed is None or listed.items is None:
        return data
    named = [
        name
        for item in messages.items or ()
        if isinstance(item.value, Mapping) and (name := text_of(item.value.get("id"))) in ids
    ]
    new = _listed(text, listed, named)
    patched = text[: listed.start] + new + text[listed.end :]
    return data[: layout.start] + patched.encode("utf-8", "replace")


def _listed(text: str, node: Node, names: Sequence[str]) -> str:
    """Names as a JSON list, laid out as the list at `node`."""
    items = node.items or ()
    if not items or not names:
        return exact.dumps(list(names), exact.SPACED)
    gap = text[items[0].end : items[1].start] if len(items) > 1 else ", "
    lead, tail = text[node.start : items[0].start], text[items[-1].end : node.end]
    return lead + gap.join(exact.dumps(name) for name in names) + tail
