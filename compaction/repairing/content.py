"""Mending what stands in messages, and who speaks them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compaction.findings import Finding
from compaction.messages import Media, Part, Text, Thinking, ToolResult, message
from compaction.repairing.work import Entry, Mender, Work, changed

#: What the user says where the beginning is missing.
BEGINNING = "[The beginning of this conversation is not in the file.]"


def empty(work: Work, finding: Finding) -> bool:
    """Blank texts go; a message of nothing else goes with them."""
    index, entry = finding.message, work.entry(finding)
    if index is None or entry is None:
        return False
    parts = entry.message.parts
    kept = [part for part in parts if not (isinstance(part, Text) and not part.text.strip())]
    if len(kept) == len(parts) and parts:
        return False
    if kept:
        entry.message = changed(entry.message, kept)
        work.tell(finding, f"The blank text of #{index} is left out.")
    else:
        work.at(index).remove(entry)
        work.tell(finding, f"#{index} is left out: there is nothing in it.")
    return True


def _filtered(keep: Callable[[Part], Part | None], done: str) -> Mender:
    def mend(work: Work, finding: Finding) -> bool:
        index, entry = finding.message, work.entry(finding)
        if index is None or entry is None:
            return False
        parts = entry.message.parts
        made = [part for each in parts if (part := keep(each)) is not None]
        if len(made) == len(parts) and all(a is b for a, b in zip(parts, made, strict=True)):
            return False
        if made:
            entry.message = changed(entry.message, made)
        else:
            work.at(index).remove(entry)
        work.tell(finding, done.format(index=index))
        return True

    return mend


def _signed(part: Part) -> Part | None:
    plain = isinstance(part, Thinking) and not part.signature and not part.sealed
    return None if plain else part


def _labelled(part: Part) -> Part | None:
    if isinstance(part, Media):
        return Text(part.label)
    if isinstance(part, ToolResult) and any(isinstance(one, Media) for one in part.content):
        content = (Text(one.label) if isinstance(one, Media) else one for one in part.content)
        return replace(part, content=tuple(content))
    return part


def results_first(work: Work, finding: Finding) -> bool:
    index, entry = finding.message, work.entry(finding)
    if index is None or entry is None:
        return False
    parts = entry.message.parts
    ordered = sorted(parts, key=lambda part: not isinstance(part, ToolResult))
    entry.message = changed(entry.message, ordered)
    work.tell(finding, f"The results of #{index} stand first in it.")
    return True


def drop(work: Work, finding: Finding) -> bool:
    index, entry = finding.message, work.entry(finding)
    if index is None or entry is None:
        return False
    work.at(index).remove(entry)
    work.tell(finding, f"#{index} is left out: the item it led to is not in the list.")
    return True


def to_user(work: Work, finding: Finding) -> bool:
    index, entry = finding.message, work.entry(finding)
    if index is None or entry is None:
        return False
    before = entry.message.role
    entry.message = changed(entry.message, entry.message.parts, "user")
    work.tell(finding, f"#{index} is a message of the user now, not of {before or 'nobody'}.")
    return True


def begin(work: Work, finding: Finding) -> bool:
    first = next(
        (
            index
            for index, entry in enumerate(work.entries)
            if entry.message.role not in ("system", "developer")
        ),
        None,
    )
    if first is None:
        return False
    work.at(first).insert(0, Entry(message("user", BEGINNING), None))
    work.tell(finding, f"A marked message of the user was put before #{first}.")
    return True


unsigned = _filtered(_signed, "The reasoning of #{index} is left out: it has no signature.")
labelled = _filtered(_labelled, "Media of #{index} stand as their label.")
