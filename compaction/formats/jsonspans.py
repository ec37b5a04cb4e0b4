"""Where the values of a JSON document stand in its text, so that they can be copied verbatim.

Values are skipped by the C scanner of the standard library, so a document costs one decoding.
Only containers under a `structural` key are looked into; what they hold is decoded on the way.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from compaction.formats.exact import ExactError, decode_at, skip_blank
from compaction.messages import Span


@dataclass(frozen=True, slots=True)
class Node:
    """One value: its half-open range of characters, what it is, and what is inside.

    `members` (of an object, duplicates included) and `items` (of an array) are None where the
    value was not looked into.
    """

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None
    items: tuple[Node, ...] | None = None

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


def scan(text: str, structural: Collection[str] = (), position: int = 0) -> Node:
    """The value that starts at or after `position`, looked into at its top level.

    Members whose key is `structural` are looked into as well, and so on down from there. Raises
    ExactError when the text is no JSON value, with the position where it stops being one.
    """
    return _scan(text, skip_blank(text, position), structural, depth=0)


#: Structural keys nest a handful of times at most; past this a value is decoded whole.
_DEEPEST = 20


def _scan(text: str, start: int, structural: Collection[str], depth: int) -> Node:
    opener = text[start : start + 1]
    if opener == "{" and depth < _DEEPEST:
        return _object(text, start, structural, depth)
    if opener == "[" and depth < _DEEPEST:
        return _array(text, start, structural, depth)
    value, end = decode_at(text, start)
    return Node(start, end, value)


def _object(text: str, start: int, structural: Collection[str], depth: int) -> Node:
    members: list[Member] = []
    position = skip_blank(text, start + 1)
    if text[position : position + 1] == "}":
        return Node(start, position + 1, {}, ())
    while True:
        if text[position : position + 1] != '"':
            raise ExactError(_expected("a member's name in quotes", text, position), position)
        key, after = decode_at(text, position)
        colon = skip_blank(text, after)
        if text[colon : colon + 1] != ":":
            raise ExactError(_expected("a colon", text, colon), colon)
        begin = skip_blank(text, colon + 1)
        if key in structural:
            node = _scan(text, begin, structural, depth + 1)
        else:
            value, end = decode_at(text, begin)
            node = Node(begin, end, value)
        members.append(Member(key, position, node))
        position = skip_blank(text, node.end)
        mark = text[position : position + 1]
        if mark == "}":
            value = {member.key: member.node.value for member in members}
            return Node(start, position + 1, value, tuple(members))
        if mark != ",":
            raise ExactError(_expected("a comma or }", text, position), position)
        position = skip_blank(text, position + 1)


def _array(text: str, start: int, structural: Collection[str], depth: int) -> Node:
    items: list[Node] = []
    position = skip_blank(text, start + 1)
    if text[position : position + 1] == "]":
        return Node(start, position + 1, [], None, ())
    while True:
        if structural and depth and text.startswith("{", position):
            # An element of a structural list may hold structure of its own (`choices[].message`).
            node = _element(text, position, structural, depth)
        else:
            value, end = decode_at(text, position)
            node = Node(position, end, value)
        items.append(node)
        position = skip_blank(text, node.end)
        mark = text[position : position + 1]
        if mark == "]":
            return Node(start, position + 1, [item.value for item in items], None, tuple(items))
        if mark != ",":
            raise ExactError(_expected("a comma or ]", text, position), position)
        position = skip_blank(text, position + 1)


def _element(text: str, position: int, structural: Collection[str], depth: int) -> Node:
    value, end = decode_at(text, position)
    if any(key in structural and isinstance(value[key], (dict, list)) for key in value):
        return _scan(text, position, structural, depth + 1)
    return Node(position, end, value)


def _expected(what: str, text: str, position: int) -> str:
    if position >= len(text):
        return "the text ends in the middle of a value"
    return f"{what} is missing (near {text[position : position + 20]!r})"


class Bytes:
    """Characters of a text as bytes and lines of its UTF-8 source.

    `before` is the number of bytes in front of the text (a byte order mark). Positions are best
    asked for in ascending order: each costs the distance to the last one.
    """

    __slots__ = ("_ascii", "_before", "_breaks", "_byte", "_char", "_text")

    def __init__(self, text: str, before: int = 0) -> None:
        self._text = text
        self._before = before
        self._ascii = text.isascii()
        self._char = 0
        self._byte = 0
        self._breaks: list[int] | None = None

    def at(self, position: int) -> int:
        """The byte offset of one character."""
        if self._ascii:
            return self._before + position
        if position < self._char:
            self._byte -= len(self._text[position : self._char].encode("utf-8"))
        else:
            self._byte += len(self._text[self._char : position].encode("utf-8"))
        self._char = position
        return self._before + self._byte

    def line(self, position: int) -> int:
        """The 1-based line of one character."""
        if self._breaks is None:
            self._breaks = [found.start() for found in re.finditer("\n", self._text)]
        return bisect.bisect_left(self._breaks, position) + 1

    def span(self, start: int, end: int) -> Span:
        """The bytes of a range of characters."""
        return Span(self.at(start), self.at(end), self.line(start))


def spans(nodes: Iterator[Node] | tuple[Node, ...], offsets: Bytes) -> tuple[Span, ...]:
    """The byte spans of `nodes`."""
    return tuple(offsets.span(node.start, node.end) for node in nodes)
