"""LangChain and LangGraph: `messages_to_dict`, `dumps` and `model_dump`, wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import langchain_like, langchain_writing
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.langchain_like import Style, inner, kind_of, style_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.listpaths import lists_of, paths_in, records_in
from compaction.messages import Message, Session, Source, ToolCall, ToolResult, describe
from compaction.messages import message as made

#: The id of a removal that takes away all that is before it.
_ALL = "__remove_all__"

_REMOVED = "removed messages"


def is_message(value: object) -> bool:
    """Whether a value is a message in one of the three serialisations."""
    return style_of(value) is not None


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> Mapping[int, str]:
    """What removals take away, and the removals."""
    del holder
    hidden: dict[int, str] = {}
    places: dict[object, list[int]] = {}
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            continue
        name = inner(value).get("id")
        if kind_of(value) != "remove":
            places.setdefault(name if isinstance(name, str) else None, []).append(index)
            continue
        hidden[index] = "removals of messages"
        for gone in list(places) if name == _ALL else [name] if isinstance(name, str) else []:
            hidden.update(dict.fromkeys(places.pop(gone, ()), _REMOVED))
    return hidden


SHAPE = Shape(
    format="langchain",
    lists=(),
    answers=(),
    parse=langchain_like.parse,
    role=langchain_like.role,
    is_message=is_message,
    facts=langchain_like.facts,
    summary=langchain_like.summary,
    hidden=_hidden,
)


class LangChain:
    """The format."""

    name = "langchain"
    title = "LangChain messages"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A list of messages that are serialised as LangChain does, at any place."""
        if sample.yaml:
            return False
        return any(_speaks(values) for values in lists_of(sample, is_message))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The longest list of messages in the file, without what was removed from it."""
        document = open_document(source, frozenset())
        paths = dict.fromkeys(
            path for root in document.roots for path in paths_in(root.value, is_message)
        )
        shape = replace(SHAPE, lists=tuple(paths))
        return chatfile.read(open_document(source, shape.structural), options, shape)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a list of dicts for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            style = _style(session)

            def render(message: Message) -> list[dict[str, Any]]:
                return langchain_writing.render_message(message, style, notes)

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        out: list[dict[str, Any]] = []
        ids = Ids(limit=200)
        for index, message in enumerate(as_responses(messages, session, notes)):
            notes.at(index)
            out += langchain_writing.render_message(_named(message, ids), "dict", notes)
        notes.tell_ids(ids.changed)
        if session.tools.text:
            notes.tell("tools", "the tool definitions")
        return Written((exact.dump_bytes(out, exact.PRETTY), b"\n"), notes.findings())


def _named(message: Message, ids: Ids) -> Message:
    """A message whose calls and results have ids, alike on both sides."""
    if not message.calls and not message.results:
        return message
    parts = [
        replace(part, id=ids.call(part.id))
        if isinstance(part, ToolCall)
        else replace(part, call_id=ids.result(part.call_id))
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    ]
    again = made(message.role, parts, name=message.name, summary=message.summary)
    return describe(again, parts)


def _style(session: Session) -> Style:
    """The serialisation of the messages that the file has already."""
    for record in records_in(session):
        if style := style_of(record):
            return style
    return "dict"


def _speaks(values: Sequence[object]) -> bool:
    """Whether a list is of LangChain: all that is a message there, and one only it has."""
    records = [value for value in values[:200] if isinstance(value, Mapping)]
    styles = [style_of(record) for record in records]
    if not records or styles.count(None) * 2 > len(records):
        return False
    if any(style in ("dumps", "dict") for style in styles):
        return True
    return any(record.get("type") in ("human", "ai", "AIMessageChunk") for record in records)
