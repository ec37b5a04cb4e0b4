"""The ground of every dialog: a calm panel with a title, its content, and its keys below."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

T = TypeVar("T")


class Dialog(ModalScreen[T | None]):
    """A panel over the screen below; Escape leaves it with None.

    A subclass gives `content`, and `title` and `keys` as plain text.
    """

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 55%;
        & > #panel {
            width: 84;
            max-width: 96%;
            height: auto;
            max-height: 94%;
            padding: 1 2;
            background: $surface;
            color: $foreground;
        }
        & #dialog-title { height: auto; text-style: bold; padding: 0 0 1 0; }
        & #dialog-keys { height: auto; color: $foreground 65%; padding: 1 0 0 0; }
        & LineList, & TextPane {
            scrollbar-background: $surface;
            scrollbar-background-hover: $surface;
            scrollbar-background-active: $surface;
        }
        &.-short > #panel { padding: 0 1; }
        &.-short #dialog-title { padding: 0; }
        &.-short #dialog-keys { padding: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="dialog.close", show=False),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012 - as the base has it

    def __init__(self, title: str, keys: str = "esc closes") -> None:
        super().__init__()
        self._title = title
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(id="panel"):
            yield Static(Content(self._title), id="dialog-title")
            yield from self.content()
            yield Static(Content(self._keys), id="dialog-keys")

    def content(self) -> ComposeResult:
        """What stands between the title and the keys."""
        raise NotImplementedError

    def say_keys(self, keys: str) -> None:
        """Name other keys at the bottom."""
        self.query_one("#dialog-keys", Static).update(Content(keys))

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)
