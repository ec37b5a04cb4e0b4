"""Amp threads (`T-*.json`): Anthropic-like messages with the runs of their tools."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape, last_with
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.blocks import parse_block, parse_content, result_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import Layout, place, write_back
from compaction.formats.listpaths import records_of
from compaction.formats.sketching import stands_in, time_of
from compaction.messages import Message, Part, Session, Source, Text, ToolResult, Usage

NAME = "amp"

_NAMESPACE = uuid.UUID("ab1f7c52-2f5c-5a0f-8a0b-5b8d4b6e1a0c")

#: Members of a result that hold what the model reads of it; the others are about it.
_MAIN = ("content", "output", "diff")


def is_message(value: object) -> bool:
    """Whether a value is a message of a thread."""
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "content" in value


def _parse(message: Mapping[str, Any]) -> tuple[Part, ...]:
    content = message.get("content")
    if not isinstance(content, list):
        return parse_content(content)
    return tuple(part for block in content for part in _block(block))


def _block(block: object) -> tuple[Part, ...]:
    if not isinstance(block, dict):
        return parse_block(block)
    source = block.get("source")
    match block.get("type"):
        case "tool_result" if "toolUseID" in block:
            return (_result(block),)
        case "image" if isinstance(source, Mapping) and "mediaType" in source:
            return parse_block({**block, "source": {**source, "media_type": source["mediaType"]}})
        case "summary":
            return (Text(_summary_text(block)),)
    return parse_block(block)


def _result(block: Mapping[str, Any]) -> ToolResult:
    run = block.get("run")
    run = run if isinstance(run, Mapping) else {}
    result, error = run.get("result"), run.get("error")
    parts: tuple[Part, ...] = ()
    if isinstance(result, Mapping):
        main = next((result[key] for key in _MAIN if isinstance(result.get(key), str)), None)
        parts = (Text(exact.dumps(result) if main is None else main),)
    elif isinstance(result, list):
        parts = tuple(part for one in result for part in _block(one))
    elif result is not None:
        parts = (Text(text_of(result)),)
    if error is not None:
        told = error.get("message") if isinstance(error, Mapping) else error
        parts = (*parts, Text(text_of(told)))
    failed = error is not None or run.get("status") in ("error", "cancelled", "rejected-by-user")
    return ToolResult(text_of(block.get("toolUseID")), result_content(parts), is_error=failed)


def _summary_text(block: Mapping[str, Any]) -> str:
    held = block.get("summary")
    return text_of(held.get("summary") if isinstance(held, Mapping) else held)


def _role(message: Mapping[str, Any], parts: Sequence[Part]) -> str:
    if message.get("role") == "info":
        return "user"
    return anthropic_like.message_role(message, parts)


def _summary(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    told = any(isinstance(b, Mapping) and b.get("type") == "summary" for b in blocks)
    return NAME if told else ""


def _facts(message: Mapping[str, Any]) -> Facts:
    usage = message.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    meta = message.get("meta")
    sent = meta.get("sentAt") if isinstance(meta, Mapping) else None
    number = message.get("messageId")
    return Facts(
        id=str(number) if isinstance(number, (int, str)) and not isinstance(number, bool) else "",
        time=text_of(usage.get("timestamp")) or time_of({"ts": sent}),
        model=text_of(usage.get("model")),
        usage=_usage(usage),
        injected=message.get("role") == "info",
    )


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    fresh, output, cached, written = (
        _count(usage, key)
        for key in (
            "inputTokens",
            "outputTokens",
            "cacheReadInputTokens",
            "cacheCreationInputTokens",
        )
    )
    # What is read from the cache and written to it is counted apart from the rest.
    context = fresh + cached + written
    return Usage(context, output, cached, written) if context or output else None


def _count(held: Mapping[str, Any], key: str) -> int:
    value = held.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _about(outer: Mapping[str, Any], _: object) -> Mapping[str, Any]:
    """The window that the last answer was told to have."""
    messages = outer.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        usage = message.get("usage") if isinstance(message, Mapping) else None
        stated = usage.get("maxInputTokens") if isinstance(usage, Mapping) else None
        if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0:
            return {"context_window": stated}
    return {}


SHAPE = Shape(
    format=NAME,
    lists=(("messages",),),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_message,
    live_from=last_with(_summary),
    facts=_facts,
    summary=_summary,
    about=_about,
    growing=False,
)


class Amp:
    """The format."""

    name = NAME
    title = "Amp"
    dialect: Dialect = "anthropic"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A thread: its version, its id, and messages with a number each."""
        value = sample.whole
        if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
            return False
        named = isinstance(value.get("id"), str) and value["id"].startswith("T-")
        looked = value["messages"][:20]
        numbered = any(isinstance(one, Mapping) and "messageId" in one for one in looked)
        return "v" in value and (named or numbered) and "created" in value

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The thread, from its last summary on when live."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same thread with other messages; a new one for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, NAME):
            numbers = _numbers(messages, session, layout)

            def render(message: Message) -> list[dict[str, Any]]:
                made = anthropic_like.render_message(message, Ids(verbatim=True), notes)
                return [_spelled(made, numbers[id(message)])] if made else []

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        turns = as_responses(messages, session, notes)
        request = anthropic_like.render(turns, notes, session.format)
        if request.system:
            notes.at(0).tell("system", "the system prompt")
        listed = [_spelled(made, number) for number, made in enumerate(request.messages)]
        made_from = f"{session.format}{session.source.size}"
        document = {
            "v": len(listed),
            "id": f"T-{uuid.uuid5(_NAMESPACE, made_from)}",
            "created": 0,
            "messages": listed,
            "nextMessageId": len(listed),
            "title": session.title,
        }
        return whole(document, notes)


