"""YAML as nodes: every value knows its line and the dotted name of its setting.

Nodes are never made into Python values as a whole, so an alias costs nothing however often it
is used, and a wrong value is refused with the place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from compaction.errors import PolicyError
from compaction.policy_blocks import SettingError, nearest

if TYPE_CHECKING:
    import yaml

#: A policy file is a short text; nothing longer is looked at.
MAX_BYTES = 1_000_000

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


def compose(text: str, where: str) -> yaml.Node | None:
    """The root node of the one document in `text`, None when there is none."""
    import yaml

    if len(text) > MAX_BYTES:
        raise PolicyError(
            f"{where} is over {MAX_BYTES:,} characters; a policy is a short YAML text."
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


class Value(NamedTuple):
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
                f"{self.key} is {self.kind}; it must be a number such as 20 or 120k."
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

    def elements(self) -> Iterator[Value]:
        import yaml

        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail(f"{self.key} is {self.kind}; it must be a list, such as [].")
        for node in self.node.value:
            yield Value(node, self.where, self.key)

    def map(self) -> Mapped:
        return Mapped.of(self.node, self.where, self.key)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class Mapped:
    """A YAML mapping whose keys are known by name, each with its line."""

    def __init__(self, value: Value, entries: dict[str, tuple[Value, Value]]) -> None:
        self._value = value
        self._entries = entries

    @classmethod
    def of(cls, node: yaml.Node, where: str, key: str) -> Mapped:
        import yaml

        value = Value(node, where, key)
        if not isinstance(node, yaml.MappingNode):
            raise value.fail(
                f"{key} is {value.kind}; it must be a mapping of settings (key: value)."
            )
        prefix = "" if key == "the policy" else f"{key}."
        entries: dict[str, tuple[Value, Value]] = {}
        for key_node, value_node in node.value:
            named = Value(key_node, where, f"a key of {key}")
            name = named.word()
            if name in entries:
                raise named.fail(
                    f"{prefix}{name} is set twice (first on line {entries[name][0].line})."
                )
            entries[name] = (named, Value(value_node, where, prefix + name))
        return cls(value, entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def items(self, known: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
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


def built(block: Mapped | Value, build: Callable[[], Any]) -> Any:
    """What `build` makes; a setting it refuses is told with its line in `block`."""
    try:
        return build()
    except SettingError as error:
        if isinstance(block, Mapped):
            raise block.error(error) from None
        raise block.fail(str(error)) from None
