"""Chat Completions messages: read into parts, and parts written as chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import parse_content, result_content, text_of
from compaction.formats.dialects.ids import CHAT_LIMIT, Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_AUDIO = frozenset({"wav", "mp3"})

#: Members of a message that has a role and content, and nothing else.
_PLAIN = 2
_SPEAKERS = ("user", "assistant", "system", "developer")


def parse_blocks(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one chat message: reasoning, content, refusal, audio, calls; or its result.

    A legacy `function_call` has no id: its function's name stands for one, in the answer too.
    """
    content = message.get("content")
    if len(message) == _PLAIN and "content" in message and message.get("role") in _SPEAKERS:
        # Most messages say who speaks and what; they are worth a way of their own.
        return parse_content(content)
    if role_of(message) == "tool":
        return _result(message)
    parts = [*_reasoning(message), *parse_content(content)]
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        parts.append(Text(refusal))
    audio = message.get("audio")
    if isinstance(audio, Mapping):
        parts.append(_audio(audio))
    calls = message.get("tool_calls")
    if isinstance(calls, Iterable) and not isinstance(calls, (str, Mapping)):
        parts.extend(_call(call) for call in calls)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        name = text_of(legacy.get("name"))
        parts.append(ToolCall(name, name, text_of(legacy.get("arguments"))))
    return tuple(parts)


def _result(message: Mapping[str, Any]) -> tuple[Part, ...]:
    content = parse_content(message.get("content"))
    if content and all(isinstance(part, ToolResult) for part in content):
        return content
    name = text_of(message.get("name"))
    call = message.get("tool_call_id", message.get("tool_use_id"))
    if call is None and message.get("role") == "function":
        call = name
    return (
        ToolResult(
            text_of(call),
            result_content(content),
            is_error=message.get("is_error") is True,
            name=name,
        ),
    )


def _call(call: object) -> ToolCall | Opaque:
    if not isinstance(call, Mapping):
        return Opaque("tool_call", exact.dumps(call))
    inner = call.get("function")
    if not isinstance(inner, Mapping):
        inner = call.get("custom")
    if not isinstance(inner, Mapping):
        inner = call
    arguments = inner.get("arguments", inner.get("input", inner.get("args")))
    return ToolCall(text_of(call.get("id")), text_of(inner.get("name")), text_of(arguments))


def _audio(audio: Mapping[str, Any]) -> Media:
    data = audio.get("data")
    if isinstance(data, str):
        return media.from_base64(data, kind="audio", name=text_of(audio.get("id")))
    return Media("audio", name=text_of(audio.get("id")))


def _reasoning(message: Mapping[str, Any]) -> list[Part]:
    # Gateways say the same reasoning in several fields at once; the richest one counts.
    blocks = message.get("thinking_blocks")
    if isinstance(blocks, list) and blocks:
        return list(parse_content(blocks))
    details = message.get("reasoning_details")
    if isinstance(details, list) and details:
        return [_detail(detail) for detail in details]
    for key in ("reasoning_content", "reasoning"):
        text = message.get(key)
        if isinstance(text, str) and text:
            return [Thinking(text)]
    return []


def _detail(detail: object) -> Part:
    if not isinstance(detail, Mapping):
        return Opaque("reasoning", exact.dumps(detail))
    text = text_of(detail.get("text") or detail.get("summary"))
    data = text_of(detail.get("data"))
    return Thinking(text, text_of(detail.get("signature")), len(data))


# ------------------------------------------------------------------------------------ writing


def render(messages: Sequence[Message], notes: Notes) -> list[dict[str, Any]]:
    """Messages as chat messages, one for one but that results become one message each."""
    ids = Ids(limit=CHAT_LIMIT)
    out: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        out += render_message(message, ids, notes.at(index))
    notes.tell_ids(ids.changed)
    return out


def render_message(message: Message, ids: Ids, notes: Notes) -> list[dict[str, Any]]:
    """One message as chat messages: its results, each a tool message, and then the rest."""
    parts = message.parts
    out = [_tool_message(part, ids, notes) for part in parts if isinstance(part, ToolResult)]
    rest = [part for part in parts if not isinstance(part, ToolResult)]
    if not rest and (out or message.role == "tool"):
        return out
    if message.role == "assistant":
        spoken = _assistant(rest, ids, notes)
    else:
        role = "user" if message.role == "tool" else message.role
        spoken = {"role": role, "content": _content(rest, notes, plain=role != "user")}
    if message.name:
        spoken = {"role": spoken.pop("role"), "name": message.name, **spoken}
    if not spoken["content"] and "tool_calls" not in spoken:
        if rest:
            notes.tell("empty-message", "a message")
            return out
        spoken["content"] = ""
    return [*out, spoken]


def _assistant(parts: Sequence[Part], ids: Ids, notes: Notes) -> dict[str, Any]:
    calls = [
        {
            "id": ids.call(part.id),
            "type": "function",
            "function": {"name": part.name, "arguments": part.arguments},
        }
        for part in parts
        if isinstance(part, ToolCall)
    ]
    spoken = _content([p for p in parts if not isinstance(p, ToolCall)], notes, plain=True)
    message: dict[str, Any] = {"role": "assistant", "content": spoken or None}
    if calls:
        message["tool_calls"] = calls
    return message


def _tool_message(result: ToolResult, ids: Ids, notes: Notes) -> dict[str, Any]:
    if result.is_error:
        notes.tell("error-flag", "the error mark of a tool result")
    return {
        "role": "tool",
        "tool_call_id": ids.result(result.call_id),
        "content": _content(result.content, notes, plain=True),
    }


def _content(
    parts: Sequence[Part] | Sequence[Text | Media | Opaque], notes: Notes, *, plain: bool
) -> str | list[dict[str, Any]]:
    """The value of `content`; `plain` where only text may stand. One text is a plain string."""
    blocks: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text(text=text):
                if text:
                    blocks.append({"type": "text", "text": text})
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Media():
                blocks.append(_media(part, notes, plain=plain))
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                blocks.append({"type": "text", "text": text})
            case ToolCall(name=name):
                notes.tell("opaque", f"a call of {name} outside an assistant message")
                blocks.append({"type": "text", "text": f"{name} {part.arguments}"})
            case ToolResult():
                blocks.append({"type": "text", "text": part.text})
    if not blocks:
        return ""
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return str(blocks[0]["text"])
    return blocks


def _media(part: Media, notes: Notes, *, plain: bool) -> dict[str, Any]:
    url = media.data_url(part)
    if not plain:
        if part.kind == "image" and url:
            held = {"url": url, "detail": part.detail} if part.detail else {"url": url}
            return {"type": "image_url", "image_url": held}
        form = part.mime.partition("/")[2].replace("mpeg", "mp3").replace("x-wav", "wav")
        if part.kind == "audio" and part.data and form in _AUDIO:
            return {"type": "input_audio", "input_audio": {"data": part.data, "format": form}}
        if part.kind in ("document", "file") and part.data:
            return {"type": "file", "file": {"filename": part.name or "file", "file_data": url}}
    notes.tell("media", f"{part.mime or part.kind} content")
    return {"type": "text", "text": part.label}
