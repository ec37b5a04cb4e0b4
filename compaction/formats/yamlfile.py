"""A YAML file, opened as nodes over its text, so that it is read as a JSON one is.

Scalars follow YAML 1.2: `no` and `12:30` are text, dates stay text, numbers keep their spelling.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats.documents import readable, where
from compaction.formats.exact import Number
from compaction.formats.jsonspans import Bytes, Member, Node
from compaction.formats.sketching import HeldBody, Parse
from compaction.messages import Body, Source, Span

#: Values that aliases may stand for, beyond ten times what the file spells out.
_ALIASED = 100_000


@dataclass(frozen=True, slots=True)
class YamlFile:
    """One YAML document. It has one root, and nothing in it is a line of its own."""

    source: Source
    text: str
    offsets: Bytes
    roots: tuple[Node, ...]
    flow: frozenset[int] = frozenset()
    problems: tuple[Finding, ...] = ()
    lines: bool = field(default=False, init=False)

    def span(self, node: Node) -> Span:
        """The bytes of one value."""
        return self.offsets.span(node.start, node.end)

    def cut(self, inside: Node, member: Member) -> tuple[int, int]:
        """The bytes to remove so that a mapping loses one member."""
        members = inside.members or ()
        place = members.index(member)
        if place + 1 < len(members):
            start, end = member.start, members[place + 1].start
        else:
            start, end = members[place - 1].node.end if place else member.start, member.node.end
        return self.offsets.at(start), self.offsets.at(end)

    def inside(self, node: Node) -> tuple[int, int]:
        """The bytes of a sequence without its brackets, if it has some."""
        if node.start in self.flow:
            return self.offsets.at(node.start + 1), self.offsets.at(node.end - 1)
        return self.offsets.at(node.start), self.offsets.at(node.end)

    def gap(self, node: Node) -> bytes:
        """What stands between two elements of a sequence."""
        if node.start in self.flow:
            return b", "
        margin = self.text[self.text.rfind("\n", 0, node.start) + 1 : node.start]
        return ("\n" + re.sub(r"[^ ]", " ", margin) + "- ").encode()

    def deeper(self, node: Node) -> Node:
        """An element, looked into: every node of a YAML file is."""
        return node

    def body(self, node: Node, span: Span, parse: Parse) -> Body:
        """A value as the body of a message."""
        del span
        return HeldBody(self.source, node.value, parse)


def open_yaml(source: Source, structural: Collection[str]) -> YamlFile:
    """The first document of a YAML file, looked into under `structural` keys.

    Raises SessionError, with the line, when it is no YAML or its aliases explode.
    """
    import yaml

    source, text, before, problems = readable(source)
    offsets = Bytes(text, source.data, before)
    try:
        loader = _loader_class()(text)
        try:
            root = loader.get_node() if loader.check_node() else None
            more = loader.check_node()
        finally:
            loader.dispose()
        if root is None:
            raise SessionError(f"{where(source)} is empty: there is no session in it.")
        _bound(root, source)
        value = _loader_class()("").construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise SessionError(_fault(source, error)) from None
    except (yaml.YAMLError, ValueError) as error:
        what = str(error).splitlines()[0]
        raise SessionError(f"{where(source)} is no YAML: {what}.") from None
    except RecursionError:
        raise SessionError(f"{where(source)} is nested too deep to be read as YAML.") from None
    if more:
        problems.append(
            Finding("warning", "several-documents", "Only the first YAML document is read.")
        )
    walk = _Walk(text, structural)
    node = walk.node(root, value, 0)
    return YamlFile(source, text, offsets, (node,), frozenset(walk.flow), tuple(problems))


def _fault(source: Source, error: Any) -> str:
    mark = error.problem_mark or error.context_mark
    place = f"line {mark.line + 1:,}: " if mark else ""
    what = error.problem or error.context or "it cannot be read"
    return f"{where(source)} is no YAML: {place}{what}."


@cache
def _loader_class() -> Any:
    """The safe loader with the scalars of YAML 1.2, in C where that is there."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012

    resolve_scalars(Loader)
    Loader.add_constructor("tag:yaml.org,2002:int", _integer)
    Loader.add_constructor("tag:yaml.org,2002:float", _float)
    return Loader


