"""What one pass makes of one message: a new message that keeps ids, name and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compaction.clip_text import clip_message, clip_text
from compaction.messages import (
    Media,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from compaction.messages import changed as with_parts
from compaction.policy_passes import (
    ClearThinking,
    ClearToolResults,
    ClipToolResults,
    DedupeReads,
    DropMedia,
    Pass,
)
from compaction.tokens import Counter


def changed(entry: Message, each: Pass, slots: frozenset[int], counter: Counter) -> Message:
    """`entry` as `each` leaves it: a message made in memory that keeps ids, name and time."""
    match each:
        case ClipToolResults(max_tokens=int(limit)):
            return clip_message(entry, limit, counter)
        case ClearToolResults(placeholder=text) | DedupeReads(placeholder=text):
            parts = _replaced(entry.parts, slots, text)
        case ClearThinking():
            left = tuple(part for part in entry.parts if not isinstance(part, Thinking))
            parts = left or entry.parts
        case ClipToolResults(max_chars=limit):
            parts = tuple(_shorter(part, limit or 1) for part in entry.parts)
        case DropMedia():
            parts = tuple(_labelled(part) for part in entry.parts)
    return with_parts(entry, parts)


def _replaced(parts: Sequence[Part], slots: frozenset[int], text: str) -> tuple[Part, ...]:
    """`parts` with the results (and the calls' arguments) of those numbers replaced."""
    out: list[Part] = []
    calls = results = 0
    for part in parts:
        if isinstance(part, ToolResult):
            if results in slots:
                part = replace(part, content=(Text(text),), cleared=True)
            results += 1
        elif isinstance(part, ToolCall):
            if calls in slots and not any(isinstance(each, ToolResult) for each in parts):
                part = replace(part, arguments="{}")
            calls += 1
        out.append(part)
    return tuple(out)


def _shorter(part: Part, limit: int) -> Part:
    if not isinstance(part, ToolResult):
        return part
    content = tuple(
        Text(clip_text(inner.text, limit))
        if isinstance(inner, Text) and len(inner.text) > limit
        else inner
        for inner in part.content
    )
    return replace(part, content=content)


def _labelled(part: Part) -> Part:
    if isinstance(part, Media):
        return Text(part.label)
    if isinstance(part, ToolResult):
        content = tuple(
            Text(inner.label) if isinstance(inner, Media) else inner for inner in part.content
        )
        return replace(part, content=content)
    return part
