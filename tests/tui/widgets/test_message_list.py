from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from textual.strip import Strip
from textual.theme import Theme

from compaction.groups import find_groups
from compaction.planning import Plan, Planner
from compaction.policy import Policy
from tui.widgets.message_list import MessageList
from tui.widgets.message_row import columns_for

from .samples import (
    FakePlan,
    conversation,
    counts_of,
    hostile,
    session_of,
)
from .stage import Stage, drawn, text_of

SIZE = (100, 30)


def listed(n: int = 412, cut: int = 392, **plan: object) -> tuple[Stage, MessageList, FakePlan]:
    """A stage with a list of `n` messages, to be run."""
    widget = MessageList()
    stage = Stage(widget)
    _, counts, _ = conversation(n)
    return stage, widget, replace(FakePlan(counts, 1, cut, 100_000), **plan)


def fill(widget: MessageList, plan: FakePlan) -> None:
    session, _, groups = conversation(plan.n)
    widget.show(session, plan.counts, plan, groups)
    widget.focus()


async def test_a_row_says_region_number_role_tokens_and_text() -> None:
    stage, widget, plan = listed(kept=(5,))
    async with stage.run_test(size=SIZE):
        fill(widget, plan)
        lines = text_of(widget)
    assert lines[0].startswith("▌H ")
    assert lines[0].split()[1:4] == ["0", "system", "3,102"]
    assert "You are a careful coding agent." in lines[0]
    assert lines[1].startswith("░S ")
    assert lines[5].startswith("◆K ")
    assert lines[2].split()[2:4] == ["┌", "assistant"]
    assert lines[4].split()[2:4] == ["└", "tool"]


async def test_tokens_are_right_aligned_and_marked_while_they_are_estimates() -> None:
    stage, widget, plan = listed()
    counts = plan.counts
    guess = counts_of(counts.tokens, exact=False, done=2)
    async with stage.run_test(size=SIZE):
        fill(widget, replace(plan, counts=guess))
        lines = text_of(widget)
    assert "~" not in lines[0]
    assert "~" not in lines[1]
    assert "~8,412" in lines[2]
    ends = {line.index(token) + len(token) for line, token in zip(
        lines[:3], ("3,102", "1,840", "~8,412"), strict=True
    )}
    assert len(ends) == 1


async def test_the_largest_message_has_the_full_bar() -> None:
    stage, widget, plan = listed()
    async with stage.run_test(size=SIZE):
        fill(widget, plan)
        lines = text_of(widget)
    largest = next(line for line in lines if "15,210" in line)
    assert "█" * 12 in largest
    assert max(line.count("█") for line in lines) == 12


async def test_the_boundary_line_says_what_happens() -> None:
    stage, widget, plan = listed(20, cut=8)
    async with stage.run_test(size=SIZE):
        fill(widget, plan)
        assert widget.boundary_line == 8
        line = text_of(widget)[8]
        assert f"7 messages, {plan.tokens_summarized:,} tokens become one summary of ~1,214" in line
        widget.summary_tokens = 998
        assert "one summary of 998" in text_of(widget)[8]
        widget.plan = replace(plan, compacts=False)
        assert widget.boundary_line is None
        assert widget.virtual_size.height == 20


async def test_keys_move_the_cursor() -> None:
    stage, widget, plan = listed()
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        places = []
        for key in ("j", "j", "down", "k", "G", "up", "home", "pagedown", "ctrl+d", "ctrl+u", "g"):
            await pilot.press(key)
            places.append(widget.cursor_message)
        assert places == [1, 2, 3, 2, 411, 410, 0, 30, 45, 30, 0]
        assert stage.said(MessageList.Selected)[-1].index == 0
        await pilot.press("j", "enter")
        assert [event.index for event in stage.said(MessageList.Activated)] == [1]


async def test_a_click_selects_and_a_double_click_opens() -> None:
    stage, widget, plan = listed()
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        await pilot.click(widget, offset=(10, 7))
        assert widget.cursor_message == 7
        await pilot.double_click(widget, offset=(10, 9))
        assert [event.index for event in stage.said(MessageList.Activated)] == [9]


