"""An app with the widgets under test on it, and what they said while it ran."""

from __future__ import annotations

from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget


class Stage(App[None]):
    """Shows widgets, one below the other, and remembers the events that reach it."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, css: str = "") -> None:
        super().__init__()
        self._widgets = widgets
        self.events: list[Any] = []
        self._extra = css

    def compose(self) -> ComposeResult:
        yield from self._widgets

    def on_mount(self) -> None:
        if self._extra:
            self.stylesheet.add_source(self._extra, read_from=("stage", ""))
            self.refresh_css()

    async def _dispatch_message(self, message: Event) -> None:
        if type(message).__module__.startswith("tui."):
            self.events.append(message)
        await super()._dispatch_message(message)

    def said(self, kind: type[Event]) -> list[Any]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]


def drawn(widget: Widget) -> list[Strip]:
    """The lines of a widget as they stand on the screen."""
    return [widget.render_line(y) for y in range(widget.size.height)]


def text_of(widget: Widget) -> list[str]:
    """The lines of a widget as text."""
    return [strip.text for strip in drawn(widget)]
