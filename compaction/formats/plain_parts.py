"""What a message says as plain text, for formats that hold nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from compaction.formats.dialects.notes import Notes
from compaction.formats.marktext import fence_for
from compaction.messages import Media, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult


def as_text(message: Message, notes: Notes) -> str:
    """The text of a message: calls and results as blocks of code, reasoning left out."""
    return "\n\n".join(text for part in message.parts for text in _texts(part, notes))


def _texts(part: Part, notes: Notes) -> Iterator[str]:
    match part:
        case Text(text=text):
            if text:
                yield text
        case Thinking():
            notes.tell("plain-thinking", "reasoning")
        case ToolCall(name=name, arguments=arguments):
            notes.tell("plain-call", "a tool call")
            yield f"Called {name or 'a tool'}:\n{fenced(arguments)}"
        case ToolResult():
            notes.tell("plain-call", "a tool result")
            yield f"Result{f' of {part.name}' if part.name else ''}:\n{fenced(part.text)}"
        case Media():
            notes.tell("media", f"{part.mime or part.kind} content")
            yield part.label
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind}")
            yield text


def fenced(text: str, info: str = "") -> str:
    """A text as a block of code that nothing in it can end."""
    fence = fence_for(text)
    return f"{fence}{info}\n{text}\n{fence}"
