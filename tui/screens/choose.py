"""A dialog to choose one of a few: a policy, what to copy, a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip

from tui.screens.dialog import Dialog
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, fit, plain

#: Cells of the widest label; longer ones are cut.
_LABEL = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry. `key` is a character that chooses it at once, "" for none."""

    id: str
    label: str
    detail: str = ""
    key: str = ""


class ChoiceList(LineList):
    """The entries, one line each; the present one is marked."""

    @dataclass
    class Chosen(Event):
        """An entry was chosen."""

        list: ChoiceList
        choice: Choice

        @property
        def control(self) -> ChoiceList:
            """The list it happened in."""
            return self.list

    def __init__(self, choices: Sequence[Choice], current: str = "") -> None:
        super().__init__(id="choices")
        self._choices = tuple(choices)
        self._current = current
        self._label = min(_LABEL, max((cell_len(plain(c.label)) for c in choices), default=0))
        ids = [choice.id for choice in choices]
        self._cursor = ids.index(current) if current in ids else 0

    def on_mount(self) -> None:
        """The number of lines is known from the beginning."""
        self.items_changed()

    @property
    def item_count(self) -> int:
        return len(self._choices)

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        choice = self._choices[line]
        mark = "● " if choice.id == self._current else "  "
        key = f"{choice.key}  " if choice.key else ""
        label = min(self._label, max(4, width - 4 - len(key)))
        segments = [
            Segment(mark, palette.accent),
            Segment(key, palette.accent),
            Segment(fit(plain(choice.label), label) + "  ", palette.text + Style(bold=True)),
        ]
        room = width - 4 - len(key) - label
        if room > 8:
            segments.append(Segment(fit(plain(choice.detail), room), palette.muted))
        if line == self.cursor:
            segments = [
                Segment(part, palette.on_cursor(style or palette.text))
                for part, style, _ in segments
            ]
            return Strip(segments).adjust_cell_length(width, palette.on_cursor(palette.text))
        return Strip(segments).adjust_cell_length(width, palette.text)

    def activated(self) -> None:
        self.post_message(self.Chosen(self, self._choices[self.cursor]))


class Choose(Dialog[str]):
    """Gives the id of the chosen entry; None when it was left."""

    DEFAULT_CSS = """
    Choose { & ChoiceList { height: auto; max-height: 70vh; overflow-y: auto; } }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "Close", id="choose.close", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[Choice], current: str = "") -> None:
        super().__init__(title, "enter chooses · esc leaves it as it is")
        self._choices = tuple(choices)
        self._current = current

    def content(self) -> ComposeResult:
        yield ChoiceList(self._choices, self._current)

    def on_mount(self) -> None:
        """As high as it has entries."""
        entries = self.query_one(ChoiceList)
        entries.styles.height = max(1, len(self._choices))
        entries.focus()

    def on_choice_list_chosen(self, event: ChoiceList.Chosen) -> None:
        """Take it."""
        event.stop()
        self.dismiss(event.choice.id)

    def on_key(self, event: events.Key) -> None:
        """A key of an entry chooses it."""
        for choice in self._choices:
            if choice.key and event.character == choice.key:
                event.stop()
                self.dismiss(choice.id)
                return

    def on_click(self, event: events.Click) -> None:
        """A click beside the panel closes; one on an entry has chosen it."""
        if event.widget is self:
            self.dismiss(None)
        elif isinstance(event.widget, ChoiceList) and event.chain == 1:
            event.widget.action_activate()
