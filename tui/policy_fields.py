"""The settings of a policy as fields of a form, read off its dataclasses.

What a block may hold is said once, by its types; a block that gains a setting gains a field here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import groupby
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from compaction.errors import PolicyError
from compaction.policy import TOKENIZERS, Policy
from tui.widgets.amounts import parse_amount

Kind = Literal["choice", "flag", "number", "text", "yaml"]

#: Values that another setting of a block is tried with, where a change would contradict it.
_ROOM: tuple[Any, ...] = (None, (), 0, 0.3, 1)

#: What a unit of the recent part begins with: an amount of another unit means nothing in it.
_AMOUNTS = {"messages": 20, "turns": 3, "groups": 10, "tokens": 20_000, "fraction": 0.3, "fit": 0}


@dataclass(frozen=True, slots=True)
class Field:
    """One setting. `block` is "" for a setting of the policy itself.

    `optional` numbers may be empty. `choices` are those of a "choice"; "yaml" stands for lists
    and mappings, which are written as YAML in one line.
    """

    block: str
    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def key(self) -> str:
        """The dotted name."""
        return f"{self.block}.{self.name}" if self.block else self.name

    def value(self, policy: Policy) -> Any:
        """The value in a policy."""
        holder = getattr(policy, self.block) if self.block else policy
        return getattr(holder, self.name)

    def shown(self, policy: Policy) -> str:
        """The value as it is written."""
        value = self.value(policy)
        match self.kind:
            case "yaml":
                return _in_yaml(self, policy)
            case "flag":
                return "yes" if value else "no"
            case "number":
                if value is None:
                    return ""
                return f"{value:,}" if isinstance(value, int) else f"{value:g}"
            case "text":
                # On one line, so that it can be typed again.
                return str(value).replace("\\", "\\\\").replace("\n", "\\n")
            case "choice":
                return str(value)


@cache
def policy_fields() -> tuple[Field, ...]:
    """Every setting, in the order of the blocks."""
    hints = get_type_hints(Policy)
    found: list[Field] = []
    for each in fields(Policy):
        kind = hints[each.name]
        if is_dataclass(kind):
            inner = get_type_hints(kind)
            found += [_field(each.name, one.name, inner[one.name]) for one in fields(kind)]
        elif each.name == "tokens":
            found.append(Field("", "tokens", "choice", TOKENIZERS))
        else:
            found.append(_field("", each.name, kind))
    return tuple(found)


def _field(block: str, name: str, hint: Any) -> Field:
    options = list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]
    optional = NoneType in options
    options = [each for each in options if each is not NoneType]
    if len(options) == 1 and get_origin(options[0]) is Literal:
        return Field(block, name, "choice", get_args(options[0]), optional)
    if any(get_origin(each) in (tuple, list, dict) or is_dataclass(each) for each in options):
        return Field(block, name, "yaml", optional=optional)
    if options == [bool]:
        return Field(block, name, "flag")
    if set(options) <= {int, float}:
        return Field(block, name, "number", optional=optional)
    return Field(block, name, "text", optional=optional)


# ----------------------------------------------------------------------------------- changing


def typed(field: Field, policy: Policy, text: str) -> Policy:
    """The policy with what was typed into a field. Raises PolicyError."""
    if field.kind == "text":
        return changed(field, policy, re.sub(r"\\(.)", _unescaped, text))
    text = text.strip()
    if field.kind == "flag":
        if text not in ("yes", "no"):
            raise PolicyError(f"{field.key} is yes or no.")
        return changed(field, policy, text == "yes")
    if field.kind == "yaml":
        return changed(field, policy, _from_yaml(field, text))
    if field.kind == "number":
        if not text and field.optional:
            return changed(field, policy, None)
        return changed(field, policy, _number(field, text))
    if field.kind == "choice" and text not in field.choices:
        raise PolicyError(f"{field.key} is one of {', '.join(field.choices)}.")
    return changed(field, policy, text)


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def _number(field: Field, text: str) -> int | float:
    bare = text.replace(",", "").replace("_", "")
    if bare.isdecimal():
        return int(bare)
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        if "." in text and text[-1:].isdigit():
            return float(text)
        return parse_amount(text)
    except ValueError as error:
        raise PolicyError(f"{field.key}: {error}.") from None


def stepped(field: Field, policy: Policy, step: int) -> Policy:
    """The policy with the next value of a field that has a few, or a number one step further."""
    value = field.value(policy)
    if field.kind == "flag":
        return changed(field, policy, not value)
    if field.kind == "choice":
        at = field.choices.index(value) if value in field.choices else 0
        return changed(field, policy, field.choices[(at + step) % len(field.choices)])
    if field.kind == "number" and value is not None:
        if isinstance(value, float):
            return changed(field, policy, round(min(1.0, max(0.0, value + step * 0.05)), 4))
        size = 10 ** max(0, len(str(value)) - 2)
        return changed(field, policy, max(0, value + step * size))
    return policy


def changed(field: Field, policy: Policy, value: Any) -> Policy:
    """The policy with one setting changed; what contradicts it in its block makes room.

    Raises PolicyError where that does not help.
    """
    if not field.block:
        return policy.replace(**{field.name: value})
    block = getattr(policy, field.block)
    if field.key == "recent.unit" and value != block.unit and value in _AMOUNTS:
        return policy.replace(recent=replace(block, unit=value, amount=_AMOUNTS[value]))
    try:
        return policy.replace(**{field.block: replace(block, **{field.name: value})})
    except PolicyError as error:
        refused = error
    for other in fields(block):
        if other.name == field.name:
            continue
        plain = () if other.default is MISSING else (other.default,)
        choices = _field(field.block, other.name, get_type_hints(type(block))[other.name]).choices
        for room in (*plain, *_ROOM, *choices):
            try:
                made = replace(block, **{field.name: value, other.name: room})
                return policy.replace(**{field.block: made})
            except (PolicyError, TypeError):
                continue
    raise refused


# --------------------------------------------------------------------------------------- YAML


def _in_yaml(field: Field, policy: Policy) -> str:
    import yaml

    document = yaml.safe_load(policy.to_yaml())
    holder = document.get(field.block, {}) if field.block else document
    value = holder.get(field.name) if isinstance(holder, dict) else None
    if value is None:
        value = field.value(policy)
        value = list(value) if isinstance(value, tuple) else value
    if isinstance(value, str):
        return value
    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000
    )
    return text.strip().removesuffix("...").strip()


def _from_yaml(field: Field, text: str) -> Any:
    """The value that a line of YAML means, read as a part of a policy is."""
    text = text or "[]"
    whole = f"{field.name}: {text}\n"
    if field.block:
        whole = f"{field.block}: {{{field.name}: {text}}}\n"
    try:
        return field.value(Policy.from_yaml(whole))
    except PolicyError as error:
        raise PolicyError(_bare(str(error))) from None


def _bare(sentence: str) -> str:
    """An error without the place in a document of one line."""
    _, found, rest = sentence.partition("line 1: ")
    return rest if found else sentence


def blocks() -> Iterator[tuple[str, tuple[Field, ...]]]:
    """The fields by their block, in order; those of the policy itself have none, ""."""
    for name, some in groupby(policy_fields(), key=lambda field: field.block):
        yield name, tuple(some)
