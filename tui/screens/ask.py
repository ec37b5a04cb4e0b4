"""A dialog that asks for one line of text: a file to write, say."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from compaction.plaintext import one_line
from tui.screens.dialog import Dialog

#: Says what is wrong with a text, "" when nothing is.
Check = Callable[[str], str]


def _fine(text: str) -> str:
    return "" if text.strip() else "Type something, or leave with esc."


class Ask(Dialog[str]):
    """Gives the text; None when it was left. A text that `check` refuses stays open."""

    DEFAULT_CSS = """
    Ask {
        & Input { height: 1; border: none; padding: 0; background: $foreground 8%; }
        & Input:focus { border: none; }
        & #ask-note { height: auto; color: $foreground 65%; }
        & #ask-note.-wrong { color: $error; }
    }
    """

    def __init__(
        self, title: str, value: str = "", *, note: str = "", check: Check = _fine
    ) -> None:
        super().__init__(title, "enter takes it · esc leaves")
        # A name from a file may be hostile, and stands in a field as it is.
        self._value = one_line(value)
        self._note = note
        self._check = check

    def content(self) -> ComposeResult:
        yield Input(self._value, compact=True, select_on_focus=False)
        yield Static(Content(self._note), id="ask-note")

    def on_input_changed(self) -> None:
        """What was wrong may be right now."""
        self._say(self._note, wrong=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take it, unless something is wrong with it."""
        event.stop()
        wrong = self._check(event.value)
        if wrong:
            self._say(wrong, wrong=True)
        else:
            self.dismiss(event.value)

    def _say(self, text: str, *, wrong: bool) -> None:
        note = self.query_one("#ask-note", Static)
        note.update(Content(text))
        note.set_class(wrong, "-wrong")
