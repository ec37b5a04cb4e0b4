"""The model calls of a recorded session: which messages each one wrote, and what it had read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from compaction.messages import Message

#: Who wrote a summary that this program made.
OWN = "compaction"


def call_starts(messages: Sequence[Message], first: int = 0) -> array[int]:
    """The index of the first message of every response, ascending, from message `first` on.

    A call read all messages before its first one. Messages of the assistant that follow one
    another are one response, as where a format keeps its items apart, unless the one before
    reported a usage of its own.
    """
    starts = array("q")
    before: Message | None = None
    for index in range(first, len(messages)):
        message = messages[index]
        if message.role == "assistant" and not (
            before is not None and before.role == "assistant" and before.usage is None
        ):
            starts.append(index)
        before = message
    return starts


def reports_from(messages: Sequence[Message]) -> int:
    """The first message whose reported usage is of this list; their number where there is none.

    What stays behind a summary of this program reported the list before it was compacted. A
    response that read less than the one before it is the first of the compacted list.
    """
    summary = next(
        (at for at in range(len(messages) - 1, -1, -1) if messages[at].summary == OWN), -1
    )
    if summary < 0:
        return 0
    before = 0
    for index in range(summary + 1, len(messages)):
        usage = messages[index].usage
        if usage is None or usage.context <= 0:
            continue
        if usage.context < before:
            return index
        before = usage.context
    return len(messages)


def last_report(messages: Sequence[Message]) -> int | None:
    """The newest message that reports what its call read of this list; None without one."""
    for index in range(len(messages) - 1, reports_from(messages) - 1, -1):
        usage = messages[index].usage
        if usage is not None and usage.context > 0:
            return index
    return None
