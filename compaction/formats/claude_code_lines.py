"""The lines of a Claude Code transcript: which are sent to the model, and what each holds.

Facts: the transcript is a log. One response of the model stands on several lines of one
`message.id`; a tool result line may stand between them. Source: the public description in
claude-code-log's developer documents, and counts over real transcripts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from compaction.formats import exact
from compaction.formats.claude_code_body import LinesBody, content_of, unseen
from compaction.formats.dialects.blocks import parse_content, text_of
from compaction.marker import is_own_summary
from compaction.messages import (
    PREVIEW_CHARS,
    Message,
    Part,
    Source,
    Span,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    kind_of,
    part_chars,
    part_text,
    preview_of,
)

#: What the framed summaries of this program hold near their start, when not at it.
_TAG = "<conversation_summary>"

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
_KINDS: dict[frozenset[str], frozenset[str]] = {}

#: How a text may start that is no person's: marked by the tool, or a summary of our own.
_UNTYPED_STARTS = frozenset("<C[{S \n\t")


class Entry:
    """One message while the file is being read; lines of the same response are added to it."""

    __slots__ = (
        "calls",
        "chars",
        "id",
        "injected",
        "kinds",
        "model",
        "parent",
        "preview",
        "results",
        "role",
        "seen",
        "spans",
        "summary",
        "thought",
        "time",
        "tool",
        "typed",
        "usage",
        "uuid",
    )

    def __init__(self, role: str, record: Mapping[str, Any]) -> None:
        self.role = role
        self.id = ""
        self.uuid = text_of(record.get("uuid"))
        self.parent = record.get("parentUuid")
        self.time = text_of(record.get("timestamp"))
        # Tuples and not lists: a long session has hundreds of thousands of these.
        self.spans: tuple[Span, ...] = ()
        self.kinds = _NOTHING
        self.calls: tuple[str, ...] = ()
        self.results: tuple[str, ...] = ()
        self.seen: tuple[int, ...] | None = None
        self.usage: Usage | None = None
        self.preview = self.thought = ""
        self.model = self.tool = self.summary = ""
        self.chars = 0
        self.injected = self.typed = False

    def add(self, content: object, span: Span) -> bool:
        """Take one line's content; False when every block of it was there already."""
        if isinstance(content, str):
            self._text(content)
        else:
            blocks = [content] if isinstance(content, dict) else content
            if not isinstance(blocks, list):
                blocks = []
            if self.seen is not None:
                blocks, self.seen = unseen(blocks, self.seen)
                if not blocks and self.spans:
                    return False
            for block in blocks:
                self._block(block)
        self.spans += (span,)
        return True

    def _block(self, block: object) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, dict):
            if kind == "text" and isinstance(block.get("text"), str):
                self._text(block["text"], block=True)
                return
            if kind == "tool_use" and isinstance(block.get("input"), dict):
                self._call(block, block["input"])
                return
            if kind == "tool_result" and isinstance(block.get("content"), str):
                self._result(block, block["content"])
                return
        self._parts(parse_content([block]))

    def _kind(self, kind: str) -> None:
        if kind not in self.kinds:
            kinds = self.kinds | {kind}
            self.kinds = _KINDS.setdefault(kinds, kinds)

    def _call(self, block: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        name = text_of(block.get("name"))
        text = _json(given)
        self._kind("tool call")
        self.calls += (text_of(block.get("id")),)
        self.tool = self.tool or name
        self.chars += len(name) + len(text)
        if not self.preview:
            self.preview = _start(f"{name} {text[: PREVIEW_CHARS * 4]}")

    def _result(self, block: Mapping[str, Any], content: str) -> None:
        self._kind("tool result")
        self.results += (text_of(block.get("tool_use_id")),)
        self.chars += len(content)
        if not self.preview:
            self.preview = _start(content)

    def _text(self, text: str, *, block: bool = False) -> None:
        # An empty text is nothing, an empty text block is one: an API refuses it.
        if text or block:
            self._kind("text")
            self.chars += len(text)
            if not self.preview:
                self.preview = _start(text)

    def _parts(self, parts: Sequence[Part]) -> None:
        for part in parts:
            kind = kind_of(part)
            self._kind(kind)
            self.chars += part_chars(part)
            if isinstance(part, ToolResult):
                self.results += (part.call_id,)
            elif isinstance(part, ToolCall):
                self.calls += (part.id,)
                self.tool = self.tool or part.name
            text = _start(part_text(part))
            if kind == "thinking":
                self.thought = self.thought or text
            elif not self.preview:
                self.preview = text

    def finish(self, source: Source, cleared: frozenset[str]) -> Message:
        """The message, its tool outputs replaced where the tool had cleared them."""
        gone = frozenset(self.results) & cleared if cleared else cleared
        body = LinesBody(source, self.spans, gone)
        chars, preview = self.chars, self.preview or self.thought
        if gone:
            parts = body.parts()
            chars, preview = sum(part_chars(part) for part in parts), preview_of(parts)
        return Message(
            self.role,
            body,
            preview,
            chars,
            self.calls,
            self.results,
            self.kinds,
            self.tool,
            id=self.id or self.uuid,
            time=self.time,
            model=self.model,
            usage=self.usage,
            summary=self.summary,
            injected=self.injected,
            spans=self.spans,
        )


def _start(text: str) -> str:
    return text[: PREVIEW_CHARS * 4].strip()[:PREVIEW_CHARS]


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return exact.dumps(value)


def user_entry(record: Mapping[str, Any], span: Span) -> Entry | None:
    """The message of a user line; None when it sends nothing."""
    content = content_of(record)
    entry = Entry("user", record)
    entry.add(content, span)
    if not entry.kinds:
        return None
    if entry.results:
        if entry.kinds == {"tool result"}:
            entry.role = "tool"
        entry.injected = record.get("isMeta") is True
        return entry
    if record.get("isCompactSummary") is True:
        entry.summary = "claude-code"
    if record.get("isMeta") is True:
        entry.injected = True
    text = _first_text(content)
    if text[:1] in _UNTYPED_STARTS or _TAG in text[:400]:
        if is_own_summary(text):
            entry.summary = "compaction"
        entry.injected = entry.injected or entry.preview.startswith(_INJECTED)
    entry.typed = not (entry.injected or entry.summary)
    return entry


def _first_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = parse_content(content[:1]) if isinstance(content, list) else ()
    return parts[0].text if parts and isinstance(parts[0], Text) else ""


def queued_entry(record: Mapping[str, Any], span: Span) -> Entry | None:
    """The message of a prompt that was typed while the agent worked; None for other attachments."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return None
    entry = Entry("user", record)
    entry.add(attachment.get("prompt"), span)
    if not entry.kinds:
        return None
    entry.injected = attachment.get("commandMode", "prompt") != "prompt" or (
        entry.preview.startswith(_INJECTED)
    )
    return entry


def assistant_entry(record: Mapping[str, Any], held: Mapping[str, Any], span: Span) -> Entry:
    """The message of the first line of a response."""
    entry = Entry("assistant", record)
    known = held.get("id")
    if isinstance(known, str) and known:
        entry.id = known
        entry.seen = ()
    extend(entry, held, span)
    return entry


def extend(entry: Entry, held: Mapping[str, Any], span: Span) -> bool:
    """Add a line to its response; False when all it holds was there already."""
    fresh = entry.add(held.get("content"), span)
    if not entry.model:
        entry.model = text_of(held.get("model"))
    told = held.get("usage")
    if isinstance(told, dict):
        usage = _usage(told)
        # Earlier lines of a streamed response carry a placeholder; the largest output is the last.
        if usage is not None and (entry.usage is None or usage.output >= entry.usage.output):
            entry.usage = usage
    return fresh


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


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """As an API wants it: each response, then the results of its calls, then what follows."""
    owners: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        for call in entry.calls:
            owners.setdefault(call, []).append(place)
    if not owners:
        return list(entries)
    behind: dict[int, list[Entry]] = {}
    moved: set[int] = set()
    for place, entry in enumerate(entries):
        if entry.results:
            owner = _owner(owners.get(entry.results[0], ()), place)
            if owner is not None:
                behind.setdefault(owner, []).append(entry)
                moved.add(place)
    out: list[Entry] = []
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
