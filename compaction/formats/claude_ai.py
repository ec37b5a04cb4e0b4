"""Claude.ai: the data export, and single conversations as the web app has them.

One record of the assistant holds a whole turn: what it said, the tools it used, their results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.findings import Finding
from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.claude_ai_writing import Writing, document_of, rehung
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import parse_block, text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import normal
from compaction.formats.documents import open_document
from compaction.formats.layout import is_unchanged, place, write_back
from compaction.formats.pairing import in_order, with_ids
from compaction.formats.pieces import Piece
from compaction.messages import Media, Message, Part, Session, Source, Text

_BRANCHES = "other branches"
_EMPTY = "empty messages"

_NO_IMPORT = Finding(
    "info",
    "no-import",
    "Claude.ai has no import for conversations: the file is for other readers of such exports.",
)


def _blocks(record: Mapping[str, Any]) -> list[object]:
    content = record.get("content")
    return content if isinstance(content, list) else []


def _is_result(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def _sections(record: Mapping[str, Any]) -> list[tuple[bool, list[int]]]:
    """The indexes of the blocks of each message in a record, and whether they are results."""
    sections: list[tuple[bool, list[int]]] = []
    for index, block in enumerate(_blocks(record)):
        result = _is_result(block)
        if sections and sections[-1][0] == result:
            sections[-1][1].append(index)
        else:
            sections.append((result, [index]))
    return sections or [(False, [])]


def cut(record: Mapping[str, Any]) -> list[Piece]:
    """The messages of one record: what was said and called, and what tools answered."""
    blocks, role = _blocks(record), _role(record, ())
    sections = _sections(record)
    parsed = [[p for index in held for p in _block(blocks[index])] for _, held in sections]
    if not any(parsed) and isinstance(text := record.get("text"), str) and text:
        # The oldest exports have the text alone.
        parsed[0] = [Text(text)]
    parsed[0] += _attached(record)
    return [
        Piece("tool" if result else role, with_ids(parts, ids))
        for (result, _), parts, ids in zip(sections, parsed, in_order(parsed), strict=True)
    ]


def keep(record: Mapping[str, Any], indexes: Sequence[int]) -> object:
    """A record with the blocks of some of its messages; `text` says again what they say."""
    sections, blocks = _sections(record), _blocks(record)
    kept = [blocks[number] for index in indexes for number in sections[index][1]]
    said = [
        text_of(block.get("text"))
        for block in kept
        if isinstance(block, Mapping) and block.get("type") == "text"
    ]
    out = {**record, "content": kept}
    if "text" in record:
        out["text"] = "\n\n".join(said)
    if 0 not in indexes:
        out.update({key: [] for key in ("attachments", "files", "files_v2") if key in record})
    return out


def _block(block: object) -> tuple[Part, ...]:
    if isinstance(block, Mapping) and block.get("type") == "voice_note":
        title, text = text_of(block.get("title")), text_of(block.get("text"))
        return (Text(f"{title}\n{text}" if title and text else title or text),)
    return parse_block(block)


def _attached(record: Mapping[str, Any]) -> list[Part]:
    """Text that was pasted or taken from files, which was sent, and the names of other files."""
    parts: list[Part] = []
    for one in _mappings(record.get("attachments")):
        name, text = text_of(one.get("file_name")), text_of(one.get("extracted_content"))
        if text:
            parts.append(Text(f"{name}\n{text}" if name else text))
        elif name:
            parts.append(_file(one, name))
    files = _mappings(record.get("files_v2")) or _mappings(record.get("files"))
    return parts + [_file(one, text_of(one.get("file_name"))) for one in files]


def _file(one: Mapping[str, Any], name: str) -> Media:
    mime = text_of(one.get("file_type"))
    if one.get("file_kind") == "image":
        return Media("image", mime=mime, name=name)
    return Media(media.kind_of(mime if "/" in mime else ""), mime=mime, name=name)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _role(record: Mapping[str, Any], _: Sequence[Part]) -> str:
    return normal(text_of(record.get("sender")))


def _parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    return tuple(part for piece in cut(record) for part in piece.parts)


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    """The messages of other branches than the one last seen, and those with nothing in them."""
    records = [value if isinstance(value, Mapping) else {} for value in values]
    path = _path(records, text_of(holder.get("current_leaf_message_uuid")))
    return {
        index: _BRANCHES if index not in path else _EMPTY
        for index, record in enumerate(records)
        if index not in path or not _parse(record)
    }


def _path(records: Sequence[Mapping[str, Any]], leaf: str) -> set[int]:
    """The indexes of the records from the root to `leaf`; all where no parents are told."""
    if not any(isinstance(record.get("parent_message_uuid"), str) for record in records):
        return set(range(len(records)))
    places = {text_of(record.get("uuid")): index for index, record in enumerate(records)}
    at: int | None = places.get(leaf, len(records) - 1)
    path: set[int] = set()
    while at is not None and at not in path:
        path.add(at)
        parent = records[at].get("parent_message_uuid")
        at = places.get(parent) if isinstance(parent, str) else at - 1 if at else None
    return path


SHAPE = Shape(
    format="claude-ai",
    lists=(("chat_messages",),),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=lambda value: isinstance(value, Mapping) and isinstance(value.get("sender"), str),
    groups=(("conversations",),),
    hidden=_hidden,
    facts=lambda record: Facts(id=text_of(record.get("uuid"))),
    cut=cut,
    keep=keep,
    about=lambda conversation, _: {"title": conversation.get("name")},
    called=lambda conversation: text_of(conversation.get("uuid")),
    growing=False,
)


class ClaudeAI:
    """The format."""

    name = "claude-ai"
    title = "Claude.ai export"
    dialect: Dialect = "anthropic"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Conversations with `chat_messages`."""
        value = sample.whole
        if isinstance(value, Mapping) and isinstance(value.get("conversations"), list):
            value = value["conversations"]
        values = value[:20] if isinstance(value, list) else (value, *sample.lines[:20])
        return not sample.yaml and any(
            isinstance(one, Mapping) and isinstance(one.get("chat_messages"), list)
            for one in values
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The branch last seen of the conversation asked for, else of the first."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; an export of one conversation for other sessions."""
        notes = Notes(self.title)
        layout = place(messages, session, self.name)
        if layout is None:
            made = document_of(messages, session, notes)
            return Written(made, (*notes.findings(), _NO_IMPORT))
        writing = Writing(messages, session, notes)
        written = write_back(messages, session, layout, writing.records)
        found = (*written.findings, *notes.findings(), _NO_IMPORT)
        if is_unchanged(messages, session, layout):
            return Written(written.chunks, found)
        data = b"".join(written.chunks)
        return Written((rehung(data, layout.start, writing.branch()),), found)
