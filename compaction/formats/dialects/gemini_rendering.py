"""Messages of any format as Gemini contents: roles take turns, results stand with their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from compaction.formats.dialects import gemini_like
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import argument_object
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

#: Formats whose reasoning and signatures are Gemini's own.
NATIVE = frozenset({"adk", "gemini-cli", "gemini-contents", "qwen-code"})

_MIMES: Mapping[str, str] = {
    "audio": "audio/wav",
    "document": "application/pdf",
    "file": "application/octet-stream",
    "image": "image/png",
    "video": "video/mp4",
}
_REMOTE = ("http:", "https:", "gs:")


@dataclass(frozen=True, slots=True)
class Request:
    """What the dialect sends: the system instruction, None without one, and the contents."""

    system: dict[str, Any] | None
    contents: tuple[dict[str, Any], ...]


class _Said(NamedTuple):
    """One Gemini part; `answers` is the id of the call that it is the result of."""

    part: dict[str, Any]
    answers: str | None = None


def render(messages: Sequence[Message], notes: Notes, origin: str = "") -> Request:
    """Messages as a request: leading system messages apart, user and model in strict turns.

    Consecutive messages of one side become one content, in which the results of a batch stand
    together, before anything else, in the order of their calls. `origin` is the format of the
    session: where it is one of Gemini's, contents keep their own parts, signatures and all.
    """
    leading = 0
    while leading < len(messages) and messages[leading].role in ("system", "developer"):
        leading += 1
    system: list[dict[str, Any]] = []
    for index, message in enumerate(messages[:leading]):
        notes.at(index)
        system += [said.part for said in _said(message, {}, notes, origin)]
    turns: list[tuple[str, list[_Said]]] = []
    calls: dict[str, str] = {}
    order: dict[str, int] = {}
    for index, message in enumerate(messages[leading:], leading):
        notes.at(index)
        role = "model" if message.role == "assistant" else "user"
        if message.role in ("system", "developer"):
            notes.tell("system-inside", "a system message inside the list")
        if role == "model" and (not turns or turns[-1][0] == "user"):
            order = {}
        for part in message.parts if message.calls else ():
            if isinstance(part, ToolCall):
                calls[part.id] = part.name
                order.setdefault(part.id, len(order))
        said = _said(message, calls, notes, origin)
        if not said:
            continue
        if not turns and role == "model":
            notes.tell("first-user", "an assistant message at the start")
            turns.append(("user", [_Said({"text": "(the conversation goes on)"})]))
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(said)
        else:
            turns.append((role, said))
        if role == "user":
            turns[-1][1][:] = _results_first(turns[-1][1], order)
    return Request(
        {"parts": system} if system else None,
        tuple({"role": role, "parts": [one.part for one in said]} for role, said in turns),
    )


def render_content(message: Message, notes: Notes, origin: str = "") -> dict[str, Any] | None:
    """One message by itself as a content; None when nothing of it is left."""
    said = _said(message, {}, notes, origin)
    if not said:
        return None
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [one.part for one in _results_first(said, {})]}


def _results_first(said: Sequence[_Said], order: Mapping[str, int]) -> list[_Said]:
    results = [one for one in said if one.answers is not None]
    if not results:
        return list(said)
    results.sort(key=lambda one: order.get(one.answers or "", len(order)))
    return results + [one for one in said if one.answers is None]


def _said(message: Message, calls: Mapping[str, str], notes: Notes, origin: str) -> list[_Said]:
    native = origin in NATIVE and bool(message.spans)
    if native and (own := _own_parts(message)) is not None:
        return own
    out: list[_Said] = []
    signature = ""
    for part in message.parts:
        if isinstance(part, Thinking) and native and part.signature and not part.text:
            signature = part.signature
            continue
        rendered = _part(part, calls, notes, native=native)
        if signature and rendered:
            first = rendered[0]
            rendered[0] = first._replace(part={**first.part, "thoughtSignature": signature})
            signature = ""
        out += rendered
    if signature:
        out.append(_Said({"text": "", "thoughtSignature": signature}))
    return out


def _own_parts(message: Message) -> list[_Said] | None:
    """The parts of a record that is, or holds, a content that says just what the message does."""
    record = message.record
    if not isinstance(record, Mapping):
        return None
    for holder in (record, record.get("content"), record.get("message")):
        if isinstance(holder, Mapping) and "parts" in holder:
            held = gemini_like.parts_of(holder)
            break
    else:
        return None
    if not all(isinstance(part, Mapping) and _is_sound(gemini_like.camel(part)) for part in held):
        return None
    parts = message.parts
    ids = [
        part.id if isinstance(part, ToolCall) else part.call_id
        for part in parts
        if isinstance(part, (ToolCall, ToolResult))
    ]
    if gemini_like.parse_parts(held, ids) != parts:
        return None
    answers = iter(message.results)
    return [
        _Said(
            gemini_like.camel(part),
            next(answers, "") if gemini_like.get(part, "functionResponse") is not None else None,
        )
        for part in held
        if part.get("text") != "" or len(part) > 1
    ]


def _is_sound(part: Mapping[str, Any]) -> bool:
    """Whether what a part, spelled as by the API, says, calls or answers is as it wants it."""
    for key, inner in (("functionCall", "args"), ("functionResponse", "response")):
        if key not in part:
            continue
        held = part[key]
        if (
            not isinstance(held, Mapping)
            or not isinstance(held.get("name"), str)
            or not isinstance(held.get("id", ""), str)
            or not isinstance(held.get(inner, {}), Mapping)
        ):
            return False
    if not all(isinstance(part.get(key, ""), str) for key in ("text", "thoughtSignature")):
        return False
    answer = part.get("functionResponse")
    return answer is None or "response" in answer


def _part(part: Part, calls: Mapping[str, str], notes: Notes, *, native: bool) -> list[_Said]:
    match part:
        case Text(text=text):
            if not text.strip():
                notes.tell("empty-text", "an empty text block")
                return []
            return [_Said({"text": text})]
        case Thinking(text=text, signature=signature):
            if not native:
                notes.tell("thinking", "reasoning of another provider")
            elif text:
                signed = {"thoughtSignature": signature} if signature else {}
                return [_Said({"text": text, "thought": True, **signed})]
            return []
        case ToolCall(id=call, name=name):
            named = {} if not call or gemini_like.is_made(call, name) else {"id": call}
            arguments = argument_object(part, notes)
            return [_Said({"functionCall": {**named, "name": name, "args": arguments}})]
        case ToolResult():
            return _result(part, calls, notes, native=native)
        case Media():
            return [_Said(_media(part, notes))]
        case Opaque(kind=kind, text=text):
            held = gemini_like.text_part(part) if native else None
            if held is not None and _is_sound(held := gemini_like.camel(held)):
                return [_Said(held)]
            notes.tell("opaque", f"a block of type {kind} as it is")
            return [_Said({"text": text})] if text else []
    raise AssertionError("unreachable")


def _result(
    result: ToolResult, calls: Mapping[str, str], notes: Notes, *, native: bool
) -> list[_Said]:
    """A result; its media follow it as parts of their own, which every model takes."""
    texts: list[str] = []
    beside: list[_Said] = []
    for part in result.content:
        match part:
            case Text(text=text):
                texts.append(text)
            case Media():
                beside += _part(part, calls, notes, native=native)
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind} as it is")
                texts.append(text)
    call = result.call_id
    name = result.name or calls.get(call) or call or "tool"
    named = {} if not call or gemini_like.is_made(call, name) else {"id": call}
    response = {"error" if result.is_error else "output": "\n".join(texts)}
    return [
        _Said({"functionResponse": {**named, "name": name, "response": response}}, call),
        *beside,
    ]


def _media(part: Media, notes: Notes) -> dict[str, Any]:
    mime = part.mime or _MIMES[part.kind]
    if part.data:
        return {"inlineData": {"mimeType": mime, "data": part.data}}
    if part.url.lower().startswith(_REMOTE):
        known = {"mimeType": part.mime} if part.mime else {}
        return {"fileData": {**known, "fileUri": part.url}}
    notes.tell("media", f"{part.mime or part.kind} content")
    return {"text": part.label}
