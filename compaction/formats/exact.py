"""JSON read and written without loss: digits, number spelling, key order, lone surrogates.

Every number that Python would spell differently, or would not hold, is a `Number`: a float that
remembers its text. `NaN` and `Infinity`, which are no JSON, are read as floats and written as
`null`. The reader is the standard library's C scanner with hooks; orjson is faster by itself, but
not by enough to pay for proving first that a text has no number it would change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import orjson

#: Longer runs of digits are kept as text: Python refuses to convert more than 4,300 of them.
_LONGEST_INT = 4000

_SURROGATE = re.compile("[\ud800-\udfff]")


class ExactError(ValueError):
    """Text that is no JSON value. `str()` says what and at which character (0-based `position`)."""

    def __init__(self, what: str, position: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.position = position


class Number(float):
    """A number with its own spelling: `1.10`, `1e5`, `-0`, an integer of 5,000 digits."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.text = text
        return made

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number) and float(self) in _INFINITE:
            return self.text == other.text
        return float(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = float.__hash__

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        return Number, (self.text,)


_INFINITE = (float("inf"), float("-inf"))

#: Bits of the integers that Python spells whatever its limit is set to.
_SPELLED_BITS = 2100


def _integer(text: str) -> int | Number:
    if text == "-0" or len(text) > _LONGEST_INT:
        return Number(text)
    return int(text)


_DECODER = json.JSONDecoder(strict=False, parse_float=Number, parse_int=_integer)


def decode_at(text: str, position: int, decoder: json.JSONDecoder = _DECODER) -> tuple[Any, int]:
    """The JSON value that starts exactly at `position`, and the position after it.

    Raises ExactError for anything else, nesting too deep to hold included.
    """
    try:
        return decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise ExactError(_sentence(error.msg, text, error.pos), error.pos) from None
    except RecursionError:
        raise ExactError("the value is nested too deep to be read", position) from None


def _sentence(reason: str, text: str, position: int) -> str:
    if not _BLACK.search(text, position):
        return "the text ends in the middle of a value"
    if reason == "Expecting value":
        reason = "no JSON value starts here"
    return f"{reason[:1].lower()}{reason[1:]} ({_near(text, position)})"


def _near(text: str, position: int) -> str:
    return f"near {text[position : position + 20]!r}"


def skip_blank(text: str, position: int) -> int:
    """The first position at or after `position` that is no JSON white space."""
    found = _NOT_BLANK.search(text, position)
    return found.start() if found else len(text)


_NOT_BLANK = re.compile(r"[^ \t\n\r]")
_BLACK = re.compile(r"\S")


def decode_bytes(data: bytes) -> str:
    """UTF-8 (with or without a byte order mark) as text; bytes that are none become U+FFFD."""
    return data.decode("utf-8-sig", errors="replace")


def loads(source: str | bytes) -> Any:
    """The one JSON value in `source`. Raises ExactError when it is not exactly one."""
    return _load(source, _DECODER)


def _load(source: str | bytes, decoder: json.JSONDecoder) -> Any:
    text = decode_bytes(source) if isinstance(source, bytes) else source
    value, end = decode_at(text, skip_blank(text, 0), decoder)
    end = skip_blank(text, end)
    if end != len(text):
        raise ExactError(f"something follows the value ({_near(text, end)})", end)
    return value


def loads_telling(source: str | bytes) -> tuple[Any, int]:
    """As `loads`, with how many `NaN` and `Infinity` were read that will be written as null."""
    seen: list[str] = []

    def constant(word: str) -> float:
        seen.append(word)
        return float(word.replace("Infinity", "inf"))

    decoder = json.JSONDecoder(
        strict=False, parse_float=Number, parse_int=_integer, parse_constant=constant
    )
    return _load(source, decoder), len(seen)


def is_valid(raw: bytes) -> bool:
    """Whether `raw` is one JSON value that every JSON reader accepts, so that it can be copied."""
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _is_valid_slow(raw)
    return True


def _is_valid_slow(raw: bytes) -> bool:
    # What orjson refuses though it is JSON: escaped lone surrogates, numbers past a double, and
    # nesting past its own limit.
    def refuse(_: str) -> object:
        raise ValueError

    decoder = json.JSONDecoder(parse_int=_integer, parse_float=Number, parse_constant=refuse)
    try:
        decoder.decode(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return True


# ------------------------------------------------------------------------------------ writing


@dataclass(frozen=True, slots=True)
class Style:
    """How JSON is laid out. `indent` is one level ("" puts all on one line)."""

    indent: str = ""
    comma: str = ","
    colon: str = ":"
    ascii: bool = False


COMPACT = Style()
SPACED = Style(comma=", ", colon=": ")
PRETTY = Style(indent="  ", comma=",", colon=": ")


def dumps(value: object, style: Style = COMPACT) -> str:
    """`value` as JSON text: what `loads` read is spelled as it was; lone surrogates are escaped.

    Tuples count as arrays, other mappings as objects, and keys that are no text by their text.
    """
    return dump_bytes(value, style).decode("utf-8")


def dump_bytes(value: object, style: Style = COMPACT) -> bytes:
    """`dumps`, as UTF-8."""
    if style == COMPACT:
        try:
            return orjson.dumps(value, default=_spelled, option=orjson.OPT_PASSTHROUGH_SUBCLASS)
        except (orjson.JSONEncodeError, RecursionError):
            # Integers past 64 bits, lone surrogates, odd keys, or too deep for it.
            pass
    pieces: list[str] = []
    _write(value, style, pieces.append)
    text = "".join(pieces)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def _spelled(value: object) -> object:
    if isinstance(value, Number):
        return orjson.Fragment(value.text.encode())
    raise TypeError


def _write(value: object, style: Style, put: Any) -> None:
    """Write without recursion, so that depth costs memory and never the interpreter's stack."""
    string = json.encoder.encode_basestring_ascii if style.ascii else json.encoder.encode_basestring
    stack: list[tuple[Any, str, bool]] = []
    current: object = value
    while True:
        # One value: a container is opened and waits on the stack; anything else is put.
        if isinstance(current, Mapping) and current:
            put("{")
            stack.append((iter(current.items()), "}", True))
        elif isinstance(current, (list, tuple)) and current:
            put("[")
            stack.append((iter(current), "]", False))
        else:
            put(_scalar(current, string))
        while stack:
            items, closer, keyed = stack[-1]
            try:
                entry = next(items)
            except StopIteration:
                stack.pop()
                put(_break(style, len(stack)) + closer)
                continue
            if isinstance(items, _Started):
                put(style.comma)
            else:
                stack[-1] = (_Started(items), closer, keyed)
            put(_break(style, len(stack)))
            if keyed:
                put(string(entry[0] if isinstance(entry[0], str) else _key(entry[0])) + style.colon)
                current = entry[1]
            else:
                current = entry
            break
        else:
            return


class _Started:
    """An iterator that has already given its first item."""

    __slots__ = ("_items",)

    def __init__(self, items: Any) -> None:
        self._items = items

    def __next__(self) -> Any:
        return next(self._items)


def _break(style: Style, depth: int) -> str:
    return "\n" + style.indent * depth if style.indent else ""


def _key(key: object) -> str:
    return _scalar(key, str)


def _scalar(value: object, string: Any) -> str:
    match value:
        case str():
            return str(string(str(value)))
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case Number():
            return value.text
        case int():
            # Python spells no integer of more than some 4,000 digits; a Decimal has no limit.
            huge = value.bit_length() > _SPELLED_BITS
            return format(Decimal(value), "f") if huge else int.__repr__(value)
        case float():
            return float.__repr__(value) if value - value == 0 else "null"
        case Mapping():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return str(string(str(value)))
