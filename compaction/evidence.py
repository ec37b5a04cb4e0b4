"""What of a conversation must not be paraphrased, and what of it a summary still holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compaction.constraints import constraints
from compaction.errors import Cancelled
from compaction.exact_values import Value, identifiers, values
from compaction.messages import IsCancelled, Media, Message, Text, ToolCall, ToolResult

__all__ = [
    "Evidence",
    "Survival",
    "Value",
    "constraints",
    "evidence_of",
    "identifiers",
    "occurs",
    "survival",
    "values",
    "window",
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One value or constraint, and the message (its index) where it first occurs."""

    text: str
    kind: str
    message: int


@dataclass(frozen=True, slots=True)
class Survival:
    """What of the replaced messages a summary still holds, and what it lost."""

    kept: tuple[Evidence, ...]
    lost: tuple[Evidence, ...]


#: Characters of one tool output that are searched, from its beginning and from its end.
OUTPUT_WINDOW = 4000


#: Messages, and facts, between two looks at whether somebody cancelled.
_EVERY = 256


def evidence_of(
    messages: Sequence[Message],
    indexes: Sequence[int] | None = None,
    *,
    cancelled: IsCancelled | None = None,
) -> list[Evidence]:
    """Every value and constraint of `messages`, each once, at the message it first occurs in.

    `indexes` gives the index of each message in its session; without it they count from 0. Of a
    long tool output only the beginning and the end are searched. Raises Cancelled.
    """
    found: dict[str, Evidence] = {}
    for at, message in enumerate(messages):
        if at % _EVERY == 0:
            _heed(cancelled)
        index = at if indexes is None else indexes[at]
        for text, prose in _texts(message):
            for value in values(text, prose=prose):
                found.setdefault(value.text, Evidence(value.text, value.kind, index))
            if prose and message.role in {"user", "system", "developer"}:
                for sentence in constraints(text, weak=False):
                    found.setdefault(sentence, Evidence(sentence, "constraint", index))
    return list(found.values())


def _texts(message: Message) -> Iterator[tuple[str, bool]]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield text, message.role != "tool"
            case ToolCall(arguments=arguments):
                yield window(arguments), False
            case ToolResult(content=content):
                for inner in content:
                    if not isinstance(inner, Media):
                        yield window(inner.text), False
            case _:
                continue


def window(text: str, size: int = OUTPUT_WINDOW) -> str:
    """The beginning and the end of a long text, cut at line or word ends."""
    if len(text) <= 2 * size:
        return text
    start = max(text.rfind("\n", 0, size), text.rfind(" ", 0, size))
    tail = len(text) - size
    ends = [at for at in (text.find("\n", tail), text.find(" ", tail)) if at >= 0]
    end = min(ends) if ends else tail
    return f"{text[: start if start > 0 else size]}\n{text[end:]}"


def survival(
    messages: Sequence[Message],
    text: str,
    indexes: Sequence[int] | None = None,
    *,
    cancelled: IsCancelled | None = None,
) -> Survival:
    """Which values and constraints of `messages` occur literally in `text`, and which do not.

    Raises Cancelled.
    """
    kept: list[Evidence] = []
    lost: list[Evidence] = []
    flat = " ".join(text.split())
    for at, item in enumerate(evidence_of(messages, indexes, cancelled=cancelled)):
        if at % _EVERY == 0:
            _heed(cancelled)
        there = occurs(item.text, text) or (
            item.kind == "constraint" and " ".join(item.text.split()) in flat
        )
        (kept if there else lost).append(item)
    return Survival(tuple(kept), tuple(lost))


def _heed(cancelled: IsCancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise Cancelled("The comparison with the summary was cancelled.")


def occurs(value: str, text: str) -> bool:
    """Whether `value` stands in `text` as itself, not as a part of a longer word or number."""
    at = text.find(value)
    first, last = _joins(value[:1]), _joins(value[-1:])
    while at >= 0:
        end = at + len(value)
        before = first and at > 0 and _joins(text[at - 1])
        after = last and end < len(text) and _joins(text[end])
        if not before and not after:
            return True
        at = text.find(value, at + 1)
    return False


def _joins(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
