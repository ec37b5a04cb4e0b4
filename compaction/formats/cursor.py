"""Cursor's agent transcripts: `~/.cursor/projects/*/agent-transcripts/*.jsonl`.

A line holds a role and, under `message`, the content blocks. Calls have no ids, and most files
hold no results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from compaction.findings import Finding
from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.blocks import parse_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.sketching import Parse
from compaction.messages import Message, Part, Session, Source, Text, ToolCall, ToolResult

#: How user messages open that no person typed.
INJECTED = (
    "<user_info>",
    "<system_reminder>",
    "<system-reminder>",
    "<open_and_recently_viewed_files>",
    "<rules>",
    "<agent_skills>",
    "<git_status>",
    "<project_layout>",
)

_ROLES = frozenset({"user", "assistant", "system", "tool"})


def is_message(value: object) -> bool:
    """Whether a line is one of these: a role, and a message that has only the content."""
    if not isinstance(value, Mapping) or "type" in value:
        return False
    role, inner = value.get("role"), value.get("message")
    return (
        isinstance(role, str)
        and role in _ROLES
        and isinstance(inner, Mapping)
        and "role" not in inner
        and isinstance(inner.get("content"), (list, str))
    )


def _content(line: Mapping[str, Any]) -> object:
    inner = line.get("message")
    return inner.get("content") if isinstance(inner, Mapping) else None


def _parse(line: Mapping[str, Any], ids: Sequence[str] = ()) -> tuple[Part, ...]:
    """The parts of a line; calls and results without an id take those of `ids` in their order."""
    parts = parse_content(_content(line))
    if not ids:
        return parts
    given = iter(ids)
    out: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCall) and not part.id:
            out.append(replace(part, id=next(given, "")))
        elif isinstance(part, ToolResult) and not part.call_id:
            out.append(replace(part, call_id=next(given, "")))
        else:
            out.append(part)
    return tuple(out)


def _parsers(values: Sequence[object]) -> list[Parse]:
    """A parser for every line, which knows the ids of its calls and results."""
    given: list[tuple[str, ...]] = [()] * len(values)
    asked: int | None = None
    for index, value in enumerate(values):
        parts = parse_content(_content(value)) if isinstance(value, Mapping) else ()
        calls = [part for part in parts if isinstance(part, ToolCall) and not part.id]
        results = [part.call_id for part in parts if isinstance(part, ToolResult)]
        if calls:
            # From the line alone, so that it stays the same when lines before it go.
            seed = exact.dump_bytes(value)
            given[index] = tuple(made_id(part.name, seed, n) for n, part in enumerate(calls))
            asked = index
        elif results and asked is not None:
            open_calls = given[asked]
            if all(results) and len(results) == len(open_calls):
                # The results name their calls: these are the ids that the calls had.
                given[asked] = tuple(results)
            elif not any(results):
                given[index] = open_calls
            asked = None
    return [partial(_parse, ids=ids) for ids in given]


def made_id(name: str, seed: bytes, number: int = 0) -> str:
    """An id for a call that has none, which every API takes."""
    shown = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:20] or "call"
    return f"{shown}-{sha256(seed).hexdigest()[:12]}-{number}"


def _facts(line: Mapping[str, Any]) -> Facts:
    if line.get("role") != "user":
        return Facts()
    first = next((p.text for p in parse_content(_content(line)) if isinstance(p, Text)), "")
    return Facts(injected=first.lstrip().startswith(INJECTED) and "<user_query>" not in first)


SHAPE = Shape(
    format="cursor",
    lists=(),
    answers=(),
    parse=_parse,
    role=anthropic_like.message_role,
    is_message=is_message,
    facts=_facts,
    parsers=_parsers,
)


class Cursor:
    """The format."""

    name = "cursor"
    title = "Cursor agent transcript"
    dialect: Dialect = "openai-chat"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Lines of a role and a message with nothing but content."""
        return any(is_message(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """All lines: a transcript holds one conversation."""
        session = chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)
        calls = sum(len(message.calls) for message in session.messages)
        if not calls or any(message.results for message in session.messages):
            return session
        told = Finding(
            "info",
            "results-not-held",
            f"{calls:,} tool calls have no result: these transcripts do not hold them.",
        )
        return replace(session, problems=(*session.problems, told))

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same lines with other messages; new lines for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            numbers = {id(message): index for index, message in enumerate(messages)}

            def render(message: Message) -> list[dict[str, Any]]:
                notes.at(numbers.get(id(message)))
                made = anthropic_like.render_message(message, Ids(verbatim=True), notes)
                return [_line(made)] if made else []

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        turns = as_responses(messages, session, notes)
        request = anthropic_like.render(turns, notes, session.format)
        if request.system:
            notes.at(0).tell("system", "the system prompt")
        lines = tuple(exact.dump_bytes(_line(one)) + b"\n" for one in request.messages)
        return Written(lines, notes.findings())


def _line(rendered: Mapping[str, Any]) -> dict[str, Any]:
    content = rendered["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return {"role": text_of(rendered["role"]), "message": {"content": content}}
