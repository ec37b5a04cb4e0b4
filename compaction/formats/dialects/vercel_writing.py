"""Messages written as the Vercel AI SDK keeps them: as UI messages, or as model messages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.notes import Notes
from compaction.messages import Media, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

#: Where a tool part keeps what came back.
_ANSWERS = ("output", "errorText", "result")


def ui_message(
    run: Sequence[Message], notes: Notes, *, old: bool = False, name: str = ""
) -> dict[str, Any]:
    """One UI message of a user's or system's message, or of a turn with its calls and results.

    `old` is how version 4 spells it. `name` is its id, else one is made from its content.
    """
    role = run[0].role
    if role in ("system", "developer"):
        parts = [part for part in _plain(run[0].parts, notes) if part["type"] == "text"]
        return _ui("system", parts, old, name)
    if role not in ("assistant", "tool"):
        return _ui("user", _plain(run[0].parts, notes), old, name)
    results = {p.call_id: p for one in run for p in one.parts if isinstance(p, ToolResult)}
    parts = []
    for one in run:
        if one.role == "assistant":
            parts.append({"type": "step-start"})
        for part in one.parts:
            if isinstance(part, ToolCall):
                parts.append(_tool(part, results.pop(part.id, None), notes, old))
            elif not isinstance(part, ToolResult):
                parts += _plain([part], notes)
    # A result whose call is not there has a part of its own, so that nothing is lost.
    for call, left in results.items():
        parts.append(_tool(ToolCall(call, left.name or "unknown", "{}"), left, notes, old))
    return _ui("assistant", parts, old, name)


def _ui(role: str, parts: list[dict[str, Any]], old: bool, name: str) -> dict[str, Any]:
    texts = [part["text"] for part in parts if part["type"] == "text"]
    content = {"content": "".join(texts)} if old else {}
    seed = exact.dumps([role, parts]).encode("utf-8", "surrogatepass")
    name = name or "msg-" + hashlib.sha256(seed).hexdigest()[:16]
    return {"id": name, "role": role, **content, "parts": parts}


def _tool(call: ToolCall, result: ToolResult | None, notes: Notes, old: bool) -> dict[str, Any]:
    value = _output(result, notes) if result else None
    if old:
        state = {"state": "result"} if result else {"state": "call"}
        held = {"toolCallId": call.id, "toolName": call.name, "args": _input(call)}
        answer = {"result": value} if result else {}
        return {"type": "tool-invocation", "toolInvocation": {**state, **held, **answer}}
    part: dict[str, Any] = {"type": f"tool-{call.name}", "toolCallId": call.id}
    if result is None:
        return {**part, "state": "input-available", "input": _input(call)}
    if result.is_error:
        return {**part, "state": "output-error", "input": _input(call), "errorText": value}
    return {**part, "state": "output-available", "input": _input(call), "output": value}


def _input(call: ToolCall) -> object:
    try:
        return exact.loads(call.arguments) if call.arguments.strip() else {}
    except exact.ExactError:
        return call.arguments


def _output(result: ToolResult, notes: Notes) -> str:
    for part in result.content:
        if isinstance(part, Media):
            notes.tell("media", f"{part.mime or part.kind} content")
    return result.text


def _plain(parts: Sequence[Part], notes: Notes) -> list[dict[str, Any]]:
    """Text and files as parts of a UI message."""
    out: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text(text=text):
                out.append({"type": "text", "text": text})
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Media():
                url = media.data_url(part)
                if not url:
                    notes.tell("media", f"{part.mime or part.kind} content")
                    out.append({"type": "text", "text": part.label})
                    continue
                mime = part.mime or f"{part.kind}/*"
                named = {"filename": part.name} if part.name else {}
                out.append({"type": "file", "mediaType": mime, **named, "url": url})
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                out.append({"type": "text", "text": text})
            case ToolCall(name=name, arguments=arguments):
                notes.tell("opaque", f"a call of {name} outside an assistant message")
                out.append({"type": "text", "text": f"{name} {arguments}"})
            case ToolResult():
                out.append({"type": "text", "text": part.text})
    return out


def answered(
    record: Mapping[str, Any], messages: Sequence[Message], notes: Notes
) -> dict[str, Any]:
    """A UI message whose open calls get the results that `messages` hold."""
    results = {p.call_id: p for one in messages for p in one.parts if isinstance(p, ToolResult)}
    parts: list[Any] = []
    for part in record["parts"]:
        inner = part.get("toolInvocation") if isinstance(part, Mapping) else None
        held = inner if isinstance(inner, Mapping) else part
        call = held.get("toolCallId") if isinstance(held, Mapping) else None
        result = results.pop(call, None) if isinstance(call, str) else None
        if result is None:
            parts.append(part)
            continue
        old = isinstance(inner, Mapping)
        made = _tool(ToolCall(result.call_id, result.name, ""), result, notes, old)
        answer = made.get("toolInvocation", made)
        new = {key: answer[key] for key in ("state", *_ANSWERS) if key in answer}
        parts.append(
            {**part, "toolInvocation": {**inner, **new}}
            if isinstance(inner, Mapping)
            else {**part, **new}
        )
    for left in results.values():
        old = "content" in record
        parts.append(_tool(ToolCall(left.call_id, left.name or "unknown", "{}"), left, notes, old))
    return {**record, "parts": parts}


# ----------------------------------------------------------------------------- model messages


def model_messages(message: Message, notes: Notes, *, old: bool) -> list[dict[str, Any]]:
    """One message as model messages: its results, and then the rest. `old`: as version 4."""
    results = [p for p in message.parts if isinstance(p, ToolResult)]
    rest = [p for p in message.parts if not isinstance(p, ToolResult)]
    out: list[dict[str, Any]] = []
    if results:
        out.append({"role": "tool", "content": [_result(p, notes, old) for p in results]})
    if not rest and (out or message.role == "tool"):
        return out
    if message.role in ("system", "developer"):
        texts = [part["text"] for part in _plain(rest, notes) if "text" in part]
        return [*out, {"role": "system", "content": "\n\n".join(texts)}]
    role = "assistant" if message.role == "assistant" else "user"
    blocks: list[dict[str, Any]] = []
    for part in rest:
        if isinstance(part, ToolCall) and role == "assistant":
            given = {"args" if old else "input": _input(part)}
            named = {"toolCallId": part.id, "toolName": part.name}
            blocks.append({"type": "tool-call", **named, **given})
        else:
            blocks += [_model_part(one) for one in _plain([part], notes)]
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return [*out, {"role": role, "content": blocks[0]["text"]}]
    return [*out, {"role": role, "content": blocks}]


def _model_part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part["type"] != "file":
        return dict(part)
    named = {"filename": part["filename"]} if "filename" in part else {}
    return {"type": "file", "data": part["url"], "mediaType": part["mediaType"], **named}


def _result(result: ToolResult, notes: Notes, old: bool) -> dict[str, Any]:
    named = {"type": "tool-result", "toolCallId": result.call_id, "toolName": result.name}
    if old:
        failed = {"isError": True} if result.is_error else {}
        return {**named, "result": _output(result, notes), **failed}
    kind = "error-text" if result.is_error else "text"
    if len(result.content) > 1 and not result.is_error:
        return {**named, "output": {"type": "content", "value": _shown(result, notes)}}
    return {**named, "output": {"type": kind, "value": _output(result, notes)}}


def _shown(result: ToolResult, notes: Notes) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for part in result.content:
        if isinstance(part, Media) and part.data:
            mime = part.mime or "application/octet-stream"
            out.append({"type": "media", "data": part.data, "mediaType": mime})
        else:
            out += [p for p in _plain([part], notes) if p["type"] == "text"]
    return out
