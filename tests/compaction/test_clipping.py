"""fit: clip-largest. What is shortened, by how much, and what is never touched."""

from __future__ import annotations

import pytest

from compaction.account import Fate
from compaction.clip_text import clip_message, clip_text
from compaction.clipping import clip_largest
from compaction.compacting import Compacted
from compaction.messages import Message, Text, ToolCall, ToolResult, message
from compaction.planning import Planner
from compaction.policy import Policy
from compaction.tokens import count_message, counter
from tests.compaction.planning_strategies import assistant, calls, counts_of, session_of, user

COUNTER = counter("chars/4")


def result_of(text: str, call: str = "a") -> Message:
    return message("tool", [ToolResult(call, (Text(text),))])


def unchanged(messages: list[Message], policy: Policy) -> Compacted:
    session = session_of(messages)
    sizes = (count_message(entry, COUNTER) for entry in messages)
    counts = counts_of(sizes, tokenizer="chars/4")
    plan = Planner(session, counts).plan(policy)
    return Compacted(
        session=session,
        plan=plan,
        messages=session.messages,
        summary=None,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_before,
        over_budget=plan.over_budget,
        findings=plan.findings,
        account=tuple(Fate("recent", "unchanged", at) for at in range(len(messages))),
        made=False,
    )


HUGE = [user(), calls("a", "b"), result_of("m" * 400), result_of("n" * 40_000, "b"), assistant()]


def test_the_largest_result_is_clipped_just_until_the_list_fits() -> None:
    result = clip_largest(unchanged(HUGE, Policy(budget=2000, fit="clip-largest")))
    assert result.made
    assert not result.over_budget
    assert 1500 < result.tokens_after <= 2000
    assert sum(count_message(entry, COUNTER) for entry in result.messages) == result.tokens_after
    assert [a is b for a, b in zip(result.messages, HUGE, strict=True)] == [
        *[True] * 3,
        False,
        True,
    ]
    (part,) = result.messages[3].parts
    assert isinstance(part, ToolResult)
    assert part.call_id == "b"
    assert "characters clipped to fit the context …]" in part.text
    assert result.account[3].reason == "recent: its tool output clipped"
    assert [finding.code for finding in result.findings] == ["result-clipped"]
    assert result.findings[0].message == 3


def test_where_clipping_is_not_enough_the_list_stays_over_budget() -> None:
    result = clip_largest(unchanged(HUGE, Policy(budget=10, fit="clip-largest")))
    assert result.over_budget
    assert result.tokens_after < 200
    assert "budget-unreachable" in {finding.code for finding in result.findings}


@pytest.mark.parametrize("policy", [Policy(budget=2000), Policy(budget=90_000, fit="clip-largest")])
def test_nothing_is_clipped_without_need_or_leave(policy: Policy) -> None:
    result = unchanged(HUGE, policy)
    assert clip_largest(result) is result


def test_calls_and_their_arguments_are_never_touched() -> None:
    big = message("assistant", [ToolCall("a", "f", '{"x": "' + "y" * 4000 + '"}')])
    assert clip_message(big, 10, COUNTER) is big


def test_a_message_under_its_limit_is_the_same_object() -> None:
    small = result_of("fine")
    assert clip_message(small, 100, COUNTER) is small


def test_a_text_keeps_its_beginning_and_its_end() -> None:
    clipped = clip_text("A" * 600 + "B" * 600, 300)
    assert clipped.startswith("A" * 200 + "\n[… 900 characters clipped")
    assert clipped.endswith("]\n" + "B" * 100)
    assert clip_text("short", 0) == "short"
