"""Gemini CLI sessions (`~/.gemini/tmp/*/chats/session-*`): the format.

Versions up to 0.3x write one JSON document, newer ones a log of records. What a record holds
stands in `gemini_cli_records`, how a log is read and written in `gemini_cli_log`, and how
messages become records in `gemini_cli_writing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile, gemini_cli_records
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.dialects import gemini_like
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import Document, open_document
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Session, Source

NAME = "gemini-cli"
TITLE = "Gemini CLI"

#: What a session says about itself when it has no project.
_ABOUT = frozenset({"startTime", "start_time", "lastUpdated"})
_LOG = frozenset({"$set", "$rewindTo"})


def _about(document: Mapping[str, Any], root: object) -> dict[str, Any]:
    del root
    return {"title": document.get("summary")}


SHAPE = Shape(
    format=NAME,
    lists=(("messages",), ("history",)),
    answers=(),
    parse=gemini_cli_records.parse,
    role=gemini_cli_records.role,
    is_message=gemini_cli_records.is_record,
    live_from=gemini_cli_records.live_from,
    hidden=gemini_cli_records.hidden,
    summary=gemini_cli_records.summary,
    facts=gemini_cli_records.facts,
    cut=gemini_cli_records.cut,
    keep=gemini_cli_records.keep,
    about=_about,
)


class GeminiCli:
    """The format."""

    name = NAME
    title = TITLE
    dialect: Dialect = "gemini"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A document or a first line of the tool, records of its model, or marks of its log."""
        if sample.yaml:
            return False
        if isinstance(sample.whole, Mapping) and _is_document(sample.whole):
            return True
        return any(_is_line(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What a resumed session sends, or with `history="full"` all that was ever sent."""
        from compaction.formats import gemini_cli_log

        document = open_document(source, SHAPE.structural)
        if _is_whole(document):
            return chatfile.read(document, options, SHAPE)
        return gemini_cli_log.read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same document or log with other messages; a document for those from elsewhere."""
        from compaction.formats import gemini_cli_log, gemini_cli_writing

        if session.format == NAME and isinstance(session.document, gemini_cli_log.Log):
            return gemini_cli_log.write(messages, session, session.document)
        if layout := place(messages, session, NAME):
            notes = Notes(TITLE)
            render = gemini_cli_writing.renderer(messages, notes, session)
            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        return gemini_cli_writing.foreign(messages, session)


def _is_whole(document: Document) -> bool:
    root = document.roots[0]
    return not document.lines and any(root.get(*path) is not None for path in SHAPE.lists)


def _is_document(value: Mapping[str, Any]) -> bool:
    if "projectHash" in value and "sessionId" in value:
        return True
    listed = value.get("messages")
    if isinstance(listed, list) and any(_is_answer(one) for one in listed):
        return True
    # An older way to save: contents under `history`, with the times of a session.
    listed = value.get("history")
    return (
        isinstance(listed, list)
        and any(gemini_like.is_content(one) for one in listed)
        and not _ABOUT.isdisjoint(value)
    )


def _is_answer(record: object) -> bool:
    """Whether a record is one of the model, as only this tool writes it."""
    return (
        isinstance(record, Mapping)
        and record.get("type") == "gemini"
        and gemini_cli_records.is_record(record)
    )


def _is_line(line: object) -> bool:
    if not isinstance(line, Mapping):
        return False
    if "projectHash" in line and "sessionId" in line and "messages" not in line:
        return True
    return (len(line) == 1 and not _LOG.isdisjoint(line)) or _is_answer(line)
