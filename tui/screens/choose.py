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
from textual.widgets import Input

from tui.screens.dialog import Dialog
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, fit, plain

#: Cells of the widest label; longer ones are cut.
_LABEL = 40

#: From so many entries on, a text can be typed that they must hold.
SEARCHABLE = 16

#: Entries looked at to find how wide the labels are.
_MEASURED = 1_000


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

    def __init__(self, choices: Sequence[Choice], current: str = "", label: int = _LABEL) -> None:
        super().__init__(id="choices")
        self._all = tuple(choices)
        self._choices = self._all
        self._current = current
        some = choices[:_MEASURED]
        self._label = min(label, max((cell_len(plain(c.label)) for c in some), default=0))
        ids = [choice.id for choice in choices]
        self._cursor = ids.index(current) if current in ids else 0

    def narrow(self, text: str) -> None:
        """Leave only the entries that hold every word of `text`, letter case ignored."""
        chosen = self._choices[self.cursor] if self._choices else None
        words = text.casefold().split()
        self._choices = tuple(
            choice
            for choice in self._all
            if all(word in f"{choice.label} {choice.detail}".casefold() for word in words)
        )
        self._cursor = 0
        self.items_changed()
        self.scroll_to(y=0, animate=False, immediate=True)
        if chosen in self._choices:
            self.move_cursor(self._choices.index(chosen))

    def on_mount(self) -> None:
        """The number of lines is known from the beginning."""
        self.items_changed()
        self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        self.move_cursor(self.cursor, centre=True)

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
        return palette.row(segments, width, cursor=line == self.cursor)

    def activated(self) -> None:
        if self._choices:
            self.post_message(self.Chosen(self, self._choices[self.cursor]))


class Choose(Dialog[str]):
    """Gives the id of the chosen entry; None when it was left.

    With many entries a text can be typed that narrows them; the keys of the list still move it.
    """

    DEFAULT_CSS = """
    Choose {
        & ChoiceList { height: auto; max-height: 70vh; overflow-y: auto; }
        & Input { height: 1; border: none; padding: 0; margin: 0 0 1 0; }
        & Input { background: $foreground 8%; }
        & Input:focus { border: none; }
        &.-short Input { margin: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "Close", id="choose.close", show=False),
        Binding("down", "move(1)", "Down", id="choose.down", show=False),
        Binding("up", "move(-1)", "Up", id="choose.up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="choose.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="choose.page-up", show=False),
    ]

    def __init__(
        self, title: str, choices: Sequence[Choice], current: str = "", *, label: int = _LABEL
    ) -> None:
        """`label` is the cells that the labels may take."""
        self._searchable = len(choices) >= SEARCHABLE
        find = "type to find · " if self._searchable else ""
        super().__init__(title, f"{find}enter chooses · esc leaves it as it is")
        self._choices = tuple(choices)
        self._current = current
        self._label = label

    def content(self) -> ComposeResult:
        if self._searchable:
            yield Input(placeholder="type to find one", compact=True)
        yield ChoiceList(self._choices, self._current, self._label)

    def on_mount(self) -> None:
        """As high as it has entries."""
        entries = self.query_one(ChoiceList)
        entries.styles.height = max(1, len(self._choices))
        (self.query_one(Input) if self._searchable else entries).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Leave what holds the text."""
        event.stop()
        self.query_one(ChoiceList).narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the entry under the cursor of the list."""
        event.stop()
        self.query_one(ChoiceList).action_activate()

    def action_move(self, entries: int) -> None:
        """Move the cursor of the list while a text is typed."""
        self.query_one(ChoiceList).action_cursor_by(entries)

    def action_page(self, pages: int) -> None:
        """Move it by what is on the screen."""
        self.query_one(ChoiceList).action_page(pages)

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
