"""Tokens of every message of a list, with prefix sums: every total is one subtraction."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.tokens.counters import Counter


@dataclass(frozen=True, slots=True)
class Calibration:
    """How counts were made true by what the provider reported.

    `ratio` are tokens a counted token and `block` tokens a block of content, as fitted over the
    `responses`. The first `covered` messages have their share of reported numbers. `plain_error`
    is how far the plain count was off over what was reported (-0.27: 27 % low), `spread` the
    median error of the fitted price for the growth between two responses; both None where only
    one response is known. `reported` is what the last response read.
    """

    responses: int
    ratio: float
    block: float
    covered: int
    plain_error: float | None
    spread: float | None
    reported: int

    def words(self) -> str:
        """How good the numbers are, for a label."""
        many = f"{self.responses:,} response{'' if self.responses == 1 else 's'}"
        if self.plain_error is None:
            return f"calibrated on {many}"
        off = abs(self.plain_error)
        side = "low" if self.plain_error < 0 else "high"
        return f"calibrated on {many}; the plain count was {off * 100:.0f} % {side}"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What the messages of one list cost.

    `tokens` has one entry a message, `prefix` one more: the sum of all before. `overhead` are the
    tokens of tool definitions that the file holds. `exact` is False while any message is an
    estimate; the first `done` are not. `model` is the model of the session where its tokenizer is
    another than the one that counted, so that all counts are estimates of its own. `calibration`
    says how the numbers were made those of the provider; None for plain counts.
    """

    tokenizer: str
    tokens: array[int]
    prefix: array[int] = field(init=False)
    overhead: int = 0
    exact: bool = True
    done: int = -1
    model: str = ""
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix", array("q", accumulate(self.tokens, initial=0)))
        if self.done < 0:
            object.__setattr__(self, "done", len(self.tokens) if self.exact else 0)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def total(self) -> int:
        """All messages and the overhead."""
        return self.prefix[-1] + self.overhead

    @property
    def counter(self) -> Counter:
        """What counts a text at the same price, such as the summary of these messages."""
        from compaction.tokens.counters import Scaled, counter

        plain = counter(self.tokenizer)
        if self.calibration is None:
            return plain
        return Scaled(plain, self.calibration.ratio, self.calibration.block)

    def between(self, start: int, end: int) -> int:
        """The tokens of the messages in [start, end); 0 when that is empty."""
        return self.prefix[end] - self.prefix[start] if end > start else 0

    @property
    def named(self) -> str:
        """The name of the way of counting, as a policy says it."""
        return self.tokenizer if self.calibration is None else "calibrated"

    @property
    def sure(self) -> bool:
        """Whether these are the numbers of the model itself, as far as one can know."""
        return self.label == f"{self.tokenizer}, exact"

    @property
    def label(self) -> str:
        """How good the numbers are: "o200k_base, exact", "estimated"."""
        if not self.exact:
            return "estimated"
        if self.calibration is not None:
            return self.calibration.words()
        if self.tokenizer == "chars/4":
            return "chars/4, an estimate"
        if self.model:
            return f"{self.tokenizer}, an estimate for {self.model}"
        return f"{self.tokenizer}, exact"

    def with_counted(self, start: int, tokens: array[int], tokenizer: str) -> Counts:
        """These counts with `tokens` counted by `tokenizer` for the messages from `start` on.

        Batches come in order: all messages before `start` are counted already. The result is
        exact when the last message is. Takes time in proportion to all messages.
        """
        merged = array("q", self.tokens)
        done = start + len(tokens)
        merged[start:done] = tokens
        return Counts(
            tokenizer,
            merged,
            overhead=self.overhead,
            exact=done >= len(merged),
            done=done,
            model=self.model,
        )
