"""LangChain messages, in each of the three ways they are serialised: read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from compaction.formats import exact
from compaction.formats.chatshape import Facts
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, result_content, text_of
from compaction.formats.dialects.openai_like import parse_blocks as parse_chat
from compaction.formats.dialects.roles import normal
from compaction.messages import (
    Media,
    MediaKind,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

#: `dumps` wraps a constructor, `messages_to_dict` has `data`, `model_dump` is flat.
Style = Literal["dumps", "dict", "flat"]

_ROLES: Mapping[str, str] = {
    "ai": "assistant",
    "chat": "user",
    "function": "tool",
    "human": "user",
    "remove": "user",
    "system": "system",
    "tool": "tool",
}
CLASSES: Mapping[str, str] = {
    "AIMessage": "ai",
    "ChatMessage": "chat",
    "FunctionMessage": "function",
    "HumanMessage": "human",
    "RemoveMessage": "remove",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}
_KINDS: Mapping[str, str] = {
    **{kind: kind for kind in _ROLES},
    **CLASSES,
    **{f"{name}Chunk": kind for name, kind in CLASSES.items()},
}

#: Blocks of `content` that say again what stands in `tool_calls`.
_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk"})
_STANDARD_MEDIA: Mapping[str, MediaKind] = {
    "audio": "audio",
    "file": "document",
    "image": "image",
    "video": "video",
}

#: The mark that the summarizing middleware puts on its summaries.
SUMMARIZED = "summarization"


def style_of(value: object) -> Style | None:
    """How a value is serialised as a message; None for one that is none."""
    if not isinstance(value, Mapping):
        return None
    kind = value.get("type")
    if value.get("lc") == 1 and kind == "constructor":
        path = value.get("id")
        named = path[-1] if isinstance(path, list) and path else None
        known = isinstance(named, str) and named in _KINDS and named not in _ROLES
        return "dumps" if known and isinstance(value.get("kwargs"), Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        return None
    data = value.get("data")
    if isinstance(data, Mapping):
        return "dict" if "content" in data else None
    return "flat" if "content" in value and ("role" not in value or kind == "chat") else None


def kind_of(record: Mapping[str, Any]) -> str:
    """`human`, `ai`, `tool` …"""
    named = record.get("type")
    if style_of(record) == "dumps":
        named = record["id"][-1]
    return _KINDS.get(named, "") if isinstance(named, str) else ""


def inner(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the message itself holds, without what is wrapped around it."""
    held = {"dumps": "kwargs", "dict": "data"}.get(style_of(record) or "")
    found = record.get(held) if held else record
    return found if isinstance(found, Mapping) else record


def role(record: Mapping[str, Any], parts: Sequence[Part] = ()) -> str:
    """The role; a `chat` message says its own."""
    del parts
    kind, held = kind_of(record), inner(record)
    if kind == "chat":
        return normal(text_of(held.get("role"))) or "user"
    extra = held.get("additional_kwargs")
    if kind == "system" and isinstance(extra, Mapping):
        spelled = extra.get("__openai_role__")
        return "developer" if spelled == "developer" else "system"
    return _ROLES.get(kind, "user")


def facts(record: Mapping[str, Any]) -> Facts:
    """Id, name, model, usage, and whether the program put it there."""
    held = inner(record)
    said = held.get("response_metadata")
    said = said if isinstance(said, Mapping) else {}
    return Facts(
        id=_string(held.get("id")),
        name="" if kind_of(record) in ("tool", "function") else _string(held.get("name")),
        model=_string(said.get("model_name")) or _string(said.get("model")),
        usage=usage_of(held.get("usage_metadata")),
        injected=bool(_source(held)) and SUMMARIZED not in _source(held),
    )


def summary(record: Mapping[str, Any]) -> str:
    """ "langchain" where its middleware wrote the message as a summary."""
    return "langchain" if SUMMARIZED in _source(inner(record)) else ""


def usage_of(value: object) -> Usage | None:
    """`usage_metadata`: its input includes what was cached."""
    if not isinstance(value, Mapping) or not _is_count(value.get("input_tokens")):
        return None
    details = value.get("input_token_details")
    details = details if isinstance(details, Mapping) else {}
    return Usage(
        value["input_tokens"],
        _count(value.get("output_tokens")),
        _count(details.get("cache_read")),
        _count(details.get("cache_creation")),
    )


