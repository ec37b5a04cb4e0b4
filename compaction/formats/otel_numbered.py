"""Messages that stand in spans as many attributes with numbers in their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_content, result_content, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.otel_spans import OtelSpan
from compaction.formats.traces import Said, merged, role_for
from compaction.messages import Part, Text, Thinking, ToolCall, ToolResult

Record = Mapping[str, Any]

#: What was sent, and what was answered.
Exchange = tuple[tuple[Said, ...], tuple[Said, ...]]


def from_json(value: object) -> Any:
    """A value that stands as its JSON text; itself where it does not."""
    if not isinstance(value, str):
        return value
    try:
        return exact.loads(value)
    except exact.ExactError:
        return value


def rows(held: Record, prefix: str) -> list[dict[str, Any]]:
    """Attributes with a number after `prefix`, as one object for each number."""
    rows: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for key, value in held.items():
        if not key.startswith(prefix):
            continue
        number, _, rest = key[len(prefix) :].partition(".")
        if number.isdigit() and len(number) < 7:
            rows[int(number)][rest] = value
    return [rows[number] for number in sorted(rows)]


def openinference(span: OtelSpan) -> Exchange:
    """Messages as OpenInference spells them: `llm.input_messages.0.message.role`."""
    held = span.attributes
    sent = [_numbered(row, "user") for row in rows(held, "llm.input_messages.")]
    answer = [_numbered(row, "assistant") for row in rows(held, "llm.output_messages.")]
    # A response of several items stands there as several messages.
    return merged(sent), tuple(answer)


def _numbered(row: Record, default: str) -> Said:
    row = {re.sub(r"(^|\.)message\.", r"\1", key): value for key, value in row.items()}
    parts: list[Part] = []
    contents = rows(row, "contents.")
    for one in contents:
        kind = one.get("message_content.type")
        url = one.get("message_content.image.image.url")
        text = one.get("message_content.text")
        if isinstance(url, str):
            parts.append(media.from_url(url, "image"))
        elif kind in ("reasoning", "thinking"):
            parts.append(Thinking(text_of(text)))
        elif isinstance(text, str):
            parts.append(Text(text))
        else:
            parts.append(opaque(one, text_of(kind)))
    if not contents:
        parts += parse_content(row.get("content"))
    role = role_of(row, default)
    call = row.get("tool_call_id")
    if role == "tool":
        name = text_of(row.get("name"))
        return Said("tool", (ToolResult(text_of(call), result_content(parts), name=name),), row)
    for one in rows(row, "tool_calls."):
        name = text_of(one.get("tool_call.function.name"))
        arguments = text_of(one.get("tool_call.function.arguments")) or "{}"
        parts.append(ToolCall(text_of(one.get("tool_call.id")), name, arguments))
    return Said(role, tuple(parts), row)


def traceloop(span: OtelSpan) -> Exchange:
    """Messages as Traceloop spells them: `gen_ai.prompt.0.role`."""
    held = span.attributes
    sent = [_indexed(row, "user") for row in rows(held, "gen_ai.prompt.")]
    answer = [_indexed(row, "assistant") for row in rows(held, "gen_ai.completion.")]
    return tuple(sent), tuple(answer)


def _indexed(row: Record, default: str) -> Said:
    content = row.get("content")
    # Blocks stand there as their JSON.
    blocks = from_json(content) if isinstance(content, str) and content[:2] == "[{" else content
    parts = list(parse_content(blocks))
    role = role_of(row, default)
    if role == "tool":
        call, name = text_of(row.get("tool_call_id")), text_of(row.get("name"))
        return Said("tool", (ToolResult(call, result_content(parts), name=name),), row)
    for one in rows(row, "tool_calls."):
        name, arguments = text_of(one.get("name")), text_of(one.get("arguments")) or "{}"
        parts.append(ToolCall(text_of(one.get("id")), name, arguments))
    return Said(role_for(role, parts), tuple(parts), row)
