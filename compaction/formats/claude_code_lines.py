"""The lines of a Claude Code transcript: which are sent to the model, and what each holds.

Facts: the transcript is a log. One response of the model stands on several lines of one
`message.id`; a tool result line may stand between them. Source: the public description in
claude-code-log's developer documents, and counts over real transcripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from compaction.formats import exact
from compaction.formats.dialects.blocks import parse_content
from compaction.formats.sketching import usage_of
from compaction.marker import is_own_summary
from compaction.messages import (
    PREVIEW_CHARS,
    Message,
    Part,
    Source,
    Span,
    Text,
    ToolResult,
    Usage,
    kind_of,
    part_chars,
    part_text,
)

#: What a cleared tool output reads as in the context of the tool.
CLEARED = "[Old tool result content cleared]"

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

_KINDS: dict[frozenset[str], frozenset[str]] = {}


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
        self.uuid = str(record.get("uuid") or "")
        self.parent = record.get("parentUuid")
        self.time = str(record.get("timestamp") or "")
        self.spans: list[Span] = []
        self.kinds: set[str] = set()
        self.calls: list[str] = []
        self.results: list[str] = []
        self.seen: set[object] | None = None
        self.usage: Usage | None = None
        self.preview = self.thought = ""
        self.model = self.tool = self.summary = ""
        self.chars = 0
        self.injected = self.typed = False

    def add(self, content: object, span: Span) -> bool:
        """Take one line's content; False when every block of it was there already."""
        blocks = [content] if isinstance(content, (str, dict)) else content
        fresh = False
        for block in blocks if isinstance(blocks, list) else ():
            fresh = self._block(block) or fresh
        if not fresh and self.spans:
            return False
        self.spans.append(span)
        return True

    def _block(self, block: object) -> bool:
        if not isinstance(block, dict):
            if isinstance(block, str):
                self._text(block)
            else:
                self._parts(parse_content([block]))
            return True
        kind = block.get("type")
        if self.seen is not None:
            mark = (kind, block.get("id") or hash(str(block.get("text") or block)))
            if mark in self.seen:
                return False
            self.seen.add(mark)
        if kind == "text" and isinstance(block.get("text"), str):
            self._text(block["text"])
        elif kind == "tool_use":
            name, given = block.get("name"), block.get("input")
            self.kinds.add("tool call")
            self.calls.append(str(block.get("id") or ""))
            self.tool = self.tool or str(name or "")
            text = _json(given)
            self.chars += len(str(name or "")) + len(text)
            self.preview = self.preview or f"{name} {text[:PREVIEW_CHARS]}"
        elif kind == "tool_result":
            inner = block.get("content")
            self.kinds.add("tool result")
            self.results.append(str(block.get("tool_use_id") or ""))
            if isinstance(inner, str):
                self.chars += len(inner)
                self.preview = self.preview or inner[: PREVIEW_CHARS * 4].strip()[:PREVIEW_CHARS]
            else:
                self._parts(parse_content([block]))
        else:
            self._parts(parse_content([block]))
        return True

    def _text(self, text: str) -> None:
        if not text:
            return
        self.kinds.add("text")
        self.chars += len(text)
        if not self.preview:
            self.preview = text[: PREVIEW_CHARS * 4].strip()[:PREVIEW_CHARS]

    def _parts(self, parts: Sequence[Part]) -> None:
        for part in parts:
            kind = kind_of(part)
            self.kinds.add(kind)
            self.chars += part_chars(part)
            text = part_text(part)[: PREVIEW_CHARS * 4].strip()[:PREVIEW_CHARS]
            if kind == "thinking":
                self.thought = self.thought or text
            elif not self.preview:
                self.preview = text

    def finish(self, source: Source, cleared: frozenset[str]) -> Message:
        """The message, its tool outputs replaced where the tool had cleared them."""
        kinds = frozenset(self.kinds)
        gone = frozenset(self.results) & cleared if cleared else frozenset()
        spans = tuple(self.spans)
        chars, preview = self.chars, self.preview or self.thought
        if gone:
            chars, preview = len(CLEARED) * len(gone), CLEARED
        return Message(
            self.role,
            LinesBody(source, spans, gone),
            preview=preview,
            chars=chars,
            calls=tuple(self.calls),
            results=tuple(self.results),
            kinds=_KINDS.setdefault(kinds, kinds),
            tool=self.tool,
            id=self.id or self.uuid,
            time=self.time,
            model=self.model,
            usage=self.usage,
            summary=self.summary,
            injected=self.injected,
            spans=spans,
        )


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return exact.dumps(value)


