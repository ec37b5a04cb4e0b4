from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.planning import Planner
from compaction.policy import Policy, SummaryBlock
from compaction.policy_passes import ClearToolResults
from compaction.tokens import count
from tui.widgets.minimap import Minimap, cell_at, stretch

from .samples import FakePlan, conversation, counts_of
from .stage import Stage, drawn, text_of

COUNTS = counts_of(array("q", [100] * 100))
PLAN = FakePlan(COUNTS, 10, 80, 5_000, kept=(35,))


@given(st.integers(0, 5_000), st.integers(1, 80))
def test_the_cells_cover_every_message_once(n: int, height: int) -> None:
    cells = [stretch(y, height, n) for y in range(height)]
    covered = [index for first, end in cells for index in range(first, end)]
    assert covered == list(range(n))


def test_a_cell_has_the_region_of_most_of_its_tokens() -> None:
    regions = [cell_at(y, 10, PLAN, COUNTS).region for y in range(10)]
    assert regions == ["head", *["summarized"] * 7, "recent", "recent"]
    assert [cell_at(y, 10, PLAN, COUNTS).pinned for y in range(10)].index(True) == 3
    heavy = counts_of(array("q", [*[1] * 99, 1_000]))
    assert cell_at(0, 1, FakePlan(heavy, 1, 99, 10), heavy).region == "recent"


def test_a_cell_never_asks_for_a_message() -> None:
    plan = FakePlan(COUNTS, 10, 80, 5_000)
    for y in range(10):
        cell_at(y, 10, plan, COUNTS)
    assert plan.asked == 0


async def test_it_shows_the_window_and_the_cursor() -> None:
    widget = Minimap()
    stage = Stage(widget)
    async with stage.run_test(size=(20, 10)):
        widget.show(PLAN, COUNTS)
        widget.window = (20, 39)
        widget.cursor = 25
        lines = text_of(widget)
    assert lines[2].rstrip() == "█◂"
    assert lines[3].rstrip() == "◆▕"
    assert lines[1].rstrip() == "█"


async def test_a_click_and_a_drag_jump() -> None:
    widget = Minimap()
    stage = Stage(widget)
    async with stage.run_test(size=(20, 10)) as pilot:
        widget.show(PLAN, COUNTS)
        await pilot.mouse_down(widget, offset=(0, 5))
        await pilot.hover(widget, offset=(0, 9))
        await pilot.mouse_up(widget, offset=(0, 9))
        assert [event.index for event in stage.said(Minimap.Jumped)] == [50, 90]


@pytest.mark.parametrize("n", [0, 1, 3])
async def test_short_sessions_leave_the_rest_blank(n: int) -> None:
    counts = counts_of(array("q", [5] * n))
    widget = Minimap()
    stage = Stage(widget)
    async with stage.run_test(size=(20, 10)) as pilot:
        widget.show(FakePlan(counts, min(n, 1), n, 10, compacts=False), counts)
        filled = [line for line in text_of(widget) if line.strip()]
        await pilot.click(widget, offset=(0, 9))
        assert all(strip.cell_length == 2 for strip in drawn(widget))
    assert len(filled) == n


def test_a_cell_whose_tokens_are_mostly_cleared_is_cleared() -> None:
    session, _, groups = conversation(200)
    policy = Policy(budget=1_000, before=(ClearToolResults(),), summary=SummaryBlock(middle="keep"))
    counts = count(session, "chars/4")
    plan = Planner(session, counts, groups).plan(policy)
    for height in (200, 40, 7):
        for y in range(height):
            cell = cell_at(y, height, plan, counts)
            here = range(cell.first, cell.end)
            had = sum(counts.tokens[i] for i in here if plan.region(i) == "cleared")
            assert (cell.region == "cleared") == (had * 2 > cell.tokens)
