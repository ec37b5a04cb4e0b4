"""A list whose items are laid out over lines, with headings and remarks between them."""

from __future__ import annotations

from collections.abc import Sequence

from tui.widgets.line_list import LineList


class LaidOutList(LineList):
    """Lines of (item, text, kind); the item is None for a line that is none, as a heading.

    Subclasses give `item_count`, call `set_lines`, and paint a line of `lines`.
    """

    #: Every line, and the first line of each item.
    lines: tuple[tuple[int | None, str, str], ...] = ()
    firsts: tuple[int, ...] = ()

    def set_lines(self, lines: Sequence[tuple[int | None, str, str]]) -> None:
        """Lay out other lines; items are numbered from 0 in their order."""
        firsts: list[int] = []
        for number, (item, _, _) in enumerate(lines):
            if item == len(firsts):
                firsts.append(number)
        self.lines, self.firsts = tuple(lines), tuple(firsts)

    @property
    def line_count(self) -> int:
        return len(self.lines)

    def line_of(self, item: int) -> int:
        return self.firsts[item] if item < len(self.firsts) else 0

    def item_at(self, line: int) -> int | None:
        return self.lines[line][0] if 0 <= line < len(self.lines) else None
