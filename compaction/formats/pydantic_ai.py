"""pydantic-ai: the messages of a run, as its adapter and `all_messages_json` write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import pydantic_like
from compaction.formats.dialects.blocks import parse_content
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.pydantic_like import is_message
from compaction.formats.documents import open_document
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.layout import Layout, place, write_back
from compaction.formats.listpaths import lists_of, paths_in
from compaction.formats.pieces import PieceBody
from compaction.formats.sketching import SpanBody, sketch, stands_in
from compaction.messages import Message, Part, Session, Source, Span

#: Where the instructions stand as a message; they are of the request, not of the list.
_POINTER = "/instructions"


def _live_from(values: Sequence[object]) -> int:
    """The last response with a compaction: its provider drops everything before it."""
    for index in range(len(values) - 1, 0, -1):
        value = values[index]
        if isinstance(value, Mapping) and value.get("kind") == "response" and _compacts(value):
            return index
    return 0


def _compacts(record: Mapping[str, Any]) -> bool:
    parts = record.get("parts")
    return isinstance(parts, list) and any(
        isinstance(part, Mapping) and part.get("part_kind") == "compaction" for part in parts
    )


def _summary(record: Mapping[str, Any]) -> str:
    parts = record.get("parts")
    alone = isinstance(parts, list) and len(parts) == 1 and _compacts(record)
    return "pydantic-ai" if alone else ""


def _role(record: Mapping[str, Any], parts: Sequence[Part]) -> str:
    del parts
    return pydantic_like.cut(record)[0].role


SHAPE = Shape(
    format="pydantic-ai",
    lists=(),
    answers=(),
    parse=pydantic_like.parse,
    role=_role,
    is_message=is_message,
    live_from=_live_from,
    summary=_summary,
    facts=pydantic_like.facts,
    cut=pydantic_like.cut,
    keep=pydantic_like.keep,
)


class PydanticAI:
    """The format."""

    name = "pydantic-ai"
    title = "pydantic-ai messages"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A list of requests and responses, at any place."""
        return not sample.yaml and any(
            value.get("parts")
            for values in lists_of(sample, is_message)
            for value in values
            if isinstance(value, Mapping) and is_message(value)
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages of the run, the instructions of its last request in front."""
        document = open_document(source, frozenset())
        paths = dict.fromkeys(
            path for root in document.roots for path in paths_in(root.value, is_message)
        )
        shape = replace(SHAPE, lists=tuple(paths))
        session = chatfile.read(open_document(source, shape.structural), options, shape)
        front = _instructions(session)
        layout = session.document
        if front is None or not isinstance(layout, Layout):
            return session
        order = (front.spans[0].start, *layout.order)
        return replace(
            session,
            messages=(front, *session.messages),
            compactions=tuple(replace(one, at=one.at + 1) for one in session.compactions),
            document=replace(layout, order=order),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a list of them for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            front = next((one for one in messages if one.pointer == _POINTER and one.spans), None)
            if front is None and any(one.pointer == _POINTER for one in session.messages):
                notes.tell("kept-system", "instructions of the requests that stay")
            instructions = front.text if front else ""

            def render(message: Message) -> list[dict[str, Any]]:
                if message is front and stands_in(message, session.source):
                    return []
                return pydantic_like.render(message, notes, instructions)

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        out: list[dict[str, Any]] = []
        for index, message in enumerate(as_responses(messages, session, notes)):
            for record in pydantic_like.render(message, notes.at(index)):
                if out and out[-1]["kind"] == record["kind"] == "request":
                    out[-1]["parts"] += record["parts"]
                else:
                    out.append(record)
        if session.tools.text:
            notes.at(None).tell("tools", "the tool definitions")
        return Written((exact.dump_bytes(out, exact.PRETTY), b"\n"), notes.findings())


def _instructions(session: Session) -> Message | None:
    """The instructions that hold for the next request, as a message."""
    for message in reversed(session.messages):
        body = message.body
        if not isinstance(body, PieceBody) or body.index:
            continue
        record = message.record
        if not isinstance(record, Mapping) or record.get("kind") != "request":
            continue
        said = record.get("instructions")
        if isinstance(said, str) and said:
            return _front(session.source, message.spans[0])
        if not pydantic_like.only_answers(record):
            return None
    return None


def _front(source: Source, span: Span) -> Message | None:
    raw = source.raw(span)
    text = raw.decode("utf-8")
    member = scan(text).member("instructions")
    if member is None:
        return None
    offsets = Bytes(text, raw)
    start, end = (span.start + offsets.at(at) for at in (member.node.start, member.node.end))
    line = span.line + text.count("\n", 0, member.node.start)
    here = Span(start, end, line)
    parts = parse_content(member.node.value)
    body = SpanBody(source, here, parse_content)
    return sketch(parts, role="system", body=body, span=here, pointer=_POINTER)
