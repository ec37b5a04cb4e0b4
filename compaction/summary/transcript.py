"""The messages to summarize, in the two forms that summarizers outside this program take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compaction.messages import Message, Part, Text, Thinking, ToolCall, ToolResult, part_text


def chat_dicts(messages: Sequence[Message]) -> list[dict[str, object]]:
    """Each message as a chat dict with `role` and `content`.

    A message that was read from such a dict is given as that very dict; of any other, `content`
    is its readable text.
    """
    return [_chat_dict(message) for message in messages]


def _chat_dict(message: Message) -> dict[str, object]:
    record = message.record
    if isinstance(record, dict) and "role" in record and "content" in record:
        return record
    return {"role": message.role, "content": message.text}


def readable(messages: Sequence[Message]) -> Iterator[str]:
    """The messages as plain text, one chunk a message, each under a line with its role."""
    for number, message in enumerate(messages, start=1):
        title = "earlier summary" if message.summary else message.role
        body = "\n".join(filter(None, (_readable_part(part) for part in message.parts)))
        yield f"[{number}] {title}\n{body}\n\n"


def _readable_part(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case Thinking():
            return f"(thinking) {part_text(part)}" if part.text else ""
        case ToolCall(name=name, arguments=arguments):
            return f"(calls {name}) {arguments}"
        case ToolResult():
            return f"(result{', an error' if part.is_error else ''}) {part.text}"
        case _:
            return part_text(part)
