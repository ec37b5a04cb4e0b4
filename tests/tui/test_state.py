"""Undo, redo, and the changes of a policy that a screen makes."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.messages import Session, Source, Text, ToolCall, ToolResult, message
from compaction.planning import Plan, Planner
from compaction.policy import Policy, Recent, Safety, preset
from compaction.tokens import Counts
from tui.state import (
    History,
    Setting,
    Workspace,
    boundary_moved,
    keep_from,
    switched,
    toggled_pin,
    with_pins,
)


def plan_of(policy: Policy) -> Plan:
    """System, then five exchanges of user, call, result, answer, a hundred tokens each."""
    messages = [message("system", "Be brief.")]
    for turn in range(5):
        messages += [
            message("user", f"question {turn}"),
            message("assistant", [ToolCall(f"c{turn}", "read", "{}")]),
            message("tool", [ToolResult(f"c{turn}", (Text("x"),))]),
            message("assistant", f"answer {turn}"),
        ]
    session = Session(Source(b""), "openai-chat", tuple(messages))
    return Planner(session, Counts("o200k_base", array("q", [100] * len(messages)))).plan(policy)


# --------------------------------------------------------------------------------------- undo


def test_undo_goes_back_and_redo_forward_again() -> None:
    history = History(1).change(2, "budget").change(3, "pin #4")
    assert (history.undoes, history.redoes) == ("pin #4", "")
    back = history.undone()
    assert (back.present, back.undoes, back.redoes) == (2, "budget", "pin #4")
    assert back.redone().present == 3
    assert back.undone().undone().present == 1


def test_a_change_after_undo_forgets_what_was_taken_back() -> None:
    history = History(1).change(2, "a").undone().change(5, "b")
    assert history.redone() is history
    assert history.undone().present == 1


def test_a_drag_is_one_entry_that_leads_to_before_it() -> None:
    history = History(10)
    for value in (11, 12, 15):
        history = history.change(value, "budget", gesture="drag")
    assert history.present == 15
    assert history.undone().present == 10
    assert history.undone().redone().present == 15


def test_gestures_labels_and_the_end_of_a_gesture_divide_entries() -> None:
    history = History(0).change(1, "budget", gesture=1).change(2, "budget", gesture=2)
    assert history.undone().present == 1
    history = History(0).change(1, "budget", gesture=1).change(2, "keep recent", gesture=1)
    assert history.undone().present == 1
    history = History(0).change(1, "budget", gesture=1).settled().change(2, "budget", gesture=1)
    assert history.undone().present == 1


def test_changes_without_a_gesture_are_entries_of_their_own() -> None:
    assert History(0).change(1, "pin").change(2, "pin").undone().present == 1


def test_a_drag_back_to_its_beginning_leaves_no_entry() -> None:
    history = History(10).change(11, "budget", gesture=1).change(10, "budget", gesture=1)
    assert history.undoes == ""
    assert History(10).change(10, "budget").undoes == ""


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ab"), st.integers(0, 2))))
def test_undoing_all_gives_the_first_value_and_redoing_all_the_last(
    changes: list[tuple[int, str, int]],
) -> None:
    history = History(-1)
    for value, label, gesture in changes:
        history = history.change(value, label, gesture=gesture or None)
    last = history.present
    while history.undoes:
        history = history.undone()
    assert history.present == -1
    while history.redoes:
        history = history.redone()
    assert history.present == last


def test_the_workspace_takes_back_a_setting_and_keeps_its_filters() -> None:
    workspace = Workspace(Policy(), search="cat", follow=True)
    changed = workspace.under(Setting(Policy(budget=5_000), "mine"))
    assert changed.policy.budget == 5_000
    assert changed.summary_edit == "mine"
    assert (changed.search, changed.follow) == ("cat", True)
    assert changed.setting == Setting(Policy(budget=5_000), "mine")


# ------------------------------------------------------------------------------------ changes


def test_a_pin_is_set_and_taken_away() -> None:
    policy = toggled_pin(toggled_pin(Policy(), 9), 4)
    assert policy.head.pins == (4, 9)
    assert toggled_pin(policy, 9).head.pins == (4,)


def test_pins_follow_the_session_and_not_the_policy() -> None:
    pinned = toggled_pin(Policy(), 7)
    assert switched(pinned, preset("three-region")).head.pins == (7,)
    assert with_pins(Policy(), (3, 12), 10).head.pins == (3,)


def test_keep_from_asks_in_the_unit_of_the_policy_where_it_says_the_same() -> None:
    assert keep_from(plan_of(Policy(budget=500)), 13).recent == Recent("messages", 8)
    turns = Policy(budget=500, recent=Recent("turns", 1))
    assert keep_from(plan_of(turns), 13).recent == Recent("turns", 2)
    assert keep_from(plan_of(turns), 16).recent == Recent("messages", 5)


def test_keep_from_leaves_fit_for_messages() -> None:
    fit = preset("fit-window").replace(budget=1_500, recent=Recent("fit"))
    assert keep_from(plan_of(fit), 17).recent == Recent("messages", 4)


@pytest.mark.parametrize(("steps", "cut"), [(1, 14), (2, 16), (-1, 12), (-2, 10)])
def test_the_boundary_moves_by_groups(steps: int, cut: int) -> None:
    plan = plan_of(Policy(budget=500, keep_recent=8))
    assert plan.cut == 13
    moved = boundary_moved(plan, steps)
    assert moved is not None
    assert plan_of(moved).cut == cut


def test_the_boundary_stays_between_the_head_and_the_newest_group() -> None:
    plan = plan_of(Policy(budget=500, keep_recent=8))
    moved = boundary_moved(plan, -99)
    assert moved is not None
    assert moved.keep_recent == 20
    assert boundary_moved(plan_of(moved), -1) is None
    last = boundary_moved(plan, 99)
    assert last is not None
    assert boundary_moved(plan_of(last), 1) is None


def test_the_boundary_can_move_while_nothing_is_compacted() -> None:
    plan = plan_of(Policy(budget=90_000, keep_recent=8))
    assert not plan.compacts
    moved = boundary_moved(plan, -1)
    assert moved is not None
    assert moved.keep_recent == 9


def test_the_boundary_goes_through_turns_where_they_are_protected() -> None:
    plan = plan_of(Policy(budget=500, keep_recent=8, safety=Safety("turn")))
    moved = boundary_moved(plan, 1)
    assert moved is not None
    assert plan_of(moved).cut == 17
