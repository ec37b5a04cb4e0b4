"""Comparing policies: what the columns say, and taking one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import Input

import compaction
import sample_sessions
from compaction.groups import find_groups
from compaction.planning import Planner
from compaction.policy import Policy, preset, presets
from tests.tui.person import Person
from tests.tui.widgets.stage import drawn, text_of
from tui.app import Workbench
from tui.comparing import Ground, compared
from tui.opening import Opening
from tui.replaying import make_past
from tui.screens.compare import Compare
from tui.settings import Settings
from tui.widgets.compare_table import CompareTable

LOGIN = sample_sessions.path("login-refactor")
SETTING = Policy(budget=40_000, keep_recent=20)


class Comparing(Person):
    """The running app with the comparison before it."""

    @property
    def compare(self) -> Compare:
        """The screen."""
        assert isinstance(self.app.screen, Compare)
        return self.app.screen

    @property
    def table(self) -> CompareTable:
        """The columns."""
        return self.compare.query_one(CompareTable)

    async def settle(self) -> None:
        """Wait until everything is compared."""
        for _ in range(300):
            await self.pilot.pause(0.02)
            screen = self.app.screen
            wanted = len(screen.policies()) if isinstance(screen, Compare) else 0
            note = str(screen.query_one("#compare-note").render()) if wanted else ""
            if wanted and len(self.table.columns) == wanted and "replaying" not in note:
                return
        pytest.fail("nothing was compared")


@asynccontextmanager
async def opened(size: tuple[int, int] = (120, 40)) -> AsyncIterator[Comparing]:
    """The workbench, comparing."""
    app = Workbench(Opening(str(LOGIN), str(LOGIN), policy=SETTING), Settings())
    async with app.run_test(size=size) as pilot:
        it = Comparing(app, pilot)
        for _ in range(200):
            await app.workers.wait_for_complete()
            await pilot.pause(0.02)
            if it.screen.plan is not None and not it.screen.summarizing:
                break
        await pilot.press("c")
        await it.settle()
        yield it


async def test_every_column_is_its_policy_replayed(alone: None) -> None:
    session = compaction.load(LOGIN)
    async with opened() as it:
        columns = it.table.columns
        names = [each.policy.name for each in columns]
        assert names == ["default", "three-region", "fit-window", "keep-last", "untrusted-data"]
        assert columns[0].policy == SETTING
        assert all(each.budget == 40_000 for each in columns)
        run = compaction.replay(session, SETTING)
        row = columns[0].row
        assert row is not None
        assert (row.sent, row.peak, row.compactions) == (
            run.totals.sent,
            run.peak,
            len(run.compactions),
        )
        text = "\n".join(text_of(it.table))
        assert f"${run.money:,.2f}" in text
        assert "✓" in text
        assert all(strip.cell_length == it.table.size.width for strip in drawn(it.table))


def test_what_every_preset_leaves_is_what_its_plan_leaves() -> None:
    session = compaction.load(LOGIN)
    counts, groups = compaction.count(session), find_groups(session.messages)
    policies = [preset(name) for name in presets()]
    policies += [policy.replace(budget=40_000) for policy in policies]
    ground = Ground(session, counts, groups, policies[0])
    past = make_past(session, counts, groups, policies[0], None, lambda: False)
    columns = compared(ground, past, policies, lambda: False)
    planner = Planner(session, counts, groups)
    left = [planner.plan(policy).tokens_after_estimate for policy in policies]
    assert [each.after for each in columns] == left
    assert len(set(left)) > 20


async def test_enter_takes_one_and_undo_takes_it_back(alone: None) -> None:
    async with opened() as it:
        await it.pilot.press("right")
        wanted = it.table.columns[1].policy
        await it.pilot.press("enter")
        await it.pilot.pause()
        assert it.plan.policy == wanted
        assert wanted.name == "three-region"
        it.screen.action_undo()
        assert it.plan.policy == SETTING


async def test_escape_changes_nothing(alone: None) -> None:
    async with opened() as it:
        await it.pilot.press("right", "escape")
        await it.pilot.pause()
        assert it.plan.policy == SETTING
        assert it.app.screen is it.screen


async def test_own_budgets_and_one_for_all(alone: None) -> None:
    async with opened() as it:
        await it.pilot.press("b")
        await it.settle()
        assert it.table.columns[1].budget == preset("default").budget
        await it.pilot.press("b")
        await it.settle()
        assert it.table.columns[1].budget == 40_000


async def test_policies_come_and_go(alone: None, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(Policy(name="mine", budget=9_000, keep_recent=3).to_yaml())
    async with opened() as it:
        many = len(it.table.columns)
        await it.pilot.press("right", "x")
        await it.settle()
        assert len(it.table.columns) == many - 1
        await it.pilot.press("a", "enter")
        await it.pilot.pause()
        entry = it.app.screen.query_one(Input)
        entry.value = str(tmp_path / "none.yaml")
        await it.pilot.press("enter")
        assert "no policy file" in str(it.app.screen.query_one("#ask-note").render())
        entry.value = str(mine)
        await it.pilot.press("enter")
        await it.settle()
        assert it.table.columns[-1].policy.name == "mine"
        await it.pilot.press("end")
        assert it.table.cursor == many - 1


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (200, 50)])
async def test_other_sizes_show_the_columns_that_fit(alone: None, size: tuple[int, int]) -> None:
    async with opened(size) as it:
        await it.pilot.press("end")
        assert "untrusted" in text_of(it.table)[0]
        assert all(strip.cell_length == it.table.size.width for strip in drawn(it.table))
        await it.pilot.press("home")
        assert "default" in text_of(it.table)[0]
