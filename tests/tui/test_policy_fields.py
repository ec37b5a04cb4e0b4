"""The settings of a policy as fields: all of them, each read back as it is shown."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from compaction.errors import PolicyError
from compaction.policy import Head, Policy, Recent, Safety, preset, presets
from tui.policy_fields import Field, blocks, policy_fields, stepped, typed


def field(key: str) -> Field:
    return next(each for each in policy_fields() if each.key == key)


def test_every_setting_of_every_block_is_a_field() -> None:
    policy = Policy()
    keys = {each.key for each in policy_fields()}
    for each in fields(Policy):
        value = getattr(policy, each.name)
        if is_dataclass(value):
            assert {f"{each.name}.{one.name}" for one in fields(value)} <= keys
        else:
            assert each.name in keys
    assert [each for _, some in blocks() for each in some] == list(policy_fields())


@pytest.mark.parametrize("name", presets())
def test_what_is_shown_can_be_typed_again(name: str) -> None:
    policy = preset(name)
    for each in policy_fields():
        assert typed(each, policy, each.shown(policy)) == policy, each.key


def test_numbers_are_taken_as_people_write_them() -> None:
    policy = Policy()
    assert typed(field("trigger.budget"), policy, "128k").budget == 128_000
    assert typed(field("trigger.budget"), policy, "1,234,567").budget == 1_234_567
    assert typed(field("summary.max_tokens"), policy, "2_000").summary.max_tokens == 2_000


def test_what_contradicts_a_change_makes_room() -> None:
    policy = Policy()
    assert typed(field("recent.unit"), policy, "fraction").recent.unit == "fraction"
    at = typed(field("trigger.at"), policy, "90%").trigger
    assert at.at == 0.9
    assert at.budget is None
    window = typed(field("trigger.window"), policy.replace(trigger=at), "200k").trigger
    assert (window.window, window.at) == (200_000, 0.9)


def test_lists_are_typed_as_yaml() -> None:
    policy = typed(field("before"), Policy(), "[{clear_tool_results: {keep: 2}}]")
    assert len(policy.before) == 1
    assert "clear_tool_results" in field("before").shown(policy)
    pinned = typed(field("head.pins"), policy, "[3, 1]")
    assert pinned.head.pins == (1, 3)
    clause = typed(field("trigger.any"), policy, "[{messages: 40}]")
    assert clause.trigger.any[0].messages == 40


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("trigger.budget", "lots"),
        ("before", "[{no_such_pass: {}}]"),
        ("summary.role", "boss"),
        ("summary.max_tokens", "0"),
        ("head.roles", "[]"),
        ("name", ""),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(key: str, text: str) -> None:
    with pytest.raises(PolicyError) as refused:
        typed(field(key), Policy(), text)
    assert key.rpartition(".")[2] in str(refused.value)


def test_a_value_that_goes_with_another_choice_brings_it_along() -> None:
    assert typed(field("head.first"), Policy(), "3").head == Head("first", 3)
    assert typed(field("head.tokens"), Policy(), "900").head == Head("tokens", tokens=900)
    split = stepped(field("safety.split_newest"), Policy(), 1)
    assert split.safety == Safety("turn", split_newest=True)


@pytest.mark.parametrize(
    ("unit", "amount"), [("fraction", 0.3), ("tokens", 20_000), ("turns", 3), ("messages", 20)]
)
def test_another_unit_begins_with_an_amount_of_its_own(unit: str, amount: float) -> None:
    for before in (Recent("fraction", 0.5), Recent("groups", 7), Recent("fit")):
        if before.unit == unit:
            continue
        changed = typed(field("recent.unit"), Policy(recent=before), unit)
        assert changed.recent == Recent(unit, amount)  # type: ignore[arg-type]


def test_steps_go_round_choices_and_stay_in_range() -> None:
    role = field("summary.role")
    policy = Policy()
    for _ in role.choices:
        policy = stepped(role, policy, 1)
    assert policy == Policy()
    assert stepped(field("recent.amount"), Policy(keep_recent=0), -1).keep_recent == 0
    assert stepped(field("recent.amount"), Policy(keep_recent=1.0), 1).keep_recent == 1.0
