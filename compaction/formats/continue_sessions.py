"""Continue sessions (`~/.continue/sessions/*.json`): items with a message and its tool results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape, last_with
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.blocks import parse_content, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.documents import open_document
from compaction.formats.pieces import Piece
from compaction.marker import is_own_summary
from compaction.messages import (
    Message,
    Part,
    Session,
    Source,
    Text,
    Thinking,
    ToolResult,
    Usage,
)

NAME = "continue"
TITLE = "Continue"

#: What stands for the result of a call that the user stopped.
_CANCELLED = "The user cancelled this tool call."


def message_in(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of an item; empty where it has none."""
    held = item.get("message")
    return held if isinstance(held, Mapping) else {}


def states_of(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls of an item that have an end."""
    states = item.get("toolCallStates")
    held = [one for one in states if isinstance(one, Mapping)] if isinstance(states, list) else []
    return [one for one in held if one.get("status") == "canceled" or _is_list(one.get("output"))]


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def is_message(value: object) -> bool:
    """Whether a value is an item of a history."""
    return isinstance(value, Mapping) and isinstance(message_in(value).get("role"), str)


def _role(item: Mapping[str, Any], _: Sequence[Part]) -> str:
    role = role_of(message_in(item))
    return "assistant" if role == "thinking" else role


def _parse(item: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of the message itself, what was attached to it in front."""
    message = message_in(item)
    role = message.get("role")
    content = _content(message.get("content"))
    if role == "thinking":
        text = "\n".join(part.text for part in content if isinstance(part, Text))
        sealed = len(text_of(message.get("redactedThinking")))
        return (Thinking(text, text_of(message.get("signature")), sealed),)
    if role == "tool":
        call = {"role": "tool", "content": message.get("content")}
        return openai_like.parse_blocks({**call, "tool_call_id": message.get("toolCallId")})
    attached = item.get("contextItems") if role == "user" else None
    before = _contexts(attached) if isinstance(attached, list) else ()
    calls = openai_like.parse_blocks({"role": "x", "tool_calls": message.get("toolCalls")})
    return (*before, *content, *calls)


def _content(content: object) -> tuple[Part, ...]:
    blocks = content if isinstance(content, list) else [content]
    out: list[Part] = []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "imageUrl":
            block = {"type": "image_url", "image_url": block.get("imageUrl")}
        out += parse_content(block)
    return tuple(out)


def _contexts(items: Sequence[object]) -> tuple[Text, ...]:
    held = [one.get("content") for one in items if isinstance(one, Mapping)]
    return tuple(Text(text) for text in held if isinstance(text, str) and text)


def _result(state: Mapping[str, Any]) -> Piece:
    output = state.get("output")
    content = _contexts(output) if isinstance(output, list) else (Text(_CANCELLED),)
    called = state.get("toolCall")
    inner = called.get("function") if isinstance(called, Mapping) else None
    name = text_of(inner.get("name")) if isinstance(inner, Mapping) else ""
    failed = state.get("status") in ("errored", "canceled")
    return Piece("tool", (ToolResult(text_of(state.get("toolCallId")), content, failed, name),))


def _cut(item: Mapping[str, Any]) -> list[Piece]:
    """The message of an item, and the results of its calls."""
    results = [_result(state) for state in states_of(item)]
    parts = _parse(item)
    if _role(item, ()) == "tool" and results:
        return results
    return [Piece(_role(item, parts), parts), *results]


def _cut_live(item: Mapping[str, Any]) -> list[Piece]:
    """As `_cut`, but of an item with a summary: that replaces all up to the item."""
    text = item.get("conversationSummary")
    return [Piece("user", (Text(text),))] if isinstance(text, str) and text else _cut(item)


def _cut_full(item: Mapping[str, Any]) -> list[Piece]:
    text = item.get("conversationSummary")
    summary = [Piece("user", (Text(text),))] if isinstance(text, str) and text else []
    return [*_cut(item), *summary]


def keep(item: Mapping[str, Any], indexes: Sequence[int]) -> dict[str, Any]:
    """The item with only some of its message and results."""
    alone = _role(item, ()) == "tool" and bool(states_of(item))
    states = [s for n, s in enumerate(states_of(item), 0 if alone else 1) if n in indexes]
    rest = {key: value for key, value in item.items() if key != "toolCallStates"}
    if alone or 0 not in indexes:
        rest["message"] = {"role": "tool", "content": "", "toolCallId": ""}
    return {**rest, "toolCallStates": states} if states else rest


def _summary(item: Mapping[str, Any]) -> str:
    text = item.get("conversationSummary")
    if not isinstance(text, str) or not text:
        return ""
    return "compaction" if is_own_summary(text) else NAME


def _hidden(values: Sequence[object], _: Mapping[str, Any]) -> dict[int, str]:
    """Results that stand with their calls already."""
    answered: set[str] = set()
    out: dict[int, str] = {}
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            continue
        message = message_in(value)
        alone = message.get("role") == "tool" and not states_of(value)
        if alone and text_of(message.get("toolCallId")) in answered:
            out[index] = "results that stand with their calls"
        answered |= {text_of(state.get("toolCallId")) for state in states_of(value)}
    return out


def _facts(item: Mapping[str, Any]) -> Facts:
    message = message_in(item)
    usage = message.get("usage")
    logs = item.get("promptLogs")
    last = logs[-1] if isinstance(logs, list) and logs else None
    model = text_of(last.get("modelTitle")) if isinstance(last, Mapping) else ""
    if not isinstance(usage, Mapping):
        return Facts(model=model)
    context, output = _count(usage, "promptTokens"), _count(usage, "completionTokens")
    details = usage.get("promptTokensDetails")
    details = details if isinstance(details, Mapping) else {}
    cached, written = _count(details, "cachedTokens"), _count(details, "cacheWriteTokens")
    told = Usage(context, output, cached, written) if context or output else None
    return Facts(model=model or text_of(usage.get("model")), usage=told)


def _count(held: Mapping[str, Any], key: str) -> int:
    value = held.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


SHAPE = Shape(
    format=NAME,
    lists=(("history",),),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_message,
    live_from=last_with(_summary),
    hidden=_hidden,
    facts=_facts,
    summary=_summary,
    cut=_cut_live,
    keep=keep,
    growing=False,
)
_FULL = replace(SHAPE, cut=_cut_full, summary=lambda _: "")


class Continue:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A session with a history whose items hold a message and what was attached to it."""
        value = sample.whole
        if not isinstance(value, Mapping) or not isinstance(value.get("history"), list):
            return False
        if not isinstance(value.get("sessionId"), str):
            return False
        items = value["history"][:20]
        return "workspaceDirectory" in value or any(
            is_message(item) and "contextItems" in item for item in items
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The history, from its last summary on when live."""
        shape = SHAPE if options.history == "live" else _FULL
        return chatfile.read(open_document(source, SHAPE.structural), options, shape)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a new session for one from elsewhere."""
        from compaction.formats.continue_writing import write

        return write(messages, session)
