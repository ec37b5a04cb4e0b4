"""ShareGPT data sets: `conversations` of `from` and `value`, and LLaMA-Factory's typed parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import media, openai_like, roles
from compaction.formats.dialects.blocks import (
    opaque,
    parse_block,
    parse_content,
    result_content,
    text_of,
)
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.openai_chat import rejected_answer
from compaction.formats.pairing import pairing
from compaction.messages import (
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: Who speaks, as data sets spell it beside the usual names.
_SPOKEN: Mapping[str, str] = {
    "bard": "assistant",
    "bing": "assistant",
    "chatgpt": "assistant",
    "claude": "assistant",
    "function-call": "assistant",
    "function-response": "tool",
    "function_call": "assistant",
    "function_response": "tool",
    "prompter": "user",
    "tool_call": "assistant",
    "tool_response": "tool",
}
_CALLS = frozenset({"function_call", "function-call", "tool_call"})

#: How a role is spelled where the file does not show it.
_USUAL: Mapping[str, str] = {"user": "human", "assistant": "gpt", "tool": "observation"}

#: Keys under which a record keeps its turns.
_LISTS = ("conversations", "conversation", "messages")

_SEEN: Mapping[str, MediaKind] = {
    "audio_url": "audio",
    "image_url": "image",
    "video_url": "video",
}


def _is_turn(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("from"), str)
        and isinstance(value.get("value"), str)
    )


def _is_typed(value: object) -> bool:
    """Whether a message has LLaMA-Factory's parts: a `type` and a `value`."""
    content = value.get("content") if isinstance(value, Mapping) else None
    return isinstance(content, list) and any(
        isinstance(part, Mapping)
        and isinstance(part.get("value"), str)
        and isinstance(part.get("type"), str)
        for part in content
    )


