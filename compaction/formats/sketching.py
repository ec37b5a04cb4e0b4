"""Messages made from what was just read: small values, their bodies parsed again on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from compaction.formats import exact, quick
from compaction.marker import is_own_summary
from compaction.messages import (
    Body,
    Message,
    Part,
    Source,
    Span,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    kind_of,
    part_chars,
    preview_of,
)

Parse = Callable[[Any], tuple[Part, ...]]

_KINDS: dict[frozenset[str], frozenset[str]] = {}


class SpanBody:
    """A body behind one span of JSON."""

    __slots__ = ("_parse", "_source", "_span")
    #: Members of a record that repeat the output of a tool for the screen.
    repeats: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, source: Source, span: Span, parse: Parse) -> None:
        self._source = source
        self._span = span
        self._parse = parse

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """The content, parsed now."""
        return self._parse(quick.loads(self._source.raw(self._span)))

    def spans_read(self) -> tuple[Span, ...]:
        """Where the content stands."""
        return (self._span,)

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What the content would be if `raws` stood there."""
        return self._parse(quick.loads(raws[0]))

    def record(self) -> object:
        """The value in the span, exactly."""
        return exact.loads(self._source.raw(self._span))


class HeldBody:
    """A body behind a value that is held, where its text is no JSON."""

    __slots__ = ("_parse", "_source", "_value")

    def __init__(self, source: Source, value: object, parse: Parse) -> None:
        self._parse = parse
        self._source = source
        self._value = value

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """The content, parsed now."""
        return self._parse(self._value)

    def record(self) -> object:
        """The value as it was read."""
        return self._value


def stands_in(message: Message, source: Source) -> bool:
    """Whether a message is as it was read from `source`: neither made nor changed since."""
    body = message.body
    return bool(message.spans) and isinstance(body, (SpanBody, HeldBody)) and body.reads(source)


def sketch(
    parts: Sequence[Part],
    *,
    role: str,
    body: Body,
    span: Span,
    record: Mapping[str, Any] | None = None,
    summary: str = "",
    bound: bool = False,
    pointer: str = "",
    usage: Usage | None = None,
    model: str = "",
) -> Message:
    """A message of `parts`, which are looked at and not kept."""
    record = record or {}
    kinds = frozenset(kind_of(part) for part in parts)
    calls = tuple(part.id for part in parts if isinstance(part, ToolCall))
    results = tuple(part.call_id for part in parts if isinstance(part, ToolResult))
    tool = next(
        (p.name for p in parts if isinstance(p, (ToolCall, ToolResult)) and p.name), ""
    ) or _server_tool(record)
    if not summary and role in ("user", "system", "developer", "assistant") and parts:
        first = parts[0]
        if isinstance(first, Text) and is_own_summary(first.text):
            summary = "compaction"
    return Message(
        role,
        body,
        preview=preview_of(parts),
        chars=sum(part_chars(part) for part in parts),
        calls=calls,
        results=results,
        kinds=_KINDS.setdefault(kinds, kinds),
        tool=tool,
        name=_text(record.get("name")) if role != "tool" and not calls else "",
        id=_text(record.get("id")),
        time=time_of(record),
        model=_text(record.get("model")) or model,
        usage=usage or usage_of(record.get("usage")),
        summary=summary,
        bound=bound,
        spans=(span,),
        pointer=pointer,
    )


def _server_tool(record: Mapping[str, Any]) -> str:
    content = record.get("content")
    for block in content if isinstance(content, list) else (record,):
        if isinstance(block, Mapping):
            kind = block.get("type")
            if kind in ("server_tool_use", "mcp_tool_use", "mcp_call"):
                return _text(block.get("name"))
            if isinstance(kind, str) and kind.endswith("_call"):
                return kind.removesuffix("_call")
    return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def time_of(record: Mapping[str, Any]) -> str:
    """When a record says it was made, as text; seconds since 1970 become ISO in UTC."""
    for key in ("timestamp", "created_at", "created", "ts"):
        value = record.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e14:
            seconds = value / 1000 if value >= 1e11 else value
            return datetime.fromtimestamp(float(seconds), UTC).isoformat()
    return ""


#: Gemini's counts: read, answered, thought, and read from the cache, in both spellings.
_GEMINI = (
    ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"),
    (
        "prompt_token_count",
        "candidates_token_count",
        "thoughts_token_count",
        "cached_content_token_count",
    ),
)


def usage_of(value: object) -> Usage | None:
    """Usage as any of the APIs reports it, normalised; None when nothing is said."""
    if not isinstance(value, Mapping):
        return None
    for keys in _GEMINI:
        prompt, answer, thoughts, from_cache = (_count(value, key) for key in keys)
        if prompt is not None:
            return Usage(prompt, (answer or 0) + (thoughts or 0), from_cache or 0)
    chat = _count(value, "prompt_tokens")
    written = _count(value, "cache_creation_input_tokens") or 0
    details = value.get("prompt_tokens_details") or value.get("input_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else None
    if chat is not None:
        return Usage(chat, _count(value, "completion_tokens") or 0, cached or 0, written)
    fresh = _count(value, "input_tokens")
    if fresh is None:
        return None
    output = _count(value, "output_tokens") or 0
    if isinstance(details, Mapping):
        return Usage(fresh, output, cached or 0, written)
    read = _count(value, "cache_read_input_tokens") or 0
    return Usage(fresh + read + written, output, read, written)


def _count(value: Mapping[str, Any], key: str) -> int | None:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
