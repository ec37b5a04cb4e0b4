"""A few lines of figures: a name at the left, what there is to say about it at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.looks import COMPONENTS, Tinted, css, fit
from tui.widgets.text_flow import Tone, wrapped
from tui.widgets.text_pane import tone_style


class Fact(NamedTuple):
    """One fact; `strong` makes it stand out. `text` is plain already."""

    label: str
    text: str
    tone: Tone = "text"
    strong: bool = False


class Facts(Tinted, Widget):
    """Facts, each wrapped over as many lines as it needs."""

    DEFAULT_CSS = css("Facts") + """
    Facts { height: auto; background: transparent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._facts: tuple[Fact, ...] = ()
        self._width = 0
        self._lines: list[tuple[str, str, Fact]] = []

    def show(self, facts: Sequence[Fact]) -> None:
        """Show other facts."""
        facts = tuple(facts)
        if facts == self._facts:
            return
        self._facts = facts
        high = len(self._lines)
        self._lay_out(self._width or self.size.width)
        # Another layout costs more than all else; most changes need none.
        self.refresh(layout=len(self._lines) != high)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is shown."""
        return self._facts

    def _lay_out(self, width: int) -> None:
        self._width = width
        label = self._label
        self._lines = []
        for fact in self._facts:
            room = max(8, width - label)
            for number, piece in enumerate(wrapped(fact.text, room) or [""]):
                self._lines.append((fact.label if not number else "", piece, fact))

    @property
    def _label(self) -> int:
        widest = max((len(fact.label) for fact in self._facts), default=0)
        return min(14, widest + 2) if widest else 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many lines as there are."""
        if width != self._width:
            self._lay_out(width)
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        palette, width = self.palette, self.size.width
        if width != self._width:
            self._lay_out(width)
        if y >= len(self._lines):
            return Strip.blank(width, palette.text)
        label, text, fact = self._lines[y]
        style = tone_style(fact.tone, palette) + Style(bold=fact.strong)
        first = Segment(fit(label, self._label), palette.muted)
        return Strip([first, Segment(text, style)]).adjust_cell_length(width, palette.text)
