"""Findings: one thing to tell the person, with where it is and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "info"]

#: Most severe first, for sorting and grouping.
LEVELS: tuple[Level, ...] = ("error", "warning", "info")


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
