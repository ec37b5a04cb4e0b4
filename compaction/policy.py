"""Policy: how a session is compacted, as ten frozen blocks.

    name, trigger, head, recent, safety, before, summary, iterate, fit, failure, tokens

A policy is a value: equal settings are equal, and `replace` gives a changed one. It is read from
and written to YAML; the published policies are presets.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from dataclasses import replace as replace_fields
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from compaction.errors import PolicyError
from compaction.policy_blocks import (
    Accept,
    Clause,
    Failure,
    Fit,
    Head,
    HeadKind,
    Iterate,
    Middle,
    Overflow,
    Place,
    Recent,
    RecentUnit,
    Safety,
    SafetyUnit,
    SettingError,
    Snap,
    SummaryBlock,
    SummaryRole,
    Trigger,
    When,
    Wrap,
    nearest,
    one_of,
)
from compaction.policy_passes import PASSES, Pass

__all__ = [
    "Accept",
    "Clause",
    "Failure",
    "Fit",
    "Head",
    "HeadKind",
    "Iterate",
    "Middle",
    "Overflow",
    "Pass",
    "Place",
    "Policy",
    "PolicyError",
    "Recent",
    "RecentUnit",
    "Safety",
    "SafetyUnit",
    "Snap",
    "SummaryBlock",
    "SummaryRole",
    "Trigger",
    "When",
    "Wrap",
    "preset",
    "presets",
]

#: Tokenizers a policy may name.
TOKENIZERS = ("o200k_base", "cl100k_base", "chars/4", "fast", "calibrated")

_TRIGGER, _HEAD, _RECENT = Trigger(), Head("leading-system"), Recent()
_SAFETY, _SUMMARY = Safety(), SummaryBlock()


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """How a session is compacted.

    `Policy(budget=100_000, keep_recent=20)` sets the two sliders and leaves the rest at its
    default; blocks are given by name. A float for `keep_recent` is a fraction of the tokens.
    `before` are the passes of `compaction.policy_passes`; `fit` is one step or several, tried in
    order. `source` says where a published policy comes from, `version` which one was read, `notes`
    where it is weaker than the rules and what of the original it does not do.
    Raises PolicyError for a setting that cannot be.
    """

    name: str
    trigger: Trigger
    head: Head
    recent: Recent
    safety: Safety
    before: tuple[Pass, ...]
    summary: SummaryBlock
    iterate: Iterate
    fit: Fit | tuple[Fit, ...]
    failure: Failure
    tokens: str
    source: str
    notes: str
    version: str

    def __init__(
        self,
        *,
        budget: int | None = None,
        keep_recent: float | None = None,
        name: str = "default",
        trigger: Trigger = _TRIGGER,
        head: Head = _HEAD,
        recent: Recent = _RECENT,
        safety: Safety = _SAFETY,
        before: tuple[Pass, ...] = (),
        summary: SummaryBlock = _SUMMARY,
        iterate: Iterate = "update",
        fit: Fit | tuple[Fit, ...] = "none",
        failure: Failure = "keep",
        tokens: str = "o200k_base",
        source: str = "",
        notes: str = "",
        version: str = "",
    ) -> None:
        if budget is not None:
            trigger = _with_budget(trigger, budget)
        if keep_recent is not None:
            unit: RecentUnit = "fraction" if isinstance(keep_recent, float) else "messages"
            recent = Recent(unit, keep_recent)
        values = {
            "name": name,
            "trigger": trigger,
            "head": head,
            "recent": recent,
            "safety": safety,
            "before": before,
            "summary": summary,
            "iterate": iterate,
            "fit": fit[0] if isinstance(fit, tuple) and len(fit) == 1 else fit,
            "failure": failure,
            "tokens": tokens,
            "source": source,
            "notes": notes,
            "version": version,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._refuse()

    def _refuse(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SettingError("name", "name is empty; a policy needs a name.")
        for each in self.before:
            if type(each) not in PASSES.values():
                raise SettingError(
                    "before", f"before holds {each!r}; it takes the passes {', '.join(PASSES)}."
                )
        if self.summary.middle == "keep" and not self.before:
            raise SettingError(
                "summary",
                "summary: none keeps the old middle, and before has no pass that changes anything; "
                "name a pass, or write summary: drop.",
            )
        one_of("iterate", self.iterate, get_args(Iterate))
        self._refuse_fit()
        one_of("failure", self.failure, get_args(Failure))
        one_of("tokens", self.tokens, TOKENIZERS)

    def _refuse_fit(self) -> None:
        steps = self.fit if isinstance(self.fit, tuple) else (self.fit,)
        for step in steps:
            one_of("fit", step, get_args(Fit))
        if not steps or len(set(steps)) < len(steps) or (len(steps) > 1 and "none" in steps):
            raise SettingError(
                "fit",
                f"fit is [{', '.join(steps)}]; a list of steps names each of shrink-recent, "
                "clip-largest and reject at most once.",
            )
        if "reject" in steps[:-1]:
            raise SettingError("fit", "fit goes on after reject; reject must be its last step.")

    @property
    def fit_steps(self) -> tuple[Fit, ...]:
        """What is tried in order when the compacted list is over the budget; () for nothing."""
        steps = self.fit if isinstance(self.fit, tuple) else (self.fit,)
        return () if steps == ("none",) else steps

    @property
    def budget(self) -> int | None:
        """Tokens the whole list may have; None when that depends on the session's window."""
        trigger = self.trigger
        if trigger.of_window and trigger.window is None:
            return None
        return trigger.tokens()

    @property
    def keep_recent(self) -> int | float | None:
        """How much of the end is recent, in `recent.unit`; None for "fit"."""
        return None if self.recent.unit == "fit" else self.recent.amount

    def replace(
        self,
        *,
        budget: int | None = None,
        keep_recent: float | None = None,
        **blocks: Any,
    ) -> Policy:
        """A policy with these settings changed; `keep_recent` is in the unit it has now.

        A new budget stands in place of a part of a window, and moves the clauses of the trigger
        that are at the old budget. Raises PolicyError for what cannot be.
        """
        known = [field.name for field in fields(self)]
        for key in blocks:
            if key not in known:
                raise PolicyError(f"a policy has no {key!r}{nearest(key, known)}.")
        changed: Policy = replace_fields(self, **blocks) if blocks else self
        # In one step, since both together may be possible where one alone is not.
        both: dict[str, Any] = {}
        if budget is not None:
            both["trigger"] = _with_budget(changed.trigger, budget)
        if keep_recent is not None:
            both["recent"] = _with_amount(changed, keep_recent)
        return replace_fields(changed, **both) if both else changed

    @classmethod
    def from_yaml(cls, source: str | os.PathLike[str]) -> Policy:
        """The policy in a YAML file (a path) or in YAML text. Raises PolicyError with the line."""
        from compaction.policy_yaml import read_policy

        return read_policy(source)

    def to_yaml(self) -> str:
        """The policy as YAML; `Policy.from_yaml` of it is equal to this one."""
        from compaction.policy_yaml import write_policy

        return write_policy(self)


