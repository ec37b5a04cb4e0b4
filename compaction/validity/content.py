"""What stands inside of messages: blank text, arguments, ids, reasoning, media, cache marks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.findings import Finding, Level
from compaction.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult
from compaction.validity.listing import View, finding, first_record, listed

#: Marks of prompt caching that one Anthropic request may hold.
CACHE_MARKS = 4

#: OpenAI's own limit for ids of calls; others take 64.
_OPENAI_ID = 40

#: Kinds of parts that must be looked at whatever the API.
_LOOKED_AT = frozenset({"tool call", "media"})

_ARGUMENTS_SHOWN = 60


def content(view: View) -> Iterator[Finding]:
    """Findings about the content of messages. Parses the bodies that may have something."""
    marks: list[int] = []
    anthropic = view.dialect == "anthropic"
    last = len(view.messages) - 1
    for index, message in enumerate(view.messages):
        yield from _ids(view, index, message)
        yield from _empty(view, index, message, last=index == last)
        kinds = message.kinds
        if (anthropic and kinds) or not _LOOKED_AT.isdisjoint(kinds) or message.results:
            parts = message.parts
            yield from _arguments(view, index, message, parts)
            yield from _media(view, index, message, parts)
            if anthropic:
                yield from _blocks(view, index, message, parts)
        if anthropic and view.origin in ("anthropic", "plain"):
            marks += [index] * _marks(message.record)
    if len(marks) > CACHE_MARKS:
        yield finding(
            view.level("error"),
            "cache-marks",
            marks[CACHE_MARKS],
            f"The list has {len(marks)} cache_control marks; {view.rules.title} takes "
            f"{CACHE_MARKS}.",
            "Remove the oldest ones.",
        )


def _ids(view: View, index: int, message: Message) -> Iterator[Finding]:
    rules = view.rules
    if not rules.needs_ids:
        return
    ids = (*message.calls, *message.results)
    long = [one for one in ids if len(one) > rules.long_id]
    if long:
        yield finding(
            view.level("error"),
            "long-id",
            index,
            f"#{index} has a call id of {max(map(len, long))} characters; {rules.title} takes "
            f"{rules.long_id}.",
            "Export gives it a shorter one, in call and result alike.",
        )
    elif view.dialect == "openai-chat" and any(len(one) > _OPENAI_ID for one in ids):
        yield finding(
            view.level("warning"),
            "long-id",
            index,
            f"#{index} has a call id of {max(map(len, ids))} characters; OpenAI's own models take "
            f"{_OPENAI_ID}.",
            "Export gives it a shorter one, in call and result alike.",
        )
    if rules.id_pattern is not None:
        odd = [one for one in ids if one and not rules.id_pattern.fullmatch(one)]
        if odd:
            yield finding(
                view.level("error"),
                "id-characters",
                index,
                f"#{index} has the call id {listed(odd)}; {rules.title} takes only letters, "
                "digits, - and _.",
                "Export gives it another one, in call and result alike.",
            )


def _empty(view: View, index: int, message: Message, *, last: bool) -> Iterator[Finding]:
    if message.calls or message.results or message.role == "tool" or message.bound:
        return
    kinds = message.kinds
    if view.dialect == "anthropic" and (kinds or (last and message.role == "assistant")):
        return
    if not kinds or (kinds == {"text"} and not message.chars):
        refused = view.dialect == "openai-chat" and message.role == "assistant"
        missing = (
            refused
            and view.native
            and not isinstance(first_record(message).get("content", ""), str)
        )
        yield finding(
            "error" if missing else view.rules.empty,
            "empty-message",
            index,
            f"#{index} ({message.role or 'no role'}) is empty.",
            "Leave it out, or say something in it.",
        )
    elif kinds == {"text"} and not message.preview.strip() and _blank(message.parts):
        yield finding(
            view.rules.empty,
            "blank-text",
            index,
            f"#{index} ({message.role}) holds nothing but white space.",
            "Leave it out, or say something in it.",
        )


def _blank(parts: Sequence[Part]) -> bool:
    return not any(isinstance(part, Text) and part.text.strip() for part in parts)


def _arguments(
    view: View, index: int, message: Message, parts: Sequence[Part]
) -> Iterator[Finding]:
    if not message.calls:
        return
    for part in parts:
        if isinstance(part, ToolCall) and not _is_object(part.arguments):
            if _is_free(message, part):
                continue
            shown = part.arguments[:_ARGUMENTS_SHOWN].replace("\n", " ")
            yield finding(
                "error" if view.dialect == "anthropic" and view.native else "warning",
                "arguments-no-object",
                index,
                f"The arguments of {part.name or 'a call'} in #{index} are no JSON object: {shown}",
                "They are kept as they are; a server that reads them refuses them.",
            )


def _is_object(arguments: str) -> bool:
    text = arguments.strip()
    if not text:
        return True
    if not text.startswith("{"):
        return False
    try:
        return isinstance(json.loads(text, parse_int=str, strict=False), dict)
    except (json.JSONDecodeError, RecursionError):
        return False


def _is_free(message: Message, call: ToolCall) -> bool:
    """Whether the tool takes free text: a custom tool of OpenAI, a shell call of Codex."""
    record = first_record(message)
    payload = record.get("payload")
    kind = (payload if isinstance(payload, Mapping) else record).get("type")
    if isinstance(kind, str) and kind.endswith("_call") and kind != "function_call":
        return True
    calls = record.get("tool_calls")
    return isinstance(calls, list) and any(
        isinstance(one, Mapping) and one.get("id") == call.id and one.get("type") == "custom"
        for one in calls
    )


def _media(view: View, index: int, message: Message, parts: Sequence[Part]) -> Iterator[Finding]:
    refused: list[str] = []
    for part in parts:
        if isinstance(part, Media):
            if part.kind not in view.rules.media:
                refused.append(part.kind)
            elif message.role == "assistant" and view.dialect in ("anthropic", "openai-responses"):
                refused.append(f"{part.kind} of the assistant")
        elif isinstance(part, ToolResult):
            inside = [one.kind for one in part.content if isinstance(one, Media)]
            if view.dialect == "openai-chat":
                refused += [f"{kind} in a tool result" for kind in inside]
            else:
                refused += [kind for kind in inside if kind not in view.rules.media]
    if refused:
        yield finding(
            view.level("error"),
            "media-refused",
            index,
            f"#{index} holds media that {view.rules.title} does not take there: "
            f"{', '.join(dict.fromkeys(refused))}.",
            "In an export a line of text stands for it.",
        )


def _blocks(view: View, index: int, message: Message, parts: Sequence[Part]) -> Iterator[Finding]:
    """What only Anthropic refuses."""
    blank = [part for part in parts if isinstance(part, Text) and not part.text.strip()]
    if blank:
        # Rendering leaves empty blocks out, but white space is text to it. Claude Code, which
        # recorded such blocks, did send them in some form.
        spaces = any(part.text for part in blank)
        level: Level = "error" if spaces else view.level("error")
        yield finding(
            "warning" if view.origin == "claude-code" else level,
            "blank-text",
            index,
            f"#{index} has a text block that is {'white space' if spaces else 'empty'}; Anthropic "
            "wants text in it.",
            "Leave the block out.",
        )
    if view.native and any(
        isinstance(part, Thinking) and not part.signature and not part.sealed for part in parts
    ):
        yield finding(
            "error",
            "thinking-unsigned",
            index,
            f"#{index} has a thinking block without a signature.",
            "Leave the block out; a signature cannot be made.",
        )
    if view.origin == "anthropic" and message.results and message.role == "user":
        first = next(at for at, part in enumerate(parts) if isinstance(part, ToolResult))
        if first:
            yield finding(
                "error",
                "results-not-first",
                index,
                f"#{index} has other content before its tool results; Anthropic wants the results "
                "first.",
                "Move the results to the front of the message.",
            )


def _marks(record: object) -> int:
    """How many cache_control marks a record holds, at any depth that blocks have."""
    if isinstance(record, Mapping):
        own = 1 if isinstance(record.get("cache_control"), Mapping) else 0
        inner: Any = record.get("content")
        return own + (_marks(inner) if isinstance(inner, list) else 0)
    if isinstance(record, list):
        return sum(map(_marks, record))
    return 0
