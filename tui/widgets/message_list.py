"""The list of messages under the hands of a person: its cursor, and the dragged boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event

from tui.widgets.message_rows import MessageRows


class MessageList(MessageRows):
    """Every message of a session (or those a filter leaves), one line each.

    Items are places in the shown rows; events and properties speak of message indexes.
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
    class RecordSelected(Event):
        """The cursor stands on a record beside the window: its place among those."""

        list: MessageList
        record: int

        @property
        def control(self) -> MessageList:
            """The list it happened in."""
            return self.list

        def can_replace(self, message: Event) -> bool:
            """Only the newest place matters."""
            return isinstance(message, MessageList.RecordSelected)

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
    class RecordOpened(Event):
        """The record under the cursor was opened."""

        list: MessageList

        @property
        def control(self) -> MessageList:
            """The list it happened in."""
            return self.list

    @dataclass
    class BoundaryRefused(Event):
        """The boundary cannot be put before a record beside the window."""

        list: MessageList

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

    # ------------------------------------------------------------------------------- events

    def cursor_moved(self) -> None:
        index, record = self.cursor_message, self.cursor_record
        if index is not None:
            self.post_message(self.Selected(self, index))
        elif record is not None:
            self.post_message(self.RecordSelected(self, record))

    def activated(self) -> None:
        index = self.cursor_message
        if index is not None:
            self.post_message(self.Activated(self, index))
        elif self.cursor_record is not None:
            # A record is read like a message: the screen shows what was selected.
            self.post_message(self.RecordOpened(self))

    def action_boundary_here(self) -> None:
        """Make the message under the cursor the first recent one."""
        index = self.cursor_message
        if index is not None:
            self._last_cut = None
            self._move_boundary(index)
        elif self.cursor_record is not None:
            self.post_message(self.BoundaryRefused(self))

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
        self._move_boundary(self._places.cut_at(line))
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
        self.view_changed()

    def on_resize(self) -> None:
        """More or fewer messages are on the screen."""
        self.view_changed()

    def view_changed(self) -> None:
        window = self.window
        if window != self._viewed:
            self._viewed = window
            self.post_message(self.Viewed(self, *window))
