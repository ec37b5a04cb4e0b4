"""Content blocks of the three dialects, read into parts. Nothing is dropped and nothing raises.

Block types have one meaning wherever they appear, so one table serves all: gateways mix them
(`cache_control` and `thinking` in chat messages, `image_url` among Anthropic blocks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.messages import Media, MediaKind, Opaque, Part, Text, Thinking, ToolCall, ToolResult

Block = Mapping[str, Any]


def parse_content(content: object) -> tuple[Part, ...]:
    """The parts of a `content` value: text, a list of blocks, one block, or nothing.

    An empty string is no part; an empty text *block* is one (an API refuses it, so it must show).
    """
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, list):
        return tuple(part for block in content for part in parse_block(block))
    if content is None:
        return ()
    return parse_block(content)


def parse_block(block: object) -> tuple[Part, ...]:
    """The parts of one block, normally one."""
    if isinstance(block, str):
        return (Text(block),)
    if isinstance(block, dict):
        kind = block.get("type")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        part = reader(block) if reader else _untyped(block)
        if part is not None:
            return (part,)
    return (opaque(block),)


def opaque(value: object, kind: str = "") -> Opaque:
    """A value nobody knows, as its JSON text."""
    if not kind and isinstance(value, dict):
        kind = text_of(value.get("type"))
    return Opaque(kind or "unknown", exact.dumps(value))


def text_of(value: object) -> str:
    """A string as it is; null and nothing as ""; anything else as its JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else exact.dumps(value)


def result_content(parts: Iterable[Part]) -> tuple[Text | Media | Opaque, ...]:
    """Parts as the content of a tool result; what cannot be inside one stands as opaque."""
    out: list[Text | Media | Opaque] = []
    for part in parts:
        match part:
            case Text() | Media() | Opaque():
                out.append(part)
            case Thinking(text=text):
                out.append(Opaque("thinking", text))
            case ToolCall(name=name, arguments=arguments):
                out.append(Opaque("tool_use", f"{name} {arguments}"))
            case ToolResult(content=content):
                out.extend(content)
    return tuple(out)


# ------------------------------------------------------------------------------------ readers


def _untyped(block: Block) -> Part | None:
    # `{"text": …}` without a type is text to every reader that is not strict.
    if "type" not in block and isinstance(block.get("text"), str):
        return Text(block["text"])
    return None


def _text(block: Block) -> Part | None:
    text = block.get("text")
    if isinstance(text, Mapping):
        text = text.get("value")
    return Text(text) if isinstance(text, str) else None


def _refusal(block: Block) -> Part | None:
    return Text(text_of(block.get("refusal")))


def _thinking(block: Block) -> Part | None:
    text = block.get("thinking", block.get("text"))
    signature = text_of(block.get("signature"))
    return Thinking(text_of(text), signature, 0 if text else len(signature))


def _redacted(block: Block) -> Part | None:
    return Thinking("", sealed=len(text_of(block.get("data"))))


def _tool_use(block: Block) -> Part | None:
    given = block.get("input")
    arguments = given if isinstance(given, str) else exact.dumps({} if given is None else given)
    return ToolCall(text_of(block.get("id")), text_of(block.get("name")), arguments)


def _tool_result(block: Block) -> Part | None:
    return ToolResult(
        text_of(block.get("tool_use_id", block.get("tool_call_id"))),
        result_content(parse_content(block.get("content"))),
        is_error=block.get("is_error") is True,
        name=text_of(block.get("name")),
    )


def _image_url(block: Block) -> Part | None:
    return _behind_url(block, "image_url", "image")


def _video_url(block: Block) -> Part | None:
    return _behind_url(block, "video_url", "video")


def _audio_url(block: Block) -> Part | None:
    return _behind_url(block, "audio_url", "audio")


def _behind_url(block: Block, key: str, kind: MediaKind) -> Part | None:
    held = block.get(key)
    detail = text_of(block.get("detail"))
    if isinstance(held, Mapping):
        detail = text_of(held.get("detail")) or detail
        held = held.get("url")
    if isinstance(held, str):
        return media.from_url(held, kind, detail=detail)
    name = text_of(block.get("file_id"))
    return Media(kind, name=name, detail=detail) if name else None


def _input_audio(block: Block) -> Part | None:
    held = block.get("input_audio", block)
    if not isinstance(held, Mapping):
        return None
    form = text_of(held.get("format"))
    data = held.get("data")
    mime = f"audio/{form}" if form else ""
    if isinstance(data, str):
        return media.from_base64(data, mime, "audio")
    return Media("audio", mime=mime, name=text_of(held.get("id")))


def _file(block: Block) -> Part | None:
    held = block.get("file", block)
    if not isinstance(held, Mapping):
        return None
    name = text_of(held.get("filename") or held.get("file_id"))
    data = held.get("file_data")
    if isinstance(data, str):
        if data[:5].lower() == "data:":
            return media.from_url(data, name=name)
        return media.from_base64(data, kind="document", name=name)
    url = held.get("file_url")
    if isinstance(url, str):
        return Media("document", name=name, url=url)
    return Media("document", name=name) if name else None


def _sourced(kind: MediaKind) -> Callable[[Block], Part | None]:
    def read(block: Block) -> Part | None:
        source = block.get("source")
        name = text_of(block.get("title"))
        if not isinstance(source, Mapping):
            return None
        mime = text_of(source.get("media_type"))
        data = source.get("data")
        match source.get("type"):
            case "base64" if isinstance(data, str):
                return media.from_base64(data, mime, kind, name=name)
            case "text" if isinstance(data, str):
                return Text(f"{name}\n{data}" if name else data)
            case "content":
                inner = parse_content(source.get("content"))
                if inner and all(isinstance(part, Text) for part in inner):
                    return Text("\n".join(part.text for part in inner if isinstance(part, Text)))
                return None
            case "url" if isinstance(source.get("url"), str):
                return media.from_url(source["url"], kind, mime=mime, name=name)
            case "file" if isinstance(source.get("file_id"), str):
                return Media(kind, mime=mime, name=name or source["file_id"])
        return None

    return read


def _container_upload(block: Block) -> Part | None:
    return Media("file", name=text_of(block.get("file_id")))


def _compaction(block: Block) -> Part | None:
    content = block.get("content")
    if isinstance(content, str):
        return Text(content)
    sealed = block.get("encrypted_content")
    return Thinking("", sealed=len(sealed)) if isinstance(sealed, str) else None


_READERS: Mapping[str, Callable[[Block], Part | None]] = {
    "audio": _input_audio,
    "audio_url": _audio_url,
    "compaction": _compaction,
    "container_upload": _container_upload,
    "document": _sourced("document"),
    "file": _file,
    "image": _sourced("image"),
    "image_url": _image_url,
    "input_audio": _input_audio,
    "input_file": _file,
    "input_image": _image_url,
    "input_text": _text,
    "output_audio": _input_audio,
    "output_text": _text,
    "reasoning": _thinking,
    "reasoning_text": _thinking,
    "redacted_thinking": _redacted,
    "refusal": _refusal,
    "summary_text": _text,
    "text": _text,
    "thinking": _thinking,
    "tool_result": _tool_result,
    "tool_use": _tool_use,
    "video_url": _video_url,
}
