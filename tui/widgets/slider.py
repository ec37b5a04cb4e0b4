"""A slider for whole numbers: keys, wheel, click, drag and typed entry; ticks, marks, a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.amounts import parse_amount
from tui.widgets.looks import COMPONENTS, Palette, Tinted, css, cut, fit, grouped, right, short
from tui.widgets.slider_scale import Kind, Scale


@dataclass(frozen=True, slots=True)
class Mark:
    """A value worth knowing on the track, and the word under it."""

    value: int
    label: str
    glyph: str = "╵"


@dataclass(frozen=True, slots=True)
class _Parts:
    """Where the parts of the slider's first line stand, in cells."""

    label: int
    track: int
    box: int

    @property
    def start(self) -> int:
        return self.label

    @property
    def end(self) -> int:
        return self.label + self.track


class Slider(Tinted, Widget, can_focus=True):
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

    def __init__(
        self,
        label: str,
        minimum: int = 0,
        maximum: int = 100,
        value: int = 0,
        *,
        kind: Kind = "linear",
        unit: str = "",
        region: str = "",
        ticks: Sequence[int] = (),
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        """`region` colours the filled part like that region; without it it has the accent."""
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._label = label
        self._scale = Scale(minimum, maximum, kind)
        self._value = self._scale.clamp(value)
        self._unit = unit
        self._region = region
        self._ticks = tuple(ticks)
        self._marks: tuple[Mark, ...] = ()
        self._effective: int | None = None
        self._note = ""
        self._entry: str | None = None
        self._error = ""
        self._dragging = False
        self._whole: int | None = None

    # --------------------------------------------------------------------------------- data

    @property
    def value(self) -> int:
        """The number, always inside the range. Setting it posts no event."""
        return self._value

    @value.setter
    def value(self, value: int) -> None:
        value = self._scale.clamp(value)
        if value != self._value:
            self._value = value
            self.refresh()

    @property
    def scale(self) -> Scale:
        """Range and layout of the track."""
        return self._scale

    def set_range(self, minimum: int, maximum: int, *, kind: Kind | None = None) -> None:
        """Another range (and layout); the value is brought into it, silently."""
        self._scale = Scale(minimum, max(minimum, maximum), kind or self._scale.kind)
        self._value = self._scale.clamp(self._value)
        self.refresh()

    @property
    def unit(self) -> str:
        """The word after the number."""
        return self._unit

    @unit.setter
    def unit(self, unit: str) -> None:
        self._unit = unit
        self.refresh()

    @property
    def note(self) -> str:
        """One sentence under the track; "" shows the ticks there."""
        return self._note

    @note.setter
    def note(self, note: str) -> None:
        if note != self._note:
            self._note = note
            self.refresh()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Values worth knowing, such as the session's own total."""
        return self._marks

    @marks.setter
    def marks(self, marks: Sequence[Mark]) -> None:
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self.refresh()

    @property
    def ticks(self) -> tuple[int, ...]:
        """Values named under the track where they fall into the range."""
        return self._ticks

    @ticks.setter
    def ticks(self, ticks: Sequence[int]) -> None:
        self._ticks = tuple(ticks)
        self.refresh()

    @property
    def effective(self) -> int | None:
        """What the asked value gives after snapping, drawn as `○`; None when it is the same."""
        return self._effective

    @effective.setter
    def effective(self, value: int | None) -> None:
        if value != self._effective:
            self._effective = value
            self.refresh()

    @property
    def whole(self) -> int:
        """What a typed percentage is a part of: the maximum unless it was set."""
        return self._scale.maximum if self._whole is None else self._whole

    @whole.setter
    def whole(self, whole: int | None) -> None:
        self._whole = whole

    @property
    def editing(self) -> bool:
        """Whether a value is being typed."""
        return self._entry is not None

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
        """Open the entry."""
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
    def _parts(self) -> _Parts:
        width = self.size.width
        label = len(self._label) + 2 if width >= 34 else 0
        number = max(len(grouped(self._scale.maximum)), 7)
        unit = len(self._unit) + 1 if self._unit and width >= 44 else 0
        box = min(width, number + unit + 3)
        return _Parts(label, max(2, width - label - box), box)

    def render_line(self, y: int) -> Strip:
        palette = self.palette
        width = self.size.width
        if y == 0:
            strip = self._track_line(palette)
        elif y == 1 and (self.size.height > 2 or not (self._note or self._error)):
            strip = self._tick_line(palette)
        elif y <= 2:
            strip = self._note_line(palette)
        else:
            strip = Strip([])
        return strip.adjust_cell_length(width, palette.text)

    def _fill(self, palette: Palette) -> Style:
        return palette.regions[self._region] if self._region else palette.accent

    def _track_line(self, palette: Palette) -> Strip:
        parts = self._parts
        scale = self._scale
        focused = self.has_focus
        fill = self._fill(palette)
        knob = scale.cell(self._value, parts.track)
        cells: list[tuple[str, Style]] = [
            ("━", fill) if cell < knob else ("─", palette.faint) for cell in range(parts.track)
        ]
        for mark in self._marks:
            if scale.minimum <= mark.value <= scale.maximum:
                cell = scale.cell(mark.value, parts.track)
                cells[cell] = ("┿" if cell < knob else "┼", palette.muted)
        if self._effective is not None:
            cells[scale.cell(self._effective, parts.track)] = ("○", fill)
        held = focused or self._dragging
        cells[knob] = ("●", (fill if held else palette.text) + Style(bold=True))
        label = palette.text + Style(bold=True) if focused else palette.muted
        segments = [Segment(fit(self._label, parts.label), label)] if parts.label else []
        segments.extend(Segment(char, style) for char, style in cells)
        segments.extend(self._box(parts, palette))
        return Strip(segments)

    def _box(self, parts: _Parts, palette: Palette) -> list[Segment]:
        if self._entry is not None:
            style = palette.error if self._error else palette.accent
            room = parts.box - 2
            return [
                Segment(" ", palette.text),
                Segment(right(self._entry[-room + 1 :] + "▏", room), style + palette.window),
                Segment(" ", palette.text),
            ]
        number = grouped(self._value)
        room = max(len(grouped(self._scale.maximum)), 7)
        strong = palette.text + Style(bold=True)
        segments = [Segment(" " + right(number, room) + " ", strong)]
        rest = parts.box - room - 2
        if self._unit and rest > len(self._unit):
            segments.append(Segment(fit(self._unit, rest), palette.muted))
        return segments

    def _tick_line(self, palette: Palette) -> Strip:
        """Ticks and marks under their cells; a label that would touch another is left out."""
        parts = self._parts
        scale = self._scale
        wanted = [(mark.value, mark.label, mark.glyph, palette.muted) for mark in self._marks]
        wanted += [(value, short(value), "╵", palette.faint) for value in self._ticks]
        taken: list[tuple[int, int, str, Style]] = []
        for value, label, glyph, style in wanted:
            if not scale.minimum <= value <= scale.maximum:
                continue
            start = scale.cell(value, parts.track)
            text = glyph + label
            end = start + cell_len(text)
            if end > parts.track + parts.box:
                text = label + glyph
                start, end = start + 1 - cell_len(text), start + 1
            if start >= 0 and all(end < left or start > stop for left, stop, _, _ in taken):
                taken.append((start, end, text, style))
        segments: list[Segment] = []
        at = -parts.label
        for start, end, text, style in sorted(taken, key=lambda entry: entry[0]):
            segments.append(Segment(" " * (start - at), palette.text))
            segments.append(Segment(text, style))
            at = end
        return Strip(segments)

    def _note_line(self, palette: Palette) -> Strip:
        label = self._parts.label
        room = max(0, self.size.width - label)
        text = self._error or self._note
        style = palette.error if self._error else self._fill(palette)
        return Strip([Segment(" " * label, palette.text), Segment(cut(text, room), style)])


