"""Plans with their numbers: cuts, notes, reasons, and what cannot be reached."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compaction.compacting import compact
from compaction.cuts import first_fitting
from compaction.errors import PolicyError
from compaction.messages import Message, message
from compaction.peaks import Peaks
from compaction.planning import Plan, Planner, counts_for, summary_estimate
from compaction.policy import (
    Clause,
    Head,
    Policy,
    Recent,
    Safety,
    SummaryBlock,
    Trigger,
    preset,
)
from compaction.recipes import estimate_tokens
from compaction.summary import FromCallable
from tests.compaction.planning_strategies import (
    assistant,
    calls,
    counts_of,
    own_summary,
    results,
    session_of,
    system,
    user,
)

SHORT = SummaryBlock(label="", max_tokens=10)


def plan_of(
    entries: list[tuple[Message, int]], policy: Policy, overhead: int = 0, window: int | None = None
) -> Plan:
    session = session_of([entry for entry, _ in entries], window)
    counts = counts_of((size for _, size in entries), overhead)
    return Planner(session, counts).plan(policy)


#: system | user, call of two, two results, answer | user, call, result, answer | user
AGENT = [
    (system(), 40),
    (user(), 10),
    (calls("a", "b"), 20),
    (results("b"), 300),
    (results("a"), 200),
    (assistant(), 30),
    (user(), 10),
    (calls("c"), 20),
    (results("c"), 500),
    (assistant(), 30),
    (user(), 10),
]


def test_the_cut_moves_back_to_the_call_and_says_so() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=3, summary=SHORT))
    assert (plan.head_end, plan.cut, plan.n) == (1, 7, 11)
    assert (plan.requested, plan.effective) == (3, 4)
    assert plan.snap_note == "asked 3, keeps 4: the cut moved back to the call at #7"
    assert (plan.tokens_head, plan.tokens_summarized, plan.tokens_recent) == (40, 570, 560)
    assert plan.reason == "over budget by 670 tokens: 6 messages with 570 tokens become one summary"
    assert (plan.over_by, plan.nothing_changes_past) == (670, 1170)
    assert [plan.region(i) for i in (0, 1, 6, 7, 10)] == [
        "head",
        "summarized",
        "summarized",
        "recent",
        "recent",
    ]
    with pytest.raises(IndexError, match="#11"):
        plan.region(11)


def test_keep_less_moves_the_cut_on() -> None:
    policy = Policy(budget=500, keep_recent=3, safety=Safety("group", "keep-less"), summary=SHORT)
    plan = plan_of(AGENT, policy)
    assert plan.cut == 9
    assert plan.snap_note == "asked 3, keeps 2: the cut moved on to #9"


def test_keep_zero_keeps_the_unanswered_user_message() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=0, summary=SHORT))
    assert list(plan.recent) == [10]
    assert "keeps 1: the newest message and an unanswered user message always stay" in (
        plan.snap_note
    )
    twice = [*AGENT, (user("and quickly"), 5)]
    assert list(plan_of(twice, Policy(budget=5, keep_recent=0)).recent) == [10, 11]
    off = Policy(budget=500, keep_recent=0, safety=Safety("off"), summary=SHORT)
    assert list(plan_of(AGENT, off).recent) == []


def test_keep_zero_keeps_the_newest_group_whole() -> None:
    plan = plan_of(AGENT[:9], Policy(budget=500, keep_recent=0, summary=SHORT))
    assert list(plan.recent) == [7, 8]


@pytest.mark.parametrize(
    ("recent", "cut", "effective"),
    [
        (Recent("messages", 5), 6, 5),
        (Recent("groups", 3), 7, 3),
        (Recent("turns", 1), 10, 1),
        (Recent("turns", 2), 6, 2),
        (Recent("turns", 0), 10, 1),
        (Recent("tokens", 40), 9, 40),
        (Recent("tokens", 39), 10, 10),
        (Recent("tokens", 100), 9, 40),
        (Recent("tokens", 540), 7, 560),
        (Recent("fraction", 0.5), 6, 0.4872),
    ],
)
def test_the_units_of_recent(recent: Recent, cut: int, effective: float) -> None:
    plan = plan_of(AGENT, Policy(budget=500, recent=recent, summary=SHORT))
    assert (plan.cut, plan.effective) == (cut, effective)


def test_turn_safety_cuts_before_a_typed_message() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=3, safety=Safety("turn"), summary=SHORT))
    assert plan.cut == 6
    assert plan.snap_note == "asked 3, keeps 5: the cut moved back to the turn at #6"


@pytest.mark.parametrize(("keep", "cut"), [(1, 10), (4, 7), (5, 6), (6, 1), (9, 1)])
def test_split_newest_keeps_old_turns_whole_and_cuts_the_newest_between_its_groups(
    keep: int, cut: int
) -> None:
    newest = [*AGENT[:6], *AGENT[6:10], (assistant(), 20)]
    safety = Safety("turn", split_newest=True)
    plan = plan_of(newest, Policy(budget=500, keep_recent=keep, safety=safety, summary=SHORT))
    assert plan.cut == cut
    whole = plan_of(newest, Policy(budget=500, keep_recent=1, safety=Safety("turn"), summary=SHORT))
    assert whole.cut == 6
    assert whole.snap_note == "asked 1, keeps 5: the newest turn always stays"


def test_split_newest_goes_with_turn_alone() -> None:
    with pytest.raises(PolicyError, match=r"safety\.split_newest is true, but safety is group"):
        Safety(split_newest=True)
    split = Safety("turn", "keep-less", split_newest=True)
    assert split.of("turn") == split
    assert split.of("group") == Safety("group", "keep-less")


def test_the_newest_request_stays_wherever_its_turn_is_cut() -> None:
    safety = Safety("turn", split_newest=True)
    policy = Policy(
        budget=500, keep_recent=1, head=Head(last_user=True), safety=safety, summary=SHORT
    )
    plan = plan_of([*AGENT[:10], (assistant(), 20)], policy)
    assert (plan.cut, plan.kept) == (10, (6,))
    assert list(plan.summarized) == [1, 2, 3, 4, 5, 7, 8, 9]
    assert (plan.tokens_kept, plan.tokens_recent) == (10, 20)
    # Within the recent part it is kept anyway, and in the head.
    assert plan_of(AGENT, policy.replace(keep_recent=3)).kept == ()
    assert plan_of(AGENT[:2], policy.replace(budget=5)).kept == ()


def test_total_equal_to_the_budget_is_under_it() -> None:
    assert not plan_of(AGENT, Policy(budget=1170, keep_recent=3)).over_budget
    assert plan_of(AGENT, Policy(budget=1169, keep_recent=3)).over_budget
    reach = Policy(trigger=Trigger(1170, "reach"), keep_recent=3)
    plan = plan_of(AGENT, reach)
    assert (plan.over_budget, plan.compacts) == (True, True)
    assert plan.reason.startswith("the budget of 1,170 is reached:")
    assert plan.nothing_changes_past == 1171


def test_tools_of_the_file_count_toward_the_budget() -> None:
    plan = plan_of(AGENT, Policy(budget=1200, keep_recent=3), overhead=31)
    assert (plan.tokens_before, plan.over_budget, plan.overhead) == (1201, True, 31)


def test_nothing_old_says_why() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=50))
    assert not plan.compacts
    assert plan.reason == (
        "nothing to summarize: keep_recent 50 covers the 10 messages after the head "
        "(1,130 tokens); a lower one makes some of them old"
    )
    one_turn = plan_of(AGENT[:4], Policy(budget=5, keep_recent=1, safety=Safety("turn")))
    assert "the 3 messages after the head (330 tokens) cannot be separated" in one_turn.reason
    only_head = plan_of([(system(), 900)], Policy(budget=5))
    assert only_head.reason == "nothing to summarize: the head is the whole list (900 tokens)"


def test_an_empty_session_is_under_budget() -> None:
    for name in ("default", "three-region", "fit-window", "keep-last", "untrusted-data"):
        plan = plan_of([], preset(name))
        assert (plan.n, plan.compacts, plan.cut, list(plan.recent)) == (0, False, 0, [])


def test_a_summary_that_would_not_be_smaller_is_not_made() -> None:
    entries = [(system(), 40), (user(), 5), (assistant(), 6), (user(), 900)]
    plan = plan_of(entries, Policy(budget=100, keep_recent=1))
    assert not plan.compacts
    assert plan.reason.startswith("a summary would not be smaller: the old part has 11 tokens")
    assert plan_of(entries, preset("three-region").replace(budget=100, keep_recent=1)).compacts


def test_only_an_earlier_summary_is_old_so_nothing_happens() -> None:
    entries = [(system(), 40), (own_summary(), 300), (assistant(), 900), (user(), 10)]
    plan = plan_of(entries, Policy(budget=100, keep_recent=2))
    assert not plan.compacts
    assert plan.reason == "nothing new to summarize: all that is old is the summary #1"
    more = [*entries[:2], (assistant(), 100), *entries[2:]]
    assert plan_of(more, Policy(budget=100, keep_recent=2)).compacts
    pinned = [entries[0], (user("pinned"), 10), *entries[1:]]
    policy = Policy(budget=100, keep_recent=2, head=Head(pins=(1,)))
    assert "the summary #2" in plan_of(pinned, policy).reason


def test_an_unreachable_budget_names_its_numbers_and_the_largest_message() -> None:
    entries = [(system(), 3040), *AGENT[1:]]
    plan = plan_of(entries, Policy(budget=1000, keep_recent=3, summary=SHORT))
    assert plan.unreachable == (
        "a budget of 1,000 cannot be reached: at least 3,054 tokens stay (head 3,040, recent 10, "
        "summary about 4); message #0 (system) alone takes 3,040"
    )
    assert plan.findings[0].code == "budget-unreachable"
    tools = plan_of(AGENT, Policy(budget=1000, keep_recent=3, summary=SHORT), overhead=2000)
    assert tools.unreachable.endswith("; the tool definitions alone take 2,000")


def test_a_recent_part_that_is_too_large_names_its_largest_message() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=4, summary=SHORT))
    assert plan.unreachable == ""
    (finding,) = plan.findings
    assert finding.code == "over-after-compaction"
    assert finding.text == (
        "Still about 114 tokens over the budget of 500 after compaction (head 40, recent 560, "
        "summary about 14); message #8 (tool) alone takes 500."
    )


def test_a_list_that_stays_over_as_it_is_names_its_largest_message() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=50, summary=SHORT))
    assert not plan.compacts
    (finding,) = plan.findings
    assert finding.code == "over-budget"
    assert finding.text.endswith("(head 40, recent 1,130); message #8 (tool) alone takes 500.")


def test_the_smallest_list_is_the_one_that_is_where_a_summary_saves_nothing() -> None:
    entries = [(system(), 7), (user(), 5), (assistant(), 5), (user(), 5), (assistant(), 5)]
    plan = plan_of(entries, Policy(budget=20, keep_recent=2))
    assert "at least 27 tokens stay (head 7, recent 20)" in plan.unreachable


def test_a_budget_that_a_short_summary_reaches_is_not_called_unreachable() -> None:
    block = SummaryBlock(label="", max_tokens=4_000, accept="any")
    policy = Policy(budget=80, keep_recent=1, summary=block)
    session = session_of([system(), user(), user()])
    plan = Planner(session, counts_of([40, 9_000, 30], tokenizer="chars/4")).plan(policy)
    assert plan.summary_estimate > 2_000
    assert plan.unreachable == ""
    assert [finding.code for finding in plan.findings][:1] == ["over-after-compaction"]
    done = compact(plan, FromCallable(lambda _: "Short.", "x"))
    assert not done.over_budget
    assert "over-after-compaction" not in {finding.code for finding in done.findings}


def test_shrink_recent_moves_the_cut_until_the_list_fits() -> None:
    policy = Policy(budget=500, keep_recent=6, fit="shrink-recent", summary=SHORT)
    plan = plan_of(AGENT, policy)
    assert plan.cut == 9
    assert plan.snap_note == "asked 6, keeps 2: no more fits the budget"
    assert plan.tokens_after_estimate <= 500


def test_fit_reserves_room_for_the_summary_unless_it_gives_way_later() -> None:
    # head 40, recent from #7 560: 600 without a summary, 614 with the estimate.
    fixed = Policy(budget=609, recent=Recent("fit"), summary=SHORT)
    assert plan_of(AGENT, fixed).cut == 9
    assert plan_of(AGENT, fixed.replace(budget=614)).cut == 7
    giving = fixed.replace(fit="shrink-recent")
    plan = plan_of(AGENT, giving)
    assert plan.cut == 7
    assert plan.fits(9)
    assert not plan.fits(10)
    assert plan.shrink(9) is None
    smaller = plan.shrink(10)
    assert smaller is not None
    assert smaller.cut == 9


def test_head_kinds() -> None:
    entries = [(system(), 1), (message("developer", "d"), 1), (system(), 1), *AGENT[1:]]

    def end(head: Head, **blocks: Any) -> int:
        return plan_of(entries, Policy(budget=50, head=head, **blocks)).head_end

    assert end(Head()) == 1
    assert end(Head("leading-system")) == 3
    assert end(Head("leading-system", roles=("system",))) == 1
    assert end(Head("none")) == 0
    assert end(Head("first", 4)) == 4
    assert end(Head("leading-system", first_user=True)) == 4
    # A head that would end inside the batch #4 to #6 takes it whole.
    assert end(Head("first", 5)) == 7
    assert end(Head("first", 5), safety=Safety("group", "keep-less")) == 4
    assert end(Head("first", 5), safety=Safety("off")) == 5
    assert end(Head("first", 99)) == len(entries)


def test_pins_bring_their_group_and_are_counted_once() -> None:
    head = Head(pins=(3, 99), first_user=True, users=10)
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=1, head=head, summary=SHORT))
    assert plan.head_end == 2
    assert plan.kept == (2, 3, 4, 6)
    assert list(plan.summarized) == [5, 7, 8, 9]
    assert (plan.tokens_kept, plan.tokens_summarized) == (530, 580)
    assert plan.region(6) == "kept"
    assert any(finding.code == "pin-out-of-range" for finding in plan.findings)
    alone = Policy(
        budget=500, keep_recent=1, head=Head(pins=(3,)), safety=Safety("off"), summary=SHORT
    )
    weak = plan_of(AGENT, alone)
    assert weak.kept == (3,)
    assert any("Messages #2 to #4 belong together" in finding.text for finding in weak.findings)


def test_users_keeps_the_newest_typed_messages_of_the_middle_within_its_tokens() -> None:
    entries = [(user(), 30), (assistant(), 400), (user(), 20), (assistant(), 400), (user(), 5)]
    for limit, kept in ((19, ()), (20, (2,)), (49, (2,)), (50, (0, 2))):
        policy = Policy(budget=100, keep_recent=1, head=Head(users=limit), summary=SHORT)
        assert plan_of(entries, policy).kept == kept


def test_safety_off_names_what_it_separates() -> None:
    plan = plan_of(AGENT, preset("three-region").replace(budget=500, keep_recent=3))
    (split,) = [finding for finding in plan.findings if finding.code == "group-split"]
    assert split.message == 7
    assert split.text.startswith("Messages #7 to #8 belong together")
    codes = {finding.code for finding in plan.findings}
    assert {"summary-promoted", "summary-unchecked"} <= codes
    lost = plan_of(AGENT, preset("keep-last").replace(budget=500, keep_recent=1))
    assert any(finding.code == "instructions-summarized" for finding in lost.findings)


def test_the_default_policy_has_nothing_to_confess() -> None:
    entries = [(system(), 40), *[(user(), 2000), (assistant(), 2000)] * 20, (user(), 10)]
    plan = plan_of(entries, Policy(budget=20_000, keep_recent=4))
    assert plan.compacts
    assert plan.findings == ()


def test_a_budget_of_the_window_the_session_states() -> None:
    policy = Policy(trigger=Trigger(reserve=100), keep_recent=3)
    assert plan_of(AGENT, policy, window=1100).budget == 1000
    with pytest.raises(PolicyError, match="states none"):
        plan_of(AGENT, policy)


def test_clauses_decide_when() -> None:
    policy = Policy(trigger=Trigger(any=(Clause(messages=11, when="reach"),)), keep_recent=3)
    plan = plan_of(AGENT, policy)
    assert (plan.over_budget, plan.compacts) == (False, True)
    assert plan.reason.startswith("the trigger of the policy holds: 6 messages")
    quiet = plan_of(AGENT[:10], policy)
    assert quiet.reason == "the trigger of the policy does not hold"


def test_the_estimate_is_bounded_by_max_tokens() -> None:
    policy = Policy(summary=SummaryBlock(label="x" * 40, max_tokens=100))
    assert summary_estimate(policy, 0) == 0
    assert summary_estimate(policy, 80) == 14 + 20
    assert summary_estimate(policy, 10_000) == 14 + 100


def test_json_is_as_documented() -> None:
    plan = plan_of(AGENT, Policy(budget=500, keep_recent=3, summary=SHORT))
    printed: Any = json.loads(json.dumps(plan.as_json()))
    assert printed["session"] == {"format": "openai-chat", "messages": 11, "problems": []}
    assert printed["policy"]["budget"] == 500
    assert (printed["policy"]["requested"], printed["policy"]["effective"]) == (3, 4)
    tokens = printed["tokens"]
    assert [tokens[key] for key in ("before", "head", "summarized", "kept", "recent", "after")] == [
        1170,
        40,
        570,
        0,
        560,
        None,
    ]
    assert (printed["head"], printed["summarized"], printed["recent"]) == ([0, 1], [1, 7], [7, 11])
    assert printed["regions"] == ["head", *["summarized"] * 6, *["recent"] * 4]
    assert printed["message_tokens"] == [size for _, size in AGENT]
    pinned = Policy(budget=500, keep_recent=1, head=Head(pins=(3,)), summary=SHORT)
    apart: Any = plan_of(AGENT, pinned).as_json()
    assert (apart["summarized"], apart["kept"]) == (None, [2, 3, 4])


def test_keep_last_counts_what_its_publication_counts() -> None:
    records = [{"role": "user", "content": "x" * (n % 7)} for n in range(41)]
    records.append({"role": "assistant", "content": None})  # type: ignore[dict-item]
    messages = [message(r["role"], r["content"] or "", record=r) for r in records]
    counts = counts_for(session_of(messages), preset("keep-last"))
    assert counts.total == estimate_tokens(records)
    half = records[:20]
    assert counts.prefix[20] == estimate_tokens(half)


def test_the_largest_of_any_range() -> None:
    values = [3, 9, 2, 9, 5, 1, 7]
    peaks = Peaks(values)
    for start in range(8):
        for stop in range(8):
            part = range(start, min(stop, 7))
            expected = max(part, key=lambda i: (values[i], -i), default=None)
            assert peaks.largest(start, stop) == expected


def test_the_first_that_fits_is_found_or_the_latest_taken() -> None:
    cuts = [0, 3, 5, 8]
    assert first_fitting(cuts, 0, 8, lambda cut: cut >= 4) == 5
    assert first_fitting(cuts, 0, 5, lambda cut: cut >= 7) == 5
    assert first_fitting(cuts, 3, 8, lambda cut: True) == 3
