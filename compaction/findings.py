"""Findings: one thing to tell the person, with where it is and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "info"]

#: Most severe first, for sorting and grouping.
LEVELS: tuple[Level, ...] = ("error", "warning", "info")

#: What says that a result misses its purpose; it stands before all else of its level.
_FIRST = frozenset(
    {"summary-failed", "budget-unreachable", "over-budget-after", "over-after-compaction"}
)

#: From so many on, findings that differ in their place alone are told as one.
_MANY = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell the person.

    `message` is the 0-based index of a message, `line` the 1-based line of the file; both are
    None where the finding is about the whole. `code` is a stable kebab-case name.
    """

    level: Level
    code: str
    text: str
    message: int | None = None
    line: int | None = None
    remedy: str = ""

    def as_json(self) -> dict[str, object]:
        """The finding as the command line prints it; absent places and remedies are left out."""
        out: dict[str, object] = {
            "level": self.level,
            "code": self.code,
            "message": self.message,
            "text": self.text,
        }
        if self.line is not None:
            out["line"] = self.line
        if self.remedy:
            out["remedy"] = self.remedy
        return out

    @property
    def place(self) -> str:
        """Where it is, for people: `#17`, `line 33`, or nothing."""
        if self.message is not None:
            return f"#{self.message}"
        return "" if self.line is None else f"line {self.line}"


def by_weight(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, most severe first; equal ones keep their order."""
    return sorted(findings, key=lambda each: (LEVELS.index(each.level), each.code not in _FIRST))


def gathered(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """The findings by weight, those of one code and remedy at many places as one entry.

    An entry of a few, or of what is about the whole, holds one finding.
    """
    ordered = by_weight(findings)
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for each in ordered:
        if each.place:
            alike.setdefault((each.level, each.code, each.remedy), []).append(each)
    out: list[tuple[Finding, ...]] = []
    for each in ordered:
        same = alike.get((each.level, each.code, each.remedy), [])
        if not each.place or len(same) < _MANY:
            out.append((each,))
        elif same[0] is each:
            out.append(tuple(same))
    return out


def places(findings: Iterable[Finding], room: int) -> str:
    """The places of findings, as many as `room` characters hold (at least one), each once."""
    every = list(dict.fromkeys(each.place for each in findings))
    text = ""
    for number, place in enumerate(every):
        longer = f"{text}, {place}" if text else place
        more = 0 if number == len(every) - 1 else len(", …")
        if text and len(longer) > room - more:
            return f"{text}, …"
        text = longer
    return text
