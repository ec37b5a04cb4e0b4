"""Mending calls and results: what has no partner, stands apart, or shares an id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compaction.findings import Finding
from compaction.formats.dialects.ids import LIMIT, Ids
from compaction.loose_results import note_of
from compaction.messages import Media, Part, Text, ToolCall, ToolResult, message
from compaction.repairing.work import Entry, Work, changed

#: The answer given to a call that has none.
INTERRUPTED = "[No result: the call was interrupted.]"


def without_call(work: Work, finding: Finding) -> bool:
    """A result that answers nothing becomes a note."""
    index, entry = finding.message, work.entry(finding)
    if index is None or entry is None:
        return False
    groups = work.groups
    gone = {call for at, call in (*groups.orphans, *groups.extra_results) if at == index}
    parts = entry.message.parts
    kept: list[Part] = []
    notes: list[Part] = []
    seen: set[str] = set()
    for part in parts:
        if (
            isinstance(part, ToolResult)
            and part.call_id in gone
            and (
                finding.code == "orphan-result"
                or part.call_id in seen
                or _answers_once(parts, part)
            )
        ):
            notes.append(Text(note_of(part)))
            notes += [one for one in part.content if isinstance(one, Media)]
        else:
            kept.append(part)
            if isinstance(part, ToolResult):
                seen.add(part.call_id)
    if not notes:
        return False
    if any(isinstance(part, ToolResult) for part in kept):
        # A note among results would part them, so it stands behind the last one.
        entry.message = changed(entry.message, kept)
        last = index
        while last + 1 < len(work.entries) and work.entries[last + 1].message.results:
            last += 1
        work.at(last).append(Entry(message("user", notes), None))
    else:
        entry.message = changed(entry.message, [*kept, *notes], "user")
    work.tell(finding, f"The result in #{index} that answers no open call is a note now.")
    return True


def _answers_once(parts: Sequence[Part], result: ToolResult) -> bool:
    ids = [part.call_id for part in parts if isinstance(part, ToolResult)]
    return ids.count(result.call_id) == 1


def answer(work: Work, finding: Finding) -> bool:
    """A call without a result gets a marked one."""
    index = finding.message
    if index is None:
        return False
    calls = [call for at, call in work.groups.open_calls if at == index]
    if not calls:
        # Ids that come again leave open which call is meant; new ones decide it.
        return rename(work, finding)
    called = work.entries[index].message.parts
    # Gemini pairs by name, so a result without one would answer nothing.
    names = {one.id: one.name for one in called if isinstance(one, ToolCall)}
    results = [
        ToolResult(call, (Text(INTERRUPTED),), is_error=True, name=names.get(call, ""))
        for call in calls
    ]
    answers = [at for at in work.groups.links.answers(index) if at > index]
    place = max(answers, default=index)
    held = work.at(place)
    if not held:
        return False
    before = held[0].message.parts
    standing = [i for i, part in enumerate(before) if isinstance(part, ToolResult)]
    if place != index and not standing:
        # Its results became notes in this round; the next one sees the list without them.
        return False
    if place != index and len(before) > 1:
        # Results of one batch that share a message stay together in it.
        last = standing[-1] + 1
        held[0].message = changed(held[0].message, [*before[:last], *results, *before[last:]])
    else:
        held.insert(1, Entry(message("tool", results), None))
    many = "a call" if len(calls) == 1 else f"{len(calls)} calls"
    work.tell(finding, f"{many} of #{index} without a result got a marked placeholder.")
    return True


def move(work: Work, finding: Finding) -> bool:
    """A result that stands apart goes to its call."""
    index, entry = finding.message, work.entry(finding)
    asked = work.asked(index) if index is not None else {}
    if index is None or entry is None or not asked:
        return False
    parts = entry.message.parts
    results = [part for part in parts if isinstance(part, ToolResult) and part.call_id in asked]
    nearest = max(asked.values())
    moving = [part for part in results if asked[part.call_id] < nearest] or results
    if not moving:
        return False
    staying = [part for part in parts if part not in moving]
    target = asked[moving[-1].call_id]
    answers = [at for at in work.groups.links.answers(target) if target < at < index]
    near = target
    while near + 1 in answers and work.entries[near + 1].message.role == "tool":
        near += 1
    if staying:
        entry.message = changed(entry.message, staying)
        moved = Entry(message("tool", moving), None)
    else:
        moved = Entry(entry.message, entry.origin)
        work.at(index).clear()
    work.at(near).insert(1, moved)
    work.tell(finding, f"The result in #{index} moved to its call in #{target}.")
    return True


def rename(work: Work, finding: Finding) -> bool:
    """Ids that are missing, repeated or not taken are replaced, in calls and results alike."""
    if work.renamed:
        return False
    work.renamed = True
    ids = Ids(limit=LIMIT, unique=True)
    count = 0
    for index, entry in enumerate(work.entries):
        if not entry.message.calls and not entry.message.results:
            continue
        if entry not in work.at(index):
            # It moved in this round; the next one sees it where it is.
            return count > 0
        parts = entry.message.parts
        named = [_named(part, ids) for part in parts]
        if any(a is not b for a, b in zip(parts, named, strict=True)):
            entry.message = changed(entry.message, named)
            count += 1
    if count:
        work.tell(finding, f"Ids of calls were replaced in {count:,} messages, calls and results.")
    return count > 0


def _named(part: Part, ids: Ids) -> Part:
    if isinstance(part, ToolCall):
        name = ids.call(part.id)
        return part if name == part.id else replace(part, id=name)
    if isinstance(part, ToolResult):
        name = ids.result(part.call_id)
        return part if name == part.call_id else replace(part, call_id=name)
    return part
