"""Writing for Continue: kept items as they are, new messages as items with their results."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats.base import Written
from compaction.formats.continue_sessions import NAME, TITLE, keep, message_in, states_of
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.blocks import parse_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.layout import place, write_back
from compaction.formats.pieces import PieceBody
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session, Text, ToolResult, message, part_text

_NAMESPACE = uuid.UUID("c7d7c0b1-50ce-5a4f-93d1-0b9a6b1c9f44")


def write(messages: Sequence[Message], session: Session) -> Written:
    """The same file with other messages; a new session for one from elsewhere."""
    notes = Notes(TITLE)
    if layout := place(messages, session, NAME):
        messages, items = _with_results(messages, session)

        def render(message: Message) -> list[dict[str, Any]]:
            if id(message) in items:
                return [items[id(message)]]
            return _items(openai_like.render_message(message, Ids(verbatim=True), notes))

        written = write_back(messages, session, layout, render)
        return Written(written.chunks, (*written.findings, *notes.findings()))
    chat = openai_like.render(as_responses(messages, session, notes), notes)
    document = {
        "sessionId": str(uuid.uuid5(_NAMESPACE, f"{session.format}{session.source.size}")),
        "title": session.title or "Session",
        "workspaceDirectory": "",
        "history": _items(chat),
    }
    return whole(document, notes)


def _with_results(
    messages: Sequence[Message], session: Session
) -> tuple[list[Message], dict[int, dict[str, Any]]]:
    """Messages in which a call and its results are one where one of the results is new.

    The tool knows results only beside their calls. Each such message has its item.
    """
    out: list[Message] = []
    items: dict[int, dict[str, Any]] = {}
    source = session.source
    index = 0
    while index < len(messages):
        calling = messages[index]
        index += 1
        answers: list[Message] = []
        if calling.calls and stands_in(calling, source) and isinstance(calling.body, PieceBody):
            while index + len(answers) < len(messages):
                one = messages[index + len(answers)]
                if one.role != "tool" or not set(calling.calls).issuperset(one.results):
                    break
                answers.append(one)
        if all(stands_in(one, source) for one in answers):
            out.append(calling)
            continue
        made = message("assistant", calling.parts)
        items[id(made)] = _answered(calling.record, answers, session)
        out.append(made)
        index += len(answers)
    return out, items


def _answered(record: object, answers: Sequence[Message], session: Session) -> dict[str, Any]:
    """The item of a record with these results."""
    assert isinstance(record, Mapping)
    known = {text_of(state.get("toolCallId")): state for state in states_of(record)}
    called = message_in(record).get("toolCalls")
    calls = {
        text_of(call.get("id")): call
        for call in (called if isinstance(called, list) else [])
        if isinstance(call, Mapping)
    }
    states: list[Mapping[str, Any]] = []
    for answer in answers:
        for part in answer.parts:
            if not isinstance(part, ToolResult):
                continue
            state = known.get(part.call_id)
            if state is None or not stands_in(answer, session.source):
                call = calls.get(part.call_id, {"id": part.call_id})
                text = [{"type": "text", "text": part_text(one)} for one in part.content]
                fresh = _state(call, text)
                state = {**fresh, "status": "errored"} if part.is_error else fresh
            states.append(state)
    return {**keep(record, [0]), "toolCallStates": states}


def _items(chat: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Chat messages as items, results with the calls they answer."""
    items: list[dict[str, Any]] = []
    calls: dict[str, tuple[dict[str, Any], Mapping[str, Any]]] = {}
    for one in chat:
        if one["role"] == "tool":
            found = calls.get(one["tool_call_id"])
            text = one["content"]
            if found is None:
                message = {"role": "tool", "content": text, "toolCallId": one["tool_call_id"]}
                items.append({"message": message, "contextItems": []})
                continue
            found[0].setdefault("toolCallStates", []).append(_state(found[1], text))
            continue
        message = {"role": one["role"], "content": _spelled(one.get("content") or "")}
        item: dict[str, Any] = {"message": message, "contextItems": []}
        for call in one.get("tool_calls", ()):
            message.setdefault("toolCalls", []).append(call)
            calls[call["id"]] = (item, call)
        items.append(item)
    return items


def _state(call: Mapping[str, Any], content: object) -> dict[str, Any]:
    texts = [part.text for part in parse_content(content) if isinstance(part, Text)]
    return {
        "toolCallId": call["id"],
        "toolCall": call,
        "status": "done",
        "output": [
            {"content": text, "name": "Tool Result", "description": "Tool execution result"}
            for text in texts
        ],
    }


def _spelled(content: object) -> object:
    """Content as the tool has it: the URL of a picture under a name of its own."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "imageUrl", "imageUrl": block["image_url"]}
        if block.get("type") == "image_url"
        else block
        for block in content
    ]
