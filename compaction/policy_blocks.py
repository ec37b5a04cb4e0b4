"""The blocks of a policy, as frozen values that refuse what cannot be.

A block that is built is valid: every constructor raises PolicyError with one sentence that names
the setting. Numbers are tokens unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from compaction.errors import PolicyError
from compaction.marker import LABEL

When = Literal["over", "reach"]
HeadKind = Literal["system", "leading-system", "none", "first"]
RecentUnit = Literal["messages", "turns", "groups", "tokens", "fraction", "fit"]
SafetyUnit = Literal["off", "group", "turn"]
Snap = Literal["keep-more", "keep-less"]
SummaryRole = Literal["user", "assistant", "system", "developer"]
Place = Literal["after-head", "before-recent", "last"]
Wrap = Literal["text", "json", "xml"]
Accept = Literal["smaller", "usable", "any"]
Iterate = Literal["update", "roll-in"]
Fit = Literal["none", "shrink-recent", "clip-largest", "reject"]
Failure = Literal["keep", "raise", "placeholder", "truncate"]

#: Roles that count as instructions in the head.
INSTRUCTION_ROLES = ("system", "developer")

#: The budget of a policy that sets none.
DEFAULT_BUDGET = 100_000


class SettingError(PolicyError):
    """A setting that cannot be; `key` is its dotted name, for finding its line."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(sentence)
        self.key = key


def nearest(word: str, known: Sequence[str]) -> str:
    """` (did you mean X?)` when something of `known` is close to `word`, else nothing."""
    lowered = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.5)
    return f" (did you mean {lowered[close[0]]}?)" if close else ""


