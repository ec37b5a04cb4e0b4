"""ChatGPT: the data export, and single conversations as the web app loads them.

A conversation is a tree; what is live is the way from its root to the node last seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.errors import Cancelled, SessionError
from compaction.findings import Finding
from compaction.formats import chatgpt_content
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatgpt_tree import (
    STRUCTURAL,
    Knot,
    conversations,
    holds,
    length_of,
    tree_of,
)
from compaction.formats.chatgpt_writing import Place, document_of, rewritten
from compaction.formats.choosing import chosen
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import Document, open_document, where
from compaction.formats.leaving import LeftOut
from compaction.formats.pairing import in_order, with_ids
from compaction.formats.sketching import Parse, SpanBody, sketch, stands_in, time_of
from compaction.messages import Conversation, Message, Part, Progress, Session, Source

_NO_IMPORT = Finding(
    "info",
    "no-import",
    "ChatGPT has no import for its exports: the file is for other readers of them.",
)


class ChatGPT:
    """The format."""

    name = "chatgpt"
    title = "ChatGPT export"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Conversations with a `mapping` of nodes."""
        if sample.yaml:
            return False
        return holds(sample.whole) or any(holds(line) for line in sample.lines[:20])

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The branch last seen of the conversation asked for, else of the first."""
        document = open_document(source, STRUCTURAL)
        found = conversations(document)
        if not found:
            raise SessionError(f"{where(source)} holds no conversation of ChatGPT.")
        listed = tuple(
            Conversation(_name(node.value, number), _title(node.value), length_of(node.value))
            for number, node in enumerate(found, 1)
        )
        index, told = chosen(listed, options.conversation, source)
        several = len(found) > 1 or options.conversation is not None
        session = _session(document, index, options)
        return replace(
            session,
            problems=(*document.problems, *told, *session.problems),
            conversations=listed if several else (),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same export with other messages in the branch; else one of one conversation."""
        notes = Notes(self.title)
        place = session.document
        if session.format != self.name or not isinstance(place, Place):
            made = document_of(messages, session, notes)
            return Written(made, (*notes.findings(), _NO_IMPORT))
        if _is_unchanged(messages, session, place):
            return Written((session.source.data,), (_NO_IMPORT,))
        data, found = rewritten(messages, session, place, notes)
        return Written((data,), (*found, *notes.findings(), _NO_IMPORT))


def _is_unchanged(messages: Sequence[Message], session: Session, place: Place) -> bool:
    return len(messages) == len(place.order) and all(
        stands_in(one, session.source) and one.spans[0].start == start
        for one, start in zip(messages, place.order, strict=True)
    )


def _session(document: Document, index: int, options: ReadOptions) -> Session:
    node = conversations(document)[index]
    tree = tree_of(document, node)
    left = LeftOut(options)
    for message in tree.others:
        left.add("other branches", document.span(message))
    live: list[Knot] = []
    for knot in tree.branch:
        if knot.live:
            live.append(knot)
        elif knot.message is not None:
            left.add(knot.reason, document.span(knot.message))
    parsed = [chatgpt_content.parse(knot.record) for knot in live]
    messages: list[Message] = []
    for number, (knot, ids) in enumerate(zip(live, in_order(parsed), strict=True)):
        if number % 2000 == 0:
            _report(options, number, len(live))
        messages.append(_message(document, knot, ids))
    value = node.value
    model = next((one.model for one in reversed(messages) if one.model), "")
    problems: tuple[Finding, ...] = ()
    if not messages:
        problems = (Finding("warning", "no-messages", "The conversation holds no messages."),)
    return Session(
        document.source,
        "chatgpt",
        tuple(messages),
        title=text_of(value.get("title")),
        model=model or text_of(value.get("default_model_slug")),
        history=options.history,
        problems=problems,
        left_out=dict(left.counts),
        document=Place(index, tuple(one.spans[0].start for one in messages)),
    )


def _report(options: ReadOptions, done: int, total: int) -> None:
    if options.cancelled():
        raise Cancelled("The reading was stopped.")
    if options.progress:
        options.progress(Progress(done, total, "messages"))


def _message(document: Document, knot: Knot, ids: tuple[str, ...]) -> Message:
    assert knot.message is not None
    record, span = knot.record, document.span(knot.message)
    parse = _reader(ids)
    made = sketch(
        parse(record),
        role=chatgpt_content.role_of(record) or "user",
        body=SpanBody(document.source, span, parse),
        span=span,
        record=record,
        pointer=f"/mapping/{knot.id}",
    )
    told = record.get("metadata")
    named = made.role != "tool" and not made.calls
    return replace(
        made,
        id=text_of(record.get("id")) or knot.id,
        name=chatgpt_content.author_of(record) if named else "",
        time=time_of({"created": record.get("create_time")}),
        model=text_of(told.get("model_slug")) if isinstance(told, Mapping) else "",
        injected=chatgpt_content.is_injected(record),
    )


def _reader(ids: tuple[str, ...]) -> Parse:
    """What reads one message whose calls and results have `ids`."""

    def parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
        return chatgpt_content.unasked(with_ids(chatgpt_content.parse(record), ids))

    return parse


def _name(conversation: Mapping[str, Any], number: int) -> str:
    for key in ("conversation_id", "id"):
        if isinstance(name := conversation.get(key), str) and name:
            return name
    return str(number)


def _title(conversation: Mapping[str, Any]) -> str:
    return text_of(conversation.get("title"))[:80]
