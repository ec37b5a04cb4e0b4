"""A map of budget by keep recent: one metric as shades, with a crosshair that sets both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.themes import has_shades
from tui.widgets.heat_data import METRICS, Heat
from tui.widgets.heatmap_face import LABEL, Face, line_of, metric_at, metric_line
from tui.widgets.looks import COMPONENTS, Tinted, css

__all__ = ["Heat", "Heatmap"]


class Heatmap(Tinted, Widget, can_focus=True):
    """Rows are budgets, the largest above; columns are amounts."""

    DEFAULT_CSS = css("Heatmap") + """
    Heatmap { height: auto; background: transparent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "move(0, 1)", "Keep more", id="sweep.keep-more", show=False),
        Binding("left,h", "move(0, -1)", "Keep less", id="sweep.keep-less", show=False),
        Binding("up,k", "move(1, 0)", "Larger budget", id="sweep.budget-more", show=False),
        Binding("down,j", "move(-1, 0)", "Smaller budget", id="sweep.budget-less", show=False),
        Binding("home", "move(0, -99)", "Keep least", id="sweep.keep-least", show=False),
        Binding("end", "move(0, 99)", "Keep most", id="sweep.keep-most", show=False),
        Binding("pageup", "move(99, 0)", "Largest budget", id="sweep.budget-most", show=False),
        Binding("pagedown", "move(-99, 0)", "Least budget", id="sweep.budget-least", show=False),
        Binding("m", "metric(1)", "Next metric", id="sweep.metric", show=False),
        Binding("M", "metric(-1)", "Metric before", id="sweep.metric-before", show=False),
        Binding("R", "adopt", "Take the advice", id="sweep.adopt", show=False),
    ]

    @dataclass
    class Picked(Event):
        """A person went to another cell: places on the two axes."""

        map: Heatmap
        budget: int
        amount: int

        @property
        def control(self) -> Heatmap:
            """The map it happened in."""
            return self.map

        def can_replace(self, message: Event) -> bool:
            """While it is dragged only the newest cell matters."""
            return isinstance(message, Heatmap.Picked)

    @dataclass
    class Adopted(Event):
        """The advised setting was asked for."""

        map: Heatmap

        @property
        def control(self) -> Heatmap:
            """The map it happened in."""
            return self.map

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._heat: Heat | None = None
        self._here = (0, 0)
        self._metric = next(iter(METRICS))
        self._dragging = False

    # --------------------------------------------------------------------------------- data

    def show(self, heat: Heat | None) -> None:
        """Show another map."""
        rows = self._rows
        self._heat = heat
        self.refresh(layout=self._rows != rows)

    @property
    def heat(self) -> Heat | None:
        """What is shown."""
        return self._heat

    @property
    def here(self) -> tuple[int, int]:
        """The places of the crosshair on the axes: budget, amount."""
        return self._here

    @here.setter
    def here(self, here: tuple[int, int]) -> None:
        before, self._here = self._here, here
        if here != before:
            # Two rows and the numbers below look otherwise, and no more.
            for budget in {before[0], here[0]}:
                for y in range(self._tall):
                    self.refresh_line(self._line(budget) + y)
            self.refresh_line(1 + self._rows * self._tall)

    @property
    def metric(self) -> str:
        """The metric that is shown."""
        return self._metric

    @metric.setter
    def metric(self, metric: str) -> None:
        if metric != self._metric:
            self._metric = metric
            self.refresh()

    # ------------------------------------------------------------------------------- places

    @property
    def _rows(self) -> int:
        return len(self._heat.budgets) if self._heat is not None else 0

    @property
    def _tall(self) -> int:
        """Lines of a row of cells."""
        return 2 if self._rows and self.size.height >= 2 * self._rows + 3 else 1

    @property
    def _wide(self) -> int:
        """Columns of a cell."""
        cells = len(self._heat.amounts) if self._heat is not None else 1
        return max(2, min(7, (self.size.width - LABEL) // max(1, cells)))

    def _line(self, budget: int) -> int:
        return 1 + (self._rows - 1 - budget) * self._tall

    def refresh_line(self, y: int) -> None:
        """Draw one line again."""
        self.refresh(Region(0, y, self.size.width, 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """A line a budget, and the names, the numbers and the signs."""
        return self._rows + 3 if self._rows else 1

    # -------------------------------------------------------------------------------- hands

    def _pick(self, budget: int, amount: int) -> None:
        heat = self._heat
        if heat is None:
            return
        budget = max(0, min(budget, len(heat.budgets) - 1))
        amount = max(0, min(amount, len(heat.amounts) - 1))
        if (budget, amount) != self._here:
            self.here = (budget, amount)
            self.post_message(self.Picked(self, budget, amount))

    def action_move(self, budgets: int, amounts: int) -> None:
        """Move the crosshair."""
        self._pick(self._here[0] + budgets, self._here[1] + amounts)

    def action_metric(self, step: int) -> None:
        """Show the next metric."""
        names = list(METRICS)
        self.metric = names[(names.index(self._metric) + step) % len(names)]

    def action_adopt(self) -> None:
        """Take the advised setting."""
        if self._heat is not None and self._heat.best is not None:
            self.post_message(self.Adopted(self))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the cell under the mouse, and follow it; a name shows its metric."""
        offset = event.get_content_offset(self)
        if offset is None or self._heat is None:
            return
        if offset.y == 0:
            name = metric_at(offset.x, self.size.width)
            if name is not None:
                self.metric = name
        elif offset.y <= self._rows * self._tall and offset.x >= LABEL:
            self._dragging = True
            self.capture_mouse()
            self._pick_under(offset.x, offset.y)
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The crosshair follows the held mouse."""
        if self._dragging:
            self._pick_under(event.x - self.gutter.left, event.y - self.gutter.top)

    def on_mouse_up(self) -> None:
        """Let go."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def _pick_under(self, x: int, y: int) -> None:
        row = max(0, min((y - 1) // self._tall, self._rows - 1))
        self._pick(self._rows - 1 - row, max(0, x - LABEL) // self._wide)

    # ------------------------------------------------------------------------------ drawing

    def on_focus(self) -> None:
        """The crosshair looks different with the focus."""
        super().on_focus()
        self.refresh()

    def on_blur(self) -> None:
        """The crosshair looks different without the focus."""
        super().on_blur()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        palette, width = self.palette, self.size.width
        if self._heat is None:
            return Strip.blank(width, palette.text)
        if y == 0:
            strip = metric_line(self._metric, width, palette)
        else:
            face = Face(
                self._heat,
                self._metric,
                self._here,
                wide=self._wide,
                tall=self._tall,
                solid=has_shades(self.app),
                focused=self.has_focus,
            )
            strip = line_of(face, y - 1, width, palette)
        return strip.adjust_cell_length(width, palette.text)