def _is_message(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    speaker = value.get("from", value.get("role"))
    return isinstance(speaker, str) and ("value" in value or "content" in value)


def _spoken(record: Mapping[str, Any]) -> str:
    speaker = record.get("from", record.get("role"))
    return speaker.strip().lower() if isinstance(speaker, str) else ""


def _role(record: Mapping[str, Any], _: Sequence[Part]) -> str:
    return _SPOKEN.get(_spoken(record)) or roles.role_of(record)


def parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one turn; its calls and results have no ids."""
    if "value" not in record and not _is_typed(record):
        return openai_like.parse_blocks(record)
    if "value" in record:
        value = record["value"]
        if _spoken(record) in _CALLS and isinstance(value, str):
            return _calls(value)
        parts = parse_content(value)
    else:
        parts = tuple(part for one in record["content"] for part in _typed(one))
    if _role(record, parts) == "tool":
        return (ToolResult("", result_content(parts), name=text_of(record.get("name"))),)
    return parts


def _typed(part: object) -> tuple[Part, ...]:
    value = part.get("value") if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping) or not isinstance(value, str):
        return parse_block(part)
    kind = text_of(part.get("type"))
    if kind == "text":
        return (Text(value),)
    if kind == "reasoning":
        return (Thinking(value),)
    if kind == "tool_call":
        return _calls(value)
    if kind in _SEEN:
        return (media.from_url(value, _SEEN[kind]),)
    return (opaque(dict(part)),)


def _calls(value: str) -> tuple[Part, ...]:
    """The calls in a text of JSON, one or a list of them; text that is none is a call as it is."""
    try:
        held = exact.loads(value)
    except exact.ExactError:
        held = None
    calls = held if isinstance(held, list) and held else [held]
    made = [_call(call) for call in calls]
    return tuple(call for call in made if call) if all(made) else (ToolCall("", "", value),)


def _call(call: object) -> ToolCall | None:
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(name, str):
        return None
    return ToolCall("", name, text_of(inner.get("arguments", inner.get("parameters"))))


SHAPE = Shape(
    format="sharegpt",
    lists=tuple((key,) for key in _LISTS),
    answers=(("chosen",), ("chosen_messages",)),
    parse=parse,
    role=_role,
    is_message=_is_message,
    instructions="system",
    look=rejected_answer,
    parsers=pairing(parse),
    growing=False,
)


class ShareGPT:
    """The format."""

    name = "sharegpt"
    title = "ShareGPT data set"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Turns of `from` and `value`, a list called `conversations`, or typed parts of values."""
        if sample.yaml:
            return False
        if sample.whole is not None:
            return _holds(sample.whole)
        return any(_holds(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The conversation asked for, else the first; of a preference pair the chosen answer."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other turns; a data set of one conversation for other sessions."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            spelling = _Spelling(session, notes)
            written = write_back(messages, session, layout, spelling.records)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        spelling = _Spelling(None, notes)
        turns = [
            record
            for index, one in enumerate(as_responses(messages, session, notes))
            for record in spelling.at(index).records(one)
        ]
        conversation: dict[str, Any] = {"conversations": turns}
        if tools := tools_for(session.tools, self.dialect, notes):
            conversation["tools"] = exact.dumps(tools)
        data = exact.dump_bytes([conversation], exact.PRETTY)
        return Written((data, b"\n"), notes.findings())


class _Spelling:
    """How the turns of a file are spelled: their keys, and their names for roles."""

    def __init__(self, session: Session | None, notes: Notes) -> None:
        self._notes = notes
        self._names: dict[str, str] = {}
        self._keys = ("from", "value")
        self._parts = False
        for one in session.messages[:200] if session else ():
            record = one.record if one.spans else None
            if not isinstance(record, Mapping) or not _is_message(record):
                continue
            if "from" not in record:
                self._keys = ("role", "content")
                self._parts = self._parts or _is_typed(record)
            name = str(record.get("from", record.get("role")))
            self._names.setdefault("call" if name.lower() in _CALLS else one.role, name)

    def at(self, index: int) -> _Spelling:
        """Say which message what is lost belongs to."""
        self._notes.at(index)
        return self

    def records(self, message: Message) -> list[dict[str, Any]]:
        """One message as turns: its results, what it says, and its calls."""
        if self._keys[0] == "role" and not self._parts:
            chat = openai_like.render_message(message, Ids(verbatim=True), self._notes)
            return [{**one, "role": self._names.get(one["role"], one["role"])} for one in chat]
        parts = message.parts
        results = [part for part in parts if isinstance(part, ToolResult)]
        calls = [part for part in parts if isinstance(part, ToolCall)]
        out = [self._turn("tool", [_text(result.text)]) for result in results]
        said = [one for part in parts if (one := self._said(part))]
        if self._parts:
            said += [{"type": "tool_call", "value": _as_json([call])} for call in calls]
        if said or not (results or calls):
            out.append(self._turn(message.role, said))
        if calls and not self._parts:
            out.append(self._record(self._names.get("call", "function_call"), _as_json(calls)))
        return out

    def _said(self, part: Part) -> dict[str, str] | None:
        match part:
            case Text(text=text):
                return _text(text)
            case Thinking(text=text) if self._parts and text:
                return {"type": "reasoning", "value": text}
            case Thinking():
                self._notes.tell("thinking", "reasoning of another provider")
            case Media(kind=kind):
                self._notes.tell("media", f"{part.mime or kind} content")
                return _text(part.label)
            case Opaque(kind=kind, text=text):
                self._notes.tell("opaque", f"a block of type {kind}")
                return _text(text)
        return None

    def _turn(self, role: str, said: list[dict[str, str]]) -> dict[str, Any]:
        usual = _USUAL.get(role, role) if self._keys[0] == "from" else role
        name = self._names.get(role, usual)
        return self._record(name, said if self._parts else "\n".join(s["value"] for s in said))

    def _record(self, name: str, value: object) -> dict[str, Any]:
        return {self._keys[0]: name, self._keys[1]: value}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "value": text}


def _as_json(calls: Sequence[ToolCall]) -> str:
    held: list[dict[str, Any]] = []
    for call in calls:
        try:
            arguments = exact.loads(call.arguments)
        except exact.ExactError:
            arguments = call.arguments
        held.append({"name": call.name, "arguments": arguments})
    return exact.dumps(held[0] if len(held) == 1 else held, exact.SPACED)


def _holds(value: object) -> bool:
    """Whether a JSON value is a data set of this kind, one of its records, or a turn."""
    if isinstance(value, list):
        return any(_holds(one) for one in value[:20] if isinstance(one, Mapping))
    if not isinstance(value, Mapping) or "mapping" in value:
        return False
    if _is_turn(value):
        return True
    for key in _LISTS:
        turns = value.get(key)
        if not isinstance(turns, list):
            continue
        if any(_is_turn(turn) or _is_typed(turn) for turn in turns[:20]):
            return True
        if key == "conversations" and any(_is_message(turn) for turn in turns[:20]):
            return True
    return any(_is_turn(value.get(key)) for key in ("chosen", "rejected"))