async def test_the_boundary_is_dragged() -> None:
    stage, widget, plan = listed(20, cut=8)
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        await pilot.mouse_down(widget, offset=(10, 8))
        await pilot.hover(widget, offset=(10, 12))
        await pilot.hover(widget, offset=(10, 4))
        await pilot.mouse_up(widget, offset=(10, 4))
        await pilot.hover(widget, offset=(10, 15))
        cuts = [event.cut for event in stage.said(MessageList.BoundaryMoved)]
        assert cuts == [12, 4]


async def test_the_boundary_dragged_to_the_end_leaves_nothing_recent() -> None:
    stage, widget, plan = listed(20, cut=8)
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        await pilot.mouse_down(widget, offset=(10, 8))
        await pilot.hover(widget, offset=(10, 29))
        assert stage.said(MessageList.BoundaryMoved)[-1].cut == 20


async def test_b_puts_the_boundary_before_the_cursor() -> None:
    stage, widget, plan = listed(20, cut=8)
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        await pilot.press("j", "j", "j", "b")
        assert [event.cut for event in stage.said(MessageList.BoundaryMoved)] == [3]


async def test_a_filter_shows_its_rows_and_the_cursor_stays_near() -> None:
    stage, widget, plan = listed()
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        widget.select(391)
        widget.rows = array("l", [3, 4, 10, 390, 400, 411])
        await pilot.pause()
        assert widget.cursor_message == 390
        assert widget.boundary_line == 4
        lines = text_of(widget)
        assert [line.split()[1] for line in (*lines[:4], *lines[5:7])] == [
            "3", "4", "10", "390", "400", "411",
        ]
        await pilot.press("j")
        assert widget.cursor_message == 400
        widget.rows = None
        assert widget.cursor_message == 400
        assert widget.item_count == 412


async def test_a_filter_that_leaves_nothing_is_no_error() -> None:
    stage, widget, plan = listed()
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        widget.rows = array("l")
        await pilot.press("j", "G", "enter", "b", "pagedown")
        assert widget.cursor_message is None
        assert widget.window == (-1, -1)


async def test_hits_are_marked() -> None:
    stage, widget, plan = listed(20, cut=8)
    async with stage.run_test(size=SIZE):
        fill(widget, plan)
        widget.set_search("LOGIN CODE", array("l", [1]))
        segments = [
            segment.text for segment in drawn(widget)[1] if segment.style == widget.palette.hit
        ]
        assert segments == ["login code"]


async def test_a_new_plan_asks_only_about_visible_rows() -> None:
    stage, widget, plan = listed(20_000, cut=19_000)
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        await pilot.pause()
        moved = replace(plan, cut=18_000, asked=0)
        widget.plan = moved
        await pilot.pause()
        assert 0 < moved.asked <= 2 * SIZE[1]