def one_of(key: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a `value` that is none of `choices`."""
    if value not in choices:
        raise SettingError(
            key,
            f"{key} is {value!r}{nearest(str(value), choices)}; it must be one of "
            f"{', '.join(choices)}.",
        )


def whole(key: str, value: object, least: int = 0) -> None:
    """Refuse a `value` that is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingError(key, f"{key} is {value!r}; it must be a whole number.")
    if value < least:
        raise SettingError(key, f"{key} is {value}; it must be {least} or more.")


def share(key: str, value: object) -> None:
    """Refuse a `value` that is no fraction between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise SettingError(
            key, f"{key} is {value!r}; it must be a fraction from 0 to 1 (or 0% to 100%)."
        )


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition on the whole list; the limits that are set must all be passed.

    `when` says whether reaching a limit is enough ("reach", >=) or not ("over", >).
    """

    tokens: int | None = None
    messages: int | None = None
    turns: int | None = None
    when: When = "over"

    def __post_init__(self) -> None:
        limits = (("tokens", self.tokens), ("messages", self.messages), ("turns", self.turns))
        if all(limit is None for _, limit in limits):
            raise SettingError(
                "trigger", "a clause of trigger sets none of tokens, messages and turns."
            )
        for name, limit in limits:
            if limit is not None:
                whole(name, limit)
        one_of("when", self.when, get_args(When))

    def holds(self, tokens: int, messages: int, turns: int) -> bool:
        """Whether every limit that is set is passed."""
        pairs = ((self.tokens, tokens), (self.messages, messages), (self.turns, turns))
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
    """

    budget: int | None = None
    when: When = "over"
    window: int | None = None
    at: float | None = None
    reserve: int | None = None
    any: tuple[Clause, ...] = ()
    all: tuple[Clause, ...] = ()

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
        self._refuse_contradictions()
        if self.budget is None and not self.of_window:
            object.__setattr__(self, "budget", self._clause_budget())

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

    def passed(self, tokens: int, budget: int) -> bool:
        """Whether `tokens` are more than `budget` allows."""
        return tokens >= budget if self.when == "reach" else tokens > budget

    def fires(self, tokens: int, messages: int, turns: int, budget: int) -> bool:
        """Whether a list of this size is to be compacted."""
        if not self.any and not self.all:
            return self.passed(tokens, budget)
        for clause in self.all:
            if not clause.holds(tokens, messages, turns):
                return False
        if not self.any:
            return True
        return any(clause.holds(tokens, messages, turns) for clause in self.any)


@dataclass(frozen=True, slots=True)
class Head:
    """What is kept first.

    `kind`: "system" is the first message when it is one of `roles`, "leading-system" every such
    message up to the first other, "first" the first `first` messages, "none" nothing.
    `first_user` keeps the first message a person typed; `users` keeps the newest typed messages
    of the middle up to that many tokens in all; `pins` are indexes of messages to keep.
    """

    kind: HeadKind = "system"
    first: int = 0
    first_user: bool = False
    users: int = 0
    pins: tuple[int, ...] = ()
    roles: tuple[str, ...] = INSTRUCTION_ROLES

    def __post_init__(self) -> None:
        one_of("head.kind", self.kind, get_args(HeadKind))
        whole("head.first", self.first)
        if self.first and self.kind != "first":
            raise SettingError(
                "head.first", f"head.first is {self.first}, but head keeps {self.kind}."
            )
        whole("head.users", self.users)
        if not isinstance(self.first_user, bool):
            raise SettingError(
                "head.first_user",
                f"head.first_user is {self.first_user!r}; it must be true or false.",
            )
        for pin in self.pins:
            whole("head.pins", pin)
        object.__setattr__(self, "pins", tuple(sorted(set(self.pins))))
        if not self.roles or not all(isinstance(role, str) and role for role in self.roles):
            raise SettingError("head.roles", "head.roles must name at least one role.")


@dataclass(frozen=True, slots=True)
class Recent:
    """How much of the end stays verbatim.

    `amount` counts `unit`: messages, turns, groups; tokens (the newest messages that hold at
    most so many) or a fraction of the tokens of all messages. "fit" takes no amount: as much as
    fits the budget together with everything else that stays.
    """

    unit: RecentUnit = "messages"
    amount: int | float = 20

    def __post_init__(self) -> None:
        one_of("recent", self.unit, get_args(RecentUnit))
        if self.unit == "fit":
            object.__setattr__(self, "amount", 0)
        elif self.unit == "fraction":
            share("recent.fraction", self.amount)
            object.__setattr__(self, "amount", float(self.amount))
        else:
            whole(f"recent.{self.unit}", self.amount)


@dataclass(frozen=True, slots=True)
class Safety:
    """What a cut never separates: nothing ("off"), a group, a turn; and which way it moves."""

    unit: SafetyUnit = "group"
    snap: Snap = "keep-more"

    def __post_init__(self) -> None:
        one_of("safety", self.unit, get_args(SafetyUnit))
        one_of("safety.snap", self.snap, get_args(Snap))


@dataclass(frozen=True, slots=True)
class SummaryBlock:
    """The message that stands for what was summarized.

    `place`: "after-head", "before-recent" (behind pinned messages), or "last". `label` stands
    before the text; `{count}` in it becomes the number of messages. `wrap` is the form of the
    content. `max_tokens` limits the text. `accept` is how a made text is judged: "smaller" takes
    only a text that is not blank and makes the list smaller, "usable" any text that is not
    blank, "any" whatever comes.
    """

    role: SummaryRole = "user"
    place: Place = "after-head"
    label: str = LABEL
    wrap: Wrap = "text"
    max_tokens: int = 1024
    summarizer: str = "digest"
    accept: Accept = "smaller"

    def __post_init__(self) -> None:
        one_of("summary.role", self.role, get_args(SummaryRole))
        one_of("summary.place", self.place, get_args(Place))
        one_of("summary.wrap", self.wrap, get_args(Wrap))
        one_of("summary.accept", self.accept, get_args(Accept))
        whole("summary.max_tokens", self.max_tokens, 1)
        if not isinstance(self.label, str):
            raise SettingError(
                "summary.label", f"summary.label is {self.label!r}; it must be text."
            )
        if not isinstance(self.summarizer, str) or not self.summarizer.strip():
            raise SettingError(
                "summary.summarizer",
                f"summary.summarizer is {self.summarizer!r}; it must name one, such as digest.",
            )
