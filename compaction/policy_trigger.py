"""The `trigger` block: when a list is compacted, and the budget it is held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from compaction.errors import PolicyError
from compaction.policy_checks import SettingError, one_of, share, whole

When = Literal["over", "reach"]

#: The budget of a policy that sets none.
DEFAULT_BUDGET = 100_000

#: What a clause may measure.
MEASURES = ("tokens", "messages", "turns", "groups")


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition on the whole list; the limits that are set must all be passed.

    `when` says whether reaching a limit is enough ("reach", >=) or not ("over", >).
    """

    tokens: int | None = None
    messages: int | None = None
    turns: int | None = None
    when: When = "over"
    groups: int | None = None

    def __post_init__(self) -> None:
        limits = tuple((name, getattr(self, name)) for name in MEASURES)
        if all(limit is None for _, limit in limits):
            raise SettingError(
                "trigger", f"a clause of trigger sets none of {', '.join(MEASURES)}."
            )
        for name, limit in limits:
            if limit is not None:
                whole(name, limit)
        one_of("when", self.when, get_args(When))

    def holds(self, tokens: int, messages: int, turns: int, groups: int = 0) -> bool:
        """Whether every limit that is set is passed."""
        pairs = (
            (self.tokens, tokens),
            (self.messages, messages),
            (self.turns, turns),
            (self.groups, groups),
        )
        return all(
            limit is None or (value >= limit if self.when == "reach" else value > limit)
            for limit, value in pairs
        )


@dataclass(frozen=True, slots=True)
class Trigger:
    """When the list is compacted, and the budget it is held to.

    The budget is `budget`, or a part of a context window: `window * at`, or `window - reserve`
    (the window the session states, where `window` is None). With `any` or `all`, these clauses
    decide when instead of the budget: one of `any` and every one of `all` must hold.

    Where the policy makes the list fit, it is brought under `target` tokens, or under the part
    `to` of the window; under the budget where neither is set.
    """

    budget: int | None = None
    when: When = "over"
    window: int | None = None
    at: float | None = None
    reserve: int | None = None
    any: tuple[Clause, ...] = ()
    all: tuple[Clause, ...] = ()
    target: int | None = None
    to: float | None = None

    def __post_init__(self) -> None:
        one_of("trigger.when", self.when, get_args(When))
        if self.budget is not None:
            whole("trigger.budget", self.budget)
        if self.window is not None:
            whole("trigger.window", self.window, 1)
        if self.at is not None:
            share("trigger.at", self.at)
        if self.reserve is not None:
            whole("trigger.reserve", self.reserve)
        if self.target is not None:
            whole("trigger.target", self.target)
        if self.to is not None:
            share("trigger.to", self.to)
        self._refuse_contradictions()
        if self.budget is None and not self.of_window:
            object.__setattr__(self, "budget", self._clause_budget())
        self._refuse_high_target()

    def _refuse_contradictions(self) -> None:
        if self.at is not None and self.reserve is not None:
            raise SettingError(
                "trigger.reserve", "trigger sets both at and reserve; it takes one of them."
            )
        if self.budget is not None and (self.of_window or self.window is not None):
            raise SettingError(
                "trigger.budget",
                "trigger sets both budget and a part of a window; it takes one of them.",
            )
        if self.window is not None and not self.of_window:
            raise SettingError(
                "trigger.window", "trigger.window needs at or reserve beside it, such as at: 0.9."
            )
        if self.window is not None and self.reserve is not None and self.reserve > self.window:
            raise SettingError(
                "trigger.reserve",
                f"trigger.reserve is {self.reserve}, more than the window of {self.window}.",
            )

    def _refuse_high_target(self) -> None:
        """A list that is brought to more than what sets it off would be compacted at once again."""
        if self.target is not None and self.to is not None:
            raise SettingError(
                "trigger.to", "trigger sets both target and to; it takes one of them."
            )
        if self.to is not None and not self.of_window:
            raise SettingError(
                "trigger.to", "trigger.to is a part of a window and needs at or reserve beside it."
            )
        if self.to is not None and self.at is not None and self.to > self.at:
            raise SettingError(
                "trigger.to", f"trigger.to is {self.to:g}, above trigger.at of {self.at:g}."
            )
        if self.of_window and self.window is None:
            return
        budget = self.tokens()
        part = int((self.window or 0) * (self.to or 0))
        target = part if self.target is None else self.target
        if target > budget:
            raise SettingError(
                "trigger.target" if self.target is not None else "trigger.to",
                f"trigger brings the list to {target:,} tokens, above the budget of {budget:,} "
                "that sets it off.",
            )

    def _clause_budget(self) -> int:
        limits = [clause.tokens for clause in (*self.any, *self.all) if clause.tokens is not None]
        return min(limits, default=DEFAULT_BUDGET)

    @property
    def of_window(self) -> bool:
        """Whether the budget is a part of a context window."""
        return self.at is not None or self.reserve is not None

    def tokens(self, window: int | None = None) -> int:
        """The budget; `window` stands in where the policy names none. Raises PolicyError."""
        if self.budget is not None:
            return self.budget
        known = self.window if self.window is not None else window
        if known is None:
            raise PolicyError(
                "the policy takes its budget from the context window, and the session states "
                "none; set trigger.window or give a budget."
            )
        if self.at is not None:
            return int(known * self.at)
        return max(0, known - (self.reserve or 0))

    def target_tokens(self, window: int | None = None) -> int:
        """What the list is brought under where it is made to fit. Raises PolicyError."""
        budget = self.tokens(window)
        known = self.window if self.window is not None else window
        if self.to is not None and known is not None:
            return min(budget, int(known * self.to))
        return budget if self.target is None else min(budget, self.target)

    def passed(self, tokens: int, budget: int) -> bool:
        """Whether `tokens` are more than `budget` allows."""
        return tokens >= budget if self.when == "reach" else tokens > budget

    def fires(self, tokens: int, messages: int, turns: int, budget: int, groups: int = 0) -> bool:
        """Whether a list of this size is to be compacted."""
        if not self.any and not self.all:
            return self.passed(tokens, budget)
        for clause in self.all:
            if not clause.holds(tokens, messages, turns, groups):
                return False
        if not self.any:
            return True
        return any(clause.holds(tokens, messages, turns, groups) for clause in self.any)
