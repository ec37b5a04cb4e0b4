"""Runs of agents as documents: opened, compacted, written, and what must be the same after it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from compaction.compacting import compact_with_text
from compaction.export import render_bytes
from compaction.formats import load
from compaction.messages import Message, Session, message
from compaction.planning import plan
from compaction.policy import Policy

NOTE = "The gate was reset, lane four measured, and the report is the next thing to write."


def opened(document: object, **options: Any) -> Session:
    """The session in a document (JSON values, or bytes), its format told from the content."""
    data = document if isinstance(document, bytes) else json.dumps(document, indent=2).encode()
    return load(data, **options)


def compacted(session: Session, recent: int = 2) -> tuple[Message, ...]:
    """Head, summary, recent messages."""
    result = compact_with_text(plan(session, Policy(budget=1, keep_recent=recent)), NOTE)
    assert result.made, result.failure
    return result.messages


def saved(session: Session, messages: Sequence[Message] | None = None, form: str = "") -> bytes:
    """What is written of a session, with other messages, in its own format or another."""
    if messages is not None:
        session = replace(session, messages=tuple(messages))
    return render_bytes(session, form or None)[0]


def same(left: Sequence[Message], right: Sequence[Message]) -> bool:
    """Whether both lists send the same."""
    return len(left) == len(right) and all(
        a.same_content(b) for a, b in zip(left, right, strict=True)
    )


def survives(session: Session, recent: int = 2) -> bool:
    """Whether what is written is read as the same messages: all of them, and compacted.

    Written unchanged, a session is the very bytes it was read from.
    """
    assert saved(session) == session.source.data
    few = compacted(session, recent)
    again = load(saved(session, few))
    assert again.format == session.format
    return same(again.messages, few)


def shortened(session: Session) -> bool:
    """Whether a session too short to be compacted is read again with its last message changed."""
    few = [*session.messages[:-1], message("user", NOTE, summary="compaction")]
    return same(load(saved(session, few)).messages, few)


def roles(session: Session) -> list[str]:
    return [message.role for message in session.messages]
