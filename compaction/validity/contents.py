"""What a message holds: text where there must be some, arguments that parse, reasoning whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.findings import Finding, Level
from compaction.formats import exact
from compaction.formats.base import Dialect
from compaction.messages import Media, Message, Part, Text, Thinking, ToolCall

#: Kinds of media an API takes in a user message.
_MEDIA: Mapping[Dialect, frozenset[str]] = {
    "openai-chat": frozenset({"image", "audio", "document", "file"}),
    "openai-responses": frozenset({"image", "document", "file"}),
    "anthropic": frozenset({"image", "document"}),
    "gemini": frozenset({"image", "audio", "video", "document", "file"}),
}

#: Cache marks that Anthropic takes in one request.
_MARKS = 4


def findings(messages: Sequence[Message], dialect: Dialect) -> Iterator[Finding]:
    """What is wrong inside single messages."""
    marks = 0
    foreign: list[int] = []
    for index, message in enumerate(messages):
        kinds = message.kinds
        if not message.chars or "text" in kinds:
            yield from _empty(messages, index, dialect)
        if message.calls:
            yield from _arguments(message, index)
        if "thinking" in kinds:
            yield from _reasoning(messages, index, dialect, foreign)
        if "media" in kinds:
            yield from _media(message, index, dialect)
        if dialect == "anthropic" and message.spans:
            marks += _cache_marks(message)
    if foreign:
        yield Finding(
            "info",
            "thinking-foreign",
            f"{len(foreign):,} messages hold reasoning that this API does not take, first "
            f"#{foreign[0]}.",
            foreign[0],
            remedy="it is left out when the list is converted",
        )
    if marks > _MARKS:
        yield Finding(
            "error",
            "cache-marks",
            f"The list has {marks} cache marks; {_MARKS} are taken.",
            remedy="remove the oldest cache_control members",
        )


def unknown_tools(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
) -> Iterator[Finding]:
    """Calls of tools that are not among the definitions, each tool once."""
    names = {_tool_name(tool) for tool in tools}
    told: set[str] = set()
    for index, message in enumerate(messages):
        if not message.calls:
            continue
        for part in message.parts:
            if isinstance(part, ToolCall) and part.name not in names and part.name not in told:
                told.add(part.name)
                yield Finding(
                    "warning",
                    "unknown-tool",
                    f"#{index} calls {part.name!r}, which is not among the tools.",
                    index,
                )


def _tool_name(tool: Mapping[str, Any]) -> str:
    inner = tool.get("function")
    held = inner if isinstance(inner, Mapping) else tool
    return str(held.get("name") or "")


def _empty(messages: Sequence[Message], index: int, dialect: Dialect) -> Iterator[Finding]:
    message = messages[index]
    if message.chars and message.preview.strip() and dialect != "anthropic":
        return
    if message.calls and dialect != "anthropic":
        return
    if message.chars > 4000 and message.preview.strip():
        # A long message may hold an empty block too; that alone is not worth parsing it.
        return
    parts = message.parts
    blank = [part for part in parts if isinstance(part, Text) and not part.text.strip()]
    if _says(parts):
        if blank and dialect == "anthropic" and message.role != "tool":
            yield Finding(
                "error",
                "empty-content",
                f"#{index} has an empty text block beside others.",
                index,
                remedy="remove the block",
            )
        return
    if message.role == "tool":
        return
    last = index == len(messages) - 1
    level: Level = "error" if dialect in ("anthropic", "gemini") else "warning"
    if last and message.role == "assistant" and dialect == "anthropic":
        return
    yield Finding(
        level,
        "empty-content",
        f"#{index} ({message.role}) is empty"
        + (" but for white space." if blank and message.chars else "."),
        index,
        remedy="leave it out, or give it text",
    )


def _says(parts: Sequence[Part]) -> bool:
    """Whether anything of a message would be sent."""
    return any(not isinstance(part, Text) or part.text.strip() for part in parts)


def _arguments(message: Message, index: int) -> Iterator[Finding]:
    for part in message.parts:
        if not isinstance(part, ToolCall) or not part.arguments.strip():
            continue
        if part.arguments.lstrip()[:1] != "{":
            # Free text is what a custom tool takes.
            if not _is_custom(message):
                yield Finding(
                    "warning",
                    "arguments-no-object",
                    f"#{index} calls {part.name!r} with arguments that are no JSON object.",
                    index,
                )
            continue
        try:
            exact.loads(part.arguments)
        except exact.ExactError as error:
            yield Finding(
                "error",
                "arguments-no-object",
                f"#{index} calls {part.name!r} with arguments that are no JSON: {error}.",
                index,
                remedy="arguments must be one JSON object; never cut inside them",
            )


def _is_custom(message: Message) -> bool:
    record = message.record
    payload = record.get("payload") if isinstance(record, Mapping) else None
    held = payload if isinstance(payload, Mapping) else record
    if not isinstance(held, Mapping):
        return False
    if str(held.get("type", "")).endswith("_call"):
        return held.get("type") != "function_call"
    calls = held.get("tool_calls")
    return isinstance(calls, list) and any(
        isinstance(call, Mapping) and call.get("type") == "custom" for call in calls
    )


def _reasoning(
    messages: Sequence[Message], index: int, dialect: Dialect, foreign: list[int]
) -> Iterator[Finding]:
    message = messages[index]
    if dialect == "openai-responses":
        if message.bound:
            after = messages[index + 1] if index + 1 < len(messages) else None
            if after is None or after.role != "assistant":
                level: Level = "warning" if after is None else "error"
                yield Finding(
                    level,
                    "reasoning-alone",
                    f"#{index} is a reasoning item without the item that came after it.",
                    index,
                    remedy="keep both or neither",
                )
        return
    if dialect == "gemini":
        foreign.append(index)
        return
    if dialect == "anthropic":
        thinking = [part for part in message.parts if isinstance(part, Thinking)]
        if any(part.text and not part.signature for part in thinking):
            yield Finding(
                "warning",
                "thinking-unsigned",
                f"#{index} holds thinking without a signature, which the API refuses.",
                index,
                remedy="leave the thinking block out",
            )


def _media(message: Message, index: int, dialect: Dialect) -> Iterator[Finding]:
    taken = _MEDIA[dialect]
    for part in message.parts:
        if isinstance(part, Media) and part.kind not in taken:
            yield Finding(
                "warning",
                "media-refused",
                f"#{index} holds {part.kind} content, which the API does not take.",
                index,
                remedy="it is written as a text label when the list is converted",
            )
            return


def _cache_marks(message: Message) -> int:
    """Cache marks of one message; its record is only looked at where there may be one."""
    body = message.body
    source = getattr(body, "_source", None)
    if source is not None and not any(
        b'"cache_control"' in source.raw(span) for span in message.spans
    ):
        return 0
    return _count_marks(message.record)


def _count_marks(value: object) -> int:
    if isinstance(value, Mapping):
        own = 1 if isinstance(value.get("cache_control"), Mapping) else 0
        return own + sum(_count_marks(one) for one in value.values())
    if isinstance(value, list):
        return sum(_count_marks(one) for one in value)
    return 0
