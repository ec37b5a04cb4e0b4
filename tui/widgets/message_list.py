"""The list of messages: one line each, coloured by region, with the boundary drawn between.

A region is asked of the plan when a row is drawn, and only then: a new plan refreshes the
visible rows and touches no other.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip

from compaction.messages import Message, Session
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, grouped
from tui.widgets.message_row import Row, columns_for, first_line, paint_boundary, paint_row
from tui.widgets.places import Places

if TYPE_CHECKING:
    from compaction.groups import Groups
    from compaction.planning import Plan
    from compaction.tokens import Counts


class MessageList(LineList):
    """Every message of a session (or those a filter leaves), one line each.

    Items are positions in the shown rows; events and properties speak of message indexes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "boundary_here", "Boundary here", id="list.boundary", show=False),
    ]

    @dataclass
    class Selected(Event):
        """The cursor stands on another message."""

        list: MessageList
        index: int

        @property
        def control(self) -> MessageList:
            """The list it happened in."""
            return self.list

        def can_replace(self, message: Event) -> bool:
            """Only the newest place matters."""
            return isinstance(message, MessageList.Selected)

    @dataclass
    class Activated(Event):
        """A message was opened with Enter or a double click."""

        list: MessageList
        index: int

        @property
        def control(self) -> MessageList:
            """The list it happened in."""
            return self.list

    @dataclass
    class BoundaryMoved(Event):
        """The boundary was put before the message `cut`: it would be the first recent one."""

        list: MessageList
        cut: int

        @property
        def control(self) -> MessageList:
            """The list it happened in."""
            return self.list

        def can_replace(self, message: Event) -> bool:
            """While it is dragged only the newest place matters."""
            return isinstance(message, MessageList.BoundaryMoved)

    @dataclass
    class Viewed(Event):
        """Other messages are on the screen: `first` to `last`, both included."""

        list: MessageList
        first: int
        last: int

        @property
        def control(self) -> MessageList:
            """The list it happened in."""
            return self.list

        def can_replace(self, message: Event) -> bool:
            """Only what is on the screen now matters."""
            return isinstance(message, MessageList.Viewed)

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._messages: Sequence[Message] = ()
        self._counts: Counts | None = None
        self._plan: Plan | None = None
        self._groups: Groups | None = None
        self._places = Places()
        self._summary_tokens: int | None = None
        self._needle = ""
        self._hits: Sequence[int] = ()
        self._largest = 0
        self._dragging = False
        self._hovering = False
        self._last_cut: int | None = None
        self._viewed = (-1, -1)
        #: What plan and counts decided of every line of the screen when it was drawn.
        self._drawn: dict[int, tuple[int, str, str] | None] = {}

    # --------------------------------------------------------------------------------- data

    def show(
        self,
        session: Session,
        counts: Counts | None = None,
        plan: Plan | None = None,
        groups: Groups | None = None,
        *,
        keep_place: bool = False,
    ) -> None:
        """Show a session. `keep_place` leaves cursor and view alone, for a session that grew."""
        self._messages = session.messages
        self._plan, self._groups = plan, groups
        self._set_counts(counts)
        self._place(plan, self._places.rows if keep_place else None)
        if not keep_place:
            self._needle, self._hits = "", ()
            self._cursor = 0
            self._summary_tokens = None
        self._strips.clear()
        self.items_changed()
        if not keep_place:
            self.scroll_to(y=0, animate=False)
        self._tell_view()

    @property
    def plan(self) -> Plan | None:
        """The plan that colours the rows. Setting it redraws what is visible and no more."""
        return self._plan

    @plan.setter
    def plan(self, plan: Plan | None) -> None:
        top = self._places.item_from(self.scroll_offset.y)
        line = self.line_of(top)
        lines = self.line_count
        self._plan = plan
        self._place(plan, self._places.rows)
        if self.line_count != lines:
            self.items_changed()
        moved = self.line_of(top) - line
        if moved and self.scroll_offset.y and not self._dragging:
            # The boundary line passed above the view: what is read stays where it is.
            self.scroll_to(y=self.scroll_offset.y + moved, animate=False)
        self._refresh_changed()

    def _refresh_changed(self) -> None:
        """Draw the lines again that look otherwise now; the boundary counts what it ends."""
        top = self.scroll_offset.y
        for y in range(self.page_height):
            if self._drawn.get(y) != self._look(top + y) or top + y == self.boundary_line:
                self.refresh_line(top + y)

    def _look(self, line: int) -> tuple[int, str, str] | None:
        """What plan and counts decide of a line: its message, the region, the tokens."""
        item = self.item_at(line)
        if item is None:
            return None
        index = self._places.message(item)
        region = self._plan.region(index) if self._plan is not None else "recent"
        return index, region, self._tokens(index)

    def _tokens(self, index: int) -> str:
        counts = self._counts
        if counts is None:
            return ""
        guess = "" if counts.exact or index < counts.done else "~"
        return guess + grouped(counts.tokens[index])

    @property
    def counts(self) -> Counts | None:
        """Token counts of the messages; setting them redraws what is visible."""
        return self._counts

    @counts.setter
    def counts(self, counts: Counts | None) -> None:
        before, largest = self._counts, self._largest
        self._set_counts(counts)
        exact = [one is not None and one.exact for one in (before, counts)]
        if before is None or largest != self._largest or exact[0] != exact[1]:
            self.refresh()
        else:
            self._refresh_changed()

    def _set_counts(self, counts: Counts | None) -> None:
        self._counts = counts
        self._largest = max(counts.tokens, default=0) if counts is not None else 0

    @property
    def summary_tokens(self) -> int | None:
        """Tokens of the summary that was really made; None while only its estimate is known."""
        return self._summary_tokens

    @summary_tokens.setter
    def summary_tokens(self, tokens: int | None) -> None:
        if tokens != self._summary_tokens:
            self._summary_tokens = tokens
            line = self.boundary_line
            if line is not None and 0 <= line - self.scroll_offset.y < self.page_height:
                self.refresh_line(line)

    @property
    def rows(self) -> array[int] | None:
        """Indexes of the messages a filter leaves, ascending; None shows all."""
        return self._places.rows

    @rows.setter
    def rows(self, rows: array[int] | None) -> None:
        index = self.cursor_message
        self._place(self._plan, rows)
        self.items_changed()
        if index is not None:
            self.select(index, notify=False)
            if self.cursor_message != index and self.item_count:
                self.cursor_moved()
        self._tell_view()

    def set_search(self, needle: str, hits: Sequence[int] = ()) -> None:
        """Mark `needle` in the rows; `hits` are the indexes of the messages that hold it."""
        self._needle, self._hits = needle, hits
        self.refresh()

    # ------------------------------------------------------------------------------- places

    @property
    def cursor_message(self) -> int | None:
        """Index of the message under the cursor; None in an empty list."""
        return self._places.message(self._cursor) if self.item_count else None

    def select(self, index: int, *, notify: bool = True) -> None:
        """Put the cursor on the message `index`, or on the nearest one that is shown."""
        if self.item_count:
            self.move_cursor(self._places.nearest(index), notify=notify, centre=True)

    @property
    def window(self) -> tuple[int, int]:
        """The first and last message on the screen, both included; (-1, -1) when empty."""
        if not self.item_count:
            return (-1, -1)
        places, top = self._places, self.scroll_offset.y
        first = places.item_from(top)
        last = max(first, places.item_until(top + self.page_height - 1))
        return places.message(first), places.message(last)

    @property
    def boundary_line(self) -> int | None:
        """The line of the boundary; None when nothing is summarized."""
        return self._places.boundary

    def _place(self, plan: Plan | None, rows: array[int] | None) -> None:
        cut = plan.cut if plan is not None and plan.compacts else None
        self._places = Places(len(self._messages), rows, cut)

    @property
    def item_count(self) -> int:
        return self._places.items

    @property
    def line_count(self) -> int:
        return self._places.lines

    def line_of(self, item: int) -> int:
        return self._places.line_of(item)

    def item_at(self, line: int) -> int | None:
        return self._places.item_at(line)

    # ------------------------------------------------------------------------------ drawing

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        item = self.item_at(line)
        y = line - self.scroll_offset.y
        if item is None:
            assert self._plan is not None
            self._drawn[y] = None
            held = self._dragging or self._hovering
            return paint_boundary(self._plan, self._summary_tokens, width, palette, held=held)
        row = self._row(item)
        self._drawn[y] = (row.number, row.region, row.tokens)
        counts = self._counts
        tokens = len(grouped(self._largest)) + (counts is not None and not counts.exact)
        columns = columns_for(width, len(str(len(self._messages) - 1)), max(5, tokens))
        key = (row, columns, width, palette.generation, self._largest)
        strip = self._strips.get(key)
        if strip is None:
            if columns.bar and self._largest and row.tokens:
                amount = counts.tokens[row.number] if counts is not None else 0
                eighths = max(1, round(columns.bar * 8 * amount / self._largest))
                row = row._replace(eighths=eighths)
            strip = self._strips[key] = paint_row(row, columns, width, palette)
        return strip

    def _row(self, item: int) -> Row:
        index = self._places.message(item)
        message = self._messages[index]
        place = bisect_left(self._hits, index)
        return Row(
            number=index,
            region=self._plan.region(index) if self._plan is not None else "recent",
            rail=self._groups.rail(index) if self._groups is not None else "",
            role=message.role,
            tokens=self._tokens(index),
            eighths=0,
            text=first_line(message),
            needle=self._needle,
            hit=place < len(self._hits) and self._hits[place] == index,
            cursor=item == self._cursor,
            typed=message.typed or message.role != "user",
        )

    # ------------------------------------------------------------------------------- events

    def cursor_moved(self) -> None:
        index = self.cursor_message
        if index is not None:
            self.post_message(self.Selected(self, index))

    def activated(self) -> None:
        index = self.cursor_message
        if index is not None:
            self.post_message(self.Activated(self, index))

    def action_boundary_here(self) -> None:
        """Make the message under the cursor the first recent one."""
        index = self.cursor_message
        if index is not None:
            self._last_cut = None
            self._move_boundary(index)

    def _move_boundary(self, cut: int) -> None:
        if cut != self._last_cut:
            self._last_cut = cut
            self.post_message(self.BoundaryMoved(self, cut))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the boundary."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y + self.scroll_offset.y != self._places.boundary:
            return
        self._dragging = True
        self._last_cut = self._plan.cut if self._plan is not None else None
        self.capture_mouse()
        self.refresh()
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the boundary; outside the view the list scrolls along."""
        y = event.y - self.gutter.top
        if not self._dragging:
            self._hover(y + self.scroll_offset.y == self._places.boundary)
            return
        if y < 0:
            self.scroll_to(y=self.scroll_offset.y - 1, animate=False)
        elif y >= self.page_height:
            self.scroll_to(y=self.scroll_offset.y + 1, animate=False)
        line = self.scroll_offset.y + max(0, min(y, self.page_height - 1))
        item = max(0, min(line, self.item_count))
        self._move_boundary(
            len(self._messages) if item == self.item_count else self._places.message(item)
        )
        event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of the boundary."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            self.refresh()
            event.stop()

    def on_leave(self) -> None:
        """The mouse is elsewhere."""
        self._hover(False)

    def _hover(self, hovering: bool) -> None:
        if hovering != self._hovering:
            self._hovering = hovering
            self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._tell_view()

    def on_resize(self) -> None:
        """More or fewer messages are on the screen."""
        self._tell_view()

    def _tell_view(self) -> None:
        window = self.window
        if window != self._viewed:
            self._viewed = window
            self.post_message(self.Viewed(self, *window))
