"""What one record of a Gemini CLI session holds: the messages it stands for, and its facts.

A record of the model has its calls and their results in one list, `toolCalls`; a resumed session
sends them as a content of the model and one of the user. Thoughts are recorded for the screen and
are never sent again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats.chatshape import Facts
from compaction.formats.dialects import gemini_like
from compaction.formats.dialects.blocks import text_of
from compaction.formats.pieces import Piece
from compaction.messages import Part, ToolCall, ToolResult, Usage

Record = Mapping[str, Any]

_MODEL = frozenset({"gemini", "model"})
_SCREEN = frozenset({"info", "error", "warning"})
TYPES = _MODEL | _SCREEN | {"user"}

#: How a summary of the tool's own begins.
SNAPSHOT = "<state_snapshot>"

#: What the tool says in the name of the user when the model stopped too early.
_INJECTED = frozenset({"System: Please continue.", "Please continue."})


def is_record(value: object) -> bool:
    """Whether a value is a record of a message: one of a known type, or a content by itself."""
    if not isinstance(value, Mapping):
        return False
    spelled = value.get("type")
    if isinstance(spelled, str) and spelled in TYPES:
        return "content" in value or "parts" in value or "toolCalls" in value
    return gemini_like.is_content(value)


def kind(record: Record) -> str:
    """`user`, `gemini`, or the type of what is only shown."""
    found = record.get("type", record.get("role"))
    spelled = text_of(found)
    return "gemini" if spelled in _MODEL else spelled


def cut(record: Record) -> list[Piece]:
    """The messages of a record: what was said and called, and the results of the calls."""
    said = gemini_like.parse_parts(_content(record))
    if kind(record) != "gemini":
        role = gemini_like.content_role({"role": "user"}, said)
        return [Piece(role, said)] if said else []
    calls, results = _tool_calls(record, said)
    pieces = [Piece("assistant", (*said, *calls))] if said or calls else []
    return [*pieces, Piece("tool", tuple(results))] if results else pieces


def keep(record: Record, indexes: Sequence[int]) -> object:
    """The record without its results, or a record of nothing but them."""
    if 0 in indexes:
        calls = record.get("toolCalls")
        return {
            **record,
            "toolCalls": [
                {key: value for key, value in each.items() if key != "result"}
                if isinstance(each, Mapping)
                else each
                for each in (calls if isinstance(calls, list) else ())
            ],
        }
    entries = record.get("toolCalls")
    parts: list[object] = []
    for each in entries if isinstance(entries, list) else ():
        if isinstance(each, Mapping):
            parts += _result_parts(each)
    base = {key: record[key] for key in ("id", "timestamp") if key in record}
    return {**base, "type": "user", "content": parts}


def parse(record: Record) -> tuple[Part, ...]:
    """All parts of a record, whichever message they belong to."""
    return tuple(part for piece in cut(record) for part in piece.parts)


def role(record: Record, parts: Sequence[Part]) -> str:
    """The role of the first message of a record."""
    del parts
    pieces = cut(record)
    return pieces[0].role if pieces else ("assistant" if kind(record) == "gemini" else "user")


def facts(record: Record) -> Facts:
    """The tokens of a response, and whether the tool itself spoke for the user."""
    tokens = record.get("tokens")
    usage = None
    if isinstance(tokens, Mapping) and (read := _count(tokens, "input")):
        output = _count(tokens, "output") + _count(tokens, "thoughts")
        usage = Usage(read, output, _count(tokens, "cached"))
    injected = kind(record) == "user" and _text(record).strip() in _INJECTED
    return Facts(usage=usage, injected=injected)


def summary(record: Record) -> str:
    """Who wrote it, where a record is a summary of the tool's own."""
    return "gemini-cli" if is_snapshot(record) else ""


def is_snapshot(value: object) -> bool:
    """Whether a record is a summary that replaced what stands before it."""
    if not isinstance(value, Mapping) or kind(value) != "user":
        return False
    return _text(value).lstrip().startswith(SNAPSHOT)


