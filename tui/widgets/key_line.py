"""The keys at the bottom, from the table of commands; as many as fit, each whole."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from tui.commands import Command, shown_key
from tui.widgets.looks import COMPONENTS, Tinted, css


class KeyLine(Tinted, Widget):
    """One line of keys and names; a click runs the command."""

    DEFAULT_CSS = (
        css("KeyLine")
        + """
    KeyLine { height: 1; background: $foreground 5%; }
    """
    )
    COMPONENT_CLASSES = set(COMPONENTS)
    ALLOW_SELECT = False

    def __init__(self, commands: Sequence[Command], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._commands = [each for each in commands if each.footer and each.keys]
        self._places: list[tuple[int, int, Command]] = []

    def render_line(self, y: int) -> Strip:
        """The keys; quitting and help are always among them."""
        palette, width = self.palette, self.size.width
        if y:
            return Strip.blank(width)
        shown = list(self._commands)
        while len(shown) > 2 and sum(_width(each) for each in shown) > width:
            droppable = [each for each in shown if each.id not in ("help", "quit")]
            if not droppable:
                break
            shown.remove(droppable[-1])
        segments: list[Segment] = []
        self._places = []
        at = 0
        key_style = palette.text + Style(bold=True)
        for each in shown:
            key = f" {shown_key(each.keys[0])}"
            name = f" {each.name.lower()} "
            segments += [Segment(key, key_style), Segment(name, palette.muted)]
            self._places.append((at, at + len(key) + len(name), each))
            at += len(key) + len(name)
        return Strip(segments).adjust_cell_length(width, palette.text).crop(0, width)

    async def on_click(self, event: events.Click) -> None:
        """Run the command under the pointer."""
        for start, end, each in self._places:
            if start <= event.x < end:
                await self.screen.run_action(each.action)
                return


def _width(command: Command) -> int:
    return len(shown_key(command.keys[0])) + len(command.name) + 3
