"""The keys at the bottom, from the table of commands; as many as fit, each whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

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
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    ALLOW_SELECT = False

    def __init__(self, commands: Sequence[Command], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._entries = _entries([each for each in commands if each.footer and each.keys])
        self._places: list[tuple[int, int, Command]] = []

    def render_line(self, y: int) -> Strip:
        """The keys; quitting and help are always among them."""
        palette, width = self.palette, self.size.width
        if y:
            return Strip.blank(width)
        shown = list(self._entries)
        while sum(entry.width for entry in shown) > width:
            droppable = [entry for entry in shown if entry.commands[0].id not in _ALWAYS]
            if not droppable:
                break
            shown.remove(droppable[-1])
        segments: list[Segment] = []
        self._places = []
        at = 0
        key_style = palette.text + Style(bold=True)
        for entry in shown:
            for command in entry.commands:
                key = f" {shown_key(command.keys[0])}"
                segments.append(Segment(key, key_style))
                self._places.append((at, at + len(key), command))
                at += len(key)
            name = f" {entry.name} "
            segments.append(Segment(name, palette.muted))
            self._places.append((at, at + len(name), entry.commands[-1]))
            at += len(name)
        return Strip(segments).adjust_cell_length(width, palette.text).crop(0, width)

    async def on_click(self, event: events.Click) -> None:
        """Run the command under the pointer."""
        for start, end, each in self._places:
            if start <= event.x < end:
                await self.screen.run_action(each.action)
                return


#: What is named however little room there is.
_ALWAYS: Final = frozenset({"help", "quit"})


@dataclass(frozen=True, slots=True)
class _Entry:
    """Commands under one name: usually one."""

    name: str
    commands: tuple[Command, ...]

    @property
    def width(self) -> int:
        keys = sum(len(shown_key(each.keys[0])) + 1 for each in self.commands)
        return keys + len(self.name) + 2


def _entries(commands: Sequence[Command]) -> list[_Entry]:
    """The commands; neighbours that do one thing in two directions share a name."""
    entries: list[_Entry] = []
    for command in commands:
        stem = command.name.lower().split()[0]
        last = entries[-1] if entries else None
        verb = command.action.partition("(")[0]
        if last is not None and last.commands[-1].action.partition("(")[0] == verb:
            entries[-1] = _Entry(stem, (*last.commands, command))
        else:
            entries.append(_Entry(command.name.lower(), (command,)))
    return entries
