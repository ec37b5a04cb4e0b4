"""Chats in YAML: the three dialects, hand-written or recorded (`history:`, cassettes).

Written back as YAML: what stays keeps its own text. The result is read again before it is given
out; where text alone does not carry over (an anchor that went, a comment in the way), the whole
is spelled anew with the same values.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats import (
    anthropic_messages,
    cassettes,
    chatfile,
    exact,
    openai_chat,
    openai_responses,
    swe_agent,
)
from compaction.formats.base import Dialect, Format, ReadOptions, Sample, Written
from compaction.formats.chatshape import Path, Shape
from compaction.formats.converting import spelled_role
from compaction.formats.dialects import anthropic_like, openai_like, responses_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.exact import Number
from compaction.formats.layout import Layout, Listing, compose, is_unchanged
from compaction.formats.openai_chat import OpenAIChat
from compaction.formats.sketching import stands_in
from compaction.formats.yamlfile import YamlFile, open_yaml, resolve_scalars
from compaction.messages import Message, Session, Source

_SHAPES: Mapping[Dialect, Shape] = {
    "openai-responses": openai_responses.SHAPE,
    "anthropic": anthropic_messages.SHAPE,
    # Demonstrations of SWE-agent name the call of a result in a list.
    "openai-chat": replace(openai_chat.SHAPE, parse=swe_agent.parse_item),
}


_WRITERS: Mapping[Dialect, Format] = {
    "openai-responses": openai_responses.OpenAIResponses(),
    "anthropic": anthropic_messages.AnthropicMessages(),
    "openai-chat": OpenAIChat(),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session stands in a YAML file: its layout, the whole value, and the dialect.

    `recorded` is the YAML where the session stands in texts inside of it, which are not written to.
    """

    layout: Layout
    value: object
    dialect: Dialect
    recorded: bytes = b""


