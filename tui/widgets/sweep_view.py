"""The sweep pane: the map of settings, and what it says at the crosshair."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from tui.widgets.facts import Fact, Facts
from tui.widgets.heat_data import METRICS, Heat
from tui.widgets.heatmap import Heatmap


class SweepView(VerticalScroll, can_focus=False):
    """The map has the keys; the words stand below."""

    DEFAULT_CSS = """
    SweepView {
        height: 1fr;
        scrollbar-size-vertical: 0;
        & Facts { margin: 1 0 0 0; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Heatmap()
        yield Facts()

    def show(self, heat: Heat | None) -> None:
        """Show another map."""
        self.query_one(Heatmap).show(heat)

    def say(self, facts: Sequence[Fact]) -> None:
        """Say other things under it."""
        self.query_one(Facts).show(facts)


def facts_at(
    heat: Heat, here: tuple[int, int], why: str, *, exact: bool = True
) -> list[Fact]:
    """The values at a cell, and the advice; `exact`: the present setting is that of the cell."""
    budget, amount = here
    cell = heat.cell(budget, amount)
    setting = f"budget {heat.budgets[budget]:,}, {heat.amount_words(heat.amounts[amount])}"
    gives = [_in_words(heat, name, heat.values[name][cell]) for name in METRICS]
    place = "here" if exact else "nearest"
    facts = [Fact(place, setting, strong=True), Fact("gives", " · ".join(gives))]
    if cell == heat.best:
        facts.append(Fact("advice", f"This is the advised setting. {why}"))
    elif why:
        facts.append(Fact("advice", f"R takes {why}" if heat.best is not None else why))
    return facts


def _in_words(heat: Heat, metric: str, value: float | None) -> str:
    """A value with what it is."""
    said = heat.said(metric, value)
    match metric:
        case "sent":
            return f"{said} sent"
        case "peak":
            return f"peak {said}"
        case "lost":
            return f"{said} lost of what was needed later"
        case _:
            return said
