"""Amounts as people type them: `128k`, `1.2M`, `50%`, `100,000`."""

from __future__ import annotations

import re
from math import floor, log10

#: What an amount may be typed with.
AMOUNT_CHARACTERS = frozenset("0123456789.,_' kKmM%")

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([kKmM]?|%)")
_UNITS = {"": 1.0, "k": 1_000.0, "m": 1_000_000.0}


def parse_amount(text: str, whole: int | None = None) -> int:
    """The whole number `text` means; percentages are of `whole`.

    Raises ValueError with a sentence for the person.
    """
    bare = re.sub(r"[,_'\s]", "", text)
    found = _AMOUNT.fullmatch(bare)
    if found is None:
        share = "" if whole is None else ", 50%"
        raise ValueError(f"“{text.strip()}” is no amount; try 128k, 1.2M{share} or 100000")
    number, unit = float(found[1]), found[2].lower()
    if unit != "%":
        return round(number * _UNITS[unit])
    if whole is None:
        raise ValueError("a percentage needs something it is a part of; type a number")
    return round(whole * number / 100)


def dollars(amount: float) -> str:
    """`$1.46`, and of a few cents as many digits as tell them apart: `$0.0612`."""
    if amount <= 0 or amount >= 0.1:
        return f"${amount:,.2f}"
    digits = min(9, 2 - floor(log10(amount)))
    return f"${amount:.{digits}f}"


def nice_at_most(size: float) -> int:
    """The largest of 1, 2, 5, 10, 20, 50 … that is not above `size`; at least 1."""
    if size < 1:
        return 1
    unit = 10 ** floor(log10(size))
    return int(next(unit * step for step in (5, 2, 1) if unit * step <= size))


def roundest_between(low: float, high: float, near: float) -> int:
    """The whole number in [low, high] with the fewest significant digits, nearest to `near`.

    Where the range holds no whole number it is the nearest one to `near`.
    """
    step = nice_at_most(max(1.0, high - low)) * 10
    while step >= 1:
        nearest = round(near / step) * step
        if low <= nearest <= high:
            return nearest
        step = _next_smaller(step)
    return round(near)


def _next_smaller(step: int) -> int:
    return 0 if step <= 1 else nice_at_most(step - 1)
