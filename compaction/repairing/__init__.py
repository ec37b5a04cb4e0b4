"""Repair: the least change to a list of messages that makes an API take it.

What `check` finds is what is mended, message by message; everything else stays the very message
that was read. Nothing is invented but marked placeholders, and no text is lost: a result that
cannot be sent becomes a note of the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.findings import Finding
from compaction.formats.base import Dialect
from compaction.messages import Message, Session
from compaction.repairing import calls, content
from compaction.repairing.work import Change, Mender, Work
from compaction.validity import check

__all__ = ["Change", "Repaired", "repair"]

#: Rounds of looking and mending; each kind of fault may bring another one to light.
_ROUNDS = 12

#: Faults that are mended although they are only warnings.
_ALSO = frozenset({"interrupted-call"})

_MENDERS: Mapping[str, Mender] = {
    "orphan-result": calls.without_call,
    "result-twice": calls.without_call,
    "unanswered-call": calls.answer,
    "interrupted-call": calls.answer,
    "result-apart": calls.move,
    "batch-split": calls.move,
    "missing-id": calls.rename,
    "duplicate-id": calls.rename,
    "reused-id": calls.rename,
    "long-id": calls.rename,
    "id-characters": calls.rename,
    "empty-message": content.empty,
    "blank-text": content.empty,
    "thinking-unsigned": content.unsigned,
    "media-refused": content.labelled,
    "results-not-first": content.results_first,
    "reasoning-alone": content.drop,
    "system-inside": content.to_user,
    "unknown-role": content.to_user,
    "first-not-user": content.begin,
    "no-user": content.begin,
}


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired list. `remaining` is what the API refuses all the same."""

    session: Session
    messages: tuple[Message, ...]
    changes: tuple[Change, ...]
    remaining: tuple[Finding, ...]


def repair(session: Session, dialect: Dialect) -> Repaired:
    """`session` with what `dialect` would refuse mended; the very messages where it is nothing."""
    work = Work(session.messages)
    remaining: tuple[Finding, ...] = ()
    for _ in range(_ROUNDS):
        remaining = check([entry.message for entry in work.entries], dialect, tools=session.tools)
        mend = [each for each in remaining if each.level == "error" or each.code in _ALSO]
        done = [
            _MENDERS[each.code](work, each) for each in _last_first(mend) if each.code in _MENDERS
        ]
        if not any(done):
            break
        work.settle()
    return Repaired(
        session,
        tuple(entry.message for entry in work.entries) if work.changes else session.messages,
        tuple(work.changes),
        tuple(each for each in remaining if each.level == "error"),
    )


def _last_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: -1 if each.message is None else -each.message)
