"""Messages of pydantic-ai: requests and responses cut into what is sent, and written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.chatshape import Facts
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, result_content, text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.pieces import Piece
from compaction.messages import (
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

Record = Mapping[str, Any]

_URLS: Mapping[str, MediaKind] = {
    "audio-url": "audio",
    "document-url": "document",
    "image-url": "image",
    "video-url": "video",
}
#: Base64 of its files is the kind for URLs.
_TO_PLAIN = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")

#: Parts of a request that answer a call; the instructions of the request before then still hold.
_ANSWERS = ("tool-return", "retry-prompt")


def is_message(value: object) -> bool:
    """Whether a value is a request or a response."""
    if not isinstance(value, Mapping) or value.get("kind") not in ("request", "response"):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and all(
        isinstance(part, Mapping) and isinstance(part.get("part_kind"), str) for part in parts
    )


def cut(record: Record) -> tuple[Piece, ...]:
    """The messages that a request or a response stands for."""
    return tuple(piece for piece, _ in _runs(record))


def keep(record: Record, indexes: Sequence[int]) -> dict[str, Any]:
    """The record with only some of the messages it stands for."""
    runs = _runs(record)
    parts = record["parts"]
    return {**record, "parts": [parts[i] for index in indexes for i in runs[index][1]]}


def _runs(record: Record) -> list[tuple[Piece, list[int]]]:
    """Each message, and the indexes of its parts. What a response says in one go is one."""
    spoken = record.get("kind") == "response"
    found = record.get("parts")
    out: list[tuple[Piece, list[int]]] = []
    for index, part in enumerate(found if isinstance(found, list) else []):
        role, injected = _side(part, spoken)
        content = parse_part(part)
        if out and spoken and role == out[-1][0].role == "assistant":
            out[-1] = (Piece(role, (*out[-1][0].parts, *content)), [*out[-1][1], index])
        else:
            out.append((Piece(role, content, injected), [index]))
    return out or [(Piece("assistant" if spoken else "user", ()), [])]


def _side(part: object, spoken: bool) -> tuple[str, bool]:
    """The role of a part, and whether the program put it there."""
    kind = part.get("part_kind") if isinstance(part, Mapping) else None
    if kind in ("tool-return", "builtin-tool-return"):
        return "tool", False
    if spoken:
        return "assistant", False
    if kind == "retry-prompt" and isinstance(part, Mapping) and part.get("tool_name"):
        return "tool", False
    if kind == "system-prompt" or (isinstance(kind, str) and kind.startswith("instruction")):
        return "system", False
    return "user", kind != "user-prompt"


def parse(record: Record) -> tuple[Part, ...]:
    """All parts of a record, whoever they are from."""
    return tuple(part for piece in cut(record) for part in piece.parts)


def parse_part(part: object) -> tuple[Part, ...]:
    """One part of a request or response."""
    if not isinstance(part, dict):
        return (opaque(part),)
    content = part.get("content")
    call, name = text_of(part.get("tool_call_id")), text_of(part.get("tool_name"))
    kind = part.get("part_kind")
    match kind:
        case "system-prompt" | "user-prompt" | "text" | "retry-feedback":
            return _content(content)
        case "thinking":
            signature = text_of(part.get("signature"))
            return (Thinking(text_of(content), signature, 0 if content else len(signature)),)
        case "tool-call" | "builtin-tool-call":
            args = part.get("args")
            given = args if isinstance(args, str) else exact.dumps({} if args is None else args)
            return (ToolCall(call, name, given),)
        case "tool-return" | "builtin-tool-return":
            failed = part.get("outcome") not in (None, "success")
            return (ToolResult(call, _returned(content), failed, name),)
        case "retry-prompt":
            said = _returned(content)
            return (ToolResult(call, said, True, name),) if name else said
        case "file":
            return _content([content])
        case "compaction":
            if isinstance(content, str) and content:
                return (Text(content),)
            return (Thinking("", sealed=len(text_of(part.get("provider_details")))),)
    return (opaque(part, text_of(kind)),)


def _content(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        return () if content is None else (opaque(content),)
    return tuple(part for each in content for part in _item(each))


def _item(item: object) -> tuple[Part, ...]:
    if isinstance(item, str):
        return (Text(item),)
    if not isinstance(item, dict):
        return (opaque(item),)
    kind = item.get("kind")
    if kind == "cache-point":
        return ()
    if kind == "text-content" and isinstance(item.get("content"), str):
        return (Text(item["content"]),)
    found = _media(item)
    return (found,) if found else (opaque(item, text_of(kind)),)


def _media(item: Record) -> Media | None:
    kind, mime = item.get("kind"), text_of(item.get("media_type"))
    data, url = item.get("data"), item.get("url")
    if kind == "binary" and isinstance(data, str):
        return media.from_base64(data.translate(_TO_PLAIN), mime)
    if isinstance(kind, str) and kind in _URLS and isinstance(url, str):
        return media.from_url(url, _URLS[kind], mime=mime)
    if kind == "uploaded-file":
        return Media(media.kind_of(mime), mime=mime, name=text_of(item.get("file_id")))
    return None


def _returned(content: object) -> tuple[Text | Media | Opaque, ...]:
    """What a tool returned: any JSON, and the files among it."""
    if isinstance(content, Mapping) and (found := _media(content)):
        return (found,)
    if isinstance(content, list) and any(isinstance(i, Mapping) and _media(i) for i in content):
        shown = (_media(i) if isinstance(i, Mapping) else None for i in content)
        return result_content(
            one or Text(text_of(item)) for one, item in zip(shown, content, strict=True)
        )
    text = text_of(content)
    return (Text(text),) if text else ()


def facts(record: Record) -> Facts:
    """Time, model, usage and id of a response; time of a request."""
    parts = record.get("parts")
    time = record.get("timestamp")
    for part in parts if isinstance(parts, list) else []:
        time = time or (part.get("timestamp") if isinstance(part, Mapping) else None)
    return Facts(
        id=_string(record.get("provider_response_id")),
        time=_string(time),
        model=_string(record.get("model_name")),
        usage=_usage(record.get("usage")),
    )


def _usage(value: object) -> Usage | None:
    """The usage of a response: its input includes what was cached."""
    if not isinstance(value, Mapping):
        return None

    def count(*keys: str) -> int:
        found = next((value[key] for key in keys if key in value), 0)
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    context = count("input_tokens", "request_tokens")
    output = count("output_tokens", "response_tokens")
    if not context and not output:
        return None
    return Usage(context, output, count("cache_read_tokens"), count("cache_write_tokens"))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def only_answers(record: Record) -> bool:
    """Whether a request does nothing but answer calls."""
    parts = record.get("parts")
    return bool(parts) and all(
        isinstance(part, Mapping) and part.get("part_kind") in _ANSWERS
        for part in (parts if isinstance(parts, list) else [None])
    )


# ------------------------------------------------------------------------------------ writing


def render(message: Message, notes: Notes, instructions: str = "") -> list[dict[str, Any]]:
    """One message as the parts of a request or a response, in its record."""
    parts: list[dict[str, Any]] = []
    said: list[Part] = []
    for part in message.parts:
        match part:
            case ToolResult():
                parts.append(_return_part(part, notes))
            case ToolCall(id=call, name=name, arguments=arguments) if message.role == "assistant":
                parts += _spoken(said, notes)
                said.clear()
                made = {"tool_name": name, "args": arguments or "{}", "tool_call_id": call}
                parts.append({**made, "part_kind": "tool-call"})
            case _:
                said.append(part)
    if message.role == "assistant":
        return [{"parts": [*parts, *_spoken(said, notes)], "kind": "response"}]
    if said or not parts:
        system = message.role in ("system", "developer")
        content = _prompt(said, notes)
        if system and not isinstance(content, str):
            content = "\n\n".join(one for one in content if isinstance(one, str))
        kind = "system-prompt" if system else "user-prompt"
        parts.append({"content": content, "part_kind": kind})
    return [{"parts": parts, "instructions": instructions or None, "kind": "request"}]


def _spoken(parts: Sequence[Part], notes: Notes) -> list[dict[str, Any]]:
    content = _prompt(parts, notes)
    out: list[dict[str, Any]] = []
    for each in [content] if isinstance(content, str) else content:
        if isinstance(each, str):
            out += [{"content": each, "part_kind": "text"}] if each else []
        elif each["kind"] == "binary":
            out.append({"content": each, "part_kind": "file"})
        else:
            notes.tell("media", f"{each['kind']} of an answer")
            out.append({"content": each["url"], "part_kind": "text"})
    return out


def _prompt(parts: Sequence[Part], notes: Notes) -> str | list[Any]:
    out: list[Any] = []
    for part in parts:
        match part:
            case Text(text=text):
                out.append(text)
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Media():
                out.append(_held(part, notes))
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                out.append(text)
            case ToolCall(name=name, arguments=arguments):
                notes.tell("opaque", f"a call of {name} outside an assistant message")
                out.append(f"{name} {arguments}")
            case ToolResult():
                out.append(part.text)
    if not out:
        return ""
    return out[0] if len(out) == 1 and isinstance(out[0], str) else out


def _held(part: Media, notes: Notes) -> str | dict[str, Any]:
    if part.data:
        mime = part.mime or "application/octet-stream"
        return {"data": part.data.translate(_TO_URL), "media_type": mime, "kind": "binary"}
    kind = next((one for one, sort in _URLS.items() if sort == part.kind), "document-url")
    if part.url:
        return {"url": part.url, "kind": kind}
    notes.tell("media", f"{part.mime or part.kind} content")
    return part.label


def _return_part(result: ToolResult, notes: Notes) -> dict[str, Any]:
    content = _prompt(result.content, notes)
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        content = "\n".join(content)
    made = {"tool_name": result.name, "content": content, "tool_call_id": result.call_id}
    if result.is_error:
        made["outcome"] = "failed"
    return {**made, "part_kind": "tool-return"}
