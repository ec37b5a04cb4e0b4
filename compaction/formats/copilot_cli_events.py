"""What the events of a Copilot log say: messages, calls and their results, as parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, text_of
from compaction.messages import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult


def user_parts(event: Mapping[str, Any]) -> tuple[Part, ...]:
    """The text as it was sent, which holds what files and notes were put around the typed one."""
    data = event_data(event)
    sent = data.get("transformedContent")
    text = sent if isinstance(sent, str) and sent else text_of(data.get("content"))
    parts: list[Part] = [Text(text)] if text else []
    attachments = data.get("attachments")
    for one in attachments if isinstance(attachments, list) else ():
        held = _attachment(one, told=isinstance(sent, str))
        if held is not None:
            parts.append(held)
    return tuple(parts)


def _attachment(value: object, *, told: bool) -> Part | None:
    if not isinstance(value, Mapping):
        return opaque(value, "attachment")
    name = text_of(value.get("displayName")) or text_of(value.get("path"))
    data = value.get("data")
    if isinstance(data, str):
        return media.from_base64(data, text_of(value.get("mimeType")), name=name)
    if told:
        # The text that was sent names the file already.
        return None
    return Media("file", name=name) if name else opaque(value, "attachment")


def assistant_parts(event: Mapping[str, Any]) -> tuple[Part, ...]:
    """Reasoning, text and calls of one response."""
    data = event_data(event)
    parts: list[Part] = []
    reasoning = text_of(data.get("reasoningText"))
    sealed = data.get("reasoningOpaque") or data.get("encryptedContent")
    if reasoning or isinstance(sealed, str):
        size = len(sealed) if isinstance(sealed, str) and not reasoning else 0
        parts.append(Thinking(reasoning, sealed=size))
    content = text_of(data.get("content"))
    if content:
        parts.append(Text(content))
    requests = data.get("toolRequests")
    parts.extend(_call(request) for request in (requests if isinstance(requests, list) else ()))
    return tuple(parts)


def _call(request: object) -> ToolCall | Opaque:
    if not isinstance(request, Mapping):
        return opaque(request, "tool_request")
    given = request.get("arguments", request.get("input"))
    return ToolCall(
        text_of(request.get("toolCallId")),
        text_of(request.get("name", request.get("toolName"))),
        text_of(given),
    )


def result_parts(event: Mapping[str, Any], name: str = "") -> tuple[Part, ...]:
    """The result of a call, as it went to the model."""
    data = event_data(event)
    held = data.get("result")
    failed = data.get("success") is False
    text, pictures = "", []
    if isinstance(held, Mapping):
        failed = failed or held.get("result_type") in ("failure", "rejected", "denied")
        sent = held.get("content", held.get("text_result_for_llm", held.get("textResultForLlm")))
        text = text_of(sent)
        blocks = held.get("contents")
        pictures = [
            media.from_base64(block["data"], text_of(block.get("mimeType")))
            for block in (blocks if isinstance(blocks, list) else ())
            if isinstance(block, Mapping) and isinstance(block.get("data"), str)
        ]
    elif held is not None:
        text = text_of(held)
    error = data.get("error")
    if not text and error is not None:
        text = text_of(error.get("message")) if isinstance(error, Mapping) else text_of(error)
        failed = True
    content: tuple[Text | Media, ...] = (Text(text),) if text else ()
    return (
        ToolResult(
            text_of(data.get("toolCallId")), (*content, *pictures), is_error=failed, name=name
        ),
    )


def content_parts(event: Mapping[str, Any], key: str = "content") -> tuple[Part, ...]:
    """The text under one key of the data."""
    text = text_of(event_data(event).get(key))
    return (Text(text),) if text else ()


def event_data(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `data` of an event."""
    data = event.get("data")
    return data if isinstance(data, Mapping) else {}
