"""What belongs together: pairing of calls and results, reasoning, turns, and the safe cuts."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from hypothesis import given

from compaction.groups import find_groups
from compaction.messages import Message
from tests.compaction.planning_strategies import (
    assistant,
    calls,
    message_lists,
    own_summary,
    reasoning,
    results,
    system,
    user,
)
from tests.examples import RULE


def ranges(messages: Sequence[Message]) -> list[tuple[int, int]]:
    groups = find_groups(messages)
    found = [groups.group(k) for k in range(len(groups.starts))]
    return [(group.start, group.stop) for group in found]


def test_a_parallel_batch_is_one_group_with_all_its_results() -> None:
    messages = [user(), calls("a", "b"), results("b"), results("a"), assistant()]
    assert ranges(messages) == [(0, 1), (1, 4), (4, 5)]
    groups = find_groups(messages)
    assert dict(groups.links) == {(1, "a"): 3, (1, "b"): 2}
    assert groups.links.answers(1) == (2, 3)
    assert [groups.rail(i) for i in range(5)] == ["", "first", "middle", "last", ""]
    assert (groups.snap_back(3), groups.snap_forward(3)) == (1, 4)
    assert (groups.snap_back(5), groups.snap_forward(5)) == (5, 5)


def test_a_result_pairs_with_the_nearest_call_of_its_id() -> None:
    messages = [user(), calls("x"), results("x"), user(), calls("x"), results("x")]
    groups = find_groups(messages)
    assert dict(groups.links) == {(1, "x"): 2, (4, "x"): 5}
    assert groups.duplicates == ((4, "x"),)
    assert ranges(messages) == [(0, 1), (1, 3), (3, 4), (4, 6)]


def test_an_unanswered_call_of_an_earlier_turn_takes_no_result_of_a_later_one() -> None:
    messages = [user(), calls("x"), user(), calls("x"), results("x"), results("x")]
    groups = find_groups(messages)
    assert dict(groups.links) == {(3, "x"): 4}
    assert groups.open_calls == ((1, "x"),)
    assert groups.extra_results == ((5, "x"),)
    assert ranges(messages) == [(0, 1), (1, 2), (2, 3), (3, 6)]


def test_two_open_calls_of_one_id_in_a_turn_are_answered_from_the_nearest_back() -> None:
    messages = [user(), calls("x"), calls("x"), results("x"), results("x")]
    groups = find_groups(messages)
    assert dict(groups.links) == {(1, "x"): 4, (2, "x"): 3}
    assert groups.open_calls == groups.extra_results == ()
    assert ranges(messages) == [(0, 1), (1, 5)]


def test_a_later_result_of_an_answered_call_joins_its_group() -> None:
    messages = [calls("job"), results("job"), user(), assistant(), results("job"), user()]
    groups = find_groups(messages)
    assert groups.links[(0, "job")] == 1
    assert groups.extra_results == ((4, "job"),)
    assert groups.links.answers(0) == (1, 4)
    assert ranges(messages) == [(0, 5), (5, 6)]
    assert list(groups.turns) == [2, 5]
    assert list(groups.turn_cuts) == list(groups.split_cuts) == [5]


def test_missing_results_and_orphans_are_told() -> None:
    messages = [results("gone"), calls("a", "b"), results("a")]
    groups = find_groups(messages)
    assert groups.orphans == ((0, "gone"),)
    assert groups.open_calls == ((1, "b"),)


def test_an_anthropic_message_of_results_and_text_belongs_to_the_call() -> None:
    messages = [user(), calls("a"), results("a", role="user", text="and this"), assistant()]
    groups = find_groups(messages)
    assert ranges(messages) == [(0, 1), (1, 3), (3, 4)]
    assert list(groups.turns) == [0]


def test_reasoning_stays_with_the_next_item_and_through_its_call_with_the_output() -> None:
    messages = [user(), reasoning(), calls("a"), calls("b"), results("a"), results("b")]
    assert ranges(messages) == [(0, 1), (1, 6)]
    assert ranges([user(), reasoning(), assistant(), user()]) == [(0, 1), (1, 3), (3, 4)]
    assert ranges([reasoning()]) == [(0, 1)]


def test_without_ids_calls_and_results_pair_by_name_then_by_order() -> None:
    messages = [
        calls("", name="read"),
        calls("", name="write"),
        results("", name="write"),
        results("", name="read"),
    ]
    groups = find_groups(messages)
    assert groups.links[(0, "")] == 3
    assert groups.links[(1, "")] == 2
    plain = [calls("", ""), results(""), results(""), results("")]
    found = find_groups(plain)
    assert found.links.answers(0) == (1, 2)
    assert found.orphans == ((3, ""),)


def test_a_name_is_not_answered_across_a_typed_message() -> None:
    groups = find_groups([calls("", name="f"), user(), results("", name="f")])
    assert groups.open_calls == ((0, ""),)
    assert groups.orphans == ((2, ""),)


def test_the_unanswered_user_message_and_own_summaries_are_found() -> None:
    groups = find_groups([system(), own_summary(), user(), assistant(), user(), user()])
    assert groups.unanswered == 4
    assert list(groups.summaries) == [1]
    assert find_groups([user(), assistant()]).unanswered == 2


def test_an_empty_list_has_no_groups() -> None:
    groups = find_groups([])
    assert (groups.n, list(groups.starts), groups.snap_back(0), groups.unanswered) == (0, [], 0, 0)
    with pytest.raises(IndexError, match="#0"):
        groups.group_of(0)


def test_a_hundred_thousand_messages_add_a_few_megabytes() -> None:
    block = [user(), calls("a", "b"), results("a"), results("b")]
    groups = find_groups(block * 25_000)
    links = groups.links
    cuts = (groups.starts, groups.turns, groups.turn_cuts, groups.split_cuts)
    arrays = (*cuts, links._calls, links._slots)
    size = sum(sys.getsizeof(each) for each in (*arrays, links._results))
    duplicates = sys.getsizeof(groups.duplicates)
    assert size + duplicates < 5_000_000
    assert len(groups.starts) == 50_000


@RULE
@given(message_lists())
def test_groups_partition_the_list_and_hold_every_pair(messages: list[Message]) -> None:
    groups = find_groups(messages)
    covered = [i for k in range(len(groups.starts)) for i in groups.group(k)]
    assert covered == list(range(len(messages)))
    for (call, _), result in groups.links.items():
        assert call < result
        assert groups.group_of(call) == groups.group_of(result)
    for index, entry in enumerate(messages):
        assert index in groups.group_of(index)
        assert groups.snap_back(index) <= index <= groups.snap_forward(index)
        if entry.bound and index + 1 < len(messages):
            assert index + 1 in groups.group_of(index)


@RULE
@given(message_lists())
def test_every_call_and_result_is_accounted_for_once(messages: list[Message]) -> None:
    groups = find_groups(messages)
    made = sum(len(entry.calls) for entry in messages)
    given_back = sum(len(entry.results) for entry in messages)
    answered = len(groups.links._calls) - len(groups.extra_results)
    assert answered + len(groups.open_calls) == made
    assert answered + len(groups.extra_results) + len(groups.orphans) == given_back


def test_where_nobody_answers_only_the_last_of_the_user_waits() -> None:
    assert find_groups([system(), user(), user(), user()]).unanswered == 3
    # As soon as anything was answered, all that was said since waits.
    assert find_groups([user(), assistant(), user(), user()]).unanswered == 2
    assert find_groups([system()]).unanswered == 1
