"""Writing OpenHands runs: the kept events as they are, new messages as events of their version."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats import openhands_events as events
from compaction.formats.base import Written
from compaction.formats.converting import as_responses
from compaction.formats.dialects import media
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import tools_for
from compaction.formats.layout import Layout, write_back
from compaction.formats.openhands_reading import NAME
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_NAMESPACE = uuid.UUID("7c7bd1a7-0b7e-5a1c-9c3b-4a1f0f2f6d55")

_NO_TIME = "1970-01-01T00:00:00"


def write_native(
    messages: Sequence[Message], session: Session, layout: Layout, notes: Notes
) -> Written:
    """The same file with other messages among its events."""
    first = next((r for m in session.messages for r in _records(m)), {})
    ids = Ids(verbatim=True)
    new: _Sdk | _Older = _Older(session, notes, ids)
    if not first or events.is_sdk(first):
        new = _Sdk(messages, session, notes, ids)
    written = write_back(messages, session, layout, new.rendered)
    return Written(written.chunks, (*written.findings, *notes.findings()))


def write_foreign(messages: Sequence[Message], session: Session, notes: Notes) -> Written:
    """A log of SDK events, one a line, for a session from elsewhere."""
    ids = Ids(unique=True)
    listed = as_responses(messages, session, notes)
    new = _Sdk(listed, session, notes, ids)
    tools = tools_for(session.tools, "openai-chat", notes)
    if listed and listed[0].role in ("system", "developer"):
        new.tools = [tool["function"] for tool in tools]
    elif tools:
        notes.at(None).tell("tools", "the tool definitions, without a system prompt to hold them,")
    lines = [
        exact.dump_bytes(event) + b"\n"
        for number, message in enumerate(listed)
        for event in _at(new, notes, number, message)
    ]
    notes.tell_ids(ids.changed)
    return Written(tuple(lines), notes.findings())


def _at(new: _Sdk, notes: Notes, number: int, message: Message) -> list[dict[str, Any]]:
    notes.at(number)
    return new.rendered(message)


def _records(message: Message) -> Iterator[Mapping[str, Any]]:
    record = message.record if message.spans else None
    for one in record if isinstance(record, list) else [record]:
        if isinstance(one, Mapping):
            yield one


class _Sdk:
    """New events of the SDK. Every id is made of what the event says and where it stands."""

    def __init__(
        self, messages: Sequence[Message], session: Session, notes: Notes, ids: Ids
    ) -> None:
        self._notes = notes
        self._ids = ids
        self.tools: list[Any] = []
        self._actions: dict[str, str] = {}
        self._before: dict[int, tuple[int, str]] = {}
        count, time = 0, _NO_TIME
        summaries = 0
        for message in messages:
            time = message.time or time
            self._before[id(message)] = (count, time)
            count += max(len(message.spans), len(message.calls), len(message.results), 1)
            summaries += bool(message.summary)
            if session.format == NAME:
                self._remember(message)
        #: A second compaction would put the first out of the window.
        self._condenses = summaries == 1

    def _remember(self, message: Message) -> None:
        for record in _records(message) if message.calls else ():
            if call := events.called(record):
                self._actions[call] = events.event_id(record)

    def rendered(self, message: Message) -> list[dict[str, Any]]:
        """A message as the events that stand for it."""
        count, time = self._before.get(id(message), (0, _NO_TIME))
        parts = message.parts
        if message.summary and self._condenses and all(isinstance(p, Text) for p in parts):
            held: dict[str, Any] = {
                "source": "environment",
                "forgotten_event_ids": [],
                "summary": "\n".join(part.text for part in parts if isinstance(part, Text)),
                "summary_offset": count,
                "llm_response_id": _id("summary", count, message.text),
                "kind": "Condensation",
            }
            return [self._named(held, count, time)]
        rest = [part for part in parts if not isinstance(part, ToolResult)]
        made = [self._result(part) for part in parts if isinstance(part, ToolResult)]
        if rest or not made:
            made += self._said(message, rest, count)
        return [self._named(event, count + n, time) for n, event in enumerate(made)]

    def _named(self, event: dict[str, Any], count: int, time: str) -> dict[str, Any]:
        name = _id(count, exact.dumps(event))
        if event["kind"] == "ActionEvent":
            self._actions[event["tool_call_id"]] = name
        return {"id": name, "timestamp": time, **event}

    def _said(self, message: Message, parts: Sequence[Part], count: int) -> list[dict[str, Any]]:
        calls = [part for part in parts if isinstance(part, ToolCall)]
        content = _content(parts, self._notes)
        reasoning = "\n\n".join(p.text for p in parts if isinstance(p, Thinking) and p.text)
        if any(isinstance(part, Thinking) and part.sealed for part in parts):
            self._notes.tell("thinking", "reasoning that only its provider can read")
        if message.role == "system" and not count:
            prompt = "\n".join(block["text"] for block in content if block["type"] == "text")
            return [
                {
                    "source": "agent",
                    "system_prompt": _text(prompt),
                    "tools": self.tools,
                    "kind": "SystemPromptEvent",
                }
            ]
        if message.role != "assistant" or not calls:
            role = message.role if message.role in ("system", "assistant") else "user"
            spoken: dict[str, Any] = {"role": role, "content": content}
            if reasoning:
                spoken["reasoning_content"] = reasoning
            return [
                {
                    "source": "agent" if role == "assistant" else "user",
                    "llm_message": spoken,
                    "activated_skills": [],
                    "extended_content": [],
                    "kind": "MessageEvent",
                }
            ]
        answer = _id("response", count, message.text)
        return [
            self._action(call, answer, [] if n else content, "" if n else reasoning)
            for n, call in enumerate(calls)
        ]

    def _action(
        self, call: ToolCall, answer: str, thought: list[dict[str, Any]], reasoning: str
    ) -> dict[str, Any]:
        name = self._ids.call(call.id)
        asked = {
            "id": name,
            "name": call.name,
            "arguments": call.arguments,
            "origin": "completion",
        }
        return {
            "source": "agent",
            "thought": thought,
            "reasoning_content": reasoning or None,
            "thinking_blocks": [],
            "action": None,
            "tool_name": call.name,
            "tool_call_id": name,
            "tool_call": asked,
            "llm_response_id": answer,
            "kind": "ActionEvent",
        }

    def _result(self, result: ToolResult) -> dict[str, Any]:
        call = self._ids.result(result.call_id)
        seen = {
            "content": _content(result.content, self._notes),
            "is_error": result.is_error,
            "tool_name": result.name,
            "kind": "MCPToolObservation",
        }
        return {
            "source": "environment",
            "tool_name": result.name,
            "tool_call_id": call,
            "observation": seen,
            "action_id": self._actions.get(call, ""),
            "kind": "ObservationEvent",
        }


class _Older:
    """New events of the first version; flat ones where the file has its events flat."""

    def __init__(self, session: Session, notes: Notes, ids: Ids) -> None:
        del ids
        self._notes = notes
        records = [record for message in session.messages for record in _records(message)]
        self._flat = not any("args" in r or "extras" in r for r in records)
        numbers = [r["id"] for r in records if isinstance(r.get("id"), int)]
        self._next = max(numbers, default=-1) + 1
        self._time = next((m.time for m in reversed(session.messages) if m.time), _NO_TIME)
        self._causes = {
            call: record["id"]
            for message in session.messages
            for call, record in zip(message.calls, _records(message), strict=False)
            if isinstance(record.get("id"), int)
        }

    def rendered(self, message: Message) -> list[dict[str, Any]]:
        """A message as the events that stand for it."""
        parts = message.parts
        out = [self._result(part) for part in parts if isinstance(part, ToolResult)]
        rest = [part for part in parts if not isinstance(part, ToolResult)]
        if not rest and out:
            return out
        calls = [part for part in rest if isinstance(part, ToolCall)]
        said = "\n".join(_shown(part) for part in rest if not isinstance(part, ToolCall))
        if not calls or message.role != "assistant":
            args = {
                "content": said,
                "image_urls": _images(rest) or None,
                "wait_for_response": False,
            }
            source = "agent" if message.role == "assistant" else "user"
            name = "system" if message.role == "system" else "message"
            return [*out, self._action(name, source, said, args)]
        answer = {
            "id": _id("response", message.text),
            "choices": [{"message": _spoken(said, calls)}],
        }
        for number, call in enumerate(calls):
            args = {**_arguments(call), "thought": "" if number else said}
            event = self._action(call.name, "agent", "", args)
            if not self._flat or call.id != events.made_id(event):
                event["tool_call_metadata"] = {
                    "function_name": call.name,
                    "tool_call_id": call.id,
                    "model_response": answer,
                    "total_calls_in_response": len(calls),
                }
            out.append(event)
            if "id" in event:
                self._causes[call.id] = event["id"]
        return out

    def _action(self, name: str, source: str, said: str, args: dict[str, Any]) -> dict[str, Any]:
        if self._flat:
            return {**args, "action": name, **({} if source == "user" else {"source": source})}
        return {**self._head(source), "message": said, "action": name, "args": args}

    def _head(self, source: str) -> dict[str, Any]:
        number, self._next = self._next, self._next + 1
        return {"id": number, "timestamp": self._time, "source": source}

    def _result(self, result: ToolResult) -> dict[str, Any]:
        kind = "error" if result.is_error else "mcp"
        if self._flat:
            return {"content": result.text, "observation": kind}
        made = {**self._head("agent"), "message": "", "observation": kind}
        if result.call_id in self._causes:
            made["cause"] = self._causes[result.call_id]
        made["tool_call_metadata"] = {
            "function_name": result.name,
            "tool_call_id": result.call_id,
            "model_response": {},
            "total_calls_in_response": 1,
        }
        return {**made, "content": result.text, "extras": {}}


def _id(*parts: object) -> str:
    text = "\0".join(str(part) for part in parts)
    return str(uuid.uuid5(_NAMESPACE, text.encode("utf-8", "replace").decode()))


def _text(text: str) -> dict[str, Any]:
    return {"cache_prompt": False, "type": "text", "text": text}


def _content(parts: Sequence[Part], notes: Notes) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text(text=text):
                out.append(_text(text))
            case Media(kind="image") if url := media.data_url(part):
                out.append({"cache_prompt": False, "type": "image", "image_urls": [url]})
            case Media():
                notes.tell("media", f"{part.mime or part.kind} content")
                out.append(_text(part.label))
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                out.append(_text(text))
            case _:
                pass
    return out


def _shown(part: Part) -> str:
    return "" if isinstance(part, (Thinking, Media, ToolCall)) else part.text


def _images(parts: Sequence[Part]) -> list[str]:
    found = (media.data_url(part) for part in parts if isinstance(part, Media))
    return [url for url in found if url]


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        value = exact.loads(call.arguments)
    except exact.ExactError:
        value = None
    return value if isinstance(value, dict) else {}


def _spoken(said: str, calls: Sequence[ToolCall]) -> dict[str, Any]:
    asked = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in calls
    ]
    return {"role": "assistant", "content": said or None, "tool_calls": asked}
