"""A file of JSON, opened: one document, or one value after another, with what is wrong in it.

Spans are bytes of `Document.source`, which is the file as read, but for text that is no UTF-8:
that is made UTF-8 once, and told.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats.exact import ExactError, decode_at, skip_blank
from compaction.formats.jsonspans import Bytes, Member, Node, scan, scan_broken
from compaction.formats.sketching import Parse, SpanBody
from compaction.messages import Body, Source, Span

#: Faults told one by one; more of them are counted.
_TOLD = 20
#: Characters that a broken value is told from.
_FEW = 4096


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a file. `lines`: they follow one another, else there is just one."""

    source: Source
    text: str
    offsets: Bytes
    roots: tuple[Node, ...]
    lines: bool
    structural: frozenset[str] = frozenset()
    problems: tuple[Finding, ...] = ()

    def span(self, node: Node) -> Span:
        """The bytes of one value."""
        return self.offsets.span(node.start, node.end)

    def cut(self, inside: Node, member: Member) -> tuple[int, int]:
        """The bytes to remove so that an object loses one member, and its comma with it."""
        members = inside.members or ()
        place = members.index(member)
        if place + 1 < len(members):
            start, end = member.start, members[place + 1].start
        elif place:
            start, end = members[place - 1].node.end, member.node.end
        else:
            start, end = member.start, member.node.end
        return self.offsets.at(start), self.offsets.at(end)

    def inside(self, node: Node) -> tuple[int, int]:
        """The bytes between the brackets of an array; to the end where it breaks off."""
        end = node.end if node.closers else node.end - 1
        return self.offsets.at(node.start + 1), self.offsets.at(end)

    def deeper(self, node: Node) -> Node:
        """An element of an array, looked into as if it were a document."""
        return scan(self.text, self.structural, node.start)

    def body(self, node: Node, span: Span, parse: Parse) -> Body:
        """A value as the body of a message."""
        del node
        return SpanBody(self.source, span, parse)


def where(source: Source) -> str:
    """The file as it is named in an error."""
    return source.name if source.name not in ("", "-") else "the input"


def open_document(source: Source, structural: frozenset[str]) -> Document:
    """The JSON in `source`, looked into under `structural` keys.

    Raises SessionError when there is not one value in it.
    """
    source, text, before, problems = readable(source)
    offsets = Bytes(text, source.data, before)
    first = skip_blank(text, 0)
    if first == len(text):
        raise SessionError(f"{where(source)} is empty: there is no session in it.")
    try:
        root = scan(text, structural, first)
    except ExactError as error:
        return _damaged(source, text, offsets, structural, error, problems)
    if skip_blank(text, root.end) == len(text):
        return Document(source, text, offsets, (root,), False, structural, tuple(problems))
    return _sequence(source, text, offsets, structural, problems)


def readable(source: Source) -> tuple[Source, str, int, list[Finding]]:
    """The text of a source, the length of its byte order mark, and the source it is text of."""
    data = source.data
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace")
            again = Source(text.encode("utf-8", errors="replace"), source.name, source.path)
            told = Finding(
                "info", "encoding", f"The file is {encoding.upper()}; it is written back as UTF-8."
            )
            return again, again.data.decode(), 0, [told]
    before = 3 if data.startswith(codecs.BOM_UTF8) else 0
    try:
        return source, data[before:].decode("utf-8"), before, []
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, before + error.start) + 1
        text = data[before:].decode("utf-8", errors="replace")
    again = Source(text.encode("utf-8"), source.name, source.path)
    told = Finding(
        "warning",
        "not-utf-8",
        f"Bytes that are no UTF-8 stand as \N{REPLACEMENT CHARACTER}, the first in line {line:,}.",
        line=line,
    )
    return again, text, 0, [told]


def _damaged(
    source: Source,
    text: str,
    offsets: Bytes,
    structural: frozenset[str],
    error: ExactError,
    problems: list[Finding],
) -> Document:
    """A file whose first value has a fault: the part before it, or the values after it."""
    line = offsets.line(error.position)
    fault = Finding(
        "error",
        "broken-json",
        f"The JSON is broken in line {line:,}: {error.what}. What stands before it is used.",
        line=line,
        remedy="repair or re-export the file",
    )
    start = skip_blank(text, 0)
    newline = text.find("\n", start)
    if text[start] in "{[" and (newline < 0 or newline < error.position):
        root, _ = scan_broken(text, structural, start)
        root, _ = scan_broken(text, structural, start)
        if _holds_something(root):
            problems = [*problems, fault]
            return Document(source, text, offsets, (root,), False, structural, tuple(problems))
    try:
        return _sequence(source, text, offsets, structural, problems)
    except SessionError:
        raise SessionError(f"{where(source)} is no JSON: line {line:,}: {error.what}.") from None


def _holds_something(node: Node) -> bool:
    if node.items:
        return any(isinstance(item.value, dict) for item in node.items)
    return any(_holds_something(member.node) for member in node.members or ())


def _sequence(
    source: Source,
    text: str,
    offsets: Bytes,
    structural: frozenset[str],
    problems: list[Finding],
) -> Document:
    """Values one after another, normally one a line; a broken line is left out and told."""
    roots: list[Node] = []
    broken: list[Finding] = []
    more = 0
    position = skip_blank(text, 0)
    while position < len(text):
        newline = text.find("\n", position)
        following = len(text) if newline < 0 else skip_blank(text, newline)
        if len(broken) > _TOLD and _is_broken(text, position):
            more += 1
            position = following
            continue
        try:
            node = scan(text, structural, position)
        except ExactError as error:
            broken.append(_broken_line(text, offsets, position, error))
            position = following
            continue
        roots.append(node)
        position = skip_blank(text, node.end)
    if not any(isinstance(root.value, (dict, list)) for root in roots):
        raise SessionError(f"{where(source)} holds no JSON object: there is no session in it.")
    if len(broken) > _TOLD:
        rest = len(broken) - _TOLD + more
        others = Finding("error", "broken-line", f"{rest:,} more lines are no JSON either.")
        broken = [*broken[:_TOLD], others]
    told = (*problems, *broken)
    return Document(source, text, offsets, tuple(roots), True, structural, told)


def _is_broken(text: str, position: int) -> bool:
    """Whether no JSON value starts there, told from a few characters alone.

    An error in a long text is slow to make: its line is counted from the beginning.
    """
    few = text[position : position + _FEW]
    try:
        decode_at(few, 0)
    except ExactError as error:
        # What is cut off at the end, and a string that does not end, may be whole in the text.
        return error.position < len(few) - len("-Infinity") and few[error.position] != '"'
    return False


def _broken_line(text: str, offsets: Bytes, position: int, error: ExactError) -> Finding:
    line = offsets.line(position)
    last = text.find("\n", position) < 0
    what = "The last line breaks off" if last else f"Line {line:,} is no JSON"
    return Finding(
        "warning" if last else "error",
        "broken-line",
        f"{what}: {error.what}. It is left out.",
        line=line,
    )
