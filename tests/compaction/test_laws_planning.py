"""The rules of the engine that a plan alone decides, for any session and any policy."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compaction.groups import Groups, find_groups
from compaction.messages import Session
from compaction.planning import Plan, Planner, Region
from compaction.policy import Head, Policy, Recent, Safety, SummaryBlock
from compaction.policy_passes import ClearToolResults, ClipToolResults
from compaction.tokens import Counts
from tests.compaction.planning_strategies import (
    assistant,
    calls,
    counted_sessions,
    counts_of,
    policies,
    results,
    session_of,
    system,
    user,
)
from tests.examples import RULE

Counted = tuple[Session, Counts]


def planned(counted: Counted, policy: Policy) -> Plan:
    session, counts = counted
    return Planner(session, counts).plan(policy)


def staying(plan: Plan) -> set[int]:
    return {*plan.head, *plan.kept, *plan.recent}


@RULE
@given(counted_sessions(), policies())
def test_every_message_is_in_exactly_one_region(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    parts: dict[str, Sequence[int]] = {
        "head": plan.head,
        "summarized": plan.summarized,
        "kept": plan.kept,
        "cleared": plan.cleared,
        "recent": plan.recent,
    }
    assert sorted(i for part in parts.values() for i in part) == list(range(plan.n))
    for region, part in parts.items():
        assert list(part) == sorted(part)
        assert all(plan.region(i) == region for i in part)


@RULE
@given(counted_sessions(), policies())
def test_the_totals_are_the_sums_of_the_regions(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    tokens = counted[1].tokens

    def size(part: Sequence[int]) -> int:
        return sum(tokens[i] for i in part)

    assert plan.tokens_head == size(plan.head)
    assert plan.tokens_summarized == size(plan.summarized)
    assert plan.tokens_kept == size(plan.kept)
    assert plan.tokens_recent == size(plan.recent)
    assert plan.tokens_cleared == size(plan.cleared) - plan.tokens_freed
    assert plan.tokens_before == sum(tokens) + counted[1].overhead
    after = plan.tokens_before - size(plan.summarized) - plan.tokens_freed + plan.summary_estimate
    assert plan.tokens_after_estimate == after


@RULE
@given(counted_sessions(), policies())
def test_under_budget_nothing_happens(counted: Counted, policy: Policy) -> None:
    total = sum(counted[1].tokens) + counted[1].overhead
    policy = replace(policy, trigger=replace(policy.trigger, any=(), all=()))
    assert policy.replace(budget=total + 1).trigger.target_tokens() <= total + 1
    plan = planned(counted, policy.replace(budget=total + 1))
    assert not plan.compacts
    assert not plan.over_budget
    assert (list(plan.summarized), plan.kept, plan.over_by) == ([], (), 0)
    assert (list(plan.cleared), plan.tokens_freed, plan.summarizes) == ([], 0, False)
    at = planned(counted, policy.replace(budget=total))
    assert at.over_budget == (policy.trigger.when == "reach")
    assert plan.nothing_changes_past == total + (policy.trigger.when == "reach")


@RULE
@given(counted_sessions(), policies(safe=True))
def test_groups_hold(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    gone = set(plan.summarized)
    groups = plan.groups
    for k in range(len(groups.starts)):
        members = groups.group(k)
        assert len(gone.intersection(members)) in {0, len(members)}


@RULE
@given(counted_sessions(), policies(safe=True))
def test_the_newest_and_the_unanswered_always_stay(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    messages = counted[0].messages
    last_answer = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=-1)
    users = [i for i, m in enumerate(messages) if m.role == "user" and i > last_answer]
    # Where nobody answered at all, the last message alone waits for an answer.
    unanswered = set(users if last_answer >= 0 else users[-1:])
    newest = set(plan.groups.group_of(plan.n - 1)) if plan.n else set()
    assert unanswered | newest <= staying(plan)


@RULE
@given(counted_sessions(), policies(safe=True))
def test_turn_safety_splits_no_turn(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy.replace(safety=Safety("turn", policy.safety.snap)))
    if plan.summarizes:
        assert plan.cut in {*plan.groups.turns, plan.head_end}


@RULE
@given(counted_sessions(), policies(), st.integers(0, 4000))
def test_a_larger_budget_never_keeps_less(counted: Counted, policy: Policy, more: int) -> None:
    small = planned(counted, policy.replace(budget=policy.budget))
    large = planned(counted, policy.replace(budget=(policy.budget or 0) + more))
    assert staying(small) <= staying(large)


@RULE
@given(counted_sessions(), policies(), st.integers(0, 3000), st.integers(0, 3000))
def test_a_larger_keep_recent_never_keeps_less(
    counted: Counted, policy: Policy, one: int, other: int
) -> None:
    assume(policy.recent.unit != "fit")
    scale: Any = {"fraction": 1 / 3000, "tokens": 1}.get(policy.recent.unit, 1 / 150)
    amounts = [amount * scale for amount in sorted((one, other))]
    if policy.recent.unit != "fraction":
        amounts = [int(amount) for amount in amounts]
    fewer, more = (planned(counted, policy.replace(keep_recent=each)) for each in amounts)
    assert staying(fewer) <= staying(more)


@RULE
@given(counted_sessions(), policies())
def test_pins_stay_with_their_groups(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    stay = staying(plan)
    assert not stay & set(plan.cleared)
    for pin in policy.head.pins:
        if pin < plan.n:
            group = plan.groups.group_of(pin) if policy.safety.unit != "off" else [pin]
            assert set(group) <= stay


@RULE
@given(counted_sessions(), policies())
def test_what_fits_is_the_most_that_fits(counted: Counted, policy: Policy) -> None:
    """The cut of recent: fit is the first safe one, in order, whose list keeps the budget."""
    policy = policy.replace(
        recent=Recent("fit"), fit="shrink-recent", before=(), summary=SummaryBlock(accept="any")
    )
    plan = planned(counted, policy)
    assume(plan.compacts and plan.truncated is None)
    groups, tokens = plan.groups, counted[1].tokens
    safe = range(plan.n + 1) if policy.safety.unit == "off" else groups.starts
    if policy.safety.unit == "turn":
        safe = array("q", (turn for turn in groups.turns if groups.is_safe(turn)))
    for cut in [plan.head_end, *(each for each in safe if plan.head_end < each < plan.cut)]:
        pinned = Planner(counted[0], counted[1]).plan(
            policy.replace(recent=Recent("messages", plan.n - cut), fit="none")
        )
        kept = sum(tokens[i] for i in pinned.kept) if pinned.cut == cut else 0
        stays = sum(tokens[: plan.head_end]) + sum(tokens[cut:]) + kept + counted[1].overhead
        if cut > plan.head_end and pinned.cut == cut and pinned.compacts:
            assert policy.trigger.passed(stays, plan.target)


@RULE
@given(counted_sessions(), policies())
def test_shrinking_ends_and_keeps_less_each_time(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    steps = 0
    while smaller := plan.shrink():
        assert smaller.cut > plan.cut or not smaller.summarizes
        plan, steps = smaller, steps + 1
        assert steps <= plan.n + 1


@RULE
@given(counted_sessions(), policies())
def test_an_effective_amount_differs_from_the_asked_only_with_a_note(
    counted: Counted, policy: Policy
) -> None:
    assume(policy.recent.unit in {"messages", "groups", "turns"})
    plan = planned(counted, policy)
    asked = plan.requested
    assert asked is not None
    if plan.summarizes and plan.effective is not None and plan.effective > asked:
        assert f"asked {asked}, keeps {plan.effective}" in plan.snap_note


@RULE
@given(counted_sessions(), policies())
def test_what_is_cleared_is_smaller_and_nothing_else_changes(
    counted: Counted, policy: Policy
) -> None:
    plan = planned(counted, policy)
    assert plan.compacts == bool(plan.summarizes or plan.cleared)
    if not plan.compacts:
        assert not plan.cleared
    if policy.summary.middle == "keep":
        assert not plan.summarizes
        assert not list(plan.summarized)
    assert plan.tokens_freed >= len(plan.cleared)


@RULE
@given(counted_sessions(), policies())
def test_clearing_enough_leaves_nothing_to_summarize(counted: Counted, policy: Policy) -> None:
    assume(policy.before)
    policy = replace(policy, trigger=replace(policy.trigger, any=(), all=()))
    plan = planned(counted, policy)
    if plan.eased is not None and plan.over_budget:
        left = plan.tokens_before - plan.eased.total
        if not policy.trigger.passed(left, plan.budget):
            assert not plan.summarizes
            assert plan.tokens_after_estimate == left


@RULE
@given(counted_sessions(), policies())
def test_stacked_summaries_stay(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy.replace(iterate="stack"))
    assert not set(plan.summarized) & set(plan.groups.summaries)


# --------------------------------------------------------------------------- cost of a plan


@given(counted_sessions(), policies())
def test_regions_are_counted_as_they_are_listed(counted: Counted, policy: Policy) -> None:
    plan = planned(counted, policy)
    regions = [plan.region(index) for index in range(plan.n)]
    names: tuple[Region, ...] = ("head", "summarized", "kept", "cleared", "recent")
    assert [plan.messages_in(name) for name in names] == [regions.count(name) for name in names]
    tokens = plan.counts.tokens
    for start in range(0, plan.n + 1, 3):
        for stop in range(start, plan.n + 1, 2):
            had = sum(tokens[i] for i in range(start, stop) if regions[i] == "cleared")
            assert plan.had_cleared(start, stop) == had


class Counting(Sequence[int]):
    """A sequence that counts how often it is read."""

    reads = 0

    def __init__(self, values: Sequence[int]) -> None:
        self._values = values

    def __getitem__(self, at: Any) -> Any:
        Counting.reads += 1
        return self._values[at]

    def __len__(self) -> int:
        return len(self._values)


def _planner(turns: int) -> Planner:
    messages, sizes = [system()], [50]
    block = [user(), calls("a", "b"), results("a", output="x" * 800), results("b"), assistant()]
    for _ in range(turns):
        messages.extend(block)
        sizes.extend((10, 30, 200, 300, 20))
    counts = counts_of(sizes, tokenizer="chars/4")
    groups = find_groups(messages)
    for name in ("starts", "turns", "turn_cuts", "split_cuts"):
        object.__setattr__(groups, name, Counting(getattr(groups, name)))
    object.__setattr__(counts, "prefix", Counting(counts.prefix))
    object.__setattr__(counts, "tokens", Counting(counts.tokens))
    return Planner(session_of(messages), counts, groups)


COSTED = [
    Policy(budget=1000, keep_recent=33),
    Policy(budget=1000, recent=Recent("tokens", 4000)),
    Policy(budget=1000, recent=Recent("fraction", 0.4), safety=Safety("turn")),
    Policy(budget=9000, recent=Recent("fit")),
    Policy(
        budget=1000,
        keep_recent=2,
        head=Head(last_user=True),
        safety=Safety("turn", split_newest=True),
    ),
    Policy(budget=9000, recent=Recent("fit"), fit="shrink-recent", safety=Safety("off")),
    Policy(budget=1000, keep_recent=33, head=Head(pins=(7, 30), first_user=True, users=200)),
    Policy(budget=1000, keep_recent=33, before=(ClearToolResults(), ClipToolResults(max_tokens=9))),
    Policy(budget=9000, recent=Recent("fit"), before=(ClearToolResults(at_least=500),)),
]


@pytest.mark.parametrize("policy", COSTED)
def test_a_plan_reads_little_more_of_a_session_64_times_as_long(policy: Policy) -> None:
    reads = []
    for turns in (200, 12_800):
        planner = _planner(turns)
        planner.plan(policy)
        before = Counting.reads
        planner.plan(policy)
        reads.append(Counting.reads - before)
    assert reads[0] > 0
    # log2(64,000) / log2(1,000) is 1.6.
    assert reads[1] <= 1.7 * reads[0]


def test_a_planner_over_known_groups_reads_nothing_before_it_is_asked() -> None:
    planner = _planner(1000)
    before = Counting.reads
    Planner(planner.session, planner.counts, planner.groups)
    assert Counting.reads == before
    assert isinstance(planner.groups, Groups)
