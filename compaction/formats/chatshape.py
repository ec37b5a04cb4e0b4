"""Where a dialect keeps its messages, and what an opened file must be able to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from compaction.findings import Finding
from compaction.formats.dialects.blocks import parse_content
from compaction.formats.jsonspans import Member, Node
from compaction.formats.pieces import Cut, Keep
from compaction.formats.sketching import Parse
from compaction.messages import Body, Part, Source, Span, Usage

Path = tuple[str | int, ...]


class File(Protocol):
    """An opened file: JSON or YAML, as nodes over its text."""

    @property
    def source(self) -> Source: ...
    @property
    def roots(self) -> tuple[Node, ...]: ...
    @property
    def lines(self) -> bool: ...
    @property
    def problems(self) -> tuple[Finding, ...]: ...
    def span(self, node: Node) -> Span: ...
    def cut(self, inside: Node, member: Member) -> tuple[int, int]: ...
    def inside(self, node: Node) -> tuple[int, int]:
        """The bytes between the brackets of an array."""
        ...

    def deeper(self, node: Node) -> Node:
        """An element of an array, looked into."""
        ...

    def body(self, node: Node, span: Span, parse: Parse) -> Body: ...


def last_with(compacts: Callable[[Mapping[str, Any]], object]) -> Callable[[Sequence[object]], int]:
    """`live_from` of a dialect where a compaction drops all before the record that holds it."""

    def live_from(values: Sequence[object]) -> int:
        for index in range(len(values) - 1, 0, -1):
            value = values[index]
            if isinstance(value, Mapping) and compacts(value):
                return index
        return 0

    return live_from


@dataclass(frozen=True, slots=True)
class Facts:
    """What a record says of its message beside its content; unset where it says nothing."""

    id: str = ""
    name: str = ""
    time: str = ""
    model: str = ""
    usage: Usage | None = None
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """Where a dialect keeps what: paths from the root of a document (or a line).

    `answers` lead to one message, or to a list of items, that came back. `instructions` is the
    key of the system prompt beside the list, or keys it may have; `instruct` reads it. `live_from`
    gives the index of the first message in the window, and of the first behind a compaction;
    `hidden` the indexes of those that are not in the window for another reason, and the reason.
    `facts` are what is not found under the usual keys (`id`, `timestamp`, `model`, `usage`).
    Where one record is several messages, `cut` gives them and `keep` the record with some of
    them. `parsers` give every record of a list its own `parse`, where what one says depends on
    its neighbours. `heading` is a line about the session among lines that are messages.
    """

    format: str
    lists: tuple[Path, ...]
    answers: tuple[Path, ...]
    parse: Callable[[Mapping[str, Any]], tuple[Part, ...]]
    role: Callable[[Mapping[str, Any], Sequence[Part]], str]
    is_message: Callable[[object], bool]
    instructions: str | tuple[str, ...] = ""
    instruct: Parse = parse_content
    single: bool = False
    live_from: Callable[[Sequence[object]], int] = lambda _: 0
    summary: Callable[[Mapping[str, Any]], str] = lambda _: ""
    bound: Callable[[Mapping[str, Any]], bool] = lambda _: False
    look: Callable[[Mapping[str, Any]], Iterator[Finding]] = lambda _: iter(())
    plain: Callable[[Sequence[object], Mapping[str, Any]], bool] = lambda _a, _b: False
    hidden: Callable[[Sequence[object], Mapping[str, Any]], Mapping[int, str]] = lambda _a, _b: {}
    facts: Callable[[Mapping[str, Any]], Facts] | None = None
    cut: Cut | None = None
    keep: Keep | None = None
    parsers: Callable[[Sequence[object]], Sequence[Parse]] | None = None
    groups: tuple[Path, ...] = ()
    about: Callable[[Mapping[str, Any], object], Mapping[str, Any]] = lambda _a, _b: {}
    called: Callable[[Mapping[str, Any]], str] = lambda _: ""
    growing: bool = True
    heading: Callable[[object], bool] = lambda _: False

    @property
    def structural(self) -> frozenset[str]:
        """The keys on any of the paths."""
        return frozenset(
            step
            for path in self.lists + self.answers + self.groups
            for step in path
            if isinstance(step, str)
        )
