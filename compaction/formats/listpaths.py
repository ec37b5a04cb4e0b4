"""Where in a document the lists of messages are, for tools that put them anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.formats import exact
from compaction.formats.base import Sample
from compaction.formats.layout import Layout
from compaction.messages import Session, Source

#: How deep lists are looked for, how many elements of one say what it holds, and how many values
#: of a file with one value a line are asked.
_DEEPEST = 10
_ASKED = 50
_VALUES = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A list of messages: the keys that lead to it, and its values."""

    path: tuple[str, ...]
    values: Sequence[object]


def places_in(value: object, is_message: Callable[[object], bool]) -> Iterator[Place]:
    """Every list of messages under the keys of an object, and of the objects in it."""
    stack: list[tuple[tuple[str, ...], object]] = [((), value)]
    while stack:
        path, current = stack.pop()
        if isinstance(current, list):
            if path and any(is_message(item) for item in current[:_ASKED]):
                yield Place(path, current)
        elif isinstance(current, Mapping) and len(path) < _DEEPEST and not is_message(current):
            stack += [((*path, str(key)), inner) for key, inner in reversed(list(current.items()))]


def paths_in(root: object, is_message: Callable[[object], bool]) -> tuple[tuple[str, ...], ...]:
    """The paths to lists of messages in a document, or in the elements of one; longest first."""
    longest: dict[tuple[str, ...], int] = {}
    for value in root[:_VALUES] if isinstance(root, list) else [root]:
        for place in places_in(value, is_message):
            longest[place.path] = max(longest.get(place.path, 0), len(place.values))
    return tuple(sorted(longest, key=lambda path: -longest[path]))


def lists_of(sample: Sample, is_message: Callable[[object], bool]) -> Iterator[Sequence[object]]:
    """Every list of messages in a sample: the document itself, lines that are messages, and all
    that is further inside.
    """
    roots: Sequence[object] = sample.lines if sample.whole is None else (sample.whole,)
    if len(roots) > 0 and any(is_message(root) for root in roots[:_ASKED]):
        yield roots
    for root in roots[:_VALUES]:
        if isinstance(root, list):
            if any(is_message(item) for item in root[:_ASKED]):
                yield root
            for item in root[:_ASKED]:
                yield from (place.values for place in places_in(item, is_message))
        else:
            yield from (place.values for place in places_in(root, is_message))


def records_of(layout: Layout, source: Source) -> list[Mapping[str, Any]]:
    """All records of the lists of a layout, whatever became of them."""
    spans = (span for listing in layout.listings for span in listing.elements)
    values = (exact.loads(source.raw(span)) for span in spans)
    return [value for value in values if isinstance(value, Mapping)]


def records_in(session: Session) -> Iterator[Mapping[str, Any]]:
    """The first records of the list that a session was read from, whatever became of them."""
    layout = session.document
    if not isinstance(layout, Layout):
        return
    for listing in layout.listings:
        for span in listing.elements[:_VALUES]:
            try:
                value = exact.loads(session.source.raw(span))
            except exact.ExactError:
                continue
            if isinstance(value, Mapping):
                yield value
