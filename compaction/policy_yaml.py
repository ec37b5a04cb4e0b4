"""Policies from and to YAML. Errors name the file, the line, and the nearest key or value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compaction.errors import PolicyError
from compaction.policy import Policy
from compaction.policy_blocks import (
    Clause,
    Head,
    Middle,
    Recent,
    Safety,
    SettingError,
    SummaryBlock,
    Trigger,
    nearest,
)
from compaction.policy_passes import PASSES, Pass, name_of, settings_of
from compaction.policy_trigger import MEASURES
from compaction.yaml_values import MAX_BYTES, Mapped, Value, built, compose, parse_number

if TYPE_CHECKING:
    import yaml

# ---------------------------------------------------------------------------------- reading


def read_policy(source: str | os.PathLike[str]) -> Policy:
    """The policy at a path, or in YAML text. Raises PolicyError."""
    if isinstance(source, str) and _is_text(source):
        return policy_of_text(source, "the policy")
    path = Path(source)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise PolicyError(f"there is no policy file {path}; check the path.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise PolicyError(f"the policy file {path} cannot be read: {why}.") from None
    if len(data) > MAX_BYTES:
        raise PolicyError(
            f"{path} is over {MAX_BYTES:,} bytes; a policy file is a short YAML text."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyError(
            f"{path} is not UTF-8 text (byte {error.start:,}); a policy is a YAML file."
        ) from None
    return policy_of_text(text, str(path), default_name=path.stem)


def _is_text(source: str) -> bool:
    if "\n" in source or not source.strip():
        return True
    if source.lower().endswith((".yaml", ".yml")):
        return False
    return source.lstrip().startswith("{") or ": " in source


def policy_of_text(text: str, where: str, default_name: str = "custom") -> Policy:
    """The policy that `text` describes; `where` names it in errors. Raises PolicyError."""
    root = compose(text, where)
    if root is None:
        return Policy(name=default_name)
    top = Mapped.of(root, where, "the policy")
    values: dict[str, Any] = {"name": default_name}
    for key, value in top.items(tuple(_BLOCKS)):
        values[key] = _BLOCKS[key](value)
    try:
        return Policy(**values)
    except SettingError as error:
        raise top.error(error) from None


def _clause(value: Value) -> Clause:
    block = value.map()
    given: dict[str, Any] = {}
    for name, inner in block.items((*MEASURES, "when")):
        given[name] = inner.word() if name == "when" else inner.whole()
    return built(block, lambda: Clause(**given))  # type: ignore[no-any-return]


def _trigger(value: Value) -> Trigger:
    if value.is_scalar:
        return built(value, lambda: Trigger(value.whole()))  # type: ignore[no-any-return]
    block = value.map()
    given: dict[str, Any] = {}
    names = ("budget", "when", "window", "at", "reserve", "any", "all", "target", "to")
    for name, inner in block.items(names):
        if name == "when":
            given[name] = inner.word()
        elif name in {"at", "to"}:
            given[name] = inner.share()
        elif name in {"any", "all"}:
            given[name] = tuple(_clause(each) for each in inner.elements())
        else:
            given[name] = inner.whole()
    return built(block, lambda: Trigger(**given))  # type: ignore[no-any-return]


def _head(value: Value) -> Head:
    if value.is_scalar:
        return built(value, lambda: Head(value.word()))  # type: ignore[no-any-return, arg-type]
    block = value.map()
    given: dict[str, Any] = {}
    names = (
        "kind", "first", "tokens", "first_user", "last_user", "users", "overflow", "pins", "roles",
    )  # fmt: skip
    for name, inner in block.items(names):
        if name in {"kind", "overflow"}:
            given[name] = inner.word()
        elif name in {"first", "tokens"}:
            given[name] = inner.whole()
            given.setdefault("kind", name)
        elif name in {"first_user", "last_user"}:
            given[name] = inner.flag()
        elif name == "users":
            given[name] = inner.whole()
        elif name == "pins":
            given[name] = tuple(each.whole() for each in inner.elements())
        else:
            given[name] = tuple(each.word() for each in inner.elements())
    return built(block, lambda: Head(**given))  # type: ignore[no-any-return]


def _recent(value: Value) -> Recent:
    units = ("messages", "turns", "groups", "tokens", "fraction")
    if value.is_scalar:
        text = str(value.node.value)
        number = parse_number(text)
        if number is None and text != "fit":
            raise value.fail(
                f"recent is {value.kind}{nearest(text, ('fit', *units))}; it must be fit or a "
                f"mapping of one of {', '.join(units)}, such as {{messages: 20}}."
            )
        if number is None:
            return Recent("fit")
        unit = "fraction" if isinstance(number, float) else "messages"
        return built(value, lambda: Recent(unit, number))  # type: ignore[no-any-return, arg-type]
    block = value.map()
    entries = list(block.items((*units, "fit")))
    if len(entries) != 1:
        raise value.fail(
            f"recent sets {len(entries)} units; it takes exactly one of {', '.join(units)}."
        )
    name, inner = entries[0]
    if name == "fit":
        raise inner.fail("recent: fit takes no amount; write recent: fit.")
    amount = inner.share() if name == "fraction" else inner.whole()
    return built(block, lambda: Recent(name, amount))  # type: ignore[no-any-return, arg-type]


def _safety(value: Value) -> Safety:
    if value.is_scalar:
        return built(value, lambda: Safety(value.word()))  # type: ignore[no-any-return, arg-type]
    block = value.map()
    given: dict[str, Any] = {
        name: inner.flag() if name == "split_newest" else inner.word()
        for name, inner in block.items(("unit", "snap", "split_newest"))
    }
    return built(block, lambda: Safety(**given))  # type: ignore[no-any-return]


#: `summary` in one word: what becomes of the old middle when no summary is made of it.
_NO_SUMMARY: Mapping[str, Middle] = {"none": "keep", "drop": "drop"}


def _summary(value: Value) -> SummaryBlock:
    if value.is_scalar:
        word = value.word()
        if word not in _NO_SUMMARY:
            raise value.fail(
                f"summary is {value.kind}{nearest(word, tuple(_NO_SUMMARY))}; it must be a mapping "
                "of settings, none (nothing but the passes changes the list) or drop (the old "
                "middle goes without a summary)."
            )
        return SummaryBlock(middle=_NO_SUMMARY[word])
    block = value.map()
    names = ("role", "place", "label", "wrap", "max_tokens", "summarizer", "accept", "middle")
    given: dict[str, Any] = {
        name: inner.whole() if name == "max_tokens" else inner.word()
        for name, inner in block.items(names)
    }
    return built(block, lambda: SummaryBlock(**given))  # type: ignore[no-any-return]


def _before(value: Value) -> tuple[Pass, ...]:
    return () if value.is_null else tuple(_pass(each) for each in value.elements())


def _pass(value: Value) -> Pass:
    """A pass by its name alone, or as a mapping of its name to its settings."""
    if value.is_scalar:
        name = value.word()
        if name not in PASSES:
            raise value.fail(
                f"before has no pass {name!r}{nearest(name, tuple(PASSES))}; it takes "
                f"{', '.join(PASSES)}."
            )
        return built(value, PASSES[name])  # type: ignore[no-any-return]
    entries = list(value.map().items(tuple(PASSES)))
    if len(entries) != 1:
        raise value.fail("an entry of before holds one pass; begin another entry with a dash.")
    name, inner = entries[0]
    if inner.is_null:
        return built(inner, PASSES[name])  # type: ignore[no-any-return]
    kind, block = PASSES[name], inner.map()
    given: dict[str, Any] = {}
    for key, each in block.items(tuple(field.name for field in fields(kind))):
        if key == "exclude":
            given[key] = tuple(one.word() for one in each.elements())
        elif key == "inputs":
            given[key] = each.flag()
        else:
            given[key] = each.word() if key == "placeholder" else each.whole()
    return built(block, lambda: kind(**given))  # type: ignore[no-any-return]


def _fit(value: Value) -> str | tuple[str, ...]:
    return value.word() if value.is_scalar else tuple(one.word() for one in value.elements())


_BLOCKS: Mapping[str, Callable[[Value], Any]] = {
    "name": Value.word,
    "trigger": _trigger,
    "head": _head,
    "recent": _recent,
    "safety": _safety,
    "before": _before,
    "summary": _summary,
    "iterate": Value.word,
    "fit": _fit,
    "failure": Value.word,
    "tokens": Value.word,
    "source": Value.word,
    "version": Value.word,
    "notes": Value.word,
}


# ---------------------------------------------------------------------------------- writing


def write_policy(policy: Policy) -> str:
    """`policy` as one YAML document with every block, in the order of the blocks."""
    import yaml

    document = {
        "name": policy.name,
        "trigger": _trigger_out(policy.trigger),
        "head": _head_out(policy.head),
        "recent": "fit"
        if policy.recent.unit == "fit"
        else {policy.recent.unit: policy.recent.amount},
        "safety": _safety_out(policy.safety),
        "before": [{name_of(each): settings_of(each)} for each in policy.before],
        "summary": _summary_out(policy.summary),
        "iterate": policy.iterate,
        "fit": list(policy.fit) if isinstance(policy.fit, tuple) else policy.fit,
        "failure": policy.failure,
        "tokens": policy.tokens,
    }
    if policy.source:
        document["source"] = policy.source
    if policy.version:
        document["version"] = policy.version
    if policy.notes:
        document["notes"] = policy.notes

    class Dumper(yaml.SafeDumper):
        pass

    Dumper.add_representer(str, _text_out)
    return yaml.dump(
        document,
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=96,
    )


def _text_out(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Text as a scalar; the line breaks that only YAML knows are escaped, or they would fold."""
    style = '"' if any(mark in text for mark in "\r\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _trigger_out(trigger: Trigger) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in ("budget", "window", "at", "reserve", "target", "to"):
        value = getattr(trigger, name)
        if value is not None:
            out[name] = value
    out["when"] = trigger.when
    for name in ("any", "all"):
        clauses = getattr(trigger, name)
        if clauses:
            out[name] = [_clause_out(clause) for clause in clauses]
    return out


def _summary_out(block: SummaryBlock) -> str | dict[str, Any]:
    for word, middle in _NO_SUMMARY.items():
        if block == SummaryBlock(middle=middle):
            return word
    names = ("role", "place", "label", "wrap", "max_tokens", "summarizer", "accept")
    out = {name: getattr(block, name) for name in names}
    return out if block.middle == "summarize" else {**out, "middle": block.middle}


def _clause_out(clause: Clause) -> dict[str, Any]:
    limits = {name: value for name in MEASURES if (value := getattr(clause, name)) is not None}
    return {**limits, "when": clause.when}


def _safety_out(safety: Safety) -> dict[str, Any]:
    out: dict[str, Any] = {"unit": safety.unit, "snap": safety.snap}
    return {**out, "split_newest": True} if safety.split_newest else out


def _head_out(head: Head) -> str | dict[str, Any]:
    plain = Head()
    out: dict[str, Any] = {"kind": head.kind}
    if head.kind in {"first", "tokens"}:
        out = {head.kind: getattr(head, head.kind)}
    for name in ("first_user", "last_user"):
        if getattr(head, name):
            out[name] = True
    if head.users:
        out["users"] = head.users
    if head.overflow != plain.overflow:
        out["overflow"] = head.overflow
    if head.pins:
        out["pins"] = list(head.pins)
    if head.roles != plain.roles:
        out["roles"] = list(head.roles)
    return head.kind if list(out) == ["kind"] else out