def _numbers(messages: Sequence[Message], session: Session, layout: Layout) -> dict[int, int]:
    """A number for each new message: one that became free before the message it leads to."""
    taken = {int(one.id) for one in messages if _is_kept(one, session) and one.id.isdigit()}
    records = records_of(layout, session.source)
    known = {n for one in records if type(n := one.get("messageId")) is int and n >= 0}
    free = sorted(known - taken)
    after = max(known | taken, default=-1)
    out: dict[int, int] = {}
    following: int | None = None
    for message in reversed(messages):
        if _is_kept(message, session):
            following = int(message.id) if message.id.isdigit() else following
            continue
        fitting = [one for one in free if following is None or one < following]
        if fitting:
            following = fitting[-1]
            free.remove(following)
            out[id(message)] = following
        else:
            after += 1
            out[id(message)] = after
    return out


def _is_kept(message: Message, session: Session) -> bool:
    return stands_in(message, session.source)


def _spelled(made: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A message with its blocks as the tool has them."""
    content = made["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    out: dict[str, Any] = {"role": made["role"], "messageId": number}
    out["content"] = [_own(block) for block in blocks]
    if made["role"] == "assistant":
        calls = any(block["type"] == "tool_use" for block in blocks)
        out["state"] = {"type": "complete", "stopReason": "tool_use" if calls else "end_turn"}
    return out


def _own(block: Mapping[str, Any]) -> dict[str, Any]:
    if block["type"] == "tool_use":
        return {"type": "tool_use", "complete": True, **{k: block[k] for k in block if k != "type"}}
    if block["type"] == "tool_result":
        failed = block.get("is_error") is True
        content = block["content"]
        run: dict[str, Any] = {"status": "error" if failed else "done"}
        if failed and isinstance(content, str):
            run["error"] = {"message": content}
        else:
            run["result"] = content
        return {"type": "tool_result", "toolUseID": block["tool_use_id"], "run": run}
    source = block.get("source")
    if isinstance(source, Mapping) and "media_type" in source:
        inner = {k: v for k, v in source.items() if k != "media_type"}
        return {**block, "source": {**inner, "mediaType": source["media_type"]}}
    return dict(block)
