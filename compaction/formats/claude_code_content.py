"""What a line of a Claude Code transcript sends, added to the message that is read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from compaction.formats import exact
from compaction.formats.dialects.blocks import parse_content, text_of
from compaction.formats.drafts import NO_KINDS, Draft, start_of, with_kind
from compaction.messages import (
    PREVIEW_CHARS,
    Part,
    ToolCall,
    ToolResult,
    kind_of,
    part_chars,
    part_text,
)

_TEXT = with_kind(NO_KINDS, "text")


def take(entry: Draft, content: object) -> str:
    """Add to `entry` what one line sends.

    Gives the first thought in it, which shows in the preview where no other text does.
    """
    if type(content) is str:
        # An empty text is nothing, an empty text block is one: an API refuses it.
        if content:
            if entry.kinds is NO_KINDS:
                entry.kinds, entry.chars, entry.preview = _TEXT, len(content), start_of(content)
            else:
                _text(entry, content)
        return ""
    blocks = [content] if type(content) is dict else content
    return take_blocks(entry, blocks) if type(blocks) is list else ""


def take_blocks(entry: Draft, blocks: Sequence[object]) -> str:
    """As `take`, for blocks."""
    thought = ""
    for block in blocks:
        if type(block) is dict:
            # The common blocks are looked at where they stand: making parts of them takes longer.
            kind = block.get("type")
            if kind == "text":
                held = block.get("text")
                if type(held) is str:
                    _text(entry, held)
                    continue
            elif kind == "tool_use":
                held = block.get("input")
                if type(held) is dict:
                    _call(entry, block, held)
                    continue
            elif kind == "tool_result":
                held = block.get("content")
                if type(held) is str:
                    _result(entry, block, held)
                    continue
            elif kind == "thinking":
                held = block.get("thinking")
                if held and type(held) is str:
                    _kind(entry, "thinking")
                    entry.chars += len(held)
                    thought = thought or start_of(held)
                    continue
        thought = _parts(entry, parse_content([block]), thought)
    return thought


def _kind(entry: Draft, kind: str) -> None:
    if kind not in entry.kinds:
        entry.kinds = with_kind(entry.kinds, kind)


def _text(entry: Draft, text: str) -> None:
    if entry.kinds is NO_KINDS:
        entry.kinds = _TEXT
    else:
        _kind(entry, "text")
    entry.chars += len(text)
    if not entry.preview:
        entry.preview = start_of(text)


def _call(entry: Draft, block: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    name = text_of(block.get("name"))
    text = _json(given)
    _kind(entry, "tool call")
    entry.calls += (text_of(block.get("id")),)
    entry.tool = entry.tool or name
    entry.chars += len(name) + len(text)
    if not entry.preview:
        entry.preview = start_of(f"{name} {text[: PREVIEW_CHARS * 4]}")


def _result(entry: Draft, block: Mapping[str, Any], content: str) -> None:
    _kind(entry, "tool result")
    entry.results += (text_of(block.get("tool_use_id")),)
    entry.chars += len(content)
    if not entry.preview:
        entry.preview = start_of(content)


def _parts(entry: Draft, parts: Sequence[Part], thought: str) -> str:
    for part in parts:
        kind = kind_of(part)
        _kind(entry, kind)
        entry.chars += part_chars(part)
        if isinstance(part, ToolResult):
            entry.results += (part.call_id,)
        elif isinstance(part, ToolCall):
            entry.calls += (part.id,)
            entry.tool = entry.tool or part.name
        text = start_of(part_text(part))
        if kind == "thinking":
            thought = thought or text
        elif not entry.preview:
            entry.preview = text
    return thought


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return exact.dumps(value)
