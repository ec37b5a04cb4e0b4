"""The blocks of a policy, as frozen values that refuse what cannot be.

A block that is built is valid: every constructor raises PolicyError with one sentence that names
the setting. Numbers are tokens unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from compaction.marker import LABEL
from compaction.policy_checks import SettingError, flag, nearest, one_of, share, whole
from compaction.policy_trigger import DEFAULT_BUDGET, Clause, Trigger, When

__all__ = [
    "DEFAULT_BUDGET",
    "INSTRUCTION_ROLES",
    "Accept",
    "Clause",
    "Failure",
    "Fit",
    "Head",
    "HeadKind",
    "Iterate",
    "Middle",
    "Overflow",
    "Place",
    "Recent",
    "RecentUnit",
    "Safety",
    "SafetyUnit",
    "SettingError",
    "Snap",
    "SummaryBlock",
    "SummaryRole",
    "Trigger",
    "When",
    "Wrap",
    "nearest",
    "one_of",
    "share",
    "whole",
]

HeadKind = Literal["system", "leading-system", "none", "first", "tokens"]
Overflow = Literal["stop", "truncate"]
RecentUnit = Literal["messages", "turns", "groups", "tokens", "fraction", "fit"]
SafetyUnit = Literal["off", "group", "turn"]
Snap = Literal["keep-more", "keep-less"]
SummaryRole = Literal["user", "assistant", "system", "developer"]
Place = Literal["after-head", "before-recent", "last", "first", "at-the-gap"]
Wrap = Literal["text", "json", "xml"]
Accept = Literal["smaller", "usable", "any"]
Middle = Literal["summarize", "drop", "keep"]
Iterate = Literal["update", "roll-in", "stack"]
Fit = Literal["none", "shrink-recent", "clip-largest", "reject"]
Failure = Literal["keep", "raise", "placeholder", "truncate"]

#: Roles that count as instructions in the head.
INSTRUCTION_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Head:
    """What is kept first.

    `kind`: "system" is the first message when it is one of `roles`, "leading-system" every such
    message up to the first other, "first" the first `first` messages, "tokens" the first messages
    within `tokens` tokens, "none" nothing. `first_user` keeps the first message a person typed,
    `last_user` the newest one, wherever the list is cut; `users` keeps the newest typed messages
    of the middle up to that many tokens in all, and with `overflow: truncate` also what fits of
    the next one; `pins` are indexes of messages to keep.
    """

    kind: HeadKind = "system"
    first: int = 0
    first_user: bool = False
    users: int = 0
    pins: tuple[int, ...] = ()
    roles: tuple[str, ...] = INSTRUCTION_ROLES
    tokens: int = 0
    overflow: Overflow = "stop"
    last_user: bool = False

    def __post_init__(self) -> None:
        one_of("head.kind", self.kind, get_args(HeadKind))
        whole("head.first", self.first)
        if self.first and self.kind != "first":
            raise SettingError(
                "head.first", f"head.first is {self.first}, but head keeps {self.kind}."
            )
        whole("head.users", self.users)
        whole("head.tokens", self.tokens)
        if self.tokens and self.kind != "tokens":
            raise SettingError(
                "head.tokens", f"head.tokens is {self.tokens}, but head keeps {self.kind}."
            )
        one_of("head.overflow", self.overflow, get_args(Overflow))
        if self.overflow == "truncate" and not self.users:
            raise SettingError(
                "head.overflow", "head.overflow is truncate, but head.users keeps no messages."
            )
        flag("head.first_user", self.first_user)
        flag("head.last_user", self.last_user)
        for pin in self.pins:
            whole("head.pins", pin)
        object.__setattr__(self, "pins", tuple(sorted(set(self.pins))))
        if not self.roles or not all(isinstance(role, str) and role for role in self.roles):
            raise SettingError("head.roles", "head.roles must name at least one role.")

    @property
    def keeps_middle(self) -> bool:
        """Whether messages between head and recent may stay."""
        return bool(self.first_user or self.last_user or self.users or self.pins)


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
    """What a cut never separates: nothing ("off"), a group, a turn; and which way it moves.

    With `split_newest` a turn is whole but for the newest, which is cut between its groups.
    """

    unit: SafetyUnit = "group"
    snap: Snap = "keep-more"
    split_newest: bool = False

    def __post_init__(self) -> None:
        one_of("safety", self.unit, get_args(SafetyUnit))
        one_of("safety.snap", self.snap, get_args(Snap))
        flag("safety.split_newest", self.split_newest)
        if self.split_newest and self.unit != "turn":
            raise SettingError(
                "safety.split_newest",
                f"safety.split_newest is true, but safety is {self.unit}; it goes with turn.",
            )

    def of(self, unit: SafetyUnit) -> Safety:
        """The same for another unit; what goes with this one alone is left behind."""
        return Safety(unit, self.snap, split_newest=self.split_newest and unit == self.unit)


@dataclass(frozen=True, slots=True)
class SummaryBlock:
    """The message that stands for what was summarized.

    `place`: "after-head", "before-recent" (behind pinned messages), "at-the-gap" (where the first
    summarized message stood), "first" or "last". `label` stands
    before the text; `{count}` in it becomes the number of messages. `wrap` is the form of the
    content. `max_tokens` limits the text. `accept` is how a made text is judged: "smaller" takes
    only a text that is not blank and makes the list smaller, "usable" any text that is not
    blank, "any" whatever comes.

    `middle` says what becomes of the old middle: it is summarized, dropped without a summary, or
    kept, so that only the passes before change anything.
    """

    role: SummaryRole = "user"
    place: Place = "after-head"
    label: str = LABEL
    wrap: Wrap = "text"
    max_tokens: int = 1024
    summarizer: str = "digest"
    accept: Accept = "smaller"
    middle: Middle = "summarize"

    def __post_init__(self) -> None:
        one_of("summary.role", self.role, get_args(SummaryRole))
        one_of("summary.place", self.place, get_args(Place))
        one_of("summary.wrap", self.wrap, get_args(Wrap))
        one_of("summary.accept", self.accept, get_args(Accept))
        one_of("summary.middle", self.middle, get_args(Middle))
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
