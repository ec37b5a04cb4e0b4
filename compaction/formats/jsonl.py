"""A file with one JSON record a line, read as far as it goes: what is broken is told and skipped.

Lines end at a line feed and nowhere else. A line normally parses in one call; only a line that
does not is looked at more closely: objects glued together, a record behind the rest of a torn
one, bytes that are no UTF-8, numbers that are no JSON, nesting too deep to hold.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from time import monotonic
from typing import Any

import orjson

from compaction.findings import Finding, Level
from compaction.formats.base import ReadOptions
from compaction.messages import Progress, Source, Span

#: Faults of one kind told one by one; more of them are counted.
_TOLD = 8

#: Seconds between two reports of progress.
_EVERY = 0.1

#: Lines, and bytes, read between two looks at the clock.
_STRIDE = 256
_LONG = 1 << 20

#: Characters that may be decoded in vain while a whole record is looked for in a broken line.
_EFFORT = 32 << 20

#: What a record has that is found behind the rest of a torn one; parts of a record have not.
_RECORD_KEYS = frozenset({"type", "role", "message", "payload", "record_type"})

#: Where a record may start: an object with a first member.
_START = re.compile(r'\{\s*"')
_OPENING = re.compile(r'\{\s*"[^"\\]{1,64}"\s*:')

_BOM = b"\xef\xbb\xbf"
_BLANK = " \t\r\n"


#: One JSON object and the bytes it stands in.
Record = tuple[dict[str, Any], Span]


class Faults:
    """What is wrong with a file, at most a few of each kind one by one."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._counts: Counter[str] = Counter()
        self._levels: dict[str, Level] = {}

    def tell(self, level: Level, code: str, text: str, line: int | None = None) -> None:
        """Note one fault."""
        self._counts[code] += 1
        if self._counts[code] <= _TOLD:
            self._levels.setdefault(code, level)
            self._findings.append(Finding(level, code, text, line=line))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, the many of one kind as a count."""
        rest = [
            Finding(self._levels[code], code, f"{count - _TOLD:,} more of the kind `{code}`.")
            for code, count in self._counts.items()
            if count > _TOLD
        ]
        return (*self._findings, *rest)


def records(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """The objects of `source` in the order of the file. Never raises for what it holds.

    Integers past 64 bits are floats here; who needs them exactly reads the span again.
    Stops where `options.cancelled` says so, which is told as a fault.
    """
    data = source.data
    total = len(data)
    # The constructor of a named tuple is a function in Python, half as fast.
    loads, find, span_of = orjson.loads, data.find, tuple.__new__
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
            yield from _Closer(source, faults, number, start, end).records()
        else:
            if type(value) is dict:
                yield value, span_of(Span, (start, end, number))
            else:
                _tell_other(faults, value, number)
        if not number % _STRIDE or end - start > _LONG:
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
                options.progress(Progress(min(end + 1, total), total, "bytes"))
        start = end + 1
    if options.progress is not None:
        options.progress(Progress(total, total, "bytes"))


def _tell_other(faults: Faults, value: object, number: int) -> None:
    what = {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
    faults.tell(
        "warning",
        "not-a-record",
        f"Line {number:,} holds {what} where a record should be; skipped.",
        number,
    )


class _Closer:
    """A line that is not exactly one JSON value, looked at closely."""

    def __init__(self, source: Source, faults: Faults, number: int, start: int, end: int) -> None:
        self._faults = faults
        self._number = number
        self._start = start
        self._last = end >= len(source.data)
        raw = source.data[start:end]
        try:
            self._text = raw.decode("utf-8")
            self._encoding = "strict"
        except UnicodeDecodeError:
            # One lone surrogate a byte: positions in the text still tell positions in the bytes.
            self._text = raw.decode("utf-8", "surrogateescape")
            self._encoding = "surrogateescape"
        self._decoder = json.JSONDecoder(strict=False, parse_constant=self._constant)
        self._constants = 0

    def _constant(self, word: str) -> float:
        self._constants += 1
        return float(word.replace("Infinity", "inf"))

    def _tell(self, level: Level, code: str, text: str) -> None:
        self._faults.tell(level, code, text, self._number)

    def records(self) -> Iterator[Record]:
        """The records of the line."""
        text, number = self._text, self._number
        position, found, at, byte = self._skip(0), 0, 0, 0
        while position < len(text):
            constants = self._constants
            try:
                value, stop = self._decoder.raw_decode(text, position)
            except RecursionError:
                self._tell(
                    "error", "too-deep", f"Line {number:,} is nested too deep to be read; skipped."
                )
                return
            except ValueError as error:
                resumed = self._resume(position)
                self._tell_torn(error, whole=resumed is None and not found)
                if resumed is None:
                    return
                position = resumed
                continue
            if type(value) is dict:
                found += 1
                # Measured from the last known place, so that many records cost one pass.
                byte += self._bytes(at, position)
                length = self._bytes(position, stop)
                span = Span(self._start + byte, self._start + byte + length, number)
                at, byte = stop, byte + length
                yield self._cleaned(value, self._constants > constants), span
            else:
                _tell_other(self._faults, value, number)
            position = self._skip(stop)
        if found > 1:
            self._tell(
                "info", "glued", f"Line {number:,} holds {found} records in one line; all are used."
            )

    def _bytes(self, start: int, stop: int) -> int:
        return len(self._text[start:stop].encode("utf-8", self._encoding))

    def _skip(self, position: int) -> int:
        text = self._text
        while position < len(text) and text[position] in _BLANK:
            position += 1
        return position

    def _cleaned(self, value: dict[str, Any], has_constants: bool) -> dict[str, Any]:
        if has_constants:
            self._tell(
                "info",
                "not-json",
                f"Line {self._number:,} has NaN or Infinity, which JSON has not; an export "
                "writes null.",
            )
        if self._encoding == "strict":
            return value
        self._tell(
            "warning",
            "not-utf-8",
            f"Line {self._number:,} has bytes that are no UTF-8; they show as a replacement mark.",
        )
        return {key: _clean(one) for key, one in value.items()}

    def _tell_torn(self, why: ValueError, *, whole: bool) -> None:
        reason, number = self._reason(why), self._number
        if self._last and whole:
            self._tell(
                "warning",
                "torn-end",
                f"The last line ({number:,}) breaks off ({reason}); it may still be being "
                "written. Skipped.",
            )
        else:
            what = "is no JSON" if whole else "holds the rest of a torn record"
            self._tell("error", "broken-line", f"Line {number:,} {what} ({reason}); skipped.")

    def _reason(self, why: ValueError) -> str:
        # Python refuses to convert numbers of thousands of digits, with an error of its own.
        if not isinstance(why, json.JSONDecodeError):
            return "a number in it is too long"
        if why.msg.startswith("Unterminated") or not self._text[why.pos :].strip():
            return "it ends in the middle of a value"
        return f"{why.msg[:1].lower()}{why.msg[1:]} at character {why.pos + 1:,}"

    def _resume(self, position: int) -> int | None:
        """Where a whole record starts that goes on to the end of the line or to another one."""
        text, effort = self._text, 0
        # A torn record and the whole one behind it mostly start alike; else any object may do.
        opening = _OPENING.match(text, position)
        alike = re.compile(re.escape(opening[0])) if opening else _START
        starts = chain(alike.finditer(text, position + 1), _START.finditer(text, position + 1))
        for match in starts:
            at = match.start()
            try:
                value, stop = self._decoder.raw_decode(text, at)
            except RecursionError:
                continue
            except ValueError as error:
                reached = error.pos if isinstance(error, json.JSONDecodeError) else at
                # The decoder counts the line breaks before a fault to say where it is.
                effort += reached - at + reached // 64 + 256
            else:
                effort += stop - at
                rest = self._skip(stop)
                follows = text[rest : rest + 1]
                if (
                    type(value) is dict
                    and not _RECORD_KEYS.isdisjoint(value)
                    and follows in ("", "{")
                ):
                    return at
            if effort > _EFFORT:
                return None
        return None


def _clean(value: Any) -> Any:
    """A value with the bytes that were no UTF-8 as replacement marks."""
    if type(value) is str:
        if value.isascii() or _has_real_surrogate(value):
            return value
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if type(value) is list:
        return [_clean(one) for one in value]
    if type(value) is dict:
        return {key: _clean(one) for key, one in value.items()}
    return value


def _has_real_surrogate(text: str) -> bool:
    # An escape such as \ud83d in the JSON is no byte of the file and cannot be turned back.
    return any("\ud800" <= char <= "\udc7f" or "\udd00" <= char <= "\udfff" for char in text)
