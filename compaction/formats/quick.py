"""JSON read by orjson wherever that gives the very values of the exact reader, which is slower."""

from __future__ import annotations

import re
from typing import Any

import orjson

from compaction.formats import exact

#: Where JSON may say -0, which orjson reads as 0.
_MINUS_ZERO = re.compile(rb"[\s:,\[]-0")


def loads(raw: bytes) -> Any:
    """As `exact.loads`: orjson's value, unless it has a number that would be spelled otherwise."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return exact.loads(raw)
    return exact.loads(raw) if respelled([value], raw) else value


def respelled(left: list[object], raw: bytes) -> bool:
    """Whether orjson's values `left`, read from `raw`, may hold a number spelled otherwise there.

    `left` grows by what is inside of them.
    """
    for value in left:
        # Most values are strings, and passing them by is most of the work.
        if isinstance(value, dict):
            left += [inner for inner in value.values() if type(inner) is not str]
        elif isinstance(value, list):
            left += [inner for inner in value if type(inner) is not str]
        elif isinstance(value, float) or (
            type(value) is int and not value and _MINUS_ZERO.search(raw)
        ):
            return True
    return False
