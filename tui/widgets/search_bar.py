"""A line to type into: a search with its count, or a filter with what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message as Event
from textual.widgets import Input, Static

from tui.widgets.looks import grouped


class EntryBar(Horizontal):
    """A sign, an input and a count, in one line; hidden until it is opened."""

    DEFAULT_CSS = """
    EntryBar {
        height: 1;
        display: none;
        background: transparent;
        &.-open { display: block; }
        & > .entry-sign { width: auto; padding: 0 1; color: $accent; text-style: bold; }
        & > Input {
            width: 1fr; height: 1; border: none; padding: 0; background: transparent;
            &:focus { border: none; background: transparent; }
        }
        & > .entry-count { width: auto; padding: 0 1; color: $foreground 65%; }
        &.-wrong > .entry-count { color: $error; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="entry.close", show=False),
    ]
    SIGN = ""
    HINT = ""

    @dataclass
    class Changed(Event):
        """Another text was typed."""

        bar: EntryBar
        text: str

        @property
        def control(self) -> EntryBar:
            """The bar it happened in."""
            return self.bar

        def can_replace(self, message: Event) -> bool:
            """Only the newest text of this bar matters."""
            return isinstance(message, EntryBar.Changed) and message.bar is self.bar

    @dataclass
    class Submitted(Event):
        """The text was entered: what is asked for now is the list."""

        bar: EntryBar
        text: str

        @property
        def control(self) -> EntryBar:
            """The bar it happened in."""
            return self.bar

    @dataclass
    class Closed(Event):
        """The bar was left with Escape, and emptied."""

        bar: EntryBar

        @property
        def control(self) -> EntryBar:
            """The bar it happened in."""
            return self.bar

    def compose(self) -> ComposeResult:
        yield Static(Content(self.SIGN), classes="entry-sign")
        yield Input(placeholder=self.HINT, select_on_focus=False, compact=True)
        yield Static("", classes="entry-count", markup=False)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.query_one(Input).value

    @text.setter
    def text(self, text: str) -> None:
        with self.prevent(Input.Changed):
            self.query_one(Input).value = text

    @property
    def is_open(self) -> bool:
        """Whether the bar is shown."""
        return self.has_class("-open")

    def open(self, text: str | None = None) -> None:
        """Show the bar, with `text` in it when one is given, and take the focus."""
        if text is not None:
            self.text = text
        self.set_class(True, "-open")
        entry = self.query_one(Input)
        entry.focus()
        entry.cursor_position = len(entry.value)

    def close(self) -> None:
        """Hide and empty the bar, silently."""
        self.text = ""
        self.say("")
        self.set_class(False, "-open")

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Put a count or an error at the right."""
        self.query_one(".entry-count", Static).update(Content(text))
        self.set_class(wrong, "-wrong")

    def action_close(self) -> None:
        """Leave the bar."""
        self.close()
        self.post_message(self.Closed(self))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass it on as this bar's own."""
        event.stop()
        self.post_message(self.Changed(self, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass it on as this bar's own."""
        event.stop()
        self.post_message(self.Submitted(self, event.value))


class SearchBar(EntryBar):
    """Finds a text in the messages."""

    SIGN = "/"
    HINT = "search the messages"

    def say_count(self, at: int | None, count: int, *, searching: bool = False) -> None:
        """`3 of 41`; `at` is 0-based, None while the cursor stands on no hit."""
        if not self.text:
            self.say("")
        elif not count:
            self.say("…" if searching else "not found", wrong=not searching)
        else:
            more = "…" if searching else ""
            place = f"{grouped(at + 1)} of " if at is not None else ""
            self.say(f"{place}{grouped(count)}{more}")
