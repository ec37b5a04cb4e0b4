"""Messages of AutoGen and AG2: what models are sent, what agents tell one another, and events."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from compaction.formats import exact
from compaction.formats.chatshape import Facts
from compaction.formats.dialects import media, openai_like
from compaction.formats.dialects.blocks import opaque, result_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.sketching import usage_of
from compaction.messages import Media, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

Record = Mapping[str, Any]

#: Messages to models, messages and events of agents, and the chat messages of AG2.
Style = Literal["model", "agent", "ag2"]

_MODEL: Mapping[str, str] = {
    "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool",
    "SystemMessage": "system",
    "UserMessage": "user",
}
#: "" is whoever the source is.
_AGENT: Mapping[str, str] = {
    "CodeExecutionEvent": "user",
    "CodeGenerationEvent": "assistant",
    "HandoffMessage": "",
    "MemoryQueryEvent": "system",
    "ModelClientStreamingChunkEvent": "assistant",
    "MultiModalMessage": "",
    "SelectSpeakerEvent": "assistant",
    "SelectorEvent": "assistant",
    "StopMessage": "",
    "TextMessage": "",
    "ThoughtEvent": "assistant",
    "ToolCallExecutionEvent": "tool",
    "ToolCallMessage": "assistant",
    "ToolCallRequestEvent": "assistant",
    "ToolCallResultMessage": "tool",
    "ToolCallSummaryMessage": "",
    "UserInputRequestedEvent": "assistant",
}
#: Events that are sent to no model.
UNSENT = frozenset(
    {
        "ModelClientStreamingChunkEvent",
        "SelectSpeakerEvent",
        "SelectorEvent",
        "UserInputRequestedEvent",
    }
)
_INJECTED = frozenset({"CodeExecutionEvent", "MemoryQueryEvent"})
_PEOPLE = frozenset({"user", "user_proxy", "userproxy", "human"})

_NAMESPACE = uuid.UUID("9a4f4e0a-5d6b-5a83-9f1e-1d2c3b4a5f60")


def style_of(value: object) -> Style | None:
    """Which kind of message a value is; None for what only looks like one."""
    if not isinstance(value, Mapping):
        return None
    kind = value.get("type")
    if isinstance(value.get("tool_responses"), list) and isinstance(value.get("role"), str):
        return "ag2"
    if not isinstance(kind, str) or "role" in value or "data" in value:
        return None
    if kind in _MODEL:
        return "model" if "content" in value else None
    known = kind in _AGENT or kind.startswith("StructuredMessage")
    return "agent" if known and isinstance(value.get("source"), str) else None


def is_message(value: object) -> bool:
    """Whether a value can stand in a list of messages."""
    if style_of(value):
        return True
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "content" in value


def role(record: Record, parts: Sequence[Part] = ()) -> str:
    """The role of a message; of agents, people are told by their usual names."""
    del parts
    kind = record.get("type")
    if style_of(record) in (None, "ag2") or not isinstance(kind, str):
        return role_of(record)
    known = _MODEL.get(kind) or _AGENT.get(kind, "")
    return known or ("user" if _source(record).lower() in _PEOPLE else "assistant")


def facts(record: Record) -> Facts:
    """Who said it, when, and what it cost."""
    source = _source(record)
    usual = source.lower() in ("user", "assistant") or role(record) == "tool"
    return Facts(
        id=_string(record.get("id")),
        name="" if usual else source,
        time=_string(record.get("created_at")),
        usage=usage_of(record.get("models_usage")),
        injected=text_of(record.get("type")) in _INJECTED,
    )


def _source(record: Record) -> str:
    return _string(record.get("source"))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def parse(record: Record) -> tuple[Part, ...]:
    """The parts of one message."""
    style, kind = style_of(record), record.get("type")
    content = record.get("content")
    if style == "ag2":
        answers = [_answer(one) for one in record["tool_responses"]]
        spoken = {key: value for key, value in record.items() if key != "role"}
        said = () if answers else openai_like.parse_blocks({**spoken, "role": "user"})
        return (*answers, *said)
    if style is None:
        return openai_like.parse_blocks(record)
    if kind == "ThoughtEvent":
        return (Thinking(text_of(content)),) if content else ()
    if kind == "CodeExecutionEvent":
        result = record.get("result")
        return _said(result.get("output") if isinstance(result, Mapping) else result)
    if role(record) == "tool":
        found = [_answer(one) for one in content] if isinstance(content, list) else _said(content)
        return tuple(found)
    thought = record.get("thought")
    before = (Thinking(thought),) if isinstance(thought, str) and thought else ()
    return (*before, *_said(content))


def _said(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, Mapping):
        # The content of a structured message is an object.
        return (Text(exact.dumps(content)),)
    if isinstance(content, list):
        return tuple(_item(one) for one in content)
    return () if content is None else (opaque(content),)


def _item(item: object) -> Part:
    if isinstance(item, str):
        return Text(item)
    if not isinstance(item, dict):
        return opaque(item)
    if isinstance(item.get("name"), str) and "arguments" in item:
        return ToolCall(text_of(item.get("id")), item["name"], text_of(item["arguments"]))
    for key in ("data", "url"):
        held = item.get(key)
        if isinstance(held, str):
            plain = "://" in held[:20] or held[:5] == "data:"
            if plain:
                return media.from_url(held, "image")
            return media.from_base64(held, "image/png", "image")
    if isinstance(item.get("content"), str) and "mime_type" in item:
        return Text(item["content"])
    return opaque(item)


def _answer(value: object) -> ToolResult | Opaque:
    if not isinstance(value, dict):
        return opaque(value, "tool_result")
    call = text_of(value.get("call_id", value.get("tool_call_id")))
    failed = value.get("is_error") is True
    content = result_content(_said(value.get("content")))
    return ToolResult(call, content, failed, text_of(value.get("name")))


# ------------------------------------------------------------------------------------ writing


def render(message: Message, style: Style, speaker: str, notes: Notes) -> list[dict[str, Any]]:
    """One message as records of a style; `speaker` is the agent that assistant messages are of."""
    if style == "ag2":
        return openai_like.render_message(message, Ids(verbatim=True), notes)
    calls = [
        {"id": part.id, "arguments": part.arguments or "{}", "name": part.name}
        for part in message.parts
        if isinstance(part, ToolCall)
    ]
    answers = [
        {"content": p.text, "name": p.name, "call_id": p.call_id, "is_error": p.is_error}
        for p in message.parts
        if isinstance(p, ToolResult)
    ]
    content = _content(message.parts, notes)
    source = message.name or (speaker if message.role in ("assistant", "tool") else "user")
    if style == "model":
        return _to_model(message.role, content, calls, answers, source)
    out: list[dict[str, Any]] = []
    if answers:
        out.append(_agent("ToolCallExecutionEvent", source, answers))
    if content or not (answers or calls):
        kind = "TextMessage" if isinstance(content, str) else "MultiModalMessage"
        out.append(_agent(kind, source, content))
    if calls:
        out.append(_agent("ToolCallRequestEvent", source, calls))
    return out


def _to_model(
    role: str,
    content: str | list[Any],
    calls: list[dict[str, Any]],
    answers: list[dict[str, Any]],
    source: str,
) -> list[dict[str, Any]]:
    text = content if isinstance(content, str) else "\n".join(map(_shown, content))
    out: list[dict[str, Any]] = []
    if answers:
        out.append({"content": answers, "type": "FunctionExecutionResultMessage"})
    if role == "assistant":
        thought = text or None if calls else None
        said = {"content": calls or text, "thought": thought, "source": source}
        return [*out, {**said, "type": "AssistantMessage"}]
    if not text and answers:
        return out
    if role in ("system", "developer"):
        return [*out, {"content": text, "type": "SystemMessage"}]
    return [*out, {"content": content, "source": source, "type": "UserMessage"}]


def _shown(item: object) -> str:
    return item if isinstance(item, str) else "[image]"


def _agent(kind: str, source: str, content: object) -> dict[str, Any]:
    name = str(uuid.uuid5(_NAMESPACE, exact.dumps([kind, source, content])))
    about: dict[str, Any] = {"id": name, "source": source, "models_usage": None, "metadata": {}}
    return {**about, "content": content, "type": kind}


def _content(parts: Sequence[Part], notes: Notes) -> str | list[Any]:
    """Text, or a list of texts and pictures where there are any."""
    out: list[Any] = []
    for part in parts:
        match part:
            case Text(text=text):
                out.append(text)
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Media() if part.kind == "image" and part.data:
                out.append({"data": part.data})
            case Media():
                notes.tell("media", f"{part.mime or part.kind} content")
                out.append(part.label)
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                out.append(text)
    if all(isinstance(one, str) for one in out):
        return "\n".join(out)
    return out
