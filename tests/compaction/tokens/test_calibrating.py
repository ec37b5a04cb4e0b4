"""Counts made true by the usage in the file: shares, overhead, the fitted price, the label."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compaction
import sample_sessions
from compaction.calls import last_report
from compaction.compacting import compact
from compaction.messages import (
    Media,
    Message,
    RecordedCompaction,
    Session,
    Source,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    message,
)
from compaction.planning import counts_for, plan
from compaction.policy import Policy, preset
from compaction.tokens import Counts, calibrate, count


def said(context: int, text: str = "Done.") -> Message:
    return replace(message("assistant", text), usage=Usage(context, 5))


def session(*messages: Message, model: str = "", **more: object) -> Session:
    return Session(Source(b""), "openai-chat", messages, model=model, **more)  # type: ignore[arg-type]


def counts(*tokens: int) -> Counts:
    return Counts("o200k_base", array("q", tokens))


def calibrated(talk: Session, plain: Counts) -> Counts:
    made = calibrate(talk, plain)
    assert made is not None
    assert made.calibration is not None
    return made


def test_between_two_responses_stands_exactly_what_the_context_grew_by() -> None:
    talk = session(
        message("user", "Go."), said(5_000), message("user", "More."), said(5_090), said(5_200)
    )
    made = calibrated(talk, counts(100, 20, 40, 30, 50))
    assert made.tokens[1] + made.tokens[2] == 90
    assert made.tokens[3] == 110
    assert made.tokens[2] > made.tokens[1], "each its share: 40 counted tokens against 20"
    assert made.between(0, 4) + made.overhead == 5_200


def test_what_the_first_response_read_beyond_its_messages_is_overhead() -> None:
    made = calibrated(session(message("user", "Go."), said(18_000)), counts(100, 20))
    assert made.overhead == 18_000 - made.tokens[0]
    assert 100 <= made.tokens[0] <= 130


def test_a_session_without_usage_is_not_calibrated() -> None:
    assert calibrate(session(message("user", "Go.")), counts(10)) is None
    talk = session(message("user", "Go."))
    assert counts_for(talk, Policy(tokens="calibrated")).tokens == count(talk).tokens


def test_a_response_that_cannot_have_read_the_list_is_not_believed() -> None:
    talk = session(message("user", "x"), said(10), message("user", "y"), said(60))
    assert calibrate(talk, counts(4_000, 100, 4_000, 100)) is None


def test_items_of_one_response_stand_behind_what_it_read() -> None:
    thought = message("assistant", "Thinking aloud.")
    talk = session(message("user", "Go."), thought, said(1_000), message("user", "b"), said(1_300))
    made = calibrated(talk, counts(100, 70, 20, 40, 5))
    assert made.between(0, 1) + made.overhead == 1_000, "the thought was written, not read"
    assert made.between(1, 4) == 300


def test_a_recorded_compaction_starts_anew() -> None:
    talk = session(
        message("user", "old"),
        said(90_000),
        message("user", "Summary of it."),
        said(9_000),
        message("user", "next"),
        said(9_400),
        compactions=(RecordedCompaction(2),),
    )
    made = calibrated(talk, counts(900, 50, 600, 20, 30, 5))
    assert made.between(3, 5) == 400
    assert made.between(1, 3) > 650, "what the compaction took away is no growth"
    assert made.overhead == 90_000 - made.tokens[0]


def test_the_price_is_found_and_the_plain_error_told() -> None:
    listed: list[Message] = [message("user", "Go.")]
    tokens = [50]
    context = 20_000
    for number in range(60):
        listed += [said(context), message("user", "again")]
        tokens += [100 + number * 7, 40 + number * 3]
        context += round(1.5 * (tokens[-1] + tokens[-2]) + 2 * 30)
    made = calibrated(session(*listed, model="claude-x"), counts(*tokens))
    price = made.calibration
    assert price is not None
    assert price.ratio == pytest.approx(1.5, abs=0.05)
    assert price.block == pytest.approx(30, abs=8)
    assert price.plain_error == pytest.approx(-0.42, abs=0.05)
    assert "60 responses" in made.label
    assert "% low" in made.label


def test_media_do_not_spoil_the_price() -> None:
    picture = message("user", [Text("Look."), Media("image", "image/png")])
    talk = session(
        message("user", "a"), said(1_000), picture, said(9_000), message("user", "b"), said(9_110)
    )
    made = calibrated(talk, counts(50, 20, 90, 20, 80, 5))
    assert made.calibration is not None
    assert made.calibration.ratio < 1.6


def test_a_summary_is_counted_at_the_same_price() -> None:
    listed: list[Message] = [message("user", "Weigh the crates of lane nine. " * 40)]
    context = 1_000
    for number in range(12):
        call = ToolCall(f"c{number}", "weigh", '{"lane": 9}')
        listed += [
            replace(message("assistant", [call]), usage=Usage(context, 5)),
            message("tool", [ToolResult(f"c{number}", (Text("crate 17: 40 kg " * 30),))]),
        ]
        context += 900
    talk = session(*listed, model="claude-y")
    policy = Policy(budget=6_000, keep_recent=4, tokens="calibrated")
    decided = plan(talk, policy)
    assert decided.compacts
    result = compact(decided)
    plain = compact(plan(talk, policy.replace(tokens="o200k_base", budget=3_000)))
    assert result.summary is not None
    assert plain.summary is not None
    ratio = decided.counts.calibration
    assert ratio is not None
    if result.summary.content == plain.summary.content:
        assert result.summary.tokens == pytest.approx(
            plain.summary.tokens * ratio.ratio + ratio.block, rel=0.05
        )
    assert result.tokens_after < result.tokens_before


@given(
    st.lists(
        st.tuples(st.integers(1, 5_000), st.integers(1, 3_000), st.integers(-500, 9_000)),
        min_size=1,
        max_size=30,
    ),
    st.integers(60, 200_000),
)
def test_messages_and_overhead_add_up_to_what_the_last_response_read(
    rounds: list[tuple[int, int, int]], context: int
) -> None:
    listed: list[Message] = []
    tokens: list[int] = []
    for asked, answered, growth in rounds:
        listed += [message("user", "x"), said(context)]
        tokens += [asked, answered]
        context = max(1, context + growth)
    made = calibrate(session(*listed), counts(*tokens))
    if made is None:
        return
    told = made.calibration
    assert told is not None
    assert made.overhead >= 0
    assert made.between(0, told.covered) + made.overhead == told.reported
    assert all(each >= 0 for each in made.tokens)


def _kept_behind_a_summary(*, later: bool) -> Session:
    """What this program leaves: its summary, then messages that reported the list before."""
    messages = [
        message("user", "Summary of 40 messages.", summary="compaction"),
        message("user", "word " * 60),
        said(50_000),
        message("user", "word " * 60),
        said(50_400),
    ]
    if later:
        messages += [message("user", "word " * 60), said(2_000), message("user", "word " * 60)]
        messages += [said(2_300)]
    return session(*messages)


def test_usage_from_before_a_summary_of_this_program_is_not_believed() -> None:
    stale = _kept_behind_a_summary(later=False)
    assert calibrate(stale, count(stale)) is None
    assert last_report(stale.messages) is None
    going_on = _kept_behind_a_summary(later=True)
    made = calibrate(going_on, count(going_on))
    assert made is not None
    assert made.calibration is not None
    assert made.calibration.responses == 2
    assert made.prefix[8] + made.overhead == 2_300
    assert last_report(going_on.messages) == 8


def test_a_last_response_that_read_something_else_leaves_the_messages_their_tokens() -> None:
    messages: list[Message] = []
    for turn in range(6):
        messages += [message("user", "word " * 200), said(30_000 + 500 * (turn + 1))]
    messages += [message("user", "word " * 200), said(12_000)]
    talk = session(*messages)
    made = calibrate(talk, count(talk))
    assert made is not None
    assert made.calibration is not None
    assert made.calibration.reported == 33_000
    assert min(made.tokens) > 0
    assert made.overhead + made.prefix[11] == 33_000


def test_where_times_are_known_they_tell_what_was_reported_before_a_summary() -> None:
    def at(minute: int, one: Message) -> Message:
        return replace(one, time=f"2026-01-02T03:{minute:02}:00Z")

    made = at(30, message("user", "Context summary: the gate.", summary="claude-code"))
    kept = [at(10, message("user", "word " * 60)), at(11, said(50_000)), at(12, said(49_700))]
    assert last_report([made, *kept]) is None
    later = [at(31, message("user", "Go on.")), at(32, said(50_100))]
    assert last_report([made, *kept, *later]) == 5
    # A tool's own summary without a time is believed, as it was made where it stands.
    plain = replace(made, time="")
    assert last_report([plain, said(3_000)]) == 1


def test_contexts_that_fall_a_little_are_no_compaction() -> None:
    made = message("user", "Summary of 40 messages.", summary="compaction")
    kept = [made, said(122_157), said(121_212), said(122_900)]
    assert last_report(kept) is None
    assert last_report([*kept, said(30_000), said(30_400)]) == 5


@pytest.mark.parametrize("name", ["default", "claude-code", "cline", "pi", "openhands"])
def test_a_session_that_was_compacted_and_read_again_is_as_small_as_it_was_said(
    name: str, tmp_path: Path
) -> None:
    login = compaction.load(sample_sessions.path("login-refactor"))
    policy = preset(name).replace(budget=60_000, tokens="calibrated")
    done = compact(plan(login, policy, counts=counts_for(login, policy)))
    assert done.made
    out = tmp_path / "out.jsonl"
    compaction.save(done, out)
    again = compaction.load(out)
    read = counts_for(again, policy)
    assert read.total < done.tokens_after * 1.1
    assert read.overhead < 25_000
    assert not plan(again, policy, counts=read).compacts
