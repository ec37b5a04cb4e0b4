"""What a session says about itself that takes a look at every message; found once, in a thread."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.messages import Session

#: Who wrote a summary that this program made.
_OURS = "compaction"


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """`reported` are the tokens that the last response read, as the provider counted them.

    `answer` is the message that reports it. `theirs` is the newest summary of the recording tool
    itself. None where there is none.
    """

    reported: int | None = None
    answer: int | None = None
    theirs: int | None = None


def facts_of(session: Session) -> SessionFacts:
    """The facts of `session`."""
    reported = answer = theirs = None
    for index in range(len(session.messages) - 1, -1, -1):
        message = session.messages[index]
        if answer is None and message.usage is not None and message.usage.context > 0:
            reported, answer = message.usage.context, index
        if theirs is None and message.summary and message.summary != _OURS:
            theirs = index
        if answer is not None and theirs is not None:
            break
    return SessionFacts(reported, answer, theirs)
