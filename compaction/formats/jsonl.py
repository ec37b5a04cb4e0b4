"""A file with one JSON record a line, read as far as it goes: what is broken is told and skipped.

Lines end at a line feed and nowhere else. A line normally parses in one call; only a line that
does not is looked at more closely: objects glued together, a record behind the rest of a torn
one, bytes that are no UTF-8, numbers that are no JSON, nesting too deep to hold.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from time import monotonic
from typing import Any, NamedTuple

import orjson

from compaction.findings import Finding, Level
from compaction.formats.base import ReadOptions
from compaction.messages import Progress, Source, Span

#: Faults of one kind told one by one; more of them are counted.
_TOLD = 8

#: Places of a broken line where a whole record is looked for.
_TRIES = 200

#: Seconds between two reports of progress.
_EVERY = 0.1

#: Lines read between two looks at the clock.
_STRIDE = 256

#: What a record has that is found behind the rest of a torn one; parts of a record have not.
_RECORD_KEYS = frozenset({"type", "role", "message", "payload", "record_type"})

_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder(strict=False)


class Record(NamedTuple):
    """One JSON object and the bytes it stands in."""

    value: dict[str, Any]
    span: Span


class Faults:
    """What is wrong with a file, at most a few of each kind one by one."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._counts: Counter[str] = Counter()

    def tell(self, level: Level, code: str, text: str, line: int | None = None) -> None:
        """Note one fault."""
        self._counts[code] += 1
        if self._counts[code] <= _TOLD:
            self._findings.append(Finding(level, code, text, line=line))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, the many of one kind as a count."""
        rest = [
            Finding("warning", code, f"{count - _TOLD:,} more of the kind `{code}`.")
            for code, count in self._counts.items()
            if count > _TOLD
        ]
        return (*self._findings, *rest)


def records(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """The objects of `source` in the order of the file. Never raises for what it holds.

    Stops where `options.cancelled` says so, which is told as a fault.
    """
    data = source.data
    total = len(data)
    loads, find = orjson.loads, data.find
    start = 3 if data.startswith(_BOM) else 0
    number, told_at = 0, monotonic()
    while start < total:
        end = find(b"\n", start)
        if end < 0:
            end = total
        number += 1
        try:
            value = loads(data[start:end])
        except orjson.JSONDecodeError:
            yield from _closer(data, start, end, number, faults)
        else:
            if type(value) is dict:
                yield Record(value, Span(start, end, number))
            else:
                faults.tell(
                    "warning",
                    "not-a-record",
                    f"Line {number:,} holds {_named(value)} where a record should be; skipped.",
                    number,
                )
        start = end + 1
        if not number % _STRIDE:
            if options.cancelled():
                faults.tell(
                    "warning",
                    "stopped",
                    f"Reading was stopped at line {number:,}; what follows is not shown.",
                    number,
                )
                return
            if options.progress is not None and monotonic() - told_at >= _EVERY:
                told_at = monotonic()
                options.progress(Progress(min(start, total), total, "bytes"))
    if options.progress is not None:
        options.progress(Progress(total, total, "bytes"))


def _named(value: object) -> str:
    return {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")


def _closer(data: bytes, start: int, end: int, number: int, faults: Faults) -> Iterator[Record]:
    """The records of a line that is not exactly one JSON value."""
    raw = data[start:end]
    if not raw.strip():
        return
    try:
        text = raw.decode("utf-8")
        encoding = "strict"
    except UnicodeDecodeError:
        # One lone surrogate a byte: positions in the text still tell positions in the bytes.
        text = raw.decode("utf-8", "surrogateescape")
        encoding = "surrogateescape"
        faults.tell(
            "warning",
            "not-utf-8",
            f"Line {number:,} has bytes that are no UTF-8; they show as a replacement mark.",
            number,
        )
    position, found = _skip(text, 0), 0
    while position < len(text):
        try:
            value, stop = _DECODER.raw_decode(text, position)
        except RecursionError:
            faults.tell(
                "error",
                "too-deep",
                f"Line {number:,} is nested too deep to be read; skipped.",
                number,
            )
            return
        except ValueError as error:
            resumed = _resume(text, position)
            whole_lost = resumed is None and not found
            _tell_torn(faults, number, last=end >= len(data), whole=whole_lost, why=error)
            if resumed is None:
                return
            position = resumed
            continue
        if type(value) is dict:
            found += 1
            before = len(text[:position].encode("utf-8", encoding))
            length = len(text[position:stop].encode("utf-8", encoding))
            span = Span(start + before, start + before + length, number)
            yield Record(_clean(value) if encoding != "strict" else value, span)
        else:
            faults.tell(
                "warning",
                "not-a-record",
                f"Line {number:,} holds {_named(value)} where a record should be; skipped.",
                number,
            )
        position = _skip(text, stop)
    if found > 1:
        faults.tell(
            "info",
            "glued",
            f"Line {number:,} holds {found} records in one line; all are used.",
            number,
        )


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _tell_torn(faults: Faults, number: int, *, last: bool, whole: bool, why: ValueError) -> None:
    reason = why.msg.lower() if isinstance(why, json.JSONDecodeError) else "not readable"
    if last and whole:
        faults.tell(
            "warning",
            "torn-end",
            f"The last line ({number:,}) breaks off ({reason}); it may still be being written. "
            "Skipped.",
            number,
        )
    else:
        what = "is no JSON" if whole else "holds the rest of a torn record"
        faults.tell("error", "broken-line", f"Line {number:,} {what} ({reason}); skipped.", number)


def _resume(text: str, position: int) -> int | None:
    """Where in a broken line a whole record starts that goes on to its end or to another one."""
    at = position
    for _ in range(_TRIES):
        at = text.find('{"', at + 1)
        if at < 0:
            return None
        try:
            value, stop = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        rest = text[_skip(text, stop) : _skip(text, stop) + 1]
        if type(value) is dict and not _RECORD_KEYS.isdisjoint(value) and rest in ("", "{"):
            return at
    return None


def _clean(value: Any) -> Any:
    """A value with the bytes that were no UTF-8 as replacement marks."""
    if type(value) is str:
        return (
            value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if not (value.isascii()) and not _has_real_surrogate(value)
            else value
        )
    if type(value) is list:
        return [_clean(one) for one in value]
    if type(value) is dict:
        return {key: _clean(one) for key, one in value.items()}
    return value


def _has_real_surrogate(text: str) -> bool:
    # An escape such as \ud83d in the JSON is no byte of the file and cannot be turned back.
    return any("\ud800" <= char <= "\udc7f" or "\udd00" <= char <= "\udfff" for char in text)