class LinesBody:
    """A body behind the lines of one response, or behind one user line."""

    __slots__ = ("_cleared", "_source", "_spans")

    def __init__(self, source: Source, spans: tuple[Span, ...], cleared: frozenset[str]) -> None:
        self._source = source
        self._spans = spans
        self._cleared = cleared

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    def parts(self) -> tuple[Part, ...]:
        """The blocks of all lines, in line order."""
        out: list[Part] = []
        for span in self._spans:
            record = _parsed(self._source.raw(span))
            out += parse_content(content_of(record) if isinstance(record, dict) else None)
        if self._cleared:
            out = [_emptied(part, self._cleared) for part in out]
        return tuple(out)

    def record(self) -> object:
        """The record, or the list of records when there are several."""
        found = [exact.loads(self._source.raw(span)) for span in self._spans]
        return found[0] if len(found) == 1 else found


def _parsed(raw: bytes) -> object:
    # Only arguments of calls are written out again as JSON; all else is text either way.
    if b'"tool_use"' not in raw:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
    return exact.loads(raw)


def _emptied(part: Part, cleared: frozenset[str]) -> Part:
    if isinstance(part, ToolResult) and part.call_id in cleared:
        return ToolResult(part.call_id, (Text(CLEARED),), part.is_error, part.name, cleared=True)
    return part


def content_of(record: Mapping[str, Any]) -> object:
    """What a line sends: the content of its message, or the prompt that was queued."""
    held = record.get("message")
    if isinstance(held, dict):
        return held.get("content")
    attachment = record.get("attachment")
    return attachment.get("prompt") if isinstance(attachment, dict) else None


def user_entry(record: Mapping[str, Any], span: Span) -> Entry | None:
    """The message of a user line; None when it sends nothing."""
    content = content_of(record)
    entry = Entry("user", record)
    entry.add(content, span)
    if not entry.kinds:
        return None
    if entry.results and entry.kinds == {"tool result"}:
        entry.role = "tool"
    if record.get("isCompactSummary") is True:
        entry.summary = "compaction" if is_own_summary(_first_text(content)) else "claude-code"
    entry.injected = record.get("isMeta") is True or (
        not entry.results and entry.preview.startswith(_INJECTED)
    )
    entry.typed = not (entry.injected or entry.summary or entry.results)
    return entry


def _first_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = parse_content(content)
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
    entry.typed = not entry.injected
    return entry


def assistant_entry(record: Mapping[str, Any], held: Mapping[str, Any], span: Span) -> Entry:
    """The message of the first line of a response."""
    entry = Entry("assistant", record)
    entry.id = str(held.get("id") or "")
    if entry.id:
        entry.seen = set()
    extend(entry, held, span)
    return entry


def extend(entry: Entry, held: Mapping[str, Any], span: Span) -> bool:
    """Add a line to its response; False when all it holds was there already."""
    fresh = entry.add(held.get("content"), span)
    entry.model = entry.model or str(held.get("model") or "")
    usage = usage_of(held.get("usage"))
    # Earlier lines of a streamed response carry a placeholder; the largest output is the last.
    if usage is not None and (entry.usage is None or usage.output >= entry.usage.output):
        entry.usage = usage
    return fresh
