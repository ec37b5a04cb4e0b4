"""What a message of a ChatGPT export holds: content of many types, calls by their recipient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, result_content, text_of
from compaction.formats.dialects.roles import normal
from compaction.messages import Media, MediaKind, Part, Text, ToolCall, ToolResult

#: Types of content that are shown while the model works and not sent to it again.
_NOT_SENT = frozenset({"thoughts", "reasoning_recap"})

#: Members that hold the text of a type of content, in the order they are sent.
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "code": ("text",),
    "execution_output": ("text",),
    "model_editable_context": ("model_set_context", "repository", "repo_summary"),
    "sonic_webpage": ("title", "url", "text"),
    "system_error": ("name", "text"),
    "tether_browsing_code": ("text",),
    "tether_browsing_display": ("summary", "result"),
    "tether_quote": ("title", "url", "text"),
    "user_editable_context": ("user_profile", "user_instructions"),
}

_POINTERS: Mapping[str, MediaKind] = {
    "audio_asset_pointer": "audio",
    "image_asset_pointer": "image",
    "video_container_asset_pointer": "video",
}


def role_of(record: Mapping[str, Any]) -> str:
    """The role of the author."""
    author = record.get("author")
    return normal(text_of(author.get("role"))) if isinstance(author, Mapping) else ""


def author_of(record: Mapping[str, Any]) -> str:
    """The name of the author, which is that of the tool for a result."""
    author = record.get("author")
    name = author.get("name") if isinstance(author, Mapping) else None
    return name if isinstance(name, str) else ""


def is_injected(record: Mapping[str, Any]) -> bool:
    """Whether no person typed a message of the user: instructions, or hidden in the app."""
    told = record.get("metadata")
    hidden = isinstance(told, Mapping) and (
        told.get("is_visually_hidden_from_conversation") is True
        or told.get("is_user_system_message") is True
    )
    return role_of(record) == "user" and (hidden or _type(record).endswith("_editable_context"))


def why_not_sent(record: Mapping[str, Any]) -> str:
    """Why a message of the branch is not in the window, as a reason; "" when it is."""
    weight = record.get("weight")
    if isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight == 0:
        return "messages of weight 0"
    if _type(record) in _NOT_SENT:
        return "reasoning that is not sent again"
    return "" if parse(record) else "empty messages"


def parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message; a result does not say which call it answers."""
    parts = _content(record)
    role = role_of(record)
    recipient = record.get("recipient")
    if role == "assistant" and isinstance(recipient, str) and recipient not in ("", "all"):
        asked = "\n".join(part.text for part in parts if isinstance(part, Text))
        others = [part for part in parts if not isinstance(part, Text)]
        return (*others, ToolCall(text_of(record.get("id")), recipient, asked))
    if role == "tool":
        failed = _type(record) == "system_error"
        held = result_content(parts)
        return (ToolResult("", held, is_error=failed, name=author_of(record)),) if held else ()
    return (*parts, *_attached(record))


def unasked(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Results that no call of the branch asked for, as what they say."""
    return tuple(
        inner
        for part in parts
        for inner in (
            part.content if isinstance(part, ToolResult) and not part.call_id else (part,)
        )
    )


def _type(record: Mapping[str, Any]) -> str:
    content = record.get("content")
    return text_of(content.get("content_type")) if isinstance(content, Mapping) else ""


def _content(record: Mapping[str, Any]) -> tuple[Part, ...]:
    content = record.get("content")
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, Mapping):
        return () if content is None else (opaque(content),)
    listed, kind = content.get("parts"), _type(record)
    if isinstance(listed, list):
        return tuple(part for one in listed for part in _part(one))
    if kind in _TEXTS:
        said = [text_of(content.get(key)) for key in _TEXTS[kind]]
        return (Text("\n".join(text for text in said if text)),) if any(said) else ()
    if kind == "computer_output" and isinstance(content.get("screenshot"), Mapping):
        return _part(content["screenshot"])
    for key in ("text", "result", "content"):
        if isinstance(content.get(key), str):
            return (Text(content[key]),) if content[key] else ()
    return (opaque(dict(content), kind),) if len(content) > 1 else ()


def _part(part: object) -> tuple[Part, ...]:
    if isinstance(part, str):
        return (Text(part),) if part else ()
    if not isinstance(part, Mapping):
        return () if part is None else (opaque(part),)
    kind = text_of(part.get("content_type"))
    if kind in _POINTERS:
        return (_pointer(part, _POINTERS[kind]),)
    if kind == "real_time_user_audio_video_asset_pointer":
        inner = part.get("audio_asset_pointer")
        return (_pointer(inner if isinstance(inner, Mapping) else part, "audio"),)
    if isinstance(part.get("text"), str):
        # What was said aloud, and other parts that are text with a type.
        return (Text(part["text"]),) if part["text"] else ()
    return (opaque(dict(part), kind),)


def _pointer(part: Mapping[str, Any], kind: MediaKind) -> Media:
    form = text_of(part.get("format"))
    return Media(
        kind,
        mime=f"{kind}/{form}" if form else "",
        size=_count(part, "size_bytes"),
        name=text_of(part.get("asset_pointer")),
        width=_count(part, "width"),
        height=_count(part, "height"),
    )


def _attached(record: Mapping[str, Any]) -> list[Part]:
    """Files beside a message; pictures stand in its content as well."""
    told = record.get("metadata")
    listed = told.get("attachments") if isinstance(told, Mapping) else None
    out: list[Part] = []
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, Mapping):
            continue
        mime = text_of(one.get("mime_type", one.get("mimeType")))
        if not mime.startswith("image/"):
            name = text_of(one.get("name"))
            out.append(Media(media.kind_of(mime), mime, _count(one, "size"), name))
    return out


def _count(record: Mapping[str, Any], key: str) -> int:
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
