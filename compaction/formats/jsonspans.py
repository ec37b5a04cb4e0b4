"""Where the values of a JSON document stand in its text, so that they can be copied verbatim.

Values are skipped by the C scanner of the standard library, so a document costs one decoding.
Only containers under a `structural` key are looked into; what they hold is decoded on the way.
"""

from __future__ import annotations

import bisect
import codecs
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from compaction.formats.exact import ExactError, decode_at, skip_blank
from compaction.messages import Span


@dataclass(frozen=True, slots=True)
class Node:
    """One value: its half-open range of characters, what it is, and what is inside.

    `members` (of an object, duplicates included) and `items` (of an array) are None where the
    value was not looked into. `closers` is what a value that breaks off would need to end; it ends
    with the last whole value in it.
    """

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None
    items: tuple[Node, ...] | None = None
    closers: str = ""

    def get(self, *path: str | int) -> Node | None:
        """The node at `path`; of members with one key the last, as every JSON reader has it."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                inside = node.items or ()
                node = inside[step] if -len(inside) <= step < len(inside) else None
            else:
                member = node.member(step)
                node = member.node if member else None
        return node

    def member(self, key: str) -> Member | None:
        """The last member called `key`."""
        for member in reversed(self.members or ()):
            if member.key == key:
                return member
        return None


class Member(NamedTuple):
    """One member of an object: its key, where the key starts, and its value."""

    key: str
    start: int
    node: Node


def scan(
    text: str, structural: Collection[str] = (), position: int = 0, *, leaves: bool = False
) -> Node:
    """The value that starts at or after `position`, looked into at its top level.

    Members whose key is `structural` are looked into as well, and so on down from there; with
    `leaves` also elements of which such a member is no container. Raises ExactError when the text
    is no JSON value, with the position where it stops being one.
    """
    return _Scan(text, structural, leaves=leaves).value(skip_blank(text, position), 0)


def scan_broken(
    text: str, structural: Collection[str] = (), position: int = 0
) -> tuple[Node, ExactError | None]:
    """As `scan`, with what stands before the first fault of a text, and that fault."""
    scan = _Scan(text, structural, recover=True)
    return scan.value(skip_blank(text, position), 0), scan.fault


#: Structural keys nest a handful of times at most; past this a value is decoded whole.
_DEEPEST = 20


class _Scan:
    def __init__(
        self,
        text: str,
        structural: Collection[str],
        *,
        recover: bool = False,
        leaves: bool = False,
    ) -> None:
        self._leaves = leaves
        self._text = text
        self._structural = structural
        self._recover = recover
        self.fault: ExactError | None = None

    def value(self, start: int, depth: int) -> Node:
        opener = self._text[start : start + 1]
        if opener not in ("{", "[") or depth >= _DEEPEST:
            return self._whole(start)
        members: list[Member] = []
        items: list[Node] = []
        try:
            if opener == "{":
                end = self._object(start, depth, members)
            else:
                end = self._array(start, depth, items)
            closers = ""
        except ExactError as error:
            if not self._recover:
                raise
            self.fault = self.fault or error
            last = members[-1].node if members else items[-1] if items else None
            end = last.end if last else start + 1
            inner = last.closers if last else ""
            closers = inner + ("}" if opener == "{" else "]")
        if opener == "{":
            value: Any = {member.key: member.node.value for member in members}
            return Node(start, end, value, members=tuple(members), closers=closers)
        value = [item.value for item in items]
        return Node(start, end, value, items=tuple(items), closers=closers)

    def _whole(self, start: int) -> Node:
        value, end = decode_at(self._text, start)
        return Node(start, end, value)

    def _object(self, start: int, depth: int, members: list[Member]) -> int:
        """Collect the members of the object at `start`; the position after it."""
        text = self._text
        position = skip_blank(text, start + 1)
        if text[position : position + 1] == "}":
            return position + 1
        while True:
            if text[position : position + 1] != '"':
                raise ExactError(_expected("a member's name in quotes", text, position), position)
            key, after = decode_at(text, position)
            colon = skip_blank(text, after)
            if text[colon : colon + 1] != ":":
                raise ExactError(_expected("a colon", text, colon), colon)
            begin = skip_blank(text, colon + 1)
            inside = key in self._structural
            node = self.value(begin, depth + 1) if inside else self._whole(begin)
            members.append(Member(key, position, node))
            position = self._next(node, "}")
            if position < 0:
                return -position

    def _array(self, start: int, depth: int, items: list[Node]) -> int:
        """Collect the elements of the array at `start`; the position after it."""
        text = self._text
        position = skip_blank(text, start + 1)
        if text[position : position + 1] == "]":
            return position + 1
        while True:
            node = self._whole(position)
            inside = depth or self._leaves
            if inside and isinstance(node.value, dict) and self._has_structure(node.value):
                # An element of a structural list with structure of its own: `choices[].message`.
                node = self.value(position, depth + 1)
            items.append(node)
            position = self._next(node, "]")
            if position < 0:
                return -position

    def _has_structure(self, value: dict[str, Any]) -> bool:
        if self._leaves:
            return not value.keys().isdisjoint(self._structural)
        return any(isinstance(value.get(key), (dict, list)) for key in self._structural)

    def _next(self, node: Node, closer: str) -> int:
        """Where the next element starts; the negated position after the container at its end."""
        if node.closers:
            raise self.fault or ExactError("the text ends in the middle of a value", node.end)
        position = skip_blank(self._text, node.end)
        mark = self._text[position : position + 1]
        if mark == closer:
            return -(position + 1)
        if mark != ",":
            raise ExactError(_expected(f"a comma or {closer}", self._text, position), position)
        return skip_blank(self._text, position + 1)


def _expected(what: str, text: str, position: int) -> str:
    if position >= len(text):
        return "the text ends in the middle of a value"
    return f"{what} is missing (near {text[position : position + 20]!r})"


#: Stands for bytes that are no UTF-8 where it matters how many: never in a text that is decoded.
_NO_UTF_8 = "\udcff"

_CONTINUATION = bytes(range(0x80, 0xC0))


class Bytes:
    """Characters of a text as bytes and lines of its UTF-8 source.

    `data` is the source and `before` the number of bytes in front of the text (a byte order
    mark). A position costs the distance to the nearest one before it that was asked for.
    """

    __slots__ = ("_ascii", "_before", "_breaks", "_bytes", "_chars", "_data", "_text")

    def __init__(self, text: str, data: bytes, before: int = 0) -> None:
        self._text = text
        self._data = data
        self._before = before
        self._ascii = text.isascii()
        # Ascending positions whose offsets are known.
        self._chars = [0]
        self._bytes = [before]
        self._breaks: list[int] | None = None
        if "\ufffd" in text:
            self._note_replaced()

    def at(self, position: int) -> int:
        """The byte offset of one character."""
        if self._ascii:
            return self._before + position
        known = bisect.bisect_right(self._chars, position) - 1
        if self._chars[known] == position:
            return self._bytes[known]
        found = self._after(self._bytes[known], position - self._chars[known])
        if known == len(self._chars) - 1:
            self._chars.append(position)
            self._bytes.append(found)
        return found

    def _note_replaced(self) -> None:
        """Know where bytes stand that are no UTF-8: each run of them is one character."""
        ends: list[tuple[int, int]] = []

        def note(error: UnicodeError) -> tuple[str, int]:
            assert isinstance(error, UnicodeDecodeError)
            ends.append((error.start, error.end))
            return _NO_UTF_8, error.end

        codecs.register_error("compaction.note", note)
        text = self._data[self._before :].decode("utf-8", "compaction.note")
        for found, (start, end) in zip(re.finditer(_NO_UTF_8, text), ends, strict=True):
            self._chars += (found.start(), found.end())
            self._bytes += (self._before + start, self._before + end)

    def _after(self, start: int, characters: int) -> int:
        """The offset `characters` further on: as many bytes that do not continue a character."""
        data = self._data
        while characters > 0:
            chunk = data[start : start + characters]
            if not chunk:
                return start
            start += len(chunk)
            characters -= len(chunk.translate(None, _CONTINUATION))
        while start < len(data) and 0x80 <= data[start] < 0xC0:
            start += 1
        return start

    def line(self, position: int) -> int:
        """The 1-based line of one character."""
        if self._breaks is None:
            self._breaks = [found.start() for found in re.finditer("\n", self._text)]
        return bisect.bisect_left(self._breaks, position) + 1

    def span(self, start: int, end: int) -> Span:
        """The bytes of a range of characters."""
        return Span(self.at(start), self.at(end), self.line(start))