def _with_budget(trigger: Trigger, budget: int) -> Trigger:
    old = trigger.budget

    def moved(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
        return tuple(
            replace_fields(clause, tokens=budget)
            if clause.tokens is not None and clause.tokens == old
            else clause
            for clause in clauses
        )

    target = trigger.target
    return Trigger(
        budget,
        trigger.when,
        any=moved(trigger.any),
        all=moved(trigger.all),
        target=None if target is None else min(target, budget),
    )


def _with_amount(policy: Policy, amount: float) -> Recent:
    unit = policy.recent.unit
    if unit == "fit":
        raise PolicyError(
            f"policy {policy.name} keeps what fits the budget and takes no keep_recent; set "
            "recent to messages, turns, groups, tokens or fraction."
        )
    if unit != "fraction" and isinstance(amount, float) and amount.is_integer():
        amount = int(amount)
    return Recent(unit, amount)


#: These come first in the lists, then all others by name; each is `presets/<name>.yaml`.
_FIRST = ("default", "three-region", "fit-window", "keep-last", "untrusted-data")


@cache
def presets() -> tuple[str, ...]:
    """The names of the published policies, `default` first."""
    folder = (files("compaction") / "presets").iterdir()
    names = {each.name.removesuffix(".yaml") for each in folder if each.name.endswith(".yaml")}
    return (*_FIRST, *sorted(names.difference(_FIRST)))


@cache
def preset(name: str) -> Policy:
    """A published policy by its name. Raises PolicyError with the nearest name."""
    known = presets()
    if name not in known:
        raise PolicyError(
            f"there is no policy {name!r}{nearest(name, known)}; the published ones are "
            f"{', '.join(known)}."
        )
    text = (files("compaction") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    from compaction.policy_yaml import policy_of_text

    return policy_of_text(text, f"preset {name}")
