"""Findings, most severe first: what is wrong, where, and what to do. Enter goes there.

What is wrong in the same way at many places is told once; Enter goes to one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.message import Message as Event
from textual.strip import Strip

from compaction.findings import Finding, Level, gathered, places
from tui.widgets.laid_out_list import LaidOutList
from tui.widgets.looks import Palette, counted, fit, plain, right
from tui.widgets.text_flow import wrapped

_GLYPHS: dict[Level, str] = {"error": "✕", "warning": "▲", "info": "·"}
#: Characters for the places of findings that are told as one.
_PLACES = 80
#: Findings shown; the rest is counted in a last line.
SHOWN = 2_000


class FindingsView(LaidOutList):
    """One finding an item, wrapped over as many lines as it needs, under a heading a level."""

    @dataclass
    class Jump(Event):
        """A finding about the message `index` was opened."""

        view: FindingsView
        index: int
        finding: Finding

        @property
        def control(self) -> FindingsView:
            """The view it happened in."""
            return self.view

    _entries: tuple[tuple[Finding, ...], ...] = ()
    #: Of each entry, how often it was opened: the next place is another one.
    _opened: list[int]
    _left_out = 0
    _width = 0

    def show(self, findings: Sequence[Finding]) -> None:
        """Show findings; equal levels keep their order."""
        entries = gathered(findings)
        self._entries = tuple(entries[:SHOWN])
        self._opened = [0] * len(self._entries)
        self._left_out = sum(map(len, entries[SHOWN:]))
        self._width = 0
        self._lay_out(self.scrollable_content_region.width)
        self.items_changed()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings in the order they are shown."""
        return tuple(finding for entry in self._entries for finding in entry)

    def on_resize(self) -> None:
        """Another width wraps differently."""
        self._lay_out(self.scrollable_content_region.width)
        self.items_changed()

    def _lay_out(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        lines: list[tuple[int | None, str, str]] = []
        level = ""
        for item, entry in enumerate(self._entries):
            finding = self._at(item)
            if finding.level != level:
                level = finding.level
                many = sum(len(other) for other in self._entries if other[0].level == level)
                if lines:
                    lines.append((None, "", ""))
                lines.append((None, counted(many, _word(finding.level)), finding.level))
            room = max(8, width - 10)
            pieces = wrapped(plain(finding.text, 2_000), room)
            lines.extend((item, piece, finding.level) for piece in pieces)
            if len(entry) > 1:
                others = [each for each in entry if each is not finding]
                more = f"and {len(others):,} more like it: {places(others, _PLACES)}"
                rest = wrapped(more, room)
                lines.extend((item, piece, "remedy") for piece in rest)
            if finding.remedy:
                rest = wrapped("→ " + plain(finding.remedy, 1_000), room)
                lines.extend((item, piece, "remedy") for piece in rest)
        if self._left_out:
            lines.append((None, f"and {counted(self._left_out, 'more finding')}", "remedy"))
        if not lines:
            lines.append((None, "✓ Nothing to report.", "remedy"))
        self.set_lines(lines)

    @property
    def item_count(self) -> int:
        return len(self._entries)

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        item, text, kind = self.lines[line]
        if item is None:
            style = palette.muted + Style(bold=kind != "remedy")
            return Strip([Segment(fit(text, width), style)], width)
        finding = self._at(item)
        first = self.firsts[item] == line
        sign = self._sign(finding.level, palette)
        place = finding.place.replace("line ", "l.")
        body = palette.muted if kind == "remedy" else palette.text
        segments = [
            Segment(_GLYPHS[finding.level] + " " if first else "  ", sign),
            Segment(right(place if first else "", 6) + "  ", palette.muted),
            Segment(fit(text, max(0, width - 10)), body),
        ]
        return palette.row(segments, width, cursor=item == self.cursor)

    def _sign(self, level: Level, palette: Palette) -> Style:
        match level:
            case "error":
                return palette.error + Style(bold=True)
            case "warning":
                return palette.accent + Style(bold=True)
            case "info":
                return palette.muted
        raise AssertionError("unreachable")

    def cursor_moved(self) -> None:
        # A finding may be several lines high; all of them change.
        self.refresh()

    def activated(self) -> None:
        finding = self._at(self.cursor)
        if finding.message is not None:
            self.post_message(self.Jump(self, finding.message, finding))
        if len(self._entries[self.cursor]) > 1:
            self._opened[self.cursor] += 1
            self._width = 0
            self._lay_out(self.scrollable_content_region.width)
            self.items_changed()

    def _at(self, item: int) -> Finding:
        """Of an entry, the finding that Enter goes to next."""
        entry = self._entries[item]
        return entry[self._opened[item] % len(entry)]


def _word(level: Level) -> str:
    return {"error": "error", "warning": "warning", "info": "note"}[level]
