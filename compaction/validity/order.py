"""Roles: who may speak first, last and in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compaction.findings import Finding, Level
from compaction.formats.base import Dialect
from compaction.messages import ROLES, Message

_INSTRUCTIONS = ("system", "developer")

#: APIs with two sides, which take instructions beside the list and want the user first.
_TWO_SIDED = ("anthropic", "gemini")


def findings(messages: Sequence[Message], dialect: Dialect) -> Iterator[Finding]:
    """What is wrong with the roles of a list."""
    if not messages:
        return
    start = 0
    while start < len(messages) and messages[start].role in _INSTRUCTIONS:
        start += 1
    yield from _roles(messages, start, dialect)
    yield from _first(messages, start, dialect)
    yield from _turns(messages, start, dialect)
    yield from _last(messages, dialect)


def _roles(messages: Sequence[Message], start: int, dialect: Dialect) -> Iterator[Finding]:
    for index, message in enumerate(messages):
        if message.role not in ROLES and message.role != "function":
            yield Finding(
                "error",
                "unknown-role",
                f"#{index} has the role {message.role[:40]!r}, which the API does not know.",
                index,
                remedy=f"roles are {', '.join(ROLES)}",
            )
        elif index >= start and message.role in _INSTRUCTIONS:
            level: Level = "error" if dialect in _TWO_SIDED else "info"
            yield Finding(
                level,
                "system-inside",
                f"#{index} is a {message.role} message inside the list"
                + ("; instructions are sent beside it." if level == "error" else "."),
                index,
                remedy="a summary is best a user message" if message.summary else "",
            )


def _first(messages: Sequence[Message], start: int, dialect: Dialect) -> Iterator[Finding]:
    if not any(message.role == "user" for message in messages):
        yield Finding(
            "error" if dialect in _TWO_SIDED else "warning",
            "no-user",
            "There is no user message in the list; many servers refuse it.",
            remedy="keep the first request, or make the summary a user message",
        )
    if dialect in _TWO_SIDED and start < len(messages):
        first = messages[start]
        if first.role in ("assistant", "tool"):
            yield Finding(
                "error",
                "first-role",
                f"#{start} opens the list as {first.role}; the user must speak first.",
                start,
                remedy="put a user message in front; a user-role summary can be it",
            )


def _turns(messages: Sequence[Message], start: int, dialect: Dialect) -> Iterator[Finding]:
    adjacent = None
    for index in range(max(start, 1), len(messages)):
        before, message = messages[index - 1], messages[index]
        if before.role == "tool" and message.role == "user" and not message.results:
            adjacent = index if adjacent is None else adjacent
        if dialect == "gemini" and before.role == message.role == "assistant":
            yield Finding(
                "error",
                "role-order",
                f"#{index - 1} and #{index} are both the model's; turns must alternate.",
                index,
                remedy="join them into one turn",
            )
    if adjacent is not None and dialect == "openai-chat":
        yield Finding(
            "info",
            "tool-then-user",
            f"#{adjacent} is a user message directly after a tool result; Mistral's servers "
            "refuse that.",
            adjacent,
        )


def _last(messages: Sequence[Message], dialect: Dialect) -> Iterator[Finding]:
    last = messages[-1]
    index = len(messages) - 1
    if dialect == "anthropic" and last.role == "assistant" and not last.calls:
        yield Finding(
            "info",
            "last-assistant",
            f"#{index} ends the list as assistant: a reply would continue its text.",
            index,
            remedy="add the next user message before it is sent",
        )
