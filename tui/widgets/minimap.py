"""The whole session in one column: where its tokens are, what happens to them, where you are.

A cell stands for a stretch of messages. Its colour is the region most of its tokens are in and
its length says how many they are; both come from boundaries and prefix sums, so that the cost
is the height of the map and never the length of the session.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.looks import COMPONENTS, REGIONS, Palette, Tinted, css, left_block

if TYPE_CHECKING:
    from compaction.planning import Plan
    from compaction.tokens import Counts


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the map: messages [first, end), their tokens, and what most of them become."""

    first: int
    end: int
    tokens: int
    region: str
    pinned: bool


def stretch(y: int, height: int, n: int) -> tuple[int, int]:
    """The messages [first, end) that cell `y` of `height` stands for; a cell holds one at least.

    A session shorter than the map leaves the lower cells empty: (n, n).
    """
    if n <= height:
        return (y, y + 1) if y < n else (n, n)
    return y * n // height, (y + 1) * n // height


def cell_at(y: int, height: int, plan: Plan, counts: Counts) -> Cell:
    """What cell `y` shows: a few subtractions and bisects."""
    first, end = stretch(y, height, plan.n)
    prefix = counts.prefix

    def tokens(start: int, stop: int) -> int:
        start, stop = max(start, first), min(stop, end)
        return prefix[stop] - prefix[start] if stop > start else 0

    cut, kept = plan.cut, plan.kept
    place = bisect_left(kept, first)
    pinned = place < len(kept) and kept[place] < end
    cleared = plan.had_cleared(first, end)
    if cleared * 2 > prefix[end] - prefix[first]:
        return Cell(first, end, prefix[end] - prefix[first], "cleared", pinned)
    if first >= cut or end <= plan.head_end or (first >= plan.head_end and end <= cut):
        # Nearly every cell is in one region.
        region = "recent" if first >= cut else "head" if end <= plan.head_end else "summarized"
        return Cell(first, end, prefix[end] - prefix[first], region, pinned)
    shares = {
        "head": tokens(0, plan.head_end),
        "summarized": tokens(plan.head_end, cut),
        "recent": tokens(cut, plan.n),
    }
    total = sum(shares.values())
    region = max(shares, key=lambda name: shares[name])
    if not total:
        # Messages without tokens still have a place.
        region = "head" if first < plan.head_end else "recent" if first >= cut else "summarized"
    return Cell(first, end, total, region, pinned)


class Minimap(Tinted, Widget):
    """The session in one column and a gutter that marks the visible part. A click jumps."""

    DEFAULT_CSS = css("Minimap") + """
    Minimap { width: 2; height: 1fr; background: transparent; }
    """
    # Dragging the mouse means something else here than selecting text.
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    @dataclass
    class Jumped(Event):
        """A place of the session was chosen: its message `index`."""

        minimap: Minimap
        index: int

        @property
        def control(self) -> Minimap:
            """The map it happened in."""
            return self.minimap

        def can_replace(self, message: Event) -> bool:
            """Only the newest place matters."""
            return isinstance(message, Minimap.Jumped)

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._plan: Plan | None = None
        self._counts: Counts | None = None
        self._window = (-1, -1)
        self._cursor: int | None = None
        self._dragging = False
        self._jumped = -1
        self._densest = (0, 0)
        self._drawn: list[tuple[object, ...]] = []

    # --------------------------------------------------------------------------------- data

    def show(self, plan: Plan | None, counts: Counts | None) -> None:
        """Show a plan and the counts it was made with."""
        if counts is not self._counts:
            self._densest = (0, 0)
        self._plan, self._counts = plan, counts
        self._refresh_changed()

    @property
    def window(self) -> tuple[int, int]:
        """The messages that are on the screen, first and last."""
        return self._window

    @window.setter
    def window(self, window: tuple[int, int]) -> None:
        if window != self._window:
            self._window = window
            self._refresh_changed()

    @property
    def cursor(self) -> int | None:
        """The message under the list's cursor."""
        return self._cursor

    @cursor.setter
    def cursor(self, index: int | None) -> None:
        if index != self._cursor:
            self._cursor = index
            self._refresh_changed()

    def _refresh_changed(self) -> None:
        """Draw the cells again that look other than they did."""
        before, self._drawn = self._drawn, self._looks()
        if len(before) != len(self._drawn):
            self.refresh()
            return
        width = self.size.width
        for y, (was, now) in enumerate(zip(before, self._drawn, strict=True)):
            if was != now:
                self.refresh(Region(0, y, width, 1))

    def _looks(self) -> list[tuple[object, ...]]:
        """What decides how every cell looks; empty where there is nothing to show."""
        plan, counts = self._plan, self._counts
        height = self.size.height
        if plan is None or counts is None or not plan.n or not height:
            return []
        cells = (cell_at(y, height, plan, counts) for y in range(height))
        densest = self._densest_in(height, plan.n, counts)
        return [
            (cell.region, cell.pinned, cell.tokens, densest, self._gutter_mark(cell))
            for cell in cells
        ]

    # ------------------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        palette = self.palette
        width, height = self.size
        plan, counts = self._plan, self._counts
        if plan is None or counts is None or not plan.n:
            return Strip([Segment(" " * width, palette.text)])
        cell = cell_at(y, height, plan, counts)
        if cell.first >= cell.end:
            return Strip([Segment(" " * width, palette.text)])
        densest = self._densest_in(height, plan.n, counts)
        style = palette.regions["kept" if cell.pinned else cell.region]
        eighths = 2 + round(6 * cell.tokens / densest) if densest else 2
        glyph = REGIONS["kept"].glyph if cell.pinned else left_block(eighths)
        if self.app.no_color and cell.region in ("summarized", "cleared") and not cell.pinned:
            # Without colours the texture has to tell the regions apart.
            dense = cell.region == "summarized" and eighths > 4
            glyph = "▒" if dense else REGIONS[cell.region].glyph
        segments = [Segment(glyph, style), self._gutter(cell, palette)]
        return Strip(segments).adjust_cell_length(width, palette.text)

    def _gutter_mark(self, cell: Cell) -> str:
        if cell.first >= cell.end:
            return ""
        if self._cursor is not None and cell.first <= self._cursor < cell.end:
            return "◂"
        first, last = self._window
        return "▕" if first < cell.end and cell.first <= last else " "

    def _gutter(self, cell: Cell, palette: Palette) -> Segment:
        mark = self._gutter_mark(cell)
        style = {"◂": palette.accent, "▕": palette.muted}.get(mark, palette.text)
        return Segment(mark, style)

    def _densest_in(self, height: int, n: int, counts: Counts) -> int:
        """The tokens of the fullest cell; worked out once for a height and its counts."""
        if self._densest[0] != height:
            prefix = counts.prefix
            stretches = (stretch(y, height, n) for y in range(height))
            self._densest = (height, max(prefix[end] - prefix[first] for first, end in stretches))
        return self._densest[1]

    # ------------------------------------------------------------------------------- events

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Jump, and follow the mouse until it lets go."""
        self._dragging = True
        self._jumped = -1
        self.capture_mouse()
        self._jump(event.y)
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The place follows the held mouse."""
        if self._dragging:
            self._jump(event.y)

    def on_mouse_up(self) -> None:
        """Let go."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def _jump(self, y: int) -> None:
        plan = self._plan
        if plan is None or not plan.n:
            return
        height = max(1, self.size.height)
        first, _ = stretch(max(0, min(y, height - 1)), height, plan.n)
        index = min(first, plan.n - 1)
        if index != self._jumped:
            self._jumped = index
            self.post_message(self.Jumped(self, index))
