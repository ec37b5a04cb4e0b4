"""A message's content as passages for a reader: plain, readable, nothing left out in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator

from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tui.widgets.looks import grouped
from tui.widgets.text_flow import Passage

#: JSON longer than this is shown as it stands.
PRETTY_CHARS = 200_000
#: Raw records longer than this are not set out either.
RAW_CHARS = 20_000_000
#: Values no longer than this stay on the line of their key.
_FLAT = 60


def passages_of(message: Message, *, thinking: bool = False) -> list[Passage]:
    """What `message` says. `thinking` unfolds the reasoning, which is one line otherwise."""
    parts = message.parts
    passages: list[Passage] = []
    for part in parts:
        if passages:
            passages.append(Passage(""))
        passages.extend(_part(part, thinking))
    return passages or [Passage("(nothing: this message is empty)", "faint")]


def _part(part: Part, unfold: bool) -> Iterator[Passage]:
    match part:
        case Text(text=text):
            yield Passage(text)
        case Thinking():
            yield from _thinking(part, unfold)
        case ToolCall():
            yield Passage(f"▸ call {part.name}  {part.id}", "accent")
            yield Passage(readable(part.arguments), indent=2)
        case ToolResult():
            yield from _result(part)
        case Media():
            yield Passage(part.label, "muted")
        case Opaque(kind=kind, text=text):
            yield Passage(f"▸ {kind} (a part this program does not know)", "accent")
            yield Passage(readable(text), indent=2)


def _thinking(part: Thinking, unfold: bool) -> Iterator[Passage]:
    if not part.text:
        sealed = f", {part.sealed:,} bytes" if part.sealed else ""
        yield Passage(f"▹ sealed thinking{sealed}", "faint")
    elif unfold:
        yield Passage(f"▾ thinking · {grouped(len(part.text))} characters", "faint")
        yield Passage(part.text, "muted", indent=2)
    else:
        yield Passage(f"▸ thinking · {grouped(len(part.text))} characters · t unfolds", "faint")


def _result(part: ToolResult) -> Iterator[Passage]:
    name = f" of {part.name}" if part.name else ""
    state = " · error" if part.is_error else " · cleared" if part.cleared else ""
    heading = f"◂ result{name}{state}  {part.call_id}"
    yield Passage(heading, "error" if part.is_error else "accent")
    if not part.content:
        yield Passage("(no output)", "faint", indent=2)
    for inner in part.content:
        match inner:
            case Media():
                yield Passage(inner.label, "muted", indent=2)
            case Text(text=text) | Opaque(text=text):
                yield Passage(readable(text), indent=2)


def readable(text: str) -> str:
    """JSON objects and lists set out line by line, every other text as it is.

    A text of several lines inside an object stands under its key, its lines as lines.
    """
    if text.lstrip()[:1] not in {"{", "["} or len(text) > PRETTY_CHARS:
        return text
    try:
        value = json.loads(text)
        if isinstance(value, dict):
            return "\n".join(_member(key, inner) for key, inner in value.items())
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _member(key: str, value: object) -> str:
    if isinstance(value, str):
        if "\n" not in value:
            return f"{key}: {value}"
        lines = value.replace("\r\n", "\n").split("\n")
        return f"{key}:\n" + "\n".join(f"  {line}" for line in lines)
    shown = json.dumps(value, ensure_ascii=False)
    if len(shown) > _FLAT:
        shown = json.dumps(value, indent=2, ensure_ascii=False)
    return f"{key}: {shown}"


def raw_passages(message: Message) -> list[Passage]:
    """The source record as JSON."""
    record = message.record
    if record is None:
        return [Passage("This message was made here; there is no source record.", "faint")]
    size = sum(span.end - span.start for span in message.spans)
    try:
        if size > RAW_CHARS:
            return [Passage(json.dumps(record, ensure_ascii=False, default=str))]
        return [Passage(json.dumps(record, indent=2, ensure_ascii=False, default=str))]
    except (ValueError, RecursionError):
        return [Passage("This record is nested too deeply to be set out as JSON.", "error")]
