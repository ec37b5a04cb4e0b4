"""The lines of a Claude Code transcript: which are sent to the model, and what each holds.

Facts: the transcript is a log. One response of the model stands on several lines of one
`message.id`; a tool result line may stand between them. Source: the public description in
claude-code-log's developer documents, and counts over real transcripts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats.claude_code_body import LinesBody, content_of, unseen
from compaction.formats.claude_code_content import take, take_blocks
from compaction.formats.dialects.blocks import parse_content, text_of
from compaction.formats.drafts import NEAR, NO_KINDS, Draft, draft, has_tag, settled, with_kind
from compaction.marker import is_own_summary
from compaction.messages import (
    Inline,
    Message,
    Source,
    Span,
    Text,
    Usage,
    part_chars,
    preview_of,
)

#: Text that starts a user line which no person typed.
_INJECTED = (
    "<command-",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below",
    "[Request interrupted by user",
)

_NOTHING: frozenset[str] = frozenset()
_RESULT = with_kind(NO_KINDS, "tool result")

#: Stands in for a body until all lines of the message are known.
_UNREAD = Inline(())

#: How a text may start that is no person's: marked by the tool, or a summary of our own.
_UNTYPED_STARTS = frozenset("<C[{S \n\t")


class Response:
    """One response of the model while more lines of it may come."""

    __slots__ = ("entry", "provisional", "seen", "thought")

    def __init__(self, entry: Draft) -> None:
        self.entry = entry
        #: Marks of the blocks that were there already.
        self.seen: tuple[int, ...] = ()
        #: The first thought, which shows in the preview until there is another text.
        self.thought = ""
        self.provisional = False


# ------------------------------------------------------------------------------------- lines


def _drafted(role: str, record: Mapping[str, Any], span: Span) -> Draft:
    uuid, time = record.get("uuid"), record.get("timestamp")
    return draft(
        role,
        _UNREAD,
        span,
        uuid if type(uuid) is str else text_of(uuid),
        time if type(time) is str else text_of(time),
    )


def user_entry(record: Mapping[str, Any], span: Span) -> Draft | None:
    """The message of a user line; None when it sends nothing."""
    held = record.get("message")
    content = held.get("content") if type(held) is dict else content_of(record)
    entry = _drafted("user", record, span)
    thought = take(entry, content)
    if entry.kinds is NO_KINDS:
        return None
    if record.get("isMeta") is True:
        entry.injected = True
    if entry.results:
        if entry.kinds is _RESULT:
            entry.role = "tool"
    else:
        if record.get("isCompactSummary") is True:
            entry.summary = "claude-code"
        text = content if type(content) is str else _first_text(content)
        # Most texts have no bracket near their start, and one character is found much faster.
        if text[:1] in _UNTYPED_STARTS or (text.find("<", 0, NEAR) >= 0 and has_tag(text)):
            if is_own_summary(text):
                entry.summary = "compaction"
            entry.injected = entry.injected or entry.preview.startswith(_INJECTED)
    if thought and not entry.preview:
        entry.preview = thought
    return entry


def _first_text(content: object) -> str:
    if type(content) is list and content:
        first = content[0]
        if type(first) is dict and first.get("type") == "text" and type(first.get("text")) is str:
            return str(first["text"])
    parts = parse_content(content[:1]) if isinstance(content, list) else ()
    return parts[0].text if parts and isinstance(parts[0], Text) else ""


def queued_entry(record: Mapping[str, Any], span: Span) -> Draft | None:
    """The message of a prompt that was typed while the agent worked; None for other attachments."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return None
    entry = _drafted("user", record, span)
    thought = take(entry, attachment.get("prompt"))
    if entry.kinds is NO_KINDS:
        return None
    entry.injected = attachment.get("commandMode", "prompt") != "prompt" or (
        entry.preview.startswith(_INJECTED)
    )
    entry.preview = entry.preview or thought
    return entry


