"""Where a value stands on a slider's track, and which values a step away are.

Pure arithmetic, whole numbers, both ends always reachable.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Literal

from tui.widgets.amounts import nice_at_most, roundest_between

Kind = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The values from `minimum` to `maximum`, laid out evenly or by their logarithm."""

    minimum: int
    maximum: int
    kind: Kind = "linear"

    def clamp(self, value: int) -> int:
        """`value`, brought into the range."""
        return max(self.minimum, min(value, self.maximum))

    def fraction(self, value: float) -> float:
        """Where `value` stands, from 0 at the minimum to 1 at the maximum."""
        span = self.maximum - self.minimum
        if span <= 0:
            return 0.0
        value = max(self.minimum, min(value, self.maximum))
        if self.kind == "linear":
            return (value - self.minimum) / span
        low = self._floor
        return log((value - self.minimum + low) / low) / log((span + low) / low)

    def value_at(self, fraction: float) -> float:
        """The value that stands at `fraction`."""
        span = self.maximum - self.minimum
        fraction = max(0.0, min(fraction, 1.0))
        if self.kind == "linear" or span <= 0:
            return self.minimum + fraction * max(0, span)
        low = self._floor
        return self.minimum - low + low * exp(fraction * log((span + low) / low))

    @property
    def _floor(self) -> float:
        # The logarithm needs a first value above nothing; a range from 0 starts at 1.
        return float(max(1, self.minimum))

    def cell(self, value: float, width: int) -> int:
        """The cell of a track of `width` cells in which `value` stands."""
        return round(self.fraction(value) * max(0, width - 1))

    def pick(self, cell: int, width: int) -> int:
        """The roundest value that stands in `cell`; the outermost cells give the ends."""
        last = width - 1
        if cell <= 0 or last <= 0:
            return self.minimum
        if cell >= last:
            return self.maximum
        low, high = self.value_at((cell - 0.5) / last), self.value_at((cell + 0.5) / last)
        return self.clamp(roundest_between(low, high, self.value_at(cell / last)))

    def step_at(self, value: int) -> int:
        """The size of one step at `value`: 1, 2 or 5 times a power of ten."""
        if self.kind == "log":
            return nice_at_most(abs(value) / 50)
        return nice_at_most((self.maximum - self.minimum) / 500)

    def stepped(self, value: int, steps: int) -> int:
        """`value` moved by `steps` steps, onto multiples of the step, inside the range.

        Ten steps are one step of ten times the size.
        """
        if steps == 0:
            return self.clamp(value)
        size = self.step_at(value if steps > 0 else value - 1) * abs(steps)
        if steps > 0:
            return self.clamp((value // size + 1) * size)
        return self.clamp((-(-value // size) - 1) * size)