def _source(held: Mapping[str, Any]) -> str:
    extra = held.get("additional_kwargs")
    return _string(extra.get("lc_source")) if isinstance(extra, Mapping) else ""


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


# ------------------------------------------------------------------------------------ reading


def parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message: its content, then the calls that the content does not hold."""
    held, kind = inner(record), kind_of(record)
    content = held.get("content")
    if kind == "remove":
        return ()
    if kind in ("tool", "function"):
        name = text_of(held.get("name"))
        call = name if kind == "function" else text_of(held.get("tool_call_id"))
        failed = held.get("status") == "error"
        return (ToolResult(call, result_content(parse_content(content)), failed, name),)
    parts = [*_reasoning(held), *parse_content(content)]
    said = {part.id for part in parts if isinstance(part, ToolCall)}
    for key in ("tool_calls", "invalid_tool_calls"):
        for call in _list(held.get(key)):
            part = _call(call)
            if not isinstance(part, ToolCall) or not part.id or part.id not in said:
                parts.append(part)
    extra = held.get("additional_kwargs")
    if isinstance(extra, Mapping) and not any(isinstance(part, ToolCall) for part in parts):
        # Calls as the provider sent them, from before messages had calls of their own.
        keys = ("tool_calls", "function_call")
        parts += parse_chat({key: extra[key] for key in keys if key in extra})
    return tuple(parts)


def parse_content(content: object) -> tuple[Part, ...]:
    """Text, or blocks as Anthropic, OpenAI or LangChain itself spell them."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, list):
        return tuple(part for block in content for part in _block(block))
    return () if content is None else _block(content)


def _block(block: object) -> tuple[Part, ...]:
    if not isinstance(block, dict):
        return parse_block(block)
    kind = block.get("type")
    if not isinstance(kind, str):
        return parse_block(block)
    if kind == "reasoning":
        extras = block.get("extras")
        signature = text_of(extras.get("signature")) if isinstance(extras, Mapping) else ""
        texts = [text_of(block.get("reasoning") or block.get("text"))]
        texts += [text_of(s.get("text")) for s in _list(block.get("summary")) if _is(s)]
        sealed = len(text_of(block.get("encrypted_content")))
        text = "\n\n".join(one for one in texts if one)
        return (Thinking(text, signature, sealed or (0 if text else len(signature))),)
    if kind in ("tool_call", "tool_call_chunk", "invalid_tool_call", "function_call"):
        return (_call(block),)
    if kind == "text-plain" and isinstance(block.get("text"), str):
        return (Text(block["text"]),)
    if kind in _STANDARD_MEDIA and (found := _media(block, _STANDARD_MEDIA[kind])):
        return (found,)
    return parse_block(block)


def _media(block: Mapping[str, Any], kind: MediaKind) -> Media | None:
    mime, name = text_of(block.get("mime_type")), text_of(block.get("filename"))
    for key in ("base64", "data"):
        data = block.get(key)
        if isinstance(data, str) and (key == "base64" or block.get("source_type") == "base64"):
            return media.from_base64(data, mime, kind, name=name)
    url = block.get("url")
    if isinstance(url, str):
        return media.from_url(url, kind, mime=mime, name=name)
    if isinstance(block.get("file_id"), str) and "file" not in block:
        return Media(kind, mime=mime, name=name or block["file_id"])
    return None


def _call(call: object) -> ToolCall | Opaque:
    if not isinstance(call, dict):
        return opaque(call, "tool_call")
    given = call.get("args", call.get("arguments"))
    arguments = given if isinstance(given, str) else exact.dumps({} if given is None else given)
    return ToolCall(
        text_of(call.get("call_id") or call.get("id")), text_of(call.get("name")), arguments
    )


def _reasoning(held: Mapping[str, Any]) -> list[Part]:
    extra = held.get("additional_kwargs")
    if not isinstance(extra, Mapping):
        return []
    said = extra.get("reasoning_content")
    if isinstance(said, str) and said:
        return [Thinking(said)]
    items = extra.get("reasoning")
    if isinstance(items, dict) and (parts := _block({**items, "type": "reasoning"})):
        return list(parts)
    return []


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is(value: object) -> bool:
    return isinstance(value, Mapping)