def assistant_entry(
    record: Mapping[str, Any], held: Mapping[str, Any], span: Span
) -> tuple[Draft, Response | None]:
    """The message of the first line of a response, and what takes its further lines.

    A response without an id has just one line.
    """
    entry = _drafted("assistant", record, span)
    known, content = held.get("id"), held.get("content")
    if known and type(known) is str:
        entry.id = known
        response = Response(entry)
        _continue(response, content)
    else:
        response = None
        thought = take(entry, content)
        if thought and not entry.preview:
            entry.preview = thought
    _note(entry, held)
    return entry, response


def extend(response: Response, held: Mapping[str, Any], span: Span) -> bool:
    """Add a line to its response; False when all it holds was there already."""
    fresh = _continue(response, held.get("content"))
    if fresh:
        response.entry.spans += (span,)
    _note(response.entry, held)
    return fresh


def _continue(response: Response, content: object) -> bool:
    entry = response.entry
    if response.provisional:
        entry.preview, response.provisional = "", False
    fresh = True
    if type(content) is str:
        thought = take(entry, content)
    else:
        held = [content] if type(content) is dict else content
        blocks, response.seen = unseen(held if type(held) is list else [], response.seen)
        fresh = bool(blocks)
        thought = take_blocks(entry, blocks)
    response.thought = response.thought or thought
    if response.thought and not entry.preview:
        entry.preview, response.provisional = response.thought, True
    return fresh


def _note(entry: Draft, held: Mapping[str, Any]) -> None:
    """Take what a line says about its response: the model, and the tokens."""
    if not entry.model and "model" in held:
        entry.model = text_of(held["model"])
    told = held.get("usage")
    if type(told) is dict:
        usage = _usage(told)
        # Earlier lines of a streamed response carry a placeholder; the largest output is the last.
        if usage is not None and (entry.usage is None or usage.output >= entry.usage.output):
            entry.usage = usage


def _usage(told: Mapping[str, Any]) -> Usage | None:
    """Usage of one response; what was read is all that was sent, cached or not."""
    fresh = told.get("input_tokens")
    if type(fresh) is not int:
        return None
    read = told.get("cache_read_input_tokens")
    written = told.get("cache_creation_input_tokens")
    output = told.get("output_tokens")
    read = read if type(read) is int else 0
    written = written if type(written) is int else 0
    return Usage(fresh + read + written, output if type(output) is int else 0, read, written)


# ------------------------------------------------------------------------------------- whole


def with_bodies(
    entries: Sequence[Draft], source: Source, cleared: frozenset[str]
) -> tuple[Message, ...]:
    """The messages, their tool outputs replaced where the tool had cleared them."""
    for entry in entries:
        entry.body = LinesBody(source, entry.spans, _NOTHING)
        if cleared and not cleared.isdisjoint(entry.results):
            entry.body = LinesBody(source, entry.spans, cleared.intersection(entry.results))
            parts = entry.body.parts()
            entry.chars = sum(part_chars(part) for part in parts)
            entry.preview = preview_of(parts)
    return settled(entries)


def in_order(entries: Sequence[Draft]) -> Sequence[Draft]:
    """As an API wants it: each response, then the results of its calls, then what follows."""
    owners: dict[str, list[int]] = {}
    answers: list[int] = []
    for place, entry in enumerate(entries):
        if entry.results:
            answers.append(place)
        for call in entry.calls:
            owners.setdefault(call, []).append(place)
    behind: dict[int, list[Draft]] = {}
    moved: set[int] = set()
    for place in answers:
        entry = entries[place]
        owner = _owner(owners.get(entry.results[0], ()), place)
        if owner is not None:
            behind.setdefault(owner, []).append(entry)
            moved.add(place)
    if not moved:
        return entries
    out: list[Draft] = []
    for place, entry in enumerate(entries):
        if place not in moved:
            out.append(entry)
            out += behind.get(place, ())
    return out


def _owner(places: Sequence[int], at: int) -> int | None:
    """The nearest call before a result; the first one after it when there is none before."""
    if not places:
        return None
    return places[max(0, bisect_left(places, at) - 1)]
