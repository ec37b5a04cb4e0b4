"""Writing a session in a format it did not come from."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.base import Written
from compaction.formats.dialects.notes import Notes
from compaction.messages import Message, Part, Session, describe, message

#: Formats whose messages are items: one response of the model is several of them.
ITEMS = frozenset({"openai-responses", "codex"})


def as_responses(messages: Sequence[Message], session: Session, notes: Notes) -> list[Message]:
    """Messages with one assistant message per response, where the session's are its items.

    What follows is noted at the places that the messages have in the session.
    """
    for index, one in enumerate(messages):
        if one.summary and one.spans and not one.chars:
            notes.at(index).tell("sealed", "an encrypted summary of an earlier compaction")
    if session.format not in ITEMS:
        return list(messages)
    out: list[Message] = []
    places: list[int] = []
    for spoken, run in itertools.groupby(
        enumerate(messages), key=lambda entry: entry[1].role == "assistant"
    ):
        entries = list(run)
        if spoken and len(entries) > 1:
            out.append(_merged([one for _, one in entries]))
            places.append(entries[0][0])
        else:
            out += [one for _, one in entries]
            places += [index for index, _ in entries]
    notes.places = places
    return out


def _merged(run: Sequence[Message]) -> Message:
    parts: list[Part] = [part for one in run for part in one.parts]
    return describe(message("assistant", parts), parts)


def whole(document: Mapping[str, Any], notes: Notes) -> Written:
    """A new document, indented, and what it could not hold."""
    return Written((exact.dump_bytes(document, exact.PRETTY), b"\n"), notes.findings())


def spelled_role(session: Session, role: str) -> str:
    """The name under which the file of a session knows a role: `human` where it says so."""
    for one in session.messages[:200]:
        if one.role == role and one.spans:
            record = one.record
            if isinstance(record, Mapping) and isinstance(record.get("role"), str):
                return str(record["role"])
    return role


def is_same(left: Sequence[Message], right: Sequence[Message]) -> bool:
    """Whether both lists hold the very same messages."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))