#: Kind, pattern, first characters. The order counts: an integer is a float, too.
_SCALARS = (
    ("null", r"(?:~|null|Null|NULL)$", list("~nN")),
    ("null", r"$", [""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        (
            r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
    ("merge", r"<<$", ["<"]),
)


def resolve_scalars(class_: Any) -> None:
    """Teach a loader (or a dumper, which then quotes them) which plain scalars are no text."""
    for kind, pattern, first in _SCALARS:
        class_.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(pattern), first)


_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _integer(_: Any, node: Any) -> int | Number:
    text = node.value
    if _JSON_NUMBER.fullmatch(text) and (len(text) > 4000 or text == "-0"):
        return Number(text)
    base = {"0o": 8, "0x": 16}.get(text[:2].lower(), 10)
    return int(text, base)


def _float(_: Any, node: Any) -> float:
    text = node.value
    if _JSON_NUMBER.fullmatch(text):
        return Number(text)
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


def _bound(root: Any, source: Source) -> None:
    """Refuse a file whose aliases stand for far more than it spells out, or for themselves."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        key = id(node)
        if done:
            open_nodes.discard(key)
            sizes[key] = 1 + sum(sizes[id(inner)] for inner in _children(node))
            continue
        if key in open_nodes:
            line = node.start_mark.line + 1
            raise SessionError(f"{where(source)}: line {line:,} holds an alias of itself.")
        if key in sizes:
            continue
        open_nodes.add(key)
        stack.append((node, True))
        stack.extend((inner, False) for inner in _children(node))
    total = sizes[id(root)]
    if total > 10 * len(sizes) + _ALIASED:
        raise SessionError(
            f"{where(source)}: its aliases stand for {total:.3g} values, too many to be read."
        )


def _children(node: Any) -> list[Any]:
    if not isinstance(node.value, list):
        return []
    if node.value and isinstance(node.value[0], tuple):
        return [inner for pair in node.value for inner in pair]
    return list(node.value)


class _Walk:
    """The nodes of a YAML document as nodes over its text."""

    def __init__(self, text: str, structural: Collection[str]) -> None:
        self._text = text
        self._structural = structural
        self.flow: set[int] = set()

    def node(self, given: Any, value: Any, depth: int) -> Node:
        start = given.start_mark.index
        end = given.end_mark.index
        if isinstance(given.value, list) and not given.flow_style:
            end = start + len(self._text[start:end].rstrip())
        if isinstance(given.value, list) and given.flow_style:
            self.flow.add(start)
        if isinstance(value, dict) and isinstance(given.value, list):
            return Node(start, end, value, members=tuple(self._members(given, value, depth)))
        if isinstance(value, list) and isinstance(given.value, list):
            items = tuple(
                self.node(inner, held, depth + 1)
                for inner, held in zip(given.value, value, strict=True)
            )
            return Node(start, end, value, items=items)
        return Node(start, end, value)

    def _members(self, given: Any, value: dict[Any, Any], depth: int) -> list[Member]:
        members: list[Member] = []
        # Of a key that stands twice the last value counts.
        last = {
            key.value: index
            for index, (key, _) in enumerate(given.value)
            if isinstance(key.value, str)
        }
        for index, (key, inner) in enumerate(given.value):
            name = key.value
            if not isinstance(name, str) or name not in value or last[name] != index:
                continue
            held = value[name]
            if name in self._structural and depth < 20:
                node = self.node(inner, held, depth + 1)
            else:
                node = Node(inner.start_mark.index, inner.end_mark.index, held)
            members.append(Member(name, key.start_mark.index, node))
        return members
