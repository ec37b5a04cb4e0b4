"""Replay: walks by jumps equal walks step by step, sums add up, and nothing is lost on the way."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compaction
import sample_sessions
from compaction.calls import call_starts
from compaction.errors import PolicyError
from compaction.groups import find_groups
from compaction.messages import (
    Message,
    RecordedCompaction,
    Session,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    message,
)
from compaction.needing import forgotten, needs_of
from compaction.planning import Planner
from compaction.policy import (
    Clause,
    Head,
    Policy,
    Recent,
    SummaryBlock,
    Trigger,
    preset,
    presets,
)
from compaction.pricing import Prices
from compaction.replaying import Replay, recorded_walk, replay, uncompacted
from compaction.replaying.accounting import taken, unaccounted
from compaction.replaying.stepping import step
from compaction.replaying.timeline import Timeline, timeline
from compaction.replaying.walking import Compaction, Walked, Walker, walkable
from tests.compaction.planning_strategies import (
    assistant,
    calls,
    counts_of,
    results,
    safeties,
    session_of,
    system,
    user,
)

PRICES = Prices("m", 1.0, 0.1, 1.25, 5.0, "a test")


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    """Sessions of turns with batches of calls, with sizes from tiny to larger than a budget."""
    messages: list[Message] = [system()] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 9))):
        messages.append(user())
        for number in range(draw(st.integers(0, 3))):
            ids = [f"c{turn}_{number}_{one}" for one in range(draw(st.integers(1, 2)))]
            messages.append(calls(*ids))
            messages += [results(each) for each in ids]
        messages.append(assistant())
    size = st.one_of(st.sampled_from([5, 20, 100, 400]), st.integers(1, 900))
    sizes = draw(st.lists(size, min_size=len(messages), max_size=len(messages)))
    session = session_of(messages)
    return timeline(
        session, counts_of(sizes, draw(st.sampled_from([0, 70]))), find_groups(session.messages)
    )


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    unit = draw(st.sampled_from(["messages", "groups", "turns", "tokens", "fraction", "fit"]))
    amount: float = draw(st.integers(0, 10))
    if unit == "tokens":
        amount *= 200
    if unit == "fraction":
        amount /= 10
    budget = draw(st.integers(50, 5_000))
    clauses = draw(
        st.sampled_from([(), (Clause(messages=9),), (Clause(tokens=900, turns=2, when="reach"),)])
    )
    return Policy(
        trigger=Trigger(budget, draw(st.sampled_from(["over", "reach"])), any=clauses),
        recent=Recent(unit, amount),
        head=Head(
            kind := draw(st.sampled_from(["system", "leading-system", "none", "first"])),
            draw(st.integers(0, 4)) if kind == "first" else 0,
            first_user=draw(st.booleans()),
            last_user=draw(st.sampled_from([False, False, True])),
            users=draw(st.sampled_from([0, 0, 300])),
        ),
        safety=draw(safeties(["off", "group", "turn"])),
        summary=SummaryBlock(
            draw(st.sampled_from(["user", "system"])),
            max_tokens=draw(st.sampled_from([50, 200, 1024])),
        ),
        iterate=draw(st.sampled_from(["update", "roll-in"])),
        fit=draw(st.sampled_from(["none", "shrink-recent"])),
    )


@given(timelines(), policies())
def test_jumps_come_to_what_steps_come_to(line: Timeline, policy: Policy) -> None:
    if walkable(policy) or policy.head.users:
        return
    walked, stepped = Walker(line).walk(policy), step(line, policy)
    shape = [(c.call, c.replaced, c.summary, c.before, c.after) for c in walked.compactions]
    assert shape == [
        (c.call, c.replaced, c.summary, c.before, c.after) for c in stepped.compactions
    ]
    assert walked.stretches == stepped.stretches
    late = {call for each in walked.declined for call in range(each.call, each.until)}
    assert late == {call for each in stepped.declined for call in range(each.call, each.until)}


def run_of(line: Timeline, policy: Policy, **more: object) -> Replay:
    return replay(line.session, policy, counts=line.counts, groups=line.groups, **more)  # type: ignore[arg-type]


@given(timelines(), policies())
def test_sums_are_the_sums_of_the_calls(line: Timeline, policy: Policy) -> None:
    run = run_of(line, policy)
    contexts = run.contexts()
    assert len(contexts) == len(line)
    assert [run.context(call) for call in range(len(line))] == list(contexts)
    assert run.totals.sent == sum(contexts)
    assert run.totals.cached + run.totals.written == run.totals.sent
    assert run.peak == max(contexts, default=0)
    assert run.baseline.sent == sum(s + line.counts.overhead for s in line.sent)
    steady = {each.call: each.steady for each in run.compactions}
    cached = sum(
        min(steady.get(call, contexts[call - 1]), contexts[call - 1])
        for call in range(1, len(line))
    )
    assert run.totals.cached == cached


@given(timelines(), policies())
def test_every_message_is_accounted_for(line: Timeline, policy: Policy) -> None:
    run = run_of(line, policy)
    assert list(unaccounted(run.walked)) == []
    # What the messages cost, and the summaries, and the rest of the context, is all that is sent.
    own = sum(run.message_cost(index).total for index in range(len(line.session)))
    summaries = 0
    for number, made in enumerate(run.compactions):
        until = run.compactions[number + 1].call if number + 1 < len(run.compactions) else len(line)
        summaries += made.summary * (until - made.call)
    assert own + summaries + line.counts.overhead * len(line) == run.totals.sent
    if policy.head.keeps_middle:
        return
    for index in range(len(line.session)):
        made_by = run.summarized_at(index)
        last = run.regions_at(len(line) - 1) if len(line) else None
        if last is not None and index < last.end:
            live = index < last.head or index >= last.cut or last.last is None
            assert live == (made_by is None)


def test_when_it_would_have_fired_and_when_it_looked_and_did_not() -> None:
    messages = [system(), user(), assistant(), user(), assistant(), user(), assistant()]
    line = timeline(
        session_of(messages),
        counts_of([50, 400, 100, 400, 100, 400, 100]),
        find_groups(messages),
    )
    policy = Policy(budget=900, keep_recent=2, summary=SummaryBlock(max_tokens=40))
    run = run_of(line, policy)
    shape = [(each.call, each.at, each.start, each.cut, each.before) for each in run.compactions]
    first = run.compactions[0].summary
    assert shape == [(1, 4, 1, 2, 950), (2, 6, 2, 4, 1_050 + first)]
    lazy = run_of(line, Policy(budget=500, keep_recent=50))
    assert lazy.compactions == ()
    [late] = lazy.declined
    assert (late.call, late.until) == (1, 3)
    assert "nothing is old" in late.why
    assert [each.code for each in lazy.findings] == ["over-trigger"]


def test_a_compaction_pays_back_after_the_calls_it_needs() -> None:
    messages = [system(), *[each for _ in range(30) for each in (user(), assistant())]]
    line = timeline(session_of(messages), counts_of([100] * len(messages)), find_groups(messages))
    policy = Policy(budget=3_000, keep_recent=4, summary=SummaryBlock(max_tokens=100))
    run = run_of(line, policy, prices=PRICES)
    made = run.compactions[0]
    frees = made.before - made.after
    once = (made.after - made.steady) * (1.25 - 0.1) + made.replaced * 0.1 + made.summary * 5.0
    needed = run.pays_back(made)
    assert needed is not None
    assert (needed - 1) * frees * 0.1 < once <= needed * frees * 0.1
    assert run.money is not None
    assert run.baseline_money is not None
    assert run.money < run.baseline_money


def test_a_policy_that_compacts_again_and_again_is_warned_of() -> None:
    messages = [each for _ in range(20) for each in (user(), assistant())]
    line = timeline(session_of(messages), counts_of([300] * len(messages)), find_groups(messages))
    run = run_of(line, Policy(budget=2_000, keep_recent=5, summary=SummaryBlock(max_tokens=50)))
    assert "thrash-soon" in [each.code for each in run.findings]
    calm = run_of(line, Policy(budget=6_000, keep_recent=2, summary=SummaryBlock(max_tokens=50)))
    assert calm.compactions
    assert "thrash-soon" not in [each.code for each in calm.findings]


def test_the_real_size_of_the_digest_or_a_given_one() -> None:
    text = "Gate 7 reads 12.5 kg; never open valve-3 before 14:00. " * 30
    messages = [m for n in range(12) for m in (message("user", f"{n}. {text}"), assistant("ok"))]
    session = session_of(messages)
    policy = Policy(budget=3_000, keep_recent=2)
    real = replay(session, policy, summary="digest")
    given_ = replay(session, policy, summary=333)
    assert {each.summary for each in given_.compactions} == {333}
    assert all(0 < each.summary <= 1_100 for each in real.compactions)
    assert real.compactions[0].call == given_.compactions[0].call
    with pytest.raises(PolicyError, match="0 or more"):
        replay(session, policy, summary=-1)


def test_a_policy_that_clears_in_place_is_stepped_and_what_it_cleared_is_needed() -> None:
    text = "gate-7 reads 12.5 kg in /depot/log-7.txt " * 60
    messages: list[Message] = [user("Weigh all crates.")]
    for number in range(8):
        call = ToolCall(f"c{number}", "weigh", f'{{"crate": {number}}}')
        messages += [
            message("assistant", [call]),
            message("tool", [ToolResult(f"c{number}", (Text(f"{number}. {text}"),))]),
        ]
    messages.append(message("assistant", "As /depot/log-7.txt says, gate-7 reads 12.5 kg."))
    session = session_of(messages)
    policy = Policy.from_yaml(
        "trigger: {budget: 3000}\n"
        "before: [{clear_tool_results: {keep: 2}}]\n"
        "summary: {middle: keep}\n"
    )
    run = replay(session, policy)
    assert walkable(policy)
    assert run.compactions
    assert all(each.cleared and not each.replaced for each in run.compactions)
    assert run.peak <= 3_000 < run.baseline_peak
    gone = forgotten(needs_of(session, run.line.counts), run.walked)
    assert gone.needs == () or all(need.of in run.compactions[-1].cleared for need in gone.needs)
    kept = run.compactions[-1]
    assert kept.steady < kept.after, "all behind the first cleared result is read anew"


def test_what_the_tool_itself_compacted_is_undone_and_compared() -> None:
    old = [each for _ in range(6) for each in (user(), assistant())]
    theirs = replace(user("what came before, in short"), summary="claude-code")
    session = replace(
        session_of([*old, theirs, user(), assistant()]),
        history="full",
        compactions=(RecordedCompaction(12, trigger="auto", before=1_200, after=80),),
    )
    whole = uncompacted(session)
    assert len(whole) == 14
    assert theirs not in whole.messages
    run = replay(whole, Policy(budget=900, keep_recent=2), counts=counts_of([100] * 14))
    [real] = run.recorded
    assert (real.at, real.call, real.before) == (12, 6, 1_200)
    assert real.nearest is run.compactions[0]
    assert real.apart == run.compactions[0].call - 6
    assert real.same_place == (abs(real.apart) <= 3)


def test_one_response_over_several_messages_is_one_call() -> None:
    reported = replace(assistant(), usage=Usage(5, 5))
    assert list(call_starts([user(), assistant(), assistant(), user(), assistant()])) == [1, 4]
    assert list(call_starts([user(), reported, reported])) == [1, 2]
    assert list(call_starts([])) == []


def test_a_session_without_calls() -> None:
    run = replay(session_of([user()]), Policy(budget=1, keep_recent=0), counts=counts_of([9]))
    assert run.compactions == ()
    assert run.contexts() == array("q")
    assert run.totals.sent == 0
    assert run.as_json()["peak"] == {"tokens": 0, "call": -1}
    assert Session is not None


def test_what_the_real_compactions_lost_is_measured_alike() -> None:
    messages = [
        message("user", "Never open gate-9. The key is in /depot/key-17.txt."),
        assistant(),
        replace(user("The key lies in /depot/key-17.txt."), summary="claude-code"),
        user(),
        message("assistant", "It is in /depot/key-17.txt, for valve-3."),
    ]
    session = replace(
        session_of(messages), history="full", compactions=(RecordedCompaction(2, trigger="auto"),)
    )
    whole = uncompacted(session)
    [real] = whole.compactions
    assert (real.at, real.summary) == (2, "The key lies in /depot/key-17.txt.")
    line = timeline(whole, counts_of([50] * 4), find_groups(whole.messages))
    walked, texts = recorded_walk(line)
    needs = needs_of(whole, line.counts)
    without = forgotten(needs, walked)
    told = forgotten(needs, walked, texts)
    assert {need.text for need in without.needs} - {need.text for need in told.needs} == {
        "/depot/key-17.txt"
    }
    assert [need.how for need in told.needs] == ["constraint"]


def test_summaries_as_large_as_the_recorded_ones() -> None:
    old = [each for _ in range(12) for each in (user(), assistant())]
    session = replace(
        session_of(old),
        history="full",
        compactions=(
            RecordedCompaction(6, summary="one two three"),
            RecordedCompaction(12, summary="a longer text of seven words here"),
        ),
    )
    run = replay(
        session,
        Policy(budget=600, keep_recent=2),
        counts=counts_of([100] * 24, tokenizer="o200k_base"),
        summary="recorded",
    )
    sizes = [each.summary for each in run.compactions]
    assert len(sizes) > 2
    assert sizes[0] < sizes[1]
    assert set(sizes[1:]) == {sizes[1]}


LOGIN = compaction.load(sample_sessions.path("login-refactor"))


@pytest.mark.parametrize("name", presets())
def test_a_replay_under_any_preset_accounts_for_all_and_can_be_asked(name: str) -> None:
    counts = compaction.count(LOGIN, "chars/4")
    groups = find_groups(LOGIN.messages)
    needs = needs_of(LOGIN, counts)
    for share in (0.15, 0.4):
        policy = preset(name).replace(budget=int(counts.total * share))
        run = replay(LOGIN, policy, counts=counts, groups=groups, summary="digest")
        assert [each.code for each in run.findings if each.level == "error"] == []
        assert len(run.summaries) in (0, len(run.compactions))
        forgotten(needs, run.walked, run.summaries)
        head = Planner(LOGIN, counts, groups).head_end(policy)
        for each in run.compactions:
            assert head <= each.start <= each.cut <= each.at
            assert each.cut == each.start or each.replaced or each.stay


def test_a_compaction_that_only_clears_keeps_what_stood_before_it() -> None:
    counts = compaction.count(LOGIN, "chars/4")
    policy = preset("claude-code").replace(budget=14_000, head=Head(pins=(4,)))
    run = replay(LOGIN, policy, counts=counts)
    alone = [n for n, each in enumerate(run.compactions) if each.cut == each.start]
    made = [n for n, each in enumerate(run.compactions) if each.summary]
    after = [n for n in alone if n > made[0]]
    assert after
    for number in after:
        each, before = run.compactions[number], run.compactions[number - 1]
        assert each.summary == 0
        assert each.standing == before.standing > 0
        assert (each.stay, each.cut) == (before.stay, before.cut)
        assert each.cleared
        assert taken(run.walked, number) == 0
    assert run.summarized_at(4) is None


def test_what_was_taken_counts_what_stays_and_what_stayed_till_then() -> None:
    def made(start: int, cut: int, *stay: int) -> Compaction:
        return Compaction(0, cut, start, cut, stay, 10, 1, 20, 11, 0)

    walked = Walked((made(1, 10, 3, 7), made(10, 20, 7, 12, 13)), (), ())
    assert [taken(walked, number) for number in (0, 1)] == [7, 9]


def test_summaries_are_paid_for_where_a_model_writes_them() -> None:
    counts = compaction.count(LOGIN, "chars/4")
    prices = Prices("m", 1.0, 0.1, 1.25, 5.0, "a test")
    written = replay(LOGIN, Policy(budget=40_000), counts=counts, prices=prices)
    spent = written.totals
    assert spent.summary_input > spent.summary_output > 0
    plain = prices.cost(cached=spent.cached, written=spent.written, output=spent.output)
    extra = (spent.summary_input * 0.1 + spent.summary_output * 5.0) / 1_000_000
    assert written.money == pytest.approx(plain + extra)
    for name in ("langchain-trim", "autogen-head-tail", "swe-agent"):
        policy = preset(name).replace(budget=40_000)
        none = replay(LOGIN, policy, counts=counts, prices=prices).totals
        assert (none.summary_input, none.summary_output) == (0, 0)


def test_a_first_request_behind_one_nobody_typed_is_the_open_one() -> None:
    messages = [
        message("user", "a note", injected=True), user(), assistant(), user(), assistant(),
    ]  # fmt: skip
    line = timeline(session_of(messages), counts_of([10] * 5), find_groups(messages))
    for number, start in enumerate(line.starts):
        assert line.unanswered[number] == find_groups(messages[:start]).unanswered


@pytest.mark.parametrize("name", ["fit-window", "letta", "haystack", "cline"])
def test_a_recent_part_that_gives_way_gives_way_in_a_replay(name: str) -> None:
    counts = compaction.count(LOGIN, "chars/4")
    policy = preset(name).replace(budget=counts.total // 4)
    run = replay(LOGIN, policy, counts=counts)
    assert run.compactions
    for each in run.compactions:
        latest = Walker(run.line).planner.groups.snap_back(each.at - 1)
        assert each.after <= run.budget or each.cut >= latest


def test_a_digest_in_a_replay_is_smaller_than_what_it_replaces() -> None:
    support = compaction.load(sample_sessions.path("support-chat"))
    run = replay(support, Policy(budget=1_200, keep_recent=4), summary="digest")
    assert run.compactions
    assert all(each.after < each.before for each in run.compactions)
    assert all(each.summary < each.replaced for each in run.compactions)
