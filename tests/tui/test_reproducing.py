"""The command line of a setting gives that very setting when it is run."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import click
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compaction.policy import Policy, preset, presets
from compaction.policy_limits import impossible
from tui.cli_export import export
from tui.cli_options import Settings
from tui.cli_work import policy_of
from tui.reproducing import command_line, policy_options, quoted
from tui.state import toggled_pin


def parsed(command: str) -> dict[str, Any]:
    """The parameters of `compaction export …` as click reads them."""
    program, verb, *words = shlex.split(command)
    assert (program, verb) == ("compaction", "export")
    context: click.Context = export.make_context("export", words)
    return context.params


def _kept(unit: str, amount: int) -> dict[str, float]:
    if unit == "fit":
        return {}
    return {"keep_recent": amount / 500 if unit == "fraction" else amount}


SETTINGS = st.builds(
    lambda name, budget, keep, unit, pins: preset(name).replace(
        budget=budget,
        safety=preset(name).safety.of(unit),
        head=replace(preset(name).head, pins=pins),
        **_kept(preset(name).recent.unit, keep),
    ),
    st.sampled_from(presets()),
    st.integers(1, 2_000_000),
    st.integers(0, 500),
    st.sampled_from(["off", "group", "turn"]),
    st.lists(st.integers(0, 300), max_size=4).map(tuple),
)


@given(SETTINGS)
def test_the_options_make_the_policy_they_were_made_from(policy: Policy) -> None:
    assume(not impossible(policy, policy.budget or 0))
    made = command_line("s.jsonl", policy)
    assert made.note == ""
    assert policy_of(Settings.of(parsed(made.command))) == policy


def test_what_is_as_published_is_not_said() -> None:
    assert command_line("s.jsonl", Policy(), verb="plan").command == "compaction plan s.jsonl"
    assert policy_options(Policy(budget=90_000)) == ["--budget", "90000"]


def test_what_options_cannot_say_goes_through_a_file() -> None:
    policy = toggled_pin(Policy(iterate="roll-in", name="my own/policy"), 4)
    made = command_line("s.jsonl", policy)
    assert "--policy my-own-policy.yaml --pin 4" in made.command
    assert "my-own-policy.yaml" in made.note
    assert command_line("s.jsonl", policy, policy_file="p.yaml").note == ""
    assert policy_options(Policy(keep_recent=0.3)) is None


def test_everything_else_that_is_set_is_said() -> None:
    made = command_line(
        "a b.jsonl",
        Policy(),
        output="out.json",
        out_format="anthropic",
        read_as="codex",
        history="full",
        conversation="-3",
        summary_file="sum mary.md",
    )
    given_ = parsed(made.command)
    assert given_["session"] == "a b.jsonl"
    assert given_["output"] == "out.json"
    assert given_["out_format"] == "anthropic"
    assert given_["read_as"] == "codex"
    assert given_["history"] == "full"
    assert given_["conversation"] == "-3"
    assert given_["summary_file"] == "sum mary.md"
    assert parsed(command_line("s", Policy(), summarizer="command:x y").command)[
        "summarizer"
    ] == ("command:x y")
    assert "--summarizer" not in command_line("s", Policy(), summarizer="digest").command


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("plan", "compaction ./plan"),
        ("-x.jsonl", "compaction ./-x.jsonl"),
        ("it's.jsonl", "compaction 'it'\"'\"'s.jsonl'"),
        (None, "compaction -"),
    ],
)
def test_a_path_is_taken_for_nothing_else(path: str | None, words: str) -> None:
    assert command_line(path, Policy(), verb="").command == words


def test_a_command_line_is_one_line_without_controls() -> None:
    assert quoted("a\nb'\x1b[2J") == "$'a\\x0ab\\'\\x1b[2J'"
    assert quoted("\udcff.jsonl") == "$'\\xff.jsonl'"
    assert quoted("plain-1.json") == "plain-1.json"
