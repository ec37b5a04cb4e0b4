"""Texts of any size wrapped into lines, a slice at a time.

A 10 MB message is looked at from its beginning: the first slice is made harmless and wrapped at
once, the rest when somebody has time for it. Nothing here knows a screen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import get_character_cell_size

from compaction.plaintext import block

Tone = Literal["text", "muted", "faint", "accent", "error", "head", "summarized", "recent"]

#: Characters made harmless and wrapped in one go.
SLICE = 65_536
# Joiners and presentation selectors make clusters whose width terminals disagree about.
_JOINERS = dict.fromkeys([0x200C, 0x200D, 0xFE0E, 0xFE0F])
#: Zero-width characters a line may pile up for every cell of its width.
_PILE = 4


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in one tone, beginning on a line of its own, `indent` cells from the left."""

    text: str
    tone: Tone = "text"
    indent: int = 0


class Flow:
    """Passages as lines of at most `width` cells."""

    def __init__(self, passages: Sequence[Passage], width: int) -> None:
        self.width = max(4, width)
        self.lines: list[str] = []
        self._passages = tuple(passages)
        self._starts: list[int] = []
        self._at = 0
        self._offset = 0

    @property
    def done(self) -> bool:
        """Whether every passage is wrapped."""
        return self._at >= len(self._passages)

    def tone(self, line: int) -> Tone:
        """The tone of a wrapped line."""
        return self._passages[bisect_right(self._starts, line) - 1].tone

    def extend(self, lines: int | None = None) -> None:
        """Wrap until there are `lines` lines; without a number, one slice more."""
        while not self.done:
            self._slice()
            if lines is None or len(self.lines) >= lines:
                return

    def _slice(self) -> None:
        passage = self._passages[self._at]
        if not self._offset:
            self._starts.append(len(self.lines))
        text = passage.text
        end = self._offset + SLICE
        if end < len(text):
            # A slice ends with a line where it can, and never between CR and LF.
            line_end = text.rfind("\n", self._offset, end)
            end = line_end + 1 if line_end > self._offset else end
            end += text[end - 1] == "\r"
        raw = text[self._offset : end]
        last = end >= len(text)
        harmless = block(raw if last else raw.removesuffix("\n").removesuffix("\r"))
        if not harmless.isascii():
            harmless = harmless.translate(_JOINERS)
        pad = " " * passage.indent
        room = max(4, self.width - passage.indent)
        for line in harmless.split("\n"):
            self.lines.extend(pad + part for part in wrapped(line, room))
        self._offset = end
        if last:
            self._at, self._offset = self._at + 1, 0


def wrapped(line: str, width: int) -> list[str]:
    """`line` in pieces of at most `width` cells, broken at a space where there is one near."""
    if line.isascii():
        if len(line) <= width:
            return [line]
        return _wrapped_ascii(line, width)
    return _wrapped_wide(line, width)


def _wrapped_ascii(line: str, width: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(line) - start > width:
        space = line.rfind(" ", start + width // 3, start + width + 1)
        end = space if space > start else start + width
        pieces.append(line[start:end])
        start = end + 1 if space > start else end
    pieces.append(line[start:])
    return pieces


def _wrapped_wide(line: str, width: int) -> list[str]:
    pieces: list[str] = []
    start = cells = 0
    space = -1
    piled = 0
    at = 0
    while at < len(line):
        char = line[at]
        size = get_character_cell_size(char)
        piled = 0 if size else piled + 1
        if cells + size > width or piled > _PILE * width:
            end = space if space > start else at
            pieces.append(line[start:end])
            start = end + (1 if end == space else 0)
            at, cells, space, piled = start, 0, -1, 0
            continue
        if char == " " and cells > width // 3:
            space = at
        cells += size
        at += 1
    pieces.append(line[start:])
    return pieces
