"""Kimi Code sessions (`wire.jsonl`): the format.

A log of what happened; the conversation is what it leaves when it is played. How that is done
stands in `kimi_reading`, and how a log is written in `kimi_writing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from compaction.formats import exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.blocks import parse_content, result_content, text_of
from compaction.messages import (
    Message,
    Part,
    Session,
    Source,
    Span,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "kimi"
TITLE = "Kimi Code"


@dataclass(frozen=True, slots=True)
class Wire:
    """What writing back needs.

    `others` are all lines of the log but those that are messages, `order` has the offset of every
    message as read.
    """

    others: tuple[Span, ...]
    order: tuple[int, ...] = ()


class LinesBody:
    """A body behind the lines of one message."""

    __slots__ = ("_source", "spans")
    #: Members of a record that repeat the output of a tool for the screen.
    repeats: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, source: Source, spans: tuple[Span, ...]) -> None:
        self._source = source
        self.spans = spans

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """What the lines say, one after another."""
        return self.again([self._source.raw(span) for span in self.spans])

    def spans_read(self) -> tuple[Span, ...]:
        """Where the lines stand."""
        return self.spans

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What the content would be if `raws` stood there."""
        return parts_of([exact.loads(raw) for raw in raws])

    def record(self) -> object:
        """The line, or the list of lines."""
        lines = [exact.loads(self._source.raw(span)) for span in self.spans]
        return lines[0] if len(lines) == 1 else lines


class Kimi:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "openai-chat"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A log with the version of its protocol, or records that add to a context."""
        return any(_is_record(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The context at the end of the log, or with `history="full"` all that was in it."""
        from compaction.formats.kimi_reading import read

        return read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """A log that leaves just these messages when it is played."""
        from compaction.formats.kimi_writing import write

        return write(messages, session)


def _is_record(line: object) -> bool:
    if not isinstance(line, Mapping):
        return False
    kind = line.get("type")
    if kind == "metadata":
        return isinstance(line.get("protocol_version"), str)
    if kind == "context.append_message":
        return isinstance(line.get("message"), Mapping)
    return kind == "context.append_loop_event" and isinstance(line.get("event"), Mapping)


def event_in(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event of a turn that a record tells of; empty for any other record."""
    held = record.get("event") if record.get("type") == "context.append_loop_event" else None
    return held if isinstance(held, Mapping) else {}


def message_in(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message that a record adds; empty for any other record."""
    held = record.get("message") if record.get("type") == "context.append_message" else None
    return held if isinstance(held, Mapping) else {}


def summary_in(record: Mapping[str, Any]) -> str:
    """The summary that a compaction puts in the place of what was before."""
    return text_of(record.get("contextSummary")) or text_of(record.get("summary"))


def parts_of(records: Sequence[Mapping[str, Any]]) -> tuple[Part, ...]:
    """The parts of the message that records make together."""
    return tuple(part for record in records for part in _parts(record))


def _parts(record: Mapping[str, Any]) -> tuple[Part, ...]:
    if message := message_in(record):
        content = _content(message.get("content"))
        if message.get("role") == "tool":
            call = text_of(message.get("toolCallId"))
            failed = message.get("isError") is True
            return (ToolResult(call, result_content(content), failed),)
        calls = openai_like.parse_blocks({"role": "x", "tool_calls": message.get("toolCalls")})
        return (*content, *calls)
    event = event_in(record)
    match event.get("type"):
        case "content.part":
            return _content([event.get("part")])
        case "tool.call":
            given = event.get("args")
            arguments = (
                given if isinstance(given, str) else exact.dumps({} if given is None else given)
            )
            call = text_of(event.get("toolCallId"))
            return (ToolCall(call, text_of(event.get("name")), arguments),)
        case "tool.result":
            result = event.get("result")
            held = result if isinstance(result, Mapping) else {"output": result}
            content = result_content(_content(held.get("output")))
            failed = held.get("isError") is True
            return (ToolResult(text_of(event.get("toolCallId")), content, failed),)
    match record.get("type"):
        case "context.apply_compaction":
            text = summary_in(record)
            return (Text(text),) if text else ()
        case "config.update" | "profile.bind":
            return (Text(text_of(record.get("systemPrompt"))),)
    return ()


def _content(content: object) -> tuple[Part, ...]:
    blocks = content if isinstance(content, list) else [content]
    out: list[Part] = []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "think":
            sealed = len(text_of(block.get("encrypted")))
            out.append(Thinking(text_of(block.get("think")), sealed=sealed))
        else:
            camel = {"imageUrl": "image_url", "audioUrl": "audio_url", "videoUrl": "video_url"}
            if isinstance(block, dict) and not camel.keys().isdisjoint(block):
                block = {camel.get(key, key): value for key, value in block.items()}
            out += parse_content(block)
    return tuple(out)
