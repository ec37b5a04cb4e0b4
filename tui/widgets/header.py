"""The title line: which session it is, how it was counted, and under which policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.looks import COMPONENTS, Tinted, css, fit, plain


@dataclass(frozen=True, slots=True)
class Title:
    """What the line says: `name` stands out, `facts` follow as room allows, `right` at the end."""

    name: str = ""
    facts: tuple[str, ...] = ()
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
        """The line; facts that do not fit are left out whole, the last ones first."""
        if y:
            return Strip.blank(self.size.width)
        palette, width, title = self.palette, self.size.width, self._title
        brand = " compaction "
        name = plain(title.name)
        right = f"{plain(title.right)} " if title.right else ""
        room = width - len(brand) - len(name) - 4
        if len(right) + 2 > room:
            right = ""
        facts = [plain(fact) for fact in title.facts if fact]
        while facts and len(" · ".join(facts)) + len(right) + 3 > room:
            facts.pop()
        text = " · ".join(facts)
        bold = palette.text + Style(bold=True)
        brand_style = palette.accent + Style(reverse=True, bold=True)
        segments = [
            Segment(brand, brand_style),
            Segment("  ", palette.text),
            Segment(fit(name, min(len(name), max(0, width - len(brand) - 2))), bold),
            Segment("  ", palette.text),
            Segment(text, palette.muted),
        ]
        used = sum(len(segment.text) for segment in segments)
        if right and used + len(right) <= width:
            segments.append(Segment(" " * (width - used - len(right)), palette.text))
            segments.append(Segment(right, palette.accent))
        return Strip(segments).adjust_cell_length(width, palette.text).crop(0, width)

    def on_click(self, event: events.Click) -> None:
        """A click on the policy asks for another one."""
        if self._title.right and event.x >= self.size.width - len(self._title.right) - 1:
            self.post_message(self.PolicyClicked(self))
