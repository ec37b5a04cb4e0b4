"""Spans of OpenTelemetry, from the many files they are exported to: one flat list of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compaction.formats.documents import Document
from compaction.formats.jsonspans import Node
from compaction.messages import Span

Record = Mapping[str, Any]

#: Members that hold spans, in the protocol's JSON and in that of SDKs and backends.
HOLDERS = frozenset(
    {
        "resourceSpans",
        "resource_spans",
        "scopeSpans",
        "scope_spans",
        "instrumentationLibrarySpans",
        "spans",
        "data",
    }
)

#: How the names of attributes begin that speak of models.
TELLING = ("gen_ai.", "llm.", "ai.", "openinference.", "traceloop.", "pydantic_ai.")

_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue")


@dataclass(frozen=True, slots=True)
class OtelSpan:
    """One span: its attributes by their full names, and its events in order."""

    trace: str
    start: str
    name: str
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    place: Span


def spans_in(document: Document) -> Iterator[OtelSpan]:
    """All spans of a file, in its order."""
    for root in document.roots:
        stack = [root]
        while stack:
            node = stack.pop()
            if node.items is not None:
                stack += reversed(node.items)
                continue
            if not isinstance(node.value, dict):
                continue
            if is_span(node.value):
                yield _span(node, document)
                continue
            if node.members is None and not HOLDERS.isdisjoint(node.value):
                node = document.deeper(node)
            stack += reversed([m.node for m in node.members or () if m.key in HOLDERS])


def is_span(value: object) -> bool:
    """Whether a value is a span: it is part of a trace, and has attributes."""
    if not isinstance(value, Mapping):
        return False
    attributes = value.get("attributes", value.get("span_attributes"))
    return isinstance(attributes, (list, Mapping)) and bool(_trace(value))


def attribute_names(value: Record) -> list[str]:
    """The names of the attributes of a span."""
    return list(_attributes(value.get("attributes", value.get("span_attributes"))))


def _trace(value: Record) -> str:
    for key in ("traceId", "trace_id", "TraceId"):
        if isinstance(value.get(key), str):
            return str(value[key])
    for key in ("spanContext", "context", "SpanContext", "span_context"):
        inner = value.get(key)
        if isinstance(inner, Mapping):
            for name in ("traceId", "trace_id", "TraceID"):
                if isinstance(inner.get(name), (str, int)):
                    return str(inner[name])
    return ""


def _span(node: Node, document: Document) -> OtelSpan:
    value: Record = node.value
    listed = value.get("events")
    events = [
        (str(event["name"]), _attributes(event.get("attributes")))
        for event in (listed if isinstance(listed, list) else [])
        if isinstance(event, Mapping) and isinstance(event.get("name"), str)
    ]
    name = value.get("name")
    return OtelSpan(
        _trace(value),
        _start(value),
        name if isinstance(name, str) else "",
        _attributes(value.get("attributes", value.get("span_attributes"))),
        tuple(events),
        document.span(node),
    )


def _start(value: Record) -> str:
    """When a span began, so that texts compare as times do within one file."""
    for key in ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "start"):
        found = value.get(key)
        if isinstance(found, list) and len(found) == 2:
            seconds, rest = found
            if isinstance(seconds, int) and isinstance(rest, int):
                return f"{seconds * 10**9 + rest:030d}"
        if isinstance(found, (int, float)) and not isinstance(found, bool) and 0 <= found < 1e25:
            return f"{int(found):030d}"
        if isinstance(found, str) and found:
            return found.rjust(30, "0") if found.isdigit() else found
    return ""


def _attributes(held: object) -> dict[str, Any]:
    """Attributes by name: a list of keys and values, or an object, nested or not."""
    if isinstance(held, list):
        return {
            str(one["key"]): _value(one.get("value"))
            for one in held
            if isinstance(one, Mapping) and isinstance(one.get("key"), str)
        }
    return dict(_flat(held)) if isinstance(held, Mapping) else {}


def _flat(held: Record) -> Iterator[tuple[str, Any]]:
    stack: list[tuple[str, Any]] = [
        (str(key), value) for key, value in reversed(list(held.items()))
    ]
    while stack:
        name, value = stack.pop()
        nested = isinstance(value, Mapping)
        listed = isinstance(value, list) and any(isinstance(one, Mapping) for one in value)
        if nested and value and not any(key in value for key in _VALUES):
            stack += [(f"{name}.{key}", inner) for key, inner in reversed(list(value.items()))]
        elif listed and _numbered(name):
            stack += [(f"{name}.{i}", inner) for i, inner in reversed(list(enumerate(value)))]
        else:
            yield name, _value(value)


def _numbered(name: str) -> bool:
    """Whether a list of objects stands for attributes with numbers in their names."""
    last = name.rpartition(".")[2]
    return last in ("input_messages", "output_messages", "contents", "tool_calls", "tools") and (
        name.startswith("llm.") or ".message" in name
    )


def _value(value: object) -> Any:
    """A value of the protocol as a plain one."""
    if not isinstance(value, Mapping):
        return value
    for key in _VALUES:
        if key in value:
            found = value[key]
            if key == "intValue" and isinstance(found, str) and found.lstrip("-").isdigit():
                return int(found) if len(found) < 20 else found
            return found
    for key in ("arrayValue", "kvlistValue"):
        inner = value.get(key)
        listed = inner.get("values") if isinstance(inner, Mapping) else None
        if isinstance(listed, list):
            return _attributes(listed) if key == "kvlistValue" else [_value(v) for v in listed]
    return value
