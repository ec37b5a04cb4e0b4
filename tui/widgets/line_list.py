"""The ground of every list here: one item a line, a cursor, its keys, and nothing per item.

Drawing costs what is on the screen. A list says how many items it has and paints one; items
are numbers, so a list of a million is as cheap as a list of ten.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.widgets.looks import COMPONENTS, Palette, Tinted, css

#: Strips kept for redrawing; a few screens full.
_CACHED_STRIPS = 512


class LineList(Tinted, ScrollView, can_focus=True):
    """A list drawn line by line; subclasses give `item_count` and `paint`."""

    DEFAULT_CSS = css("LineList") + """
    LineList {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 18%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $accent;
        background: transparent;
    }
    """
    # Dragging the mouse means something else here than selecting text.
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "cursor_by(1)", "Down", id="list.down", show=False),
        Binding("up,k", "cursor_by(-1)", "Up", id="list.up", show=False),
        Binding("home,g", "cursor_first", "First", id="list.first", show=False),
        Binding("end,G", "cursor_last", "Last", id="list.last", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", id="list.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half page down", id="list.half-down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half page up", id="list.half-up", show=False),
        Binding("enter", "activate", "Open", id="list.open", show=False),
    ]

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._cursor = 0
        self._strips: LRUCache[object, Strip] = LRUCache(_CACHED_STRIPS)

    # ---------------------------------------------------------------- what a subclass gives

    @property
    def item_count(self) -> int:
        """How many items the cursor can stand on."""
        raise NotImplementedError

    @property
    def line_count(self) -> int:
        """How many lines are drawn; lines that are no item make it larger."""
        return self.item_count

    def line_of(self, item: int) -> int:
        """The line an item is drawn on."""
        return item

    def item_at(self, line: int) -> int | None:
        """The item drawn on a line; None for a line that is no item or past the end."""
        return line if 0 <= line < self.item_count else None

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        """One line, exactly `width` cells wide."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        """Called after the cursor moved to another item."""

    def activated(self) -> None:
        """Called when the item under the cursor is opened (Enter or double click)."""

    # ------------------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        palette = self.palette
        line = y + self.scroll_offset.y
        if line >= self.line_count:
            return Strip([Segment(" " * width, palette.text)], width)
        return self.paint(line, width, palette)

    def items_changed(self) -> None:
        """Bring the scrollable height and the cursor in line with the items."""
        self.virtual_size = Size(0, self.line_count)
        self._cursor = max(0, min(self._cursor, self.item_count - 1))
        self.refresh()

    # ------------------------------------------------------------------------------- cursor

    @property
    def cursor(self) -> int:
        """The item under the cursor; 0 in an empty list."""
        return self._cursor

    @property
    def page_height(self) -> int:
        """Lines on the screen now, at least one."""
        return max(1, self.scrollable_content_region.height)

    def move_cursor(self, item: int, *, notify: bool = True, centre: bool = False) -> None:
        """Put the cursor on `item` (clamped), bring it into view and tell of the change."""
        if not self.item_count:
            return
        item = max(0, min(item, self.item_count - 1))
        before, self._cursor = self._cursor, item
        line = self.line_of(item)
        top, height = self.scroll_offset.y, self.page_height
        if centre and not top <= line < top + height:
            self._show_from(line - height // 2)
        elif line < top:
            # Scrolling to the first item shows what stands above it as well.
            self._show_from(line if item else 0)
        elif line >= top + height:
            self._show_from(line - height + 1)
        if before != item:
            self.refresh_line(self.line_of(before))
            self.refresh_line(line)
            if notify:
                self.cursor_moved()

    def _show_from(self, line: int) -> None:
        # At once, or the screen is drawn twice: before it scrolls and after.
        self.scroll_to(y=line, animate=False, immediate=True)

    def action_cursor_by(self, items: int) -> None:
        """Move the cursor by `items`."""
        self.move_cursor(self._cursor + items)

    def action_cursor_first(self) -> None:
        """Move the cursor to the first item."""
        self.move_cursor(0)

    def action_cursor_last(self) -> None:
        """Move the cursor to the last item."""
        self.move_cursor(self.item_count - 1)

    def action_page(self, pages: float) -> None:
        """Move the cursor and the view by a part of the visible height."""
        lines = int(self.page_height * pages) or (1 if pages > 0 else -1)
        self._show_from(self.scroll_offset.y + lines)
        self.move_cursor(self._cursor + lines)

    def action_activate(self) -> None:
        """Open the item under the cursor."""
        if self.item_count:
            self.activated()

    def on_click(self, event: events.Click) -> None:
        """A click selects, a double click opens."""
        offset = event.get_content_offset(self)
        if offset is None or not self.item_count:
            return
        item = self.item_at(offset.y + self.scroll_offset.y)
        if item is None:
            return
        self.move_cursor(item)
        if event.chain == 2:
            self.activated()

    def on_focus(self) -> None:
        """The row under the cursor looks different with the focus."""
        self.refresh()

    def on_blur(self) -> None:
        """The row under the cursor looks different without the focus."""
        self.refresh()
