"""The items of a Codex rollout: which are sent to the model, and what each holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from compaction.formats import exact
from compaction.formats.dialects import responses_like
from compaction.formats.dialects.blocks import opaque, text_of
from compaction.formats.sketching import time_of
from compaction.marker import is_own_summary
from compaction.messages import (
    Message,
    Part,
    Source,
    Span,
    Text,
    ToolCall,
    ToolResult,
    kind_of,
    part_chars,
    preview_of,
)

#: Items of the log that the model is never sent.
NOT_SENT = frozenset({"ghost_snapshot", "other"})

#: Items that stand for a compacted past that only the provider can read.
SEALED = frozenset({"compaction", "compaction_summary", "context_compaction"})

#: Text that starts a user message which no person typed.
INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<subagent_notification>",
    "<turn_aborted>",
    "<recommended_plugins>",
    "<permissions instructions>",
    "<skill>",
    "<user_shell_command>",
)

#: How the tool opens the user message that carries a summary of its own.
SUMMARY_PREFIX = "Another language model started to solve this problem"


_KINDS: dict[frozenset[str], frozenset[str]] = {}


class ItemBody:
    """A body behind one item: a line of its own, or an element of a replacement history.

    `path` leads from the JSON in the span to the item.
    """

    __slots__ = ("_path", "_source", "_span")

    def __init__(self, source: Source, span: Span, path: tuple[str, ...] = ()) -> None:
        self._source = source
        self._span = span
        self._path = path

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    @property
    def is_line(self) -> bool:
        """Whether the span is a whole line that holds this item as its payload."""
        return self._path == ("payload",)

    def parts(self) -> tuple[Part, ...]:
        """The content of the item."""
        raw = self._source.raw(self._span)
        try:
            value: object = orjson.loads(raw)
        except orjson.JSONDecodeError:
            value = exact.loads(raw)
        for key in self._path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            return (Text(value),)
        if isinstance(value, list):
            return tuple(part for one in value if isinstance(one, dict) for part in item_parts(one))
        return item_parts(value) if isinstance(value, dict) else ()

    def record(self) -> object:
        """The record in the span, exactly."""
        return exact.loads(self._source.raw(self._span))


def item_parts(item: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = responses_like.parse_item(item)
    # A message that keeps its text elsewhere is shown as it is rather than as nothing.
    return parts if parts or "content" in item else (opaque(item),)


def item_message(
    item: Mapping[str, Any],
    role: str,
    body: ItemBody,
    span: Span,
    *,
    time: str,
    pointer: str,
    model: str,
    names: Mapping[str, str],
) -> Message:
    """The message of one item. `names` are the tools of the calls before it, by call id."""
    kind = text_of(item.get("type"))
    parts = item_parts(item)
    first = parts[0] if parts else None
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    tool, preview, summary, injected = "", preview_of(parts), "", False
    if isinstance(first, ToolCall):
        calls, tool = (first.id,), first.name
    elif isinstance(first, ToolResult):
        results, tool = (first.call_id,), first.name or names.get(first.call_id, "")
    elif kind in SEALED:
        sealed = len(text_of(item.get("encrypted_content")))
        summary, preview = "codex", f"[summary, encrypted, {sealed:,} bytes]"
    elif kind.endswith("_call"):
        tool = kind.removesuffix("_call")
    elif isinstance(first, Text):
        if is_own_summary(first.text):
            summary = "compaction"
        elif role == "user":
            start = first.text[:400].lstrip()
            summary = "codex" if start.startswith(SUMMARY_PREFIX) else ""
            injected = start.startswith(INJECTED)
    kinds = frozenset(map(kind_of, parts))
    return Message(
        role,
        body,
        preview,
        sum(map(part_chars, parts)),
        calls,
        results,
        _KINDS.setdefault(kinds, kinds),
        tool,
        name=text_of(item.get("name")) if not calls and role != "tool" else "",
        id=text_of(item.get("id")),
        time=time or time_of(item),
        model=text_of(item.get("model")) or model,
        summary=summary,
        injected=injected,
        bound=kind == "reasoning",
        spans=(span,),
        pointer=pointer,
    )