def live_from(values: Sequence[object]) -> int:
    """The index of the last summary of the tool's own, 0 without one."""
    return next((i for i in reversed(range(len(values))) if is_snapshot(values[i])), 0)


def hidden(values: Sequence[object], holder: Record | None = None) -> dict[int, str]:
    """The records that a resumed session does not send, and why."""
    del holder
    answered: set[str] = set()
    out: dict[int, str] = {}
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            continue
        if reason := _not_sent(value, answered):
            out[index] = reason
        answered |= {
            part.call_id
            for piece in cut(value)[1:]
            for part in piece.parts
            if isinstance(part, ToolResult)
        }
    return out


def _not_sent(record: Record, answered: set[str]) -> str:
    spoke = kind(record)
    if spoke in _SCREEN:
        return "shown on the screen only"
    pieces = cut(record)
    if not pieces:
        return "empty messages"
    if spoke == "user":
        text = _text(record).strip()
        if text.startswith(("/", "?")):
            return "commands of the client"
        results = [part for part in pieces[0].parts if isinstance(part, ToolResult)]
        if pieces[0].role == "tool" and all(part.call_id in answered for part in results):
            # A rewritten history holds them as contents, too, beside `toolCalls`.
            return "written twice"
    return ""


# ------------------------------------------------------------------------------------ content


def _content(record: Record) -> list[object]:
    """The parts of what was said: a text, a part, a list of both, or `parts`."""
    held = record.get("content", record.get("parts"))
    if isinstance(held, list):
        return held
    if isinstance(held, str):
        return [held] if held else []
    return [] if held is None else [held]


def _text(record: Record) -> str:
    return "".join(
        part if isinstance(part, str) else text_of(part.get("text"))
        for part in _content(record)
        if isinstance(part, (str, Mapping))
    )


def _tool_calls(record: Record, said: Sequence[Part]) -> tuple[list[ToolCall], list[Part]]:
    """The calls that are not among what was said already, and the results of all."""
    known = Counter(part.id for part in said if isinstance(part, ToolCall))
    alike = [(part.name, part.arguments) for part in said if isinstance(part, ToolCall)]
    named: Counter[str] = Counter()
    calls: list[ToolCall] = []
    results: list[Part] = []
    entries = record.get("toolCalls")
    for each in entries if isinstance(entries, list) else ():
        if not isinstance(each, Mapping):
            continue
        name = text_of(each.get("name"))
        named[name] += 1
        call = _call(each, name, named[name])
        if known[call.id]:
            known[call.id] -= 1
        elif not each.get("id") and (call.name, call.arguments) in alike:
            alike.remove((call.name, call.arguments))
        else:
            calls.append(call)
        results += _results(each, call)
    return calls, results


def _call(each: Record, name: str, number: int) -> ToolCall:
    made = {"functionCall": {"name": name, "args": each.get("args")}}
    (call,) = gemini_like.parse_parts([made], [text_of(each.get("id")) or f"{name}#{number}"])
    assert isinstance(call, ToolCall)
    return call


def _result_parts(each: Record) -> list[object]:
    """The parts of a result, as they are sent."""
    result = each.get("result")
    if isinstance(result, str):
        given = {"id": each["id"]} if isinstance(each.get("id"), str) else {}
        answer = {**given, "name": each.get("name"), "response": {"output": result}}
        return [{"functionResponse": answer}]
    if isinstance(result, list):
        return result
    return [result] if isinstance(result, Mapping) and result else []


def _results(each: Record, call: ToolCall) -> list[Part]:
    parts = gemini_like.parse_parts(_result_parts(each))
    failed = each.get("status") in ("error", "cancelled")
    out: list[Part] = []
    for part in parts:
        if isinstance(part, ToolResult):
            given = part.call_id
            if not given or gemini_like.is_made(given, part.name):
                part = replace(part, call_id=call.id)
            part = replace(part, name=part.name or call.name, is_error=part.is_error or failed)
        out.append(part)
    return out


def _count(tokens: Record, key: str) -> int:
    found = tokens.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