class YamlChat:
    """The format."""

    name = "yaml"
    title = "chat in YAML"
    dialect: Dialect = "openai-chat"
    suffix = ".yaml"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A YAML file that holds messages of any of the three dialects."""
        return sample.yaml and _dialect(sample.whole) is not None

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The conversation in a file, in the dialect that its messages speak."""
        structural = frozenset().union(
            {"interactions", "parsed_body"}, *(shape.structural for shape in _SHAPES.values())
        )
        file = open_yaml(source, structural)
        value = file.roots[0].value
        dialect = _dialect(value)
        if dialect is None:
            raise SessionError(f"{source.name or 'the input'} holds no chat messages in YAML.")
        shape = _recorded(_SHAPES[dialect])
        if cassettes.holds_text(value):
            # What stands in a text has no place in the file that could be written to.
            made = exact.dump_bytes(cassettes.spelled_out(value))
            document = open_document(Source(made, source.name, source.path), structural)
            session = chatfile.read(document, options, replace(shape, format=self.name))
            assert isinstance(session.document, Layout)
            place = Place(session.document, value, dialect, file.source.data)
            return replace(session, document=place, problems=(*file.problems, *session.problems))
        cassette = file.roots[0].get("interactions")
        if cassette is not None and cassette.items:
            file = replace(file, roots=(cassette,))
        session = chatfile.read(file, options, replace(shape, format=self.name))
        layout = session.document
        assert isinstance(layout, Layout)
        layout = replace(
            layout,
            start=0,
            end=session.source.size,
            listings=tuple(_with_gap(one, file) for one in layout.listings if _in_order(one)),
        )
        return replace(session, document=Place(layout, value, dialect))

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same YAML with other messages; a chat request for a session from elsewhere."""
        held = session.document
        if session.format != self.name or not isinstance(held, Place):
            return _converted(messages, session)
        if is_unchanged(messages, session, held.layout):
            return Written((held.recorded or session.source.data,))
        if held.recorded:
            return _converted(messages, session)
        notes = Notes(self.title)

        def render(message: Message) -> list[dict[str, Any]]:
            return _rendered(message, session, held.dialect, notes)

        layout = held.layout
        if layout.listings:
            body, findings = compose(messages, session, layout, render, None, _lay_out)
            if _says(body, messages, session):
                return Written((body,), (*findings, *notes.findings()))
        notes = Notes(self.title)
        records = _records(messages, session, held.dialect, notes)
        value = _exchanged(held.value, [m.record for m in messages if m.spans], records)
        told = Finding(
            "info", "export-respelled", "The YAML is spelled anew, with the same values."
        )
        return Written((_dump(value),), (*notes.findings(), told))


def dialect_of(session: Session) -> Dialect | None:
    """The dialect that the messages of a YAML session speak; None for any other session."""
    return session.document.dialect if isinstance(session.document, Place) else None


def _recorded(shape: Shape) -> Shape:
    """`shape`, with its places in recorded requests and responses."""
    recorded: list[Path] = [("request", "parsed_body", path[-1]) for path in shape.lists[:1]]
    answers: list[Path] = [
        ("response", "parsed_body", *path)
        for path in shape.answers
        if path[0] not in ("response", "preferred_output")
    ]
    if shape.format == "anthropic":
        answers.append(("response", "parsed_body"))
    return replace(shape, lists=(*shape.lists, *recorded), answers=(*answers, *shape.answers))


def _dialect(value: object) -> Dialect | None:
    if isinstance(value, Mapping) and isinstance(value.get("interactions"), list):
        recorded = list(cassettes.bodies(value))
        found = [_dialect(came) for _, came in recorded] + [_dialect(sent) for sent, _ in recorded]
        return next((dialect for dialect in found if dialect), None)
    if openai_responses.holds_items(value):
        return "openai-responses"
    if anthropic_messages.holds_anthropic(value):
        return "anthropic"
    return "openai-chat" if openai_chat.holds_chat(value) else None


def _in_order(listing: Listing) -> bool:
    # An alias has the place of its anchor: such a list cannot be cut along its elements.
    return all(a.end <= b.start for a, b in itertools.pairwise(listing.elements))


def _with_gap(listing: Listing, file: YamlFile) -> Listing:
    # The node of the list starts where its elements are opened, but for a bracket.
    start = listing.open
    data = file.source.data
    if data[start - 1 : start] == b"[" or data[start : start + 1] != b"-":
        return replace(listing, gap=b", ")
    margin = data[data.rfind(b"\n", 0, start) + 1 : start]
    blank = b" " * len(margin.decode("utf-8", "replace"))
    return replace(listing, gap=b"\n" + blank + b"- ")


def _lay_out(value: object, listing: Listing, data: bytes) -> bytes:
    del data
    if listing.gap == b", ":
        return exact.dump_bytes(value, exact.SPACED)
    margin = b" " * (len(listing.gap) - 1)
    lines = _dump(value).rstrip(b"\n").split(b"\n")
    first, *rest = lines
    return b"\n".join([first, *(margin + line if line else line for line in rest)])


def _rendered(
    message: Message, session: Session, dialect: Dialect, notes: Notes
) -> list[dict[str, Any]]:
    ids = Ids(verbatim=True)
    if dialect == "anthropic":
        made = anthropic_like.render_message(message, ids, notes)
        return [made] if made else []
    if dialect == "openai-responses":
        return responses_like.render_items(message, ids, notes)
    chat = openai_like.render_message(message, ids, notes)
    return [{**one, "role": spelled_role(session, one["role"])} for one in chat]


def _says(body: bytes, messages: Sequence[Message], session: Session) -> bool:
    """Whether the text, read again, has the very messages that were to be written."""
    kept = [one.record for one in messages if stands_in(one, session.source)]
    numbers: list[str | None] = [None]
    numbers += [str(number) for number, _ in enumerate(session.conversations, 1)]
    for number in numbers:
        options = ReadOptions(history="full", conversation=number)
        try:
            again = YamlChat().read(Source(body, session.source.name), options)
        except SessionError:
            return False
        back = [message.record for message in again.messages]
        if len(back) >= len(messages) and _within(kept, back):
            return True
    return False


def _within(kept: Sequence[object], back: Iterable[object]) -> bool:
    rest = iter(back)
    return all(any(record == other for other in rest) for record in kept)


def _records(
    messages: Sequence[Message], session: Session, dialect: Dialect, notes: Notes
) -> list[object]:
    records: list[object] = []
    for message in messages:
        if stands_in(message, session.source):
            records.append(message.record)
        else:
            records += _rendered(message, session, dialect, notes)
    return records


def _exchanged(value: object, old: Sequence[object], new: Sequence[object]) -> object:
    """`value` with the list that holds the `old` records holding the `new` ones."""
    known = {id(record) for record in old if isinstance(record, (dict, list))}
    if isinstance(value, list):
        if any(id(item) in known for item in value):
            return [record for record in new if isinstance(record, dict)]
        return [_exchanged(item, old, new) for item in value]
    if isinstance(value, dict):
        return {key: _exchanged(item, old, new) for key, item in value.items()}
    return value


def _converted(messages: Sequence[Message], session: Session) -> Written:
    # A recording stays in the API it is of.
    writer = _WRITERS[dialect_of(session) or "openai-chat"]
    spoken = writer.name if session.format == YamlChat.name else session.format
    written = writer.write(messages, replace(session, document=None, format=spoken))
    value = exact.loads(b"".join(written.chunks))
    return Written((_dump(value),), (*written.findings, *_unspeakable(messages)))


#: Halves of characters, which JSON can spell and YAML cannot.
_SURROGATE = re.compile("[\ud800-\udfff]")


def _unspeakable(messages: Iterable[Message]) -> tuple[Finding, ...]:
    """The finding about text that stands as a replacement mark in YAML."""
    for index, message in enumerate(messages):
        if _SURROGATE.search(message.text):
            told = Finding(
                "warning",
                "export-surrogate",
                f"#{index} holds half of a character, which YAML cannot spell; it stands as "
                "\N{REPLACEMENT CHARACTER}.",
                message=index,
                remedy="export as JSON to keep it",
            )
            return (told,)
    return ()


@cache
def _dumper() -> Any:
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            del data
            return True

    def text(dumper: Any, value: str) -> Any:
        value = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
        style = "|" if "\n" in value and value == value.strip() else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    def number(dumper: Any, value: Number) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:float", value.text)

    resolve_scalars(Dumper)
    Dumper.add_representer(str, text)
    Dumper.add_representer(Number, number)
    return Dumper


def _dump(value: object) -> bytes:
    import yaml

    text = yaml.dump(value, Dumper=_dumper(), allow_unicode=True, sort_keys=False, width=2**31 - 1)
    return text.encode("utf-8", "replace")
