"""Lines written back as they were read, but for those that would be no JSON.

A number such as NaN, or a bare control character in a text, is read all the same; a copy of it
would be refused by the tool that the file is written for. Bytes that are no UTF-8 stay: readers
of JSON lines replace them, and they are not ours to change.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats.base import Written
from compaction.messages import Source, Span


class Mended:
    """Gives lines to write, and counts those that had to change."""

    __slots__ = ("_count", "_first")

    def __init__(self) -> None:
        self._count = 0
        self._first: int | None = None

    def line(self, source: Source, span: Span) -> bytes:
        """The line of one record, with its line feed."""
        raw = source.raw(span).rstrip(b"\r\n")
        return self._sound(raw, span.line) + b"\n"

    def file(self, source: Source) -> Written:
        """The whole file."""
        data = source.data
        if b"NaN" not in data and b"Infinity" not in data:
            return Written((data,))
        return Written(tuple(self._lines(data)), self.findings())

    def _lines(self, data: bytes) -> Iterator[bytes]:
        for number, line in enumerate(io.BytesIO(data), 1):
            if b"NaN" in line or b"Infinity" in line:
                raw = line.rstrip(b"\r\n")
                yield self._sound(raw, number) + line[len(raw) :]
            else:
                yield line

    def _sound(self, raw: bytes, number: int) -> bytes:
        if exact.is_valid(raw):
            return raw
        text = exact.decode_bytes(raw)
        if exact.is_valid(text.encode()):
            return raw
        try:
            sound = exact.dump_bytes(exact.loads(text))
        except exact.ExactError:
            # A line that nobody can read is copied with the file, as it is.
            return raw
        self._count += 1
        self._first = self._first or number
        return sound

    def findings(self) -> tuple[Finding, ...]:
        """What was changed."""
        if not self._count:
            return ()
        lines = "1 line" if self._count == 1 else f"{self._count:,} lines"
        return (
            Finding(
                "warning",
                "export-no-json",
                f"{lines} with numbers or characters that JSON cannot hold (NaN, Infinity, "
                f"control characters) written as JSON: null, or escaped (first in line "
                f"{self._first:,}).",
                line=self._first,
            ),
        )
