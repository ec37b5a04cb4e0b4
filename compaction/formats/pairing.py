"""Ids for calls and results of formats that have none: the results answer the calls before them.

An id is made from the call and its place in its run of calls, so that it is the same wherever
the run stands, and another one for other arguments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats.sketching import Parse
from compaction.messages import Part, ToolCall, ToolResult

#: What reads one record.
ParseRecord = Callable[[Mapping[str, Any]], tuple[Part, ...]]


class _Run:
    """Calls that stand together, and which of them wait for a result."""

    __slots__ = ("_answering", "_count", "_open")

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []
        self._count = 0
        self._answering = False

    def end(self) -> None:
        self._open, self._count, self._answering = [], 0, False

    def call(self, call: ToolCall) -> str:
        if self._answering:
            self.end()
        self._count += 1
        made = call.id or self._made(call)
        self._open.append((made, call.name))
        return made

    def _made(self, call: ToolCall) -> str:
        said = f"{self._count}\0{call.name}\0{call.arguments}".encode("utf-8", "replace")
        return f"{call.name or 'call'}-{hashlib.sha256(said).hexdigest()[:8]}"

    def result(self, result: ToolResult) -> str:
        """The id of the call that a result answers, "" where there is none open."""
        self._answering = True
        named = [
            entry
            for entry in self._open
            if result.name and (entry[1] + ".").startswith(result.name + ".")
        ]
        asked = [entry for entry in self._open if entry[0] == result.call_id]
        found = asked if result.call_id else named or self._open
        if not found:
            return result.call_id
        entry = found[0]
        self._open.remove(entry)
        return entry[0]


def in_order(records: Sequence[Sequence[Part]]) -> list[tuple[str, ...]]:
    """For each record the ids of its calls and results, those that are missing made up."""
    run = _Run()
    out: list[tuple[str, ...]] = []
    for parts in records:
        ids: list[str] = []
        for part in parts:
            if isinstance(part, ToolCall):
                ids.append(run.call(part))
            elif isinstance(part, ToolResult):
                ids.append(run.result(part))
        if parts and not ids:
            run.end()
        out.append(tuple(ids))
    return out


def with_ids(parts: Sequence[Part], ids: Sequence[str]) -> tuple[Part, ...]:
    """`parts` with the ids of its calls and results, in their order."""
    left = iter(ids)
    return tuple(
        replace(part, id=next(left))
        if isinstance(part, ToolCall)
        else replace(part, call_id=next(left))
        if isinstance(part, ToolResult)
        else part
        for part in parts
    )


def pairing(parse: ParseRecord) -> Callable[[Sequence[object]], Sequence[Parse]]:
    """For a list of records what reads each of them, its calls and results paired."""

    def numbered(ids: tuple[str, ...]) -> Parse:
        return lambda record: with_ids(parse(record), ids)

    def parsers(values: Sequence[object]) -> Sequence[Parse]:
        parsed = [parse(value) if isinstance(value, Mapping) else () for value in values]
        return [numbered(ids) if ids else parse for ids in in_order(parsed)]

    return parsers
