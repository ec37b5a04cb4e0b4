"""What a slider knows: its number and range, what is marked on it, and what is being typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from tui.widgets.looks import Tinted
from tui.widgets.slider_face import Mark
from tui.widgets.slider_scale import Kind, Scale


class SliderData(Tinted, Widget):
    """The values of a slider; setting one from outside draws it again and posts nothing."""

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
