"""Call ids that a provider accepts: kept where they are valid, else replaced, call and result
alike, by the same rule every time."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict

#: Longest id each side is known to accept.
CHAT_LIMIT = 40
LIMIT = 64

_VALID = re.compile(r"[a-zA-Z0-9_-]+")


class Ids:
    """The ids of one rendering, in the order of its messages.

    `unique` gives a repeated id a new name each time it is called again; a result goes with the
    nearest call before it. Calls and results without an id are paired in their order.
    `verbatim` changes nothing: for messages that stay in the file they came from.
    """

    __slots__ = (
        "_answered",
        "_limit",
        "_names",
        "_open",
        "_order",
        "_taken",
        "_unique",
        "_verbatim",
        "changed",
    )

    def __init__(self, *, limit: int = LIMIT, unique: bool = False, verbatim: bool = False) -> None:
        self._verbatim = verbatim
        self._limit = limit
        self._unique = unique
        self._taken: dict[str, str] = {}
        self._names: set[str] = set()
        self._answered: set[str] = set()
        self._open: defaultdict[str, list[str]] = defaultdict(list)
        self._order: dict[str, int] = {}
        #: Original ids that were replaced, and by what.
        self.changed: dict[str, str] = {}

    def call(self, original: str) -> str:
        """The id of a call."""
        if self._verbatim:
            return original
        fresh = not original or (self._unique and original in self._open)
        made = self._name(original, f"{original}\0{len(self._order)}" if fresh else original)
        self._open[original].append(made)
        self._answered.discard(made)
        self._order.setdefault(made, len(self._order))
        if made != original:
            self.changed.setdefault(original, made)
        return made

    def result(self, original: str) -> str:
        """The id of the call that a result answers."""
        if self._verbatim:
            return original
        calls = self._open.get(original)
        if not calls:
            return self._name(original, original or "\0orphan")
        # Without ids the oldest open call is meant; with one, the newest of that id.
        candidates = calls if not original else reversed(calls)
        made = next((call for call in candidates if call not in self._answered), calls[-1])
        self._answered.add(made)
        return made

    def order(self, made: str) -> int:
        """The place of a call among all calls, for sorting results; unknown ones come last."""
        return self._order.get(made, len(self._order))

    def _name(self, original: str, key: str) -> str:
        known = self._taken.get(key)
        if known is not None:
            return known
        candidates = [original, original.partition("|")[0]] if key == original else []
        for candidate in candidates:
            if self._accepts(candidate) and candidate not in self._names:
                self._names.add(candidate)
                self._taken[key] = candidate
                return candidate
        made = "call_" + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:24]
        self._taken[key] = made
        self._names.add(made)
        return made

    def _accepts(self, candidate: str) -> bool:
        return 0 < len(candidate) <= self._limit and bool(_VALID.fullmatch(candidate))
