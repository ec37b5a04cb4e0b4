"""What of a file is not in the window, and where it stands between the messages that are.

Finding it reads the file again and is work for a thread; a record is parsed when it is drawn.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import orjson

from compaction.messages import Session, Source, Span

if TYPE_CHECKING:
    from compaction.formats.base import Omitted

#: Bytes of a record up to which it is parsed for one line; of a longer one its beginning is shown.
_PARSED = 65_536
#: Bytes of a longer record that are shown, and values of a record looked at for a text.
_SHOWN, _LOOKED_AT = 400, 60

_KINDS = ("role", "type", "kind", "event")
_INSIDE = ("message", "payload", "data")
_TEXTS = ("text", "content", "summary", "message", "title", "output", "value", "thinking", "name")


@dataclass(frozen=True, slots=True, eq=False)
class WholeFile:
    """The records beside the window, in the order of the file.

    `before` has for each the message it stands before, `spots` its place among messages and
    records together.
    """

    records: tuple[Omitted, ...]
    before: array[int]
    spots: array[int]

    def fits(self, messages: int) -> bool:
        """Whether it can stand between so many messages."""
        return not self.before or self.before[-1] <= messages


def whole_file(session: Session) -> WholeFile:
    """The records of the file of `session` that are not in its list. Takes a reading of it."""
    from compaction.formats import omitted

    return placed(session, omitted(session))


def placed(session: Session, records: tuple[Omitted, ...]) -> WholeFile:
    """`records`, in the order of the file, between the messages of `session`.

    Messages keep their own order, which may be another one than that of the file: a record stands
    after all messages up to the last one that begins before it.
    """
    starts = (message.spans[0].start if message.spans else 0 for message in session.messages)
    reached = list(accumulate(starts, max))
    before = array("l", (bisect_right(reached, one.span.start) for one in records))
    spots = array("l", (message + place for place, message in enumerate(before)))
    return WholeFile(records, before, spots)


class Sketch(NamedTuple):
    """One line about a record: what it is, and the first text in it."""

    kind: str
    text: str


def sketch(source: Source, span: Span) -> Sketch:
    """What stands in a record, in one line. Costs little, however long the record is."""
    if span.end - span.start > _PARSED:
        return Sketch("", _decoded(source.data[span.start : span.start + _SHOWN]))
    raw = source.raw(span)
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return Sketch("", _decoded(raw[:_SHOWN]).strip())
    if not isinstance(value, dict):
        return Sketch("", _first_text(value) or _decoded(raw[:_SHOWN]))
    return Sketch(_kind(value), _first_text(value))


def _kind(record: Mapping[str, object]) -> str:
    """The most telling name of a record: that of what is inside it, where it is an envelope."""
    inner = [record[key] for key in _INSIDE if isinstance(record.get(key), dict)]
    for value in (*inner, record):
        assert isinstance(value, dict)
        for key in _KINDS:
            found = value.get(key)
            if isinstance(found, str) and found:
                return found
    return ""


def _first_text(value: object) -> str:
    """The first text that a reader would call one; telling keys are looked into first."""
    looked = 0
    left = [value]
    while left and looked < _LOOKED_AT:
        looked += 1
        one = left.pop()
        if isinstance(one, str):
            if one.strip():
                return one[:_SHOWN]
        elif isinstance(one, list):
            left.extend(reversed(one[:8]))
        elif isinstance(one, dict):
            left.extend(
                one[key] for key in reversed((*_TEXTS, *_INSIDE)) if one.get(key) not in (None, "")
            )
    return ""


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def readable_record(source: Source, span: Span) -> str:
    """A whole record for a reader: JSON set out, anything else as it stands."""
    raw = source.raw(span)
    if len(raw) <= _PARSED * 4:
        try:
            return orjson.dumps(orjson.loads(raw), option=orjson.OPT_INDENT_2).decode()
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            pass
    return _decoded(raw)
