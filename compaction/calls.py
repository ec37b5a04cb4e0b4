"""The model calls of a recorded session: which messages each one wrote, and what it had read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from compaction.messages import Message


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