@pytest.mark.parametrize("n", [1_000, 100_000])
async def test_a_page_down_draws_a_page_whatever_the_length(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, widget, plan = listed(1_000, cut=900)
    session, counts, groups = conversation(1_000)
    if n > 1_000:
        session = session_of(session.messages * (n // 1_000))
        groups = find_groups(session.messages)
        plan = FakePlan(counts_of(counts.tokens * (n // 1_000)), 1, n - 100, 100_000)
    painted: list[int] = []
    paint = MessageList.paint

    def counting(self: MessageList, line: int, *rest: object) -> Strip:
        painted.append(line)
        return paint(self, line, *rest)

    async with stage.run_test(size=SIZE) as pilot:
        widget.show(session, plan.counts, plan, groups)
        widget.focus()
        await pilot.pause()
        monkeypatch.setattr(MessageList, "paint", counting)
        await pilot.press("pagedown")
        await pilot.pause()
    assert len(painted) <= 2 * SIZE[1]


async def test_what_is_read_stays_when_the_boundary_passes_above() -> None:
    stage, widget, plan = listed(cut=400)
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        widget.scroll_to(y=200, animate=False)
        await pilot.pause()
        top = text_of(widget)[0].split()[1]
        widget.plan = replace(plan, cut=50)
        await pilot.pause()
        assert text_of(widget)[0].split()[1] == top
        widget.plan = replace(plan, cut=400)
        await pilot.pause()
        assert text_of(widget)[0].split()[1] == top


async def test_the_window_is_told() -> None:
    stage, widget, plan = listed()
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        await pilot.press("pagedown")
        await pilot.pause()
        seen = stage.said(MessageList.Viewed)[-1]
        assert (seen.first, seen.last) == widget.window == (30, 59)


async def test_a_session_that_grew_leaves_the_place() -> None:
    stage, widget, plan = listed(100, cut=80)
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        widget.select(50)
        await pilot.pause()
        top = widget.scroll_offset.y
        session, counts, groups = conversation(120)
        widget.show(session, counts, FakePlan(counts, 1, 100, 1), groups, keep_place=True)
        await pilot.pause()
        assert widget.cursor_message == 50
        assert widget.scroll_offset.y == top


@pytest.mark.parametrize("width", [24, 40, 60, 80, 120])
async def test_hostile_text_is_only_text(width: int) -> None:
    session, counts, groups = hostile()
    plan = FakePlan(counts, 1, 12, 100)
    widget = MessageList()
    stage = Stage(widget)
    async with stage.run_test(size=(width, 30)):
        widget.show(session, counts, plan, groups)
        strips = drawn(widget)
    for strip in strips:
        assert strip.cell_length == width - 1
        text = strip.text
        assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in text)
        assert not set(text) & set("\u202e\u2066\u200f\u200d")
    if width >= 80:
        assert "[/red] [bold]x[/] [@click=app.quit]" in strips[0].text


def test_columns_give_way_in_order() -> None:
    wide, middle, narrow = (columns_for(width, 3, 7) for width in (100, 60, 40))
    assert (wide.bar, middle.bar, narrow.bar) == (12, 8, 0)
    assert (wide.role, narrow.role) == (9, 4)
    assert all(columns.text > 0 for columns in (wide, middle, narrow))


async def test_without_a_plan_or_counts_it_lists_all_the_same() -> None:
    session, _, _ = conversation(10)
    widget = MessageList()
    stage = Stage(widget)
    async with stage.run_test(size=SIZE):
        widget.show(session)
        lines = text_of(widget)
        assert "You are a careful" in lines[0]
        assert widget.boundary_line is None


async def test_real_plans_colour_the_rows_and_a_tick_asks_about_visible_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, counts, groups = conversation(5_000)
    planner = Planner(session, counts, groups)
    plan = planner.plan(Policy(budget=100_000, keep_recent=20))
    widget = MessageList()
    stage = Stage(widget)
    asked: list[int] = []
    region = Plan.region

    def counting(self: Plan, index: int) -> str:
        asked.append(index)
        return region(self, index)

    async with stage.run_test(size=SIZE) as pilot:
        widget.show(session, counts, plan, groups)
        widget.select(plan.cut)
        await pilot.pause()
        shown = "\n".join(text_of(widget))
        assert f"▌R {plan.cut}" in shown
        assert f"░S {plan.cut - 1}" in shown
        assert f"{plan.tokens_summarized:,} tokens become one summary" in shown
        monkeypatch.setattr(Plan, "region", counting)
        widget.plan = planner.plan(Policy(budget=100_000, keep_recent=400))
        await pilot.pause()
        assert 0 < len(asked) <= 2 * SIZE[1]


async def test_region_colours_come_from_the_theme_and_follow_it() -> None:
    stage, widget, plan = listed(20, cut=8)
    for name, colour in (("one", "#112233"), ("two", "#445566")):
        stage.register_theme(Theme(name, primary="#7aa2f7", variables={"head": colour}))
    async with stage.run_test(size=SIZE) as pilot:
        fill(widget, plan)
        seen = []
        for theme in ("textual-dark", "one", "two"):
            stage.theme = theme
            await pilot.pause()
            style = drawn(widget)[0]._segments[0].style
            assert style is not None
            assert style.color is not None
            seen.append(style.color.get_truecolor().hex)
        assert seen[1:] == ["#112233", "#445566"]
        assert seen[0] not in seen[1:]
