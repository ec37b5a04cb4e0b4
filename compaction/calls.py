"""The model calls of a recorded session: which messages each one wrote, and what it had read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from compaction.messages import Message

#: Who wrote a summary that this program made.
OWN = "compaction"

#: What a response reads after a compaction, at the most, of what was read before it.
_DROP = 0.75


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

    What stays behind a summary reported the list before it was compacted. Where times are known,
    that is what is not later than the summary; elsewhere, behind one of this program, everything
    up to a response that read far less than those before it.
    """
    summary = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].summary), -1)
    if summary < 0:
        return 0
    made, ours = messages[summary].time, messages[summary].summary == OWN
    most = 0
    for index in range(summary + 1, len(messages)):
        usage, time = messages[index].usage, messages[index].time
        if usage is None or usage.context <= 0:
            continue
        if made and time:
            if time > made:
                return index
        elif not ours or usage.context < most * _DROP:
            return index
        most = max(most, usage.context)
    return len(messages)


def last_report(messages: Sequence[Message]) -> int | None:
    """The newest message that reports what its call read of this list; None without one."""
    for index in range(len(messages) - 1, reports_from(messages) - 1, -1):
        usage = messages[index].usage
        if usage is not None and usage.context > 0:
            return index
    return None
