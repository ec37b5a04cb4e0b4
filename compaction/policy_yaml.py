"""Policies from and to YAML. Errors name the file, the line, and the nearest key or value.

The text is read as YAML nodes, never as Python values, so that every setting knows its line and
an alias costs nothing however often it is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compaction.errors import PolicyError
from compaction.policy import Policy
from compaction.policy_blocks import (
    Clause,
    Head,
    Recent,
    Safety,
    SettingError,
    SummaryBlock,
    Trigger,
    nearest,
)

if TYPE_CHECKING:
    import yaml

_MAX_BYTES = 1_000_000

_NUMBER = re.compile(r"([+-]?(?:\d[\d_,]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([kKmMgG%]?)")
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def parse_number(text: str) -> int | float | None:
    """A number as people write it: 120k, 1.2M, 100_000, 100,000, 0.5, 50%. None for anything else.

    Whole values are ints; a percentage is a float fraction.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    digits, unit = match[1].replace("_", "").replace(",", ""), match[2].lower()
    if len(digits) > 30:
        return None
    if unit == "%":
        return float(digits) / 100
    if digits.lstrip("+-").isdigit():
        return int(digits) * _SCALE[unit]
    if not unit:
        return float(digits)
    exact = Decimal(digits) * _SCALE[unit]
    return int(exact) if exact == exact.to_integral_value() else float(exact)


# ---------------------------------------------------------------------------------- reading


