"""The settings of a sweep: one policy with some of its values replaced by each of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import product
from typing import Any

from compaction.errors import PolicyError
from compaction.policy import Policy
from compaction.policy_blocks import nearest

#: Budgets that are tried where none are given: round numbers, each about 1.5 times the last.
_BUDGETS = (
    8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000, 90_000, 128_000, 180_000, 256_000,
    400_000, 600_000, 1_000_000,
)  # fmt: skip

#: Messages of the end that are tried where none are given.
KEEP_RECENTS = (0, 4, 8, 16, 24, 40, 64, 100, 160)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: the values on the axes, in their order, and the policy they make."""

    values: tuple[Any, ...]
    policy: Policy


def budgets_for(peak: int) -> tuple[int, ...]:
    """Budgets worth trying on sessions whose largest context has `peak` tokens."""
    some = tuple(each for each in _BUDGETS if each < peak)
    return (
        (*some, next((each for each in _BUDGETS if each >= peak), peak)) if some else _BUDGETS[:1]
    )


def settings_of(policy: Policy, axes: Mapping[str, Sequence[Any]]) -> list[Setting]:
    """Every combination of the values of `axes`, the last one changing fastest.

    An axis is `budget`, `keep_recent`, or the dotted name of a value in a block, such as
    `summary.max_tokens` or `safety.unit`. A combination that cannot be is left out. Raises
    PolicyError for an axis that is not there, and where no combination can be.
    """
    for name, values in axes.items():
        if not values:
            raise PolicyError(f"the axis {name} has no value to try.")
    out: list[Setting] = []
    refused: PolicyError | None = None
    for values in product(*axes.values()):
        try:
            out.append(Setting(values, with_values(policy, dict(zip(axes, values, strict=True)))))
        except PolicyError as error:
            refused = error
    if not out and refused is not None:
        raise refused
    return out


def with_values(policy: Policy, values: Mapping[str, Any]) -> Policy:
    """`policy` with the value of every axis, whatever their order. Raises PolicyError."""
    if {"budget", "keep_recent"} <= values.keys():
        # Together, since the one may be refused while the other is still the old one.
        both = {"budget": values["budget"], "keep_recent": values["keep_recent"]}
        policy = policy.replace(**both)
    for name, value in values.items():
        policy = with_value(policy, name, value)
    return policy


def with_value(policy: Policy, name: str, value: Any) -> Policy:
    """`policy` with the value of one axis. Raises PolicyError."""
    if name == "budget":
        return policy.replace(budget=value)
    if name == "keep_recent":
        return policy.replace(keep_recent=value)
    block_name, _, key = name.partition(".")
    known = [field.name for field in fields(policy)]
    if block_name not in known:
        choices = ["budget", "keep_recent", *known]
        raise PolicyError(f"there is no setting {name!r}{nearest(block_name, choices)}.")
    if not key:
        return policy.replace(**{block_name: value})
    block: Any = getattr(policy, block_name)
    inner = [field.name for field in fields(block)] if is_dataclass(block) else []
    if key not in inner:
        raise PolicyError(f"{block_name} has no {key!r}{nearest(key, inner)}.")
    return policy.replace(**{block_name: replace(block, **{key: value})})
