"""Policies as values and as YAML: what they accept, what they refuse, and how they say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from compaction.errors import PolicyError
from compaction.policy import (
    Clause,
    Head,
    Policy,
    Recent,
    Safety,
    SummaryBlock,
    Trigger,
    preset,
    presets,
)
from compaction.policy_limits import impossible
from compaction.policy_passes import (
    ClearThinking,
    ClearToolResults,
    ClipToolResults,
    DedupeReads,
    DropMedia,
)
from compaction.yaml_values import parse_number
from tests.compaction.planning_strategies import policies


def test_the_two_sliders_and_the_defaults() -> None:
    policy = Policy(budget=64_000, keep_recent=7)
    assert (policy.budget, policy.keep_recent, policy.recent) == (64_000, 7, Recent("messages", 7))
    assert Policy() == preset("default")
    assert (Policy().budget, Policy().keep_recent, Policy().safety.unit) == (100_000, 20, "group")


def test_replace_changes_a_copy_in_the_unit_at_hand() -> None:
    policy = Policy(recent=Recent("tokens", 4000))
    changed = policy.replace(budget=5, keep_recent=900, fit="reject")
    assert (changed.budget, changed.recent, changed.fit) == (5, Recent("tokens", 900), "reject")
    assert policy.recent == Recent("tokens", 4000)
    assert Policy(keep_recent=0.3).recent == Recent("fraction", 0.3)
    assert policy.replace(keep_recent=5.0).recent == Recent("tokens", 5)
    with pytest.raises(PolicyError, match="keeps what fits"):
        preset("fit-window").replace(keep_recent=3)
    with pytest.raises(PolicyError, match="did you mean safety"):
        policy.replace(safty=Safety())


def test_a_budget_of_a_window() -> None:
    assert Policy(trigger=Trigger(window=200_000, at=0.9)).budget == 180_000
    assert Policy(trigger=Trigger(window=200_000, reserve=16_384)).budget == 183_616
    open_window = Policy(trigger=Trigger(reserve=10))
    assert open_window.budget is None
    assert open_window.trigger.tokens(100) == 90
    with pytest.raises(PolicyError, match=r"trigger\.window"):
        open_window.trigger.tokens()
    assert open_window.replace(budget=7).trigger == Trigger(7)


def test_clauses_are_and_inside_or_across() -> None:
    trigger = Trigger(any=(Clause(tokens=100, turns=2), Clause(messages=9, when="reach")))
    assert trigger.tokens() == 100
    assert trigger.fires(101, 1, 3, 100)
    assert not trigger.fires(101, 8, 2, 100)
    assert trigger.fires(0, 9, 0, 100)
    both = Trigger(all=(Clause(tokens=100), Clause(messages=3)))
    assert both.fires(101, 4, 0, 100)
    assert not both.fires(101, 3, 0, 100)
    grouped = Trigger(any=(Clause(groups=4),))
    assert grouped.fires(0, 9, 0, 10, groups=5)
    assert not grouped.fires(99, 9, 9, 10, groups=4)
    assert Policy(trigger=trigger).replace(budget=50).trigger.any[0].tokens == 50


def test_over_and_reach() -> None:
    assert not Trigger(10, "over").passed(10, 10)
    assert Trigger(10, "over").passed(11, 10)
    assert Trigger(10, "reach").passed(10, 10)


def test_pins_are_sorted_and_single() -> None:
    assert Head(pins=(5, 1, 5)).pins == (1, 5)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Policy(budget=-1), "trigger.budget is -1; it must be 0 or more"),
        (lambda: Policy(budget=True), "whole number"),
        (lambda: Policy(keep_recent=-2), "recent.messages is -2"),
        (lambda: Policy(keep_recent=1.5), "fraction from 0 to 1"),
        (lambda: Policy(safety=Safety("grp")), "did you mean group"),  # type: ignore[arg-type]
        (lambda: Policy(fit="shrink"), "did you mean shrink-recent"),  # type: ignore[arg-type]
        (lambda: Policy(iterate="stak"), "did you mean stack"),  # type: ignore[arg-type]
        (lambda: Policy(tokens="calibrate"), "did you mean calibrated"),
        (lambda: Policy(tokens="o200k"), "did you mean o200k_base"),
        (lambda: Policy(before=("clear_thinking",)), "it takes the passes"),  # type: ignore[arg-type]
        (lambda: Policy(summary=SummaryBlock(middle="keep")), "no pass that changes anything"),
        (lambda: ClearToolResults(keep=-1), "before.keep is -1"),
        (lambda: ClipToolResults(), "takes one of max_tokens and max_chars"),
        (lambda: ClipToolResults(max_tokens=3, max_chars=3), "takes one of"),
        (lambda: ClipToolResults(max_chars=0), "1 or more"),
        (lambda: DropMedia(keep=True), "whole number"),
        (lambda: DedupeReads(placeholder=3), "must be text"),  # type: ignore[arg-type]
        (lambda: ClearToolResults(exclude="Read"), "list of tool names"),  # type: ignore[arg-type]
        (lambda: ClearToolResults(inputs=1), "true or false"),  # type: ignore[arg-type]
        (lambda: ClearToolResults(larger_than=-1), "before.larger_than is -1"),
        (lambda: Head(last_user=1), "head.last_user is 1; it must be true or false"),  # type: ignore[arg-type]
        (lambda: ClearThinking(keep=-2), "0 or more"),
        (lambda: Policy(fit=("reject", "clip-largest")), "reject must be its last step"),
        (lambda: Policy(fit=("none", "reject")), "names each of"),
        (lambda: Policy(fit=("reject", "reject")), "names each of"),
        (lambda: Trigger(100, target=101), "to 101 tokens, above the budget of 100"),
        (lambda: Trigger(window=1000, at=0.5, to=0.6), "above trigger.at of 0.5"),
        (
            lambda: Trigger(window=1000, reserve=600, to=0.5),
            "to 500 tokens, above the budget of 400",
        ),
        (lambda: Trigger(100, to=0.5), "needs at or reserve"),
        (lambda: Trigger(100, target=5, to=0.5), "takes one of them"),
        (lambda: Head("none", tokens=3), "head keeps none"),
        (lambda: Head(overflow="truncate"), "head.users keeps no messages"),
        (lambda: Policy(name=" "), "name is empty"),
        (lambda: Trigger(5, window=10, at=0.5), "takes one of them"),
        (lambda: Trigger(at=0.5, reserve=5), "takes one of them"),
        (lambda: Trigger(window=5), "needs at or reserve"),
        (lambda: Trigger(window=5, reserve=6), "more than the window"),
        (lambda: Clause(), "sets none of"),
        (lambda: Head("none", 3), "head keeps none"),
        (lambda: SummaryBlock(max_tokens=0), "1 or more"),
        (lambda: preset("three-regions"), "did you mean three-region"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(build: Any, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        build()
    assert says in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("name: x\nrecnt: {messages: 3}\n", 2, "no setting 'recnt' (did you mean recent?)"),
        ("name: x\nrecent:\n  mesages: 3\n", 3, "did you mean messages?"),
        ("recent:\n\n  messages: -3\n", 3, "recent.messages is -3; it must be 0 or more"),
        ("recent: {messages: many}\n", 1, "'many'; it must be a number such as 20 or 120k"),
        ("recent: {messages: 3, tokens: 4}\n", 1, "sets 2 units"),
        ("recent: fitt\n", 1, "did you mean fit?"),
        ("recent: {fit: 3}\n", 1, "takes no amount"),
        ("safety:\n  snap: keep-les\n", 2, "did you mean keep-less?"),
        ("safety: groups\n", 1, "did you mean group?"),
        ("\n\ntrigger: {budget: 1.5}\n", 3, "whole number"),
        ("trigger:\n  any:\n  - {tokens: 3}\n  - {token: 3}\n", 4, "did you mean tokens?"),
        ("trigger:\n  any: 5\n", 2, "it must be a list"),
        ("trigger:\n  window: 10\n  at: 150%\n", 3, "fraction from 0 to 1"),
        ("head: {first: 2, pins: [1, x]}\n", 1, "'x'; it must be a number"),
        ("head:\n  first_user: perhaps\n", 2, "true or false"),
        ("head:\n  last_user: perhaps\n", 2, "true or false"),
        ("safety:\n  unit: group\n  split_newest: true\n", 3, "it goes with turn"),
        ("before:\n- clear_thinkin\n", 2, "did you mean clear_thinking?"),
        ("before:\n- clear_thinking:\n    kep: 3\n", 3, "did you mean keep?"),
        ("before:\n- drop_media:\n  dedupe_reads:\n", 2, "holds one pass"),
        ("before:\n- clear_tool_results: {exclude: Read}\n", 2, "must be a list"),
        ("before:\n- clip_tool_results\n", 2, "takes one of max_tokens and max_chars"),
        ("before: clear_thinking\n", 1, "must be a list"),
        ("summary: non\n", 1, "did you mean none?"),
        ("summary: none\n", 1, "no pass that changes anything"),
        ("fit:\n- shrink-recent\n- clip\n", 2, "did you mean clip-largest?"),
        ("name: a\nname: b\n", 2, "set twice (first on line 1)"),
        ("summary: {role: robot}\n", 1, "one of user, assistant, system, developer"),
        ("summary: [a]\n", 1, "it must be a mapping"),
        ("- a\n- b\n", 1, "it must be a mapping"),
        ("iterate: stak\n", 1, "did you mean stack?"),
        ("tokens: [x]\n", 1, "tokens is a list; it must be text"),
        ("name: a\n---\nname: b\n", 3, "a second document starts"),
        ("name: [a\n", 2, "this is not YAML"),
        ("name: a\n<<: {b: 1}\n", 2, "no setting '<<'"),
    ],
)
def test_yaml_errors_name_the_line_and_the_nearest(text: str, line: int, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(text)
    assert f"line {line}:" in str(caught.value)
    assert says in str(caught.value)


def test_yaml_nested_out_of_sight_is_one_sentence() -> None:
    with pytest.raises(PolicyError, match="nested too deeply"):
        Policy.from_yaml("recent: " + "[" * 100_000 + "\n")


def test_yaml_aliases_cost_nothing() -> None:
    levels = ["a0: &a0 [x]"]
    levels.extend(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 20)}]" for n in range(1, 40))
    with pytest.raises(PolicyError, match="no setting 'a0'"):
        Policy.from_yaml("\n".join(levels) + "\n")


def test_yaml_short_forms() -> None:
    policy = Policy.from_yaml(
        "trigger: {budget: 1.2M}\nhead: {first: 2}\nrecent: {fraction: 30%}\nsafety: off\n"
    )
    assert policy.budget == 1_200_000
    assert policy.head == Head("first", 2)
    assert policy.recent == Recent("fraction", 0.3)
    assert policy.safety == Safety("off")
    assert Policy.from_yaml("recent: 30%\n").recent == Recent("fraction", 0.3)
    assert Policy.from_yaml("trigger: 120k\n").budget == 120_000
    assert Policy.from_yaml("summary: drop\n").summary == SummaryBlock(middle="drop")
    passes = Policy.from_yaml(
        "summary: none\nbefore:\n- clear_tool_results\n- clear_thinking: {keep: 2}\n- drop_media:\n"
    )
    assert passes.before == (ClearToolResults(), ClearThinking(2), DropMedia())
    assert passes.summary.middle == "keep"
    assert Policy.from_yaml("fit: [shrink-recent, clip-largest]\n").fit_steps == (
        "shrink-recent",
        "clip-largest",
    )
    assert Policy.from_yaml("head: {tokens: 4k}\n").head == Head("tokens", tokens=4000)
    assert Policy.from_yaml("").replace(name="default") == Policy()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("120k", 120_000),
        ("1.2M", 1_200_000),
        ("0.3k", 300),
        ("100_000", 100_000),
        ("100,000", 100_000),
        ("50%", 0.5),
        ("0.5", 0.5),
        ("-3", -3),
        ("k", None),
        ("12x", None),
        ("nan", None),
        ("9" * 50, None),
    ],
)
def test_numbers_as_people_write_them(text: str, value: float | None) -> None:
    assert parse_number(text) == value


def test_policies_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("recent: {messages: 4}\n", encoding="utf-8-sig")
    assert Policy.from_yaml(path) == Policy(name="mine", keep_recent=4)
    assert Policy.from_yaml(str(path)).name == "mine"
    with pytest.raises(PolicyError, match="no policy file"):
        Policy.from_yaml(tmp_path / "none.yaml")
    with pytest.raises(PolicyError, match="cannot be read"):
        Policy.from_yaml(tmp_path)
    path.write_bytes(b"name: \xff\xfe")
    with pytest.raises(PolicyError, match="not UTF-8"):
        Policy.from_yaml(path)
    path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(PolicyError, match="1,000,000 bytes"):
        Policy.from_yaml(path)


@pytest.mark.parametrize("name", presets())
def test_presets_are_whole_and_survive_yaml(name: str) -> None:
    policy = preset(name)
    assert policy.name == name
    assert Policy.from_yaml(policy.to_yaml()) == policy
    assert name == "default" or (policy.source and policy.notes)


def test_presets_say_where_they_are_weaker() -> None:
    assert preset("three-region").summary.role == "system"
    assert preset("keep-last").trigger == Trigger(30_000, "reach")
    assert preset("untrusted-data").summary.wrap == "json"
    published = ("three-region", "fit-window", "keep-last", "untrusted-data")
    assert all(preset(name).safety.unit == "off" for name in published)


@given(policies())
def test_any_policy_survives_yaml(policy: Policy) -> None:
    assert Policy.from_yaml(policy.to_yaml()) == policy
    assert hash(policy) == hash(policy.replace())


@pytest.mark.parametrize(
    ("policy", "budget", "says"),
    [
        (Policy(recent=Recent("tokens", 500)), 500, "recent.tokens of 500 is 500 tokens"),
        (Policy(recent=Recent("tokens", 500)), 501, ""),
        (Policy(recent=Recent("tokens", 500), fit="shrink-recent"), 5, ""),
        (
            Policy(recent=Recent("tokens", 300), head=Head(users=300)),
            550,
            "head.users of 300 and recent.tokens of 300 are together 600 tokens",
        ),
        (Policy(keep_recent=500), 1, ""),
        (
            Policy(
                before=(ClearToolResults(protect_tokens=900),), summary=SummaryBlock(middle="keep")
            ),
            800,
            "protects 900 tokens, all of the budget of 800",
        ),
    ],
)
def test_settings_that_can_never_work_are_told_with_their_numbers(
    policy: Policy, budget: int, says: str
) -> None:
    found = impossible(policy, budget)
    assert says in found
    assert bool(found) == bool(says)
