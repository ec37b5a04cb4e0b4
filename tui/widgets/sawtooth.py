"""The size of the context over the calls of a session, with a cursor that goes through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.looks import COMPONENTS, Tinted, css
from tui.widgets.sawtooth_face import Face, line_of
from tui.widgets.sawtooth_shape import Saw, Shape

__all__ = ["Saw", "Sawtooth"]

#: Cells for the numbers at the left.
LABEL = 7


class Sawtooth(Tinted, Widget, can_focus=True):
    """One column a call, or the highest of several; the budget is a line through them."""

    DEFAULT_CSS = css("Sawtooth") + """
    Sawtooth { height: 12; min-height: 6; background: transparent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    # Dragging the mouse means something else here than selecting text.
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "step(1)", "Next call", id="replay.next", show=False),
        Binding("left,h", "step(-1)", "Call before", id="replay.before", show=False),
        Binding("shift+right,L", "step(10)", "Ten further", id="replay.ten-next", show=False),
        Binding("shift+left,H", "step(-10)", "Ten back", id="replay.ten-before", show=False),
        Binding("home,g", "to_end(-1)", "First call", id="replay.first", show=False),
        Binding("end,G", "to_end(1)", "Last call", id="replay.last", show=False),
        Binding("up,k", "mark(-1)", "Compaction before", id="replay.mark-before", show=False),
        Binding("down,j", "mark(1)", "Next compaction", id="replay.mark-next", show=False),
    ]

    @dataclass
    class Scrubbed(Event):
        """A person went to another call."""

        chart: Sawtooth
        call: int

        @property
        def control(self) -> Sawtooth:
            """The chart it happened in."""
            return self.chart

        def can_replace(self, message: Event) -> bool:
            """While it is dragged only the newest call matters."""
            return isinstance(message, Sawtooth.Scrubbed)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._saw: Saw | None = None
        self._shape: Shape | None = None
        self._call = 0
        self._dragging = False

    # --------------------------------------------------------------------------------- data

    def show(self, saw: Saw | None) -> None:
        """Show another walk; the cursor stays on its call, and at the end where it was there."""
        before = self._saw
        at_end = before is None or self._call >= before.calls - 1
        self._saw, self._shape = saw, None
        last = max(0, saw.calls - 1) if saw is not None else 0
        self._call = last if at_end else min(self._call, last)
        self.refresh()

    @property
    def saw(self) -> Saw | None:
        """What is shown."""
        return self._saw

    @property
    def call(self) -> int:
        """The call under the cursor."""
        return self._call

    @call.setter
    def call(self, call: int) -> None:
        calls = self._saw.calls if self._saw is not None else 0
        self._call = max(0, min(call, calls - 1))
        self.refresh()

    # ------------------------------------------------------------------------------- moving

    def _go(self, call: int) -> None:
        before = self._call
        self.call = call
        if self._call != before:
            self.post_message(self.Scrubbed(self, self._call))

    def action_step(self, calls: int) -> None:
        """Go so many calls further."""
        self._go(self._call + calls)

    def action_to_end(self, side: int) -> None:
        """Go to the first (-1) or the last (1) call."""
        self._go(0 if side < 0 or self._saw is None else self._saw.calls - 1)

    def action_mark(self, side: int) -> None:
        """Go to the compaction before or after."""
        made = self._saw.compactions if self._saw is not None else ()
        found = [each for each in made if (each - self._call) * side > 0]
        if found:
            self._go(min(found, key=lambda each: abs(each - self._call)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the call under the mouse, and follow it."""
        offset = event.get_content_offset(self)
        if offset is None or self._saw is None:
            return
        self._dragging = True
        self.capture_mouse()
        self._go_under(offset.x)
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The cursor follows the held mouse."""
        if self._dragging:
            self._go_under(event.x - self.gutter.left)

    def on_mouse_up(self) -> None:
        """Let go."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def _go_under(self, x: int) -> None:
        shape = self.shape
        if shape is not None:
            self._go(shape.call_at(x - LABEL))

    # ------------------------------------------------------------------------------ drawing

    @property
    def shape(self) -> Shape | None:
        """The columns at the present width; None without calls."""
        width = max(1, self.size.width - LABEL)
        if self._saw is None or not self._saw.calls:
            return None
        if self._shape is None or self._shape.width != width:
            self._shape = Shape(self._saw, width)
        return self._shape

    def on_focus(self) -> None:
        """The cursor looks different with the focus."""
        super().on_focus()
        self.refresh()

    def on_blur(self) -> None:
        """The cursor looks different without the focus."""
        super().on_blur()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        palette, shape = self.palette, self.shape
        if shape is None:
            return Strip.blank(self.size.width, palette.text)
        face = Face(shape, self._call, self.size.height, LABEL, focused=self.has_focus)
        return line_of(face, y, palette).adjust_cell_length(self.size.width, palette.text)
