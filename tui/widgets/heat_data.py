"""What a heat map shows: a value a cell for every metric, on two axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final

from tui.widgets.amounts import dollars
from tui.widgets.looks import counted, grouped, short

#: The metrics in their order, each with what it is called.
METRICS: Final[dict[str, str]] = {
    "cost": "cost",
    "sent": "tokens sent",
    "peak": "peak",
    "compactions": "compactions",
    "lost": "needed later, lost",
}
#: What they are called where there is little room.
SHORT: Final[dict[str, str]] = {
    "cost": "cost",
    "sent": "sent",
    "peak": "peak",
    "compactions": "compactions",
    "lost": "lost",
}

#: From this ratio of the greatest to the least value on, shades go by the logarithm.
_WIDE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Heat:
    """A grid of settings. Cell `b * len(amounts) + a` is budget b with amount a.

    `unit` is that of the amounts ("fit" has one, None). `values` has None where a setting cannot
    be. `front` are the cells that no other beats in both cost and loss, `best` the advised one.
    `dollars`: costs are money, else tokens.
    """

    budgets: tuple[int, ...]
    amounts: tuple[float | None, ...]
    unit: str
    values: Mapping[str, tuple[float | None, ...]]
    front: frozenset[int] = frozenset()
    best: int | None = None
    dollars: bool = False

    def cell(self, budget: int, amount: int) -> int:
        """The number of the cell at two places of the axes."""
        return budget * len(self.amounts) + amount

    def share(self, metric: str, cell: int) -> float | None:
        """Where a value stands between the least (0) and the greatest (1) of its metric."""
        value = self.values[metric][cell]
        low, high = self.ends(metric)
        if value is None:
            return None
        if high <= low:
            return 0.0
        if low > 0 and high / low > _WIDE:
            return (log(value) - log(low)) / (log(high) - log(low))
        return (value - low) / (high - low)

    def ends(self, metric: str) -> tuple[float, float]:
        """The least and the greatest value of a metric."""
        known = [value for value in self.values[metric] if value is not None]
        return min(known, default=0.0), max(known, default=0.0)

    def said(self, metric: str, value: float | None) -> str:
        """A value in words."""
        if value is None:
            return "not possible"
        if metric == "cost":
            return dollars(value) if self.dollars else f"{short(round(value))} tokens' worth"
        if metric == "compactions":
            return counted(round(value), "compaction")
        if metric == "lost":
            return grouped(round(value))
        return short(round(value))

    def amount_label(self, amount: float | None) -> str:
        """An amount on the axis."""
        if amount is None:
            return "fit"
        if self.unit == "fraction":
            return f"{amount * 100:.0f}"
        return short(round(amount)).replace(".0", "")

    def amount_words(self, amount: float | None) -> str:
        """An amount in a sentence."""
        if amount is None:
            return "keep what fits"
        if self.unit == "fraction":
            return f"keep {amount * 100:.0f} %"
        return f"keep {grouped(round(amount))} {self.unit}"
