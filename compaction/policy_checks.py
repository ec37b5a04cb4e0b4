"""How a setting is held to what it may be: one sentence that names it, and the nearest word."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from compaction.errors import PolicyError


class SettingError(PolicyError):
    """A setting that cannot be; `key` is its dotted name, for finding its line."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(sentence)
        self.key = key


def nearest(word: str, known: Sequence[str]) -> str:
    """` (did you mean X?)` when something of `known` is close to `word`, else nothing."""
    lowered = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.5)
    return f" (did you mean {lowered[close[0]]}?)" if close else ""


def one_of(key: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a `value` that is none of `choices`."""
    if value not in choices:
        raise SettingError(
            key,
            f"{key} is {value!r}{nearest(str(value), choices)}; it must be one of "
            f"{', '.join(choices)}.",
        )


def whole(key: str, value: object, least: int = 0) -> None:
    """Refuse a `value` that is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingError(key, f"{key} is {value!r}; it must be a whole number.")
    if value < least:
        raise SettingError(key, f"{key} is {value}; it must be {least} or more.")


def share(key: str, value: object) -> None:
    """Refuse a `value` that is no fraction between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise SettingError(
            key, f"{key} is {value!r}; it must be a fraction from 0 to 1 (or 0% to 100%)."
        )


def flag(key: str, value: object) -> None:
    """Refuse a `value` that is neither true nor false."""
    if not isinstance(value, bool):
        raise SettingError(key, f"{key} is {value!r}; it must be true or false.")
