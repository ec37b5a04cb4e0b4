"""Where the events of OpenHands runs stand in a file, run by run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compaction.formats import openhands_events as events
from compaction.formats.documents import Document
from compaction.formats.jsonspans import Node
from compaction.formats.layout import Listing
from compaction.formats.openhands_parts import parts
from compaction.messages import Span, preview_of

#: Members under which documents hold events.
KEYS = ("history", "trajectory", "events")

#: Whether a list is of events is told from its first values.
_LOOKED_AT = 20


def event_list(value: object) -> str:
    """The key under which an object holds events; "" for none."""
    if isinstance(value, Mapping):
        for key in KEYS:
            held = value.get(key)
            if isinstance(held, list) and any(events.is_event(one) for one in held[:_LOOKED_AT]):
                return key
    return ""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its events, where they stand, and what is told about it."""

    nodes: tuple[Node, ...]
    spans: tuple[Span, ...]
    listing: Listing
    start: int
    end: int
    closers: str = ""
    name: str = ""


def runs(document: Document) -> Iterator[Run]:
    """The runs in a file, in their order."""
    roots = document.roots
    if document.lines or events.is_event(roots[0].value):
        if sum(events.is_event(root.value) for root in roots) * 2 >= len(roots):
            yield _lines(document)
            return
        for root in roots:
            yield from _held(document, root)
        return
    root = roots[0]
    if root.items is None:
        yield from _held(document, root)
        return
    if any(events.is_event(item.value) for item in root.items):
        yield _listed(document, root, root, whole=True)
        return
    for item in root.items:
        yield from _held(document, item)


def _lines(document: Document) -> Run:
    spans = tuple(document.span(root) for root in document.roots)
    size = document.source.size
    return Run(document.roots, spans, Listing(0, size, spans, lines=True), 0, size)


def _held(document: Document, node: Node) -> Iterator[Run]:
    key = event_list(node.value)
    if not key:
        return
    whole = node is document.roots[0] and not document.lines
    held = (document.deeper(node) if node.members is None else node).get(key)
    if held is not None and held.items is not None:
        yield _listed(document, held, node, whole=whole)


def _listed(document: Document, held: Node, holder: Node, *, whole: bool) -> Run:
    items = held.items or ()
    spans = tuple(document.span(item) for item in items)
    opened, closed = document.inside(held)
    span = document.span(holder)
    start, end = (0, document.source.size) if whole else (span.start, span.end)
    closers = document.roots[0].closers
    if closers:
        start, end = 0, document.span(document.roots[0]).end
    listing = Listing(opened, closed, spans)
    return Run(items, spans, listing, start, end, closers, _named(holder.value))


def _named(holder: object) -> str:
    if isinstance(holder, Mapping):
        for key in ("instance_id", "id", "conversation_id"):
            value = holder.get(key)
            if isinstance(value, (str, int)) and not isinstance(value, bool):
                return str(value)
        issue = holder.get("issue")
        if isinstance(issue, Mapping) and isinstance(issue.get("number"), int):
            return f"issue {issue['number']}"
    return ""


def title(found: Run) -> str:
    """The first thing a user says in a run."""
    for node in found.nodes:
        event = node.value
        if not events.is_event(event) or events.what(event) != "message":
            continue
        if events.role(event) == "user":
            return preview_of(parts(event))[:80]
    return ""
