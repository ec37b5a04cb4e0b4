"""What a dialect could not hold, collected while rendering and told once per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compaction.findings import Finding, Level

#: How each kind of loss is told: level, what became of it, what to do.
_OUTCOMES: dict[str, tuple[Level, str, str]] = {
    "thinking": (
        "warning",
        "is left out: its signature is only valid for the provider that made it",
        "export in the session's own format to keep it",
    ),
    "sealed": (
        "error",
        "is left out: only its provider can read it, and what it stands for is not in the file",
        "export in the session's own format",
    ),
    "media": ("warning", "is written as a text label", "export in a format that holds it"),
    "opaque": ("warning", "is written as its JSON text", "export in the session's own format"),
    "arguments": ("warning", 'are wrapped as {"input": …}, since an object must be sent', ""),
    "empty-text": ("info", "is left out, since the API refuses it", ""),
    "error-flag": ("info", "is not held; the text of the result stays", ""),
    "name": ("info", "is not held", ""),
    "system-inside": ("warning", "is written as a user message", ""),
    "first-user": ("info", "gets a user message in front, since the API wants one first", ""),
    "call-id": (
        "info",
        "is replaced, in the call and its result alike",
        "",
    ),
    "free-call": ("info", "is written as a function call", ""),
    "empty-message": ("info", "is left out, since nothing of it can be held", ""),
    "system": ("warning", "is left out: the tool adds its own when it resumes", ""),
    "kept-system": ("info", "stays in the file: the tool keeps it there and sends it", ""),
    "plain-call": ("warning", "is written as text", "export in a format that holds tool calls"),
    "plain-thinking": ("info", "is left out", "export in the session's own format to keep it"),
    "signature": ("info", "is not held", "export in the session's own format to keep it"),
    "tools": ("warning", "are left out", "add the tool definitions by hand"),
}


class Notes:
    """Losses by kind: how often, and the first message that has one."""

    __slots__ = ("_index", "_told", "places", "target")

    def __init__(self, target: str) -> None:
        self.target = target
        self._index: int | None = None
        #: For a list that was merged: the index in the session of each of its messages.
        self.places: Sequence[int] | None = None
        self._told: dict[tuple[str, str], tuple[int, int | None]] = {}

    def at(self, index: int | None) -> Notes:
        """Say which message the following losses belong to."""
        self._index = index if index is None or self.places is None else self.places[index]
        return self

    def tell(self, kind: str, what: str) -> None:
        """Note one loss; `what` is the subject of its sentence."""
        count, first = self._told.get((kind, what), (0, self._index))
        self._told[kind, what] = (count + 1, first)

    def tell_ids(self, changed: Mapping[str, str]) -> None:
        """Note the call ids that had to change."""
        self._index = None
        for _ in changed:
            self.tell("call-id", "a call id that is missing, repeated or not accepted")

    def findings(self) -> tuple[Finding, ...]:
        """One finding per kind of loss, in the order they were met."""
        found: list[Finding] = []
        for (kind, what), (count, first) in self._told.items():
            level, outcome, remedy = _OUTCOMES[kind]
            place = "" if first is None else f"#{first}"
            if count > 1:
                place = f"{count:,} times" + (f", first at {place}" if place else "")
            found.append(
                Finding(
                    level,
                    f"export-{kind}",
                    f"{self.target}: {what} {outcome}" + (f" ({place})." if place else "."),
                    message=first,
                    remedy=remedy,
                )
            )
        return tuple(found)
