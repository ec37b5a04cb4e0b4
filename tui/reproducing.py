"""The command line that reproduces what is set on the screen."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from compaction.policy import Policy, preset, presets

Verb = Literal["", "inspect", "plan", "export", "check"]

#: Words that the command line would take for a command.
_COMMANDS = frozenset(
    {"demo", "inspect", "plan", "export", "check", "policies", "formats", "open", "help"}
)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A command line, and what must be done for it to hold ("" for nothing)."""

    command: str
    note: str = ""


def command_line(
    path: str | None,
    policy: Policy,
    *,
    verb: Verb = "export",
    output: str = "compacted",
    out_format: str = "",
    read_as: str = "",
    history: str = "live",
    conversation: str = "",
    policy_file: str = "",
    summarizer: str = "",
    summary_file: str = "",
) -> Reproduction:
    """The command that does with `path` (None: standard input) what is set here.

    `output` and `out_format` matter to `export` only. Where `policy` is more than a published one
    with other numbers, the command names `policy_file`, or a file that must be saved first.
    """
    words = ["compaction"]
    if verb:
        words.append(verb)
    words.append("-" if path is None else _as_file(path, bare=not verb))
    if verb == "export":
        words += ["-o", _as_file(output)]
        if out_format:
            words += ["--format", out_format]
    if read_as:
        words += ["--as", read_as]
    if history != "live":
        words += ["--history", history]
    if conversation:
        words.append(f"--conversation={conversation}")
    note = ""
    options = policy_options(policy)
    if options is None:
        name = policy_file or f"{_file_stem(policy.name)}.yaml"
        options = ["--policy", _as_file(name)]
        pins = policy.head.pins
        options += [word for pin in pins for word in ("--pin", str(pin))]
        if not policy_file:
            note = f"Save the policy as {name} first (w): options alone cannot say all of it."
    words += options
    if summary_file:
        words += ["--summary-file", _as_file(summary_file)]
    elif summarizer and summarizer != policy.summary.summarizer and verb == "export":
        words.append(f"--summarizer={summarizer}")
    return Reproduction(" ".join(quoted(word) for word in words), note)


def policy_options(policy: Policy) -> list[str] | None:
    """The options that make `policy` of the published one of its name; None where they cannot."""
    name = policy.name if policy.name in presets() else "default"
    base = preset(name)
    options = [] if name == "default" else ["--policy", name]
    made = base
    for option, value, changed in _changes(base, policy):
        options += [option, value]
        made = changed(made)
    return options if made == policy else None


class _Change:
    """One option's effect on a policy."""

    def __init__(self, **blocks: object) -> None:
        self._blocks = blocks

    def __call__(self, policy: Policy) -> Policy:
        return policy.replace(**self._blocks)  # type: ignore[arg-type]


def _changes(base: Policy, policy: Policy) -> Iterator[tuple[str, str, _Change]]:
    """Option, value and effect for all in which `policy` differs and which options can say."""
    if policy.tokens != base.tokens:
        yield "--tokenizer", policy.tokens, _Change(tokens=policy.tokens)
    if policy.trigger != base.trigger and policy.budget is not None:
        yield "--budget", str(policy.budget), _Change(budget=policy.budget)
    recent = policy.recent
    if recent != base.recent and recent.unit == base.recent.unit != "fit":
        yield "--keep-recent", _number(recent.amount), _Change(keep_recent=recent.amount)
    unit = policy.safety.unit
    if unit != base.safety.unit:
        yield "--safety", unit, _Change(safety=base.safety.of(unit))
    added = sorted(set(policy.head.pins) - set(base.head.pins))
    head = replace(base.head, pins=(*base.head.pins, *added))
    for pin in added:
        yield "--pin", str(pin), _Change(head=head)


def _number(amount: float) -> str:
    """A fraction keeps its point, which tells it from a number of messages."""
    if isinstance(amount, int):
        return str(amount)
    text = f"{amount:.12f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def _file_stem(name: str) -> str:
    kept = "".join(char if char.isalnum() or char in "-_." else "-" for char in name)
    return kept.strip("-.") or "policy"


def _as_file(path: str, *, bare: bool = False) -> str:
    """A path that is taken for nothing else: no option, no command, no standard input."""
    if path.startswith("-") or (bare and path in _COMMANDS):
        return f".{os.sep}{path}"
    return path


def quoted(word: str) -> str:
    """`word` for a POSIX shell, on one line and without a character that acts on a terminal."""
    if word.isprintable():
        return shlex.quote(word)
    out = []
    for char in word:
        if char in "\\'":
            out.append(f"\\{char}")
        elif char.isprintable():
            out.append(char)
        else:
            out += [f"\\x{byte:02x}" for byte in os.fsencode(char)]
    return f"$'{''.join(out)}'"
