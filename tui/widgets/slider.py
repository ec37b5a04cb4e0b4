"""A slider for whole numbers: keys, wheel, click, drag and typed entry; ticks, marks, a note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip

from tui.widgets.amounts import AMOUNT_CHARACTERS, parse_amount
from tui.widgets.looks import COMPONENTS, css, grouped
from tui.widgets.slider_data import SliderData
from tui.widgets.slider_face import Face, Mark, Parts, note_line, parts_for, tick_line, track_line

__all__ = ["Mark", "Slider"]


class Slider(SliderData, can_focus=True):
    """One number between two ends.

    Height 1 shows the track, 2 adds a line with the note or else the ticks, 3 shows both.
    Setting `value` from outside posts nothing; whatever a person does posts one `Changed` for
    every distinct value.
    """

    DEFAULT_CSS = css("Slider") + """
    Slider { height: 2; background: transparent; }
    """
    # Dragging the mouse means something else here than selecting text.
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "step(1)", "More", id="slider.more", show=False),
        Binding("left,h", "step(-1)", "Less", id="slider.less", show=False),
        Binding("shift+right,L", "step(10)", "Ten more", id="slider.ten-more", show=False),
        Binding("shift+left,H", "step(-10)", "Ten less", id="slider.ten-less", show=False),
        Binding("pageup", "page(1)", "Much more", id="slider.page-more", show=False),
        Binding("pagedown", "page(-1)", "Much less", id="slider.page-less", show=False),
        Binding("home", "to_end(-1)", "Least", id="slider.least", show=False),
        Binding("end", "to_end(1)", "Most", id="slider.most", show=False),
        Binding("equals_sign", "enter_value", "Type a value", id="slider.enter", show=False),
    ]

    @dataclass
    class Changed(Event):
        """A person chose another value."""

        slider: Slider
        value: int

        @property
        def control(self) -> Slider:
            """The slider it happened in."""
            return self.slider

        def can_replace(self, message: Event) -> bool:
            """While it is dragged only the newest value of this slider matters."""
            return isinstance(message, Slider.Changed) and message.slider is self.slider

    # ------------------------------------------------------------------------------ changing

    def _choose(self, value: int) -> None:
        value = self._scale.clamp(value)
        if value != self._value:
            self._value = value
            self.refresh()
            self.post_message(self.Changed(self, value))

    def action_step(self, steps: int) -> None:
        """Move by `steps` steps."""
        self._choose(self._scale.stepped(self._value, steps))

    def action_page(self, pages: int) -> None:
        """Move by a tenth of the track."""
        width = self._parts.track
        cell = self._scale.cell(self._value, width) + pages * max(1, width // 10)
        self._choose(self._scale.pick(cell, width))

    def action_to_end(self, side: int) -> None:
        """Move to the least (-1) or the greatest (1) value."""
        self._choose(self._scale.minimum if side < 0 else self._scale.maximum)

    # ------------------------------------------------------------------------------- typing

    def action_enter_value(self) -> None:
        """Open the entry; what was typed since the key was pressed stays."""
        if self._entry is None:
            self._edit("")

    def _edit(self, text: str | None) -> None:
        self._entry = text
        self._error = ""
        self.refresh()

    def check_consume_key(
        self,
        key: str,  # noqa: ARG002 - the signature Textual calls
        character: str | None,
    ) -> bool:
        """While a value is typed every printable key belongs to it."""
        return self.editing and character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Digits open the entry; while it is open it takes every key but Tab."""
        typed = event.character if event.is_printable else None
        if self._entry is None:
            if typed is not None and typed.isdecimal() and typed.isascii():
                self._edit(typed)
                event.stop()
            return
        if event.key in {"tab", "shift+tab"}:
            self._edit(None)
            return
        event.stop()
        if event.key == "escape":
            self._edit(None)
        elif event.key == "enter":
            self._commit()
        elif event.key in {"backspace", "ctrl+h"}:
            self._edit(self._entry[:-1])
        elif event.key == "ctrl+u":
            self._edit("")
        elif typed is not None and typed not in AMOUNT_CHARACTERS:
            self._error = f"“{typed}” is in no amount; try 128k, 1.2M, 50% or 100000"
            self.refresh()
        elif typed is not None and len(self._entry) < 16:
            self._edit(self._entry + typed)

    def on_paste(self, event: events.Paste) -> None:
        """A pasted amount goes into the entry."""
        text = "".join(char for char in event.text if char.isprintable())
        self._edit(((self._entry or "") + text.strip())[:16])
        event.stop()

    def on_blur(self) -> None:
        """An entry does not outlive the focus."""
        self._edit(None)

    def _commit(self) -> None:
        text = self._entry or ""
        if not text.strip():
            self._edit(None)
            return
        try:
            value = parse_amount(text, self.whole)
        except ValueError as error:
            self._error = str(error)
        else:
            scale = self._scale
            if scale.minimum <= value <= scale.maximum:
                self._edit(None)
                self._choose(value)
                return
            self._error = (
                f"{grouped(value)} is outside {grouped(scale.minimum)} to {grouped(scale.maximum)}"
            )
        self.refresh()

    # -------------------------------------------------------------------------------- mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A press on the track sets the value and holds it; one on the number opens the entry."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        parts = self._parts
        if parts.start - 1 <= offset.x <= parts.end:
            self._edit(None)
            self._dragging = True
            self.capture_mouse()
            self._choose(self._value_under(offset.x))
        elif offset.x > parts.end and offset.y == 0:
            self.action_enter_value()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The held value follows the mouse."""
        if self._dragging:
            self._choose(self._value_under(event.x - self.gutter.left))

    def on_mouse_up(self) -> None:
        """Let go."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            self.refresh()

    def _value_under(self, x: int) -> int:
        parts = self._parts
        cell = x - parts.start
        for mark in self._marks:
            # A mark is what people aim at: its cell gives its value, not a round one near it.
            inside = self._scale.minimum < mark.value < self._scale.maximum
            if inside and self._scale.cell(mark.value, parts.track) == cell:
                return mark.value
        if cell == self._scale.cell(self._value, parts.track) and 0 < cell < parts.track - 1:
            return self._value
        return self._scale.pick(cell, parts.track)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves by a step, with shift or ctrl by ten."""
        self.action_step(10 if event.shift or event.ctrl else 1)
        event.stop()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves by a step, with shift or ctrl by ten."""
        self.action_step(-10 if event.shift or event.ctrl else -1)
        event.stop()

    # ------------------------------------------------------------------------------ drawing

    @property
    def _parts(self) -> Parts:
        return parts_for(self.size.width, self._label, self._unit, self._scale.maximum)

    def render_line(self, y: int) -> Strip:
        palette = self.palette
        face = Face(
            label=self._label,
            scale=self._scale,
            value=self._value,
            unit=self._unit,
            effective=self._effective,
            marks=self._marks,
            ticks=self._ticks,
            note=self._note,
            entry=self._entry,
            error=self._error,
            focused=self.has_focus,
            held=self.has_focus or self._dragging,
            fill=palette.regions[self._region] if self._region else palette.accent,
            worked_out=self.disabled,
        )
        if y == 0:
            strip = track_line(face, self._parts, palette)
        elif y == 1 and (self.size.height > 2 or not (self._note or self._error)):
            strip = tick_line(face, self._parts, palette)
        elif y <= 2:
            strip = note_line(face, self._parts, palette)
        else:
            strip = Strip([])
        return strip.adjust_cell_length(self.size.width, palette.text)
