"""The title line: which session it is, how it was counted, and under which policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.looks import COMPONENTS, Tinted, css, cut, plain


class Fact(NamedTuple):
    """One fact of the title; the higher its rank, the sooner it is left out."""

    text: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Title:
    """What the line says: `name` stands out, `facts` follow as room allows, `right` at the end."""

    name: str = ""
    facts: tuple[Fact, ...] = ()
    right: str = ""


class TitleLine(Tinted, Widget):
    """One line at the top of the screen."""

    DEFAULT_CSS = (
        css("TitleLine")
        + """
    TitleLine { height: 1; background: $foreground 5%; }
    """
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    ALLOW_SELECT = False

    @dataclass
    class PolicyClicked(Event):
        """The policy at the right end was clicked."""

        line: TitleLine

        @property
        def control(self) -> TitleLine:
            """The line it happened in."""
            return self.line

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._title = Title()

    def show(self, title: Title) -> None:
        """Show another title."""
        if title != self._title:
            self._title = title
            self.refresh()

    @property
    def title_shown(self) -> Title:
        """What the line says now."""
        return self._title

    def render_line(self, y: int) -> Strip:
        """The line; facts that do not fit are left out whole, a long name is cut for them."""
        if y:
            return Strip.blank(self.size.width)
        palette, width, title = self.palette, self.size.width, self._title
        brand = " compaction "
        right = f"{plain(title.right)} " if title.right else ""
        name = cut(plain(title.name), max(12, (width - len(brand) - len(right)) // 2))
        room = width - len(brand) - cell_len(name) - 4
        if len(right) + 2 > room:
            right = ""
        facts = [Fact(plain(fact.text), fact.rank) for fact in title.facts if fact.text]
        while facts and len(_joined(facts)) + len(right) + 3 > room:
            facts.remove(max(facts, key=lambda fact: fact.rank))
        text = _joined(facts)
        bold = palette.text + Style(bold=True)
        brand_style = palette.accent + Style(reverse=True, bold=True)
        segments = [
            Segment(brand, brand_style),
            Segment("  ", palette.text),
            Segment(name, bold),
            Segment("  ", palette.text),
            Segment(text, palette.muted),
        ]
        used = sum(segment.cell_length for segment in segments)
        if right and used + len(right) <= width:
            segments.append(Segment(" " * (width - used - len(right)), palette.text))
            segments.append(Segment(right, palette.accent))
        return Strip(segments).adjust_cell_length(width, palette.text).crop(0, width)

    def on_click(self, event: events.Click) -> None:
        """A click on the policy asks for another one."""
        if self._title.right and event.x >= self.size.width - len(self._title.right) - 1:
            self.post_message(self.PolicyClicked(self))


def _joined(facts: Sequence[Fact]) -> str:
    return " · ".join(fact.text for fact in facts)
