"""The names of the panes in one line; the open one stands out, a click opens another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.settings import Pane
from tui.widgets.looks import COMPONENTS, Tinted, css

#: The panes in their order.
PANES: Final[tuple[Pane, ...]] = (
    "message", "summary", "result", "findings", "usage", "replay", "sweep",
)  # fmt: skip

#: Letters of a name that stay, however little room there is.
_SHORTEST = 3


class PaneTabs(Tinted, Widget):
    """One line of names. `counts` stand behind a name, in the colour of errors when `urgent`."""

    DEFAULT_CSS = (
        css("PaneTabs")
        + """
    PaneTabs { height: 1; background: transparent; }
    """
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    ALLOW_SELECT = False

    @dataclass
    class Chosen(Event):
        """A person chose a pane."""

        tabs: PaneTabs
        pane: Pane

        @property
        def control(self) -> PaneTabs:
            """The line it happened in."""
            return self.tabs

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._open: Pane = PANES[0]
        self._counts: Mapping[str, str] = {}
        self._urgent = False
        self._places: list[tuple[int, int, Pane]] = []

    def show(self, pane: Pane, counts: Mapping[str, str], *, urgent: bool = False) -> None:
        """Mark `pane` as the open one, with `counts` behind the names."""
        if (pane, counts, urgent) != (self._open, self._counts, self._urgent):
            self._open, self._counts, self._urgent = pane, dict(counts), urgent
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The names."""
        palette, width = self.palette, self.size.width
        if y:
            return Strip.blank(width)
        counts = dict(self._counts)
        # What has no room goes in this order: the space between, the counts, the ends of names.
        gap, longest = 1, max(map(len, PANES))

        def needed() -> int:
            names = sum(min(longest, len(each)) + 1 + gap for each in PANES)
            return names + sum(len(count) + 1 for count in counts.values())

        if needed() > width:
            gap = 0
        for pane in ("summary", "findings"):
            if needed() > width:
                counts.pop(pane, None)
        while needed() > width and longest > _SHORTEST:
            longest -= 1
        segments: list[Segment] = []
        self._places = []
        at = 0
        for pane in PANES:
            style = palette.muted
            if pane == self._open:
                style = palette.accent + Style(bold=True, underline=True)
            count = counts.get(pane, "")
            if pane == "findings" and self._urgent and not count and pane != self._open:
                # Where the number has no room the name says it.
                style = palette.error
            text = f" {pane[:longest]}"
            start = at
            segments += [Segment(" ", palette.text), Segment(text[1:], style)]
            at += len(text)
            if count:
                urgent = palette.error if self._urgent and pane == "findings" else palette.muted
                segments.append(Segment(f" {count}", urgent))
                at += len(count) + 1
            segments.append(Segment(" " * gap, palette.text))
            at += gap
            self._places.append((start, at, pane))
        return Strip(segments).adjust_cell_length(width, palette.text)

    def on_click(self, event: events.Click) -> None:
        """Open the pane whose name was clicked."""
        for start, end, pane in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(self, pane))
                return