def read_policy(source: str | os.PathLike[str]) -> Policy:
    """The policy at a path, or in YAML text. Raises PolicyError."""
    if isinstance(source, str) and _is_text(source):
        return policy_of_text(source, "the policy")
    path = Path(source)
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise PolicyError(f"there is no policy file {path}; check the path.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise PolicyError(f"the policy file {path} cannot be read: {why}.") from None
    if len(data) > _MAX_BYTES:
        raise PolicyError(
            f"{path} is over {_MAX_BYTES:,} bytes; a policy file is a short YAML text."
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
    root = _compose(text, where)
    if root is None:
        return Policy(name=default_name)
    top = _Map.of(root, where, "the policy")
    values: dict[str, Any] = {"name": default_name}
    for key, value in top.items(tuple(_BLOCKS)):
        values[key] = _BLOCKS[key](value)
    try:
        return Policy(**values)
    except SettingError as error:
        raise top.error(error) from None


def _compose(text: str, where: str) -> yaml.Node | None:
    import yaml

    if len(text) > _MAX_BYTES:
        raise PolicyError(
            f"{where} is over {_MAX_BYTES:,} characters; a policy is a short YAML text."
        )
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        what = error.problem or error.context or "it cannot be read"
        raise PolicyError(f"{where}{line}: this is not YAML: {what}.") from None
    except yaml.YAMLError as error:
        first = str(error).splitlines()[0]
        raise PolicyError(f"{where}: this is not YAML: {first}.") from None
    except RecursionError:
        raise PolicyError(f"{where}: the YAML is nested too deeply for a policy.") from None
    if len(documents) > 1:
        raise PolicyError(
            f"{where}, line {documents[1].start_mark.line + 1}: a second document starts; a "
            "policy is one YAML document."
        )
    return documents[0] if documents else None


class _Value(NamedTuple):
    """One YAML node with the dotted name of its setting."""

    node: yaml.Node
    where: str
    key: str

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    def fail(self, sentence: str) -> PolicyError:
        return PolicyError(f"{self.where}, line {self.line}: {sentence}")

    @property
    def kind(self) -> str:
        import yaml

        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        return "nothing" if self.is_null else repr(_shortened(str(self.node.value)))

    @property
    def is_null(self) -> bool:
        return str(self.node.tag) == "tag:yaml.org,2002:null"

    @property
    def is_scalar(self) -> bool:
        import yaml

        return isinstance(self.node, yaml.ScalarNode) and not self.is_null

    def word(self) -> str:
        """Text. YAML's own words for booleans stay the words they are (off, no, yes)."""
        if not self.is_scalar:
            raise self.fail(f"{self.key} is {self.kind}; it must be text.")
        return str(self.node.value)

    def flag(self) -> bool:
        word = self.word().lower()
        if word not in {"true", "false"}:
            raise self.fail(f"{self.key} is {self.kind}; it must be true or false.")
        return word == "true"

    def number(self) -> int | float:
        value = parse_number(str(self.node.value)) if self.is_scalar else None
        if value is None:
            raise self.fail(
                f"{self.key} is {self.kind}; it must be a number such as 20, 120k or 50%."
            )
        return value

    def whole(self) -> int:
        value = self.number()
        if isinstance(value, float):
            if not value.is_integer() or str(self.node.value).strip().endswith("%"):
                raise self.fail(f"{self.key} is {self.kind}; it must be a whole number.")
            return int(value)
        return value

    def share(self) -> float:
        return float(self.number())

    def elements(self) -> Iterator[_Value]:
        import yaml

        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail(f"{self.key} is {self.kind}; it must be a list, such as [].")
        for node in self.node.value:
            yield _Value(node, self.where, self.key)

    def map(self) -> _Map:
        return _Map.of(self.node, self.where, self.key)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class _Map:
    """A YAML mapping whose keys are known by name, each with its line."""

    def __init__(self, value: _Value, entries: dict[str, tuple[_Value, _Value]]) -> None:
        self._value = value
        self._entries = entries

    @classmethod
    def of(cls, node: yaml.Node, where: str, key: str) -> _Map:
        import yaml

        value = _Value(node, where, key)
        if not isinstance(node, yaml.MappingNode):
            raise value.fail(
                f"{key} is {value.kind}; it must be a mapping of settings (key: value)."
            )
        prefix = "" if key == "the policy" else f"{key}."
        entries: dict[str, tuple[_Value, _Value]] = {}
        for key_node, value_node in node.value:
            named = _Value(key_node, where, f"a key of {key}")
            name = named.word()
            if name in entries:
                raise named.fail(
                    f"{prefix}{name} is set twice (first on line {entries[name][0].line})."
                )
            entries[name] = (named, _Value(value_node, where, prefix + name))
        return cls(value, entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def items(self, known: tuple[str, ...]) -> Iterator[tuple[str, _Value]]:
        """The entries; one whose name is not `known` is refused with the nearest."""
        for name, (named, value) in self._entries.items():
            if name not in known:
                raise named.fail(
                    f"{self._value.key} has no setting {name!r}{nearest(name, known)}; it takes "
                    f"{', '.join(known)}."
                )
            yield name, value

    def error(self, error: SettingError) -> PolicyError:
        """`error` with the line of the setting it names, or of this mapping."""
        for part in reversed(error.key.split(".")):
            if part in self._entries:
                return self._entries[part][1].fail(str(error))
        return self._value.fail(str(error))


def _built(block: _Map | _Value, build: Callable[[], Any]) -> Any:
    try:
        return build()
    except SettingError as error:
        if isinstance(block, _Map):
            raise block.error(error) from None
        raise block.fail(str(error)) from None


def _clause(value: _Value) -> Clause:
    block = value.map()
    given: dict[str, Any] = {}
    for name, inner in block.items(("tokens", "messages", "turns", "when")):
        given[name] = inner.word() if name == "when" else inner.whole()
    return _built(block, lambda: Clause(**given))  # type: ignore[no-any-return]


def _trigger(value: _Value) -> Trigger:
    if value.is_scalar:
        return _built(value, lambda: Trigger(value.whole()))  # type: ignore[no-any-return]
    block = value.map()
    given: dict[str, Any] = {}
    for name, inner in block.items(("budget", "when", "window", "at", "reserve", "any", "all")):
        if name == "when":
            given[name] = inner.word()
        elif name == "at":
            given[name] = inner.share()
        elif name in {"any", "all"}:
            given[name] = tuple(_clause(each) for each in inner.elements())
        else:
            given[name] = inner.whole()
    return _built(block, lambda: Trigger(**given))  # type: ignore[no-any-return]


def _head(value: _Value) -> Head:
    if value.is_scalar:
        return _built(value, lambda: Head(value.word()))  # type: ignore[no-any-return, arg-type]
    block = value.map()
    given: dict[str, Any] = {}
    for name, inner in block.items(("kind", "first", "first_user", "users", "pins", "roles")):
        if name == "kind":
            given["kind"] = inner.word()
        elif name == "first":
            given["first"] = inner.whole()
            given.setdefault("kind", "first")
        elif name == "first_user":
            given[name] = inner.flag()
        elif name == "users":
            given[name] = inner.whole()
        elif name == "pins":
            given[name] = tuple(each.whole() for each in inner.elements())
        else:
            given[name] = tuple(each.word() for each in inner.elements())
    return _built(block, lambda: Head(**given))  # type: ignore[no-any-return]


def _recent(value: _Value) -> Recent:
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
        return _built(value, lambda: Recent(unit, number))  # type: ignore[no-any-return, arg-type]
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
    return _built(block, lambda: Recent(name, amount))  # type: ignore[no-any-return, arg-type]


def _safety(value: _Value) -> Safety:
    if value.is_scalar:
        return _built(value, lambda: Safety(value.word()))  # type: ignore[no-any-return, arg-type]
    block = value.map()
    given = {name: inner.word() for name, inner in block.items(("unit", "snap"))}
    return _built(block, lambda: Safety(**given))  # type: ignore[no-any-return, arg-type]


def _summary(value: _Value) -> SummaryBlock:
    block = value.map()
    names = ("role", "place", "label", "wrap", "max_tokens", "summarizer", "accept")
    given: dict[str, Any] = {
        name: inner.whole() if name == "max_tokens" else inner.word()
        for name, inner in block.items(names)
    }
    return _built(block, lambda: SummaryBlock(**given))  # type: ignore[no-any-return]


def _before(value: _Value) -> tuple[str, ...]:
    if value.is_null:
        return ()
    for each in value.elements():
        raise each.fail(
            "before holds passes, and passes before summarizing are not supported; leave it "
            "empty ([])."
        )
    return ()


_BLOCKS: Mapping[str, Callable[[_Value], Any]] = {
    "name": _Value.word,
    "trigger": _trigger,
    "head": _head,
    "recent": _recent,
    "safety": _safety,
    "before": _before,
    "summary": _summary,
    "iterate": _Value.word,
    "fit": _Value.word,
    "failure": _Value.word,
    "tokens": _Value.word,
    "source": _Value.word,
    "notes": _Value.word,
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
        "safety": {"unit": policy.safety.unit, "snap": policy.safety.snap},
        "before": list(policy.before),
        "summary": {
            "role": policy.summary.role,
            "place": policy.summary.place,
            "label": policy.summary.label,
            "wrap": policy.summary.wrap,
            "max_tokens": policy.summary.max_tokens,
            "summarizer": policy.summary.summarizer,
            "accept": policy.summary.accept,
        },
        "iterate": policy.iterate,
        "fit": policy.fit,
        "failure": policy.failure,
        "tokens": policy.tokens,
    }
    if policy.source:
        document["source"] = policy.source
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
    for name in ("budget", "window", "at", "reserve"):
        value = getattr(trigger, name)
        if value is not None:
            out[name] = value
    out["when"] = trigger.when
    for name in ("any", "all"):
        clauses = getattr(trigger, name)
        if clauses:
            out[name] = [_clause_out(clause) for clause in clauses]
    return out


def _clause_out(clause: Clause) -> dict[str, Any]:
    limits = {
        name: value
        for name in ("tokens", "messages", "turns")
        if (value := getattr(clause, name)) is not None
    }
    return {**limits, "when": clause.when}


def _head_out(head: Head) -> str | dict[str, Any]:
    plain = Head()
    out: dict[str, Any] = {"first": head.first} if head.kind == "first" else {"kind": head.kind}
    if head.first_user:
        out["first_user"] = True
    if head.users:
        out["users"] = head.users
    if head.pins:
        out["pins"] = list(head.pins)
    if head.roles != plain.roles:
        out["roles"] = list(head.roles)
    return head.kind if list(out) == ["kind"] else out
