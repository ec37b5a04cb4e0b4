"""Earlier summaries among the messages to summarize: recognised, and freed of their frames."""

from __future__ import annotations

from compaction.marker import BRIDGE, beside, foreign, read
from compaction.messages import Message, Text

_LOOK = 400


def earlier_summary(message: Message, labels: tuple[str, ...] = ()) -> str | None:
    """The text of the summary that `message` is, without frame; None when it is none.

    Summaries are those a format marked, this program's own, and those whose opening another tool
    is known to write. `labels` are further labels of this program's summaries.
    """
    if not message.summary and not _may_be(message, labels):
        return None
    texts = _texts(message)
    text = "\n".join(texts)
    # What stands behind the first part is somebody else's, where that is a whole summary.
    marked = read(texts[0] if texts else "", labels) or read(text, labels)
    if marked is not None:
        # A summary of ours may hold one that was given to us under another tool's opening.
        return foreign(marked.text) or marked.text
    theirs = foreign(text)
    if theirs is not None:
        return theirs
    return text if message.summary else None


def covered(message: Message, labels: tuple[str, ...] = ()) -> int:
    """How many messages `message` stands for: itself, or those its summary says it covers."""
    if not message.summary and not _may_be(message, labels):
        return 1
    if is_bridge(message):
        return 0
    marked = read(summary_text(message), labels)
    return marked.covers if marked is not None and marked.covers else 1


def is_bridge(message: Message) -> bool:
    """Whether a message only says that a summary stands beside it."""
    return message.preview.strip() == BRIDGE


def said_beside(message: Message, labels: tuple[str, ...] = ()) -> str:
    """What a person says in the message that begins with a summary of this program."""
    texts = _texts(message)
    if not texts or read(texts[0], labels) is None:
        return ""
    return "\n".join(filter(None, (beside(texts[0]), *texts[1:])))


def summary_text(message: Message) -> str:
    """The plain text of a message, its parts one under the other."""
    return "\n".join(_texts(message))


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text)]


def _may_be(message: Message, labels: tuple[str, ...]) -> bool:
    if message.role not in {"user", "assistant", "system", "developer"} or message.calls:
        return False
    opening = message.preview[:_LOOK]
    return (
        read(opening, labels) is not None
        or foreign(opening) is not None
        or (opening.startswith("{") and "untrusted_conversation_summary" in opening)
    )
