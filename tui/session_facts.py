"""What a session says about itself that takes a look at every message; found once, in a thread."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.calls import OWN, last_report
from compaction.messages import Session


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
    messages = session.messages
    answer = last_report(messages)
    usage = messages[answer].usage if answer is not None else None
    theirs = next(
        (
            index
            for index in range(len(messages) - 1, -1, -1)
            if messages[index].summary not in ("", OWN)
        ),
        None,
    )
    return SessionFacts(usage.context if usage is not None else None, answer, theirs)
