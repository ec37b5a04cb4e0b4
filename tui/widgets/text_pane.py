"""A pane of text of any size: only what is on the screen is drawn, the rest is wrapped behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from tui.widgets.looks import COMPONENTS, Palette, Tinted, css
from tui.widgets.text_flow import Flow, Passage, Tone

#: Seconds between two slices of a big text; keys are answered in between.
_PAUSE = 1 / 60


class TextPane(Tinted, ScrollView, can_focus=True):
    """Passages, wrapped to the width of the pane; transcript text is only ever text here."""

    DEFAULT_CSS = css("TextPane") + """
    TextPane {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 18%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $accent;
        scrollbar-gutter: stable;
        background: transparent;
        height: 1fr;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", id="text.down", show=False),
        Binding("k", "scroll_up", "Up", id="text.up", show=False),
        Binding("g", "scroll_home", "Top", id="text.top", show=False),
        Binding("G", "scroll_end", "End", id="text.end", show=False),
        Binding("ctrl+d", "half_page(1)", "Half page down", id="text.half-down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half page up", id="text.half-up", show=False),
    ]

    def __init__(
        self,
        passages: Sequence[Passage] = (),
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._passages = tuple(passages)
        self._flow = Flow((), 1)
        self._needle = ""
        self._behind: Timer | None = None

    # --------------------------------------------------------------------------------- data

    def show(self, passages: Sequence[Passage], *, keep_place: bool = False) -> None:
        """Show other passages, from the top unless the place is kept."""
        self._passages = tuple(passages)
        place = self.scroll_offset.y if keep_place else 0
        self._start(place)
        self.scroll_to(y=place, animate=False)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What is shown."""
        return self._passages

    @property
    def needle(self) -> str:
        """The text that is marked wherever it occurs; "" marks nothing."""
        return self._needle

    @needle.setter
    def needle(self, needle: str) -> None:
        self._needle = needle
        self.refresh()

    @property
    def line_count(self) -> int:
        """Lines wrapped so far."""
        return len(self._flow.lines)

    @property
    def complete(self) -> bool:
        """Whether the whole text is wrapped."""
        return self._flow.done

    def complete_now(self) -> None:
        """Wrap what is left."""
        while not self._flow.done:
            self._flow.extend()
        self._flowed()

    def _start(self, place: int = 0) -> None:
        self._rest()
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        self._flow = Flow(self._passages, width)
        self._flow.extend(place + 3 * max(20, self.size.height))
        self._flowed()
        if not self._flow.done:
            self._behind = self.set_interval(_PAUSE, self._go_on)

    def _go_on(self) -> None:
        self._flow.extend()
        self._flowed()

    def _flowed(self) -> None:
        self.virtual_size = Size(0, self.line_count)
        if self._flow.done:
            self._rest()
        self.refresh()

    def _rest(self) -> None:
        if self._behind is not None:
            self._behind.stop()
            self._behind = None

    # ------------------------------------------------------------------------------- events

    def on_resize(self) -> None:
        """Another width wraps differently; the same part of the text stays in view."""
        width = self.scrollable_content_region.width
        if width == self._flow.width and self.line_count:
            return
        before = self.line_count
        share = self.scroll_offset.y / before if before else 0.0
        self._start(self.scroll_offset.y)
        if share:
            self.scroll_to(y=round(share * self.line_count), animate=False)

    def action_scroll_end(self) -> None:
        """Go to the end; what was not wrapped yet is wrapped first."""
        self.complete_now()
        # Forced: a text just shown has no scroll bar yet, without which Textual would not scroll.
        self.scroll_to(y=self.line_count, animate=False, immediate=True, force=True)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self.scroll_to(y=0, animate=False)

    def action_half_page(self, direction: int) -> None:
        """Move by half of what is visible."""
        half = max(1, self.size.height // 2)
        self.scroll_to(y=self.scroll_offset.y + direction * half, animate=False)

    # ------------------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        palette = self.palette
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        if line >= self.line_count:
            return Strip([Segment(" " * width, palette.text)], width)
        style = tone_style(self._flow.tone(line), palette)
        strip = Strip(self._marked(self._flow.lines[line], style, palette))
        strip = self._selected(strip.adjust_cell_length(width, palette.text), line)
        return strip.apply_offsets(0, line)

    def _selected(self, strip: Strip, line: int) -> Strip:
        """`strip` with the part that the mouse selected marked."""
        selection = self.text_selection
        span = selection.get_span(line) if selection is not None else None
        if span is None:
            return strip
        start, end = span
        end = strip.cell_length if end < 0 else end
        style = self.screen.get_component_rich_style("screen--selection")
        chosen = strip.crop(start, end).apply_style(style)
        return Strip.join([strip.crop(0, start), chosen, strip.crop(end)])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What the mouse selected, for the clipboard."""
        return selection.extract("\n".join(self._flow.lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002
        """Draw the selection."""
        self.refresh()

    def _marked(self, text: str, style: Style, palette: Palette) -> list[Segment]:
        if not self._needle:
            return [Segment(text, style)]
        segments: list[Segment] = []
        end = 0
        for found in re.finditer(re.escape(self._needle), text, re.IGNORECASE):
            segments.append(Segment(text[end : found.start()], style))
            segments.append(Segment(found.group(), palette.hit))
            end = found.end()
        segments.append(Segment(text[end:], style))
        return segments


def tone_style(tone: Tone, palette: Palette) -> Style:
    """The style a tone is drawn in."""
    match tone:
        case "head" | "summarized" | "recent":
            return palette.regions[tone]
        case "text":
            return palette.text
        case "muted":
            return palette.muted
        case "faint":
            return palette.faint
        case "accent":
            return palette.accent
        case "error":
            return palette.error
    raise AssertionError("unreachable")
