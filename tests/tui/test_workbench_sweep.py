"""The sweep pane on the workbench: the crosshair and the sliders are one setting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter

import pytest

import compaction
import sample_sessions
from compaction.policy import Policy, preset
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui import sweeping
from tui.app import Workbench
from tui.opening import Opening
from tui.settings import Settings
from tui.widgets.facts import Facts
from tui.widgets.heatmap import Heatmap
from tui.widgets.slider import Slider
from tui.widgets.sweep_view import SweepView

LOGIN = sample_sessions.path("login-refactor")
SETTING = Policy(budget=40_000, keep_recent=20)


class Sweeping(Person):
    """The running app with its sweep pane."""

    @property
    def map(self) -> Heatmap:
        """The map."""
        return self.screen.query_one(Heatmap)

    @property
    def said(self) -> str:
        """The words under it, on one line."""
        lines = text_of(self.screen.query_one(SweepView).query_one(Facts))
        return " ".join(" ".join(lines).split())

    async def settle(self, *, swept: bool = True) -> None:
        """Wait until nothing is under way."""
        for _ in range(400):
            await self.app.workers.wait_for_complete()
            await self.pilot.pause()
            made, screen = self.screen._map, self.screen
            policy = screen.history.present.policy
            fresh = (
                made is not None
                and made.past.counts is screen.counts
                and made.family == sweeping.family_of(policy)
            )
            if not (screen.summarizing or screen.loading_session or (swept and not fresh)):
                return
            await self.pilot.pause(0.02)
        pytest.fail("the workbench never came to rest")


@asynccontextmanager
async def opened(
    source: str | Path = LOGIN, size: tuple[int, int] = (120, 40), policy: Policy = SETTING
) -> AsyncIterator[Sweeping]:
    """The workbench with its sweep pane in front."""
    app = Workbench(Opening(str(source), str(source), policy=policy), Settings())
    async with app.run_test(size=size) as pilot:
        it = Sweeping(app, pilot)
        await it.settle(swept=False)
        await pilot.press("7")
        await it.settle()
        yield it


async def test_every_cell_is_the_replay_of_its_setting(alone: None) -> None:
    session = compaction.load(LOGIN)
    async with opened() as it:
        heat = it.map.heat
        assert heat is not None
        assert it.map.has_focus
        for budget, amount in ((0, 0), (5, 5), (len(heat.budgets) - 1, 3)):
            policy = SETTING.replace(budget=heat.budgets[budget], keep_recent=heat.amounts[amount])
            run = compaction.replay(session, policy)
            cell = heat.cell(budget, amount)
            assert heat.values["sent"][cell] == run.totals.sent
            assert heat.values["peak"][cell] == run.peak
            assert heat.values["compactions"][cell] == len(run.compactions)
        assert heat.best in heat.front


async def test_arrows_in_the_map_move_the_sliders(alone: None) -> None:
    async with opened() as it:
        heat = it.map.heat
        budget, amount = it.map.here
        await it.pilot.press("up", "right")
        await it.pilot.pause()
        assert it.map.here == (budget + 1, amount + 1)
        assert it.plan.budget == heat.budgets[budget + 1]
        assert it.plan.policy.keep_recent == heat.amounts[amount + 1]
        assert it.screen.query_one("#budget", Slider).value == it.plan.budget
        assert f"budget {it.plan.budget:,}" in it.said
        it.screen.action_undo()
        assert it.plan.policy == SETTING
        assert it.map.here == (budget, amount)


async def test_the_sliders_move_the_crosshair(alone: None) -> None:
    async with opened() as it:
        heat, here = it.map.heat, it.map.here
        it.screen.action_focus_budget()
        await it.pilot.press("home")
        await it.pilot.pause()
        assert it.map.here == (0, here[1])
        await it.pilot.press("end")
        await it.pilot.pause()
        assert it.map.here == (len(heat.budgets) - 1, here[1])
        assert it.map.heat is heat


async def test_the_advice_is_taken_and_taken_back(alone: None) -> None:
    async with opened() as it:
        made = it.screen._map
        assert "R takes budget" in it.said
        await it.pilot.press("R")
        await it.pilot.pause()
        assert it.plan.policy == made.advice
        assert it.map.heat.cell(*it.map.here) == it.map.heat.best
        assert "This is the advised setting" in it.said
        it.screen.action_undo()
        assert it.plan.policy == SETTING


async def test_another_policy_makes_another_map(alone: None) -> None:
    async with opened() as it:
        heat = it.map.heat
        it.screen.set_policy(preset("fit-window").replace(budget=30_000), "policy fit-window")
        await it.settle()
        assert it.map.heat is not heat
        assert it.map.heat.amounts == (None,)
        await it.pilot.press("up", "left")
        assert it.plan.policy.recent.unit == "fit"
        assert it.plan.budget in it.map.heat.budgets


async def test_a_slider_tick_is_drawn_within_a_frame(alone: None) -> None:
    async with opened() as it:
        heat, screen = it.map.heat, it.screen
        took = []
        for number in range(40):
            policy = SETTING.replace(budget=heat.budgets[number % len(heat.budgets)])
            screen.history = screen.history.change(
                type(screen.history.present)(policy), f"tick {number}"
            )
            begun = perf_counter()
            screen._point()
            for y in range(it.map.size.height):
                it.map.render_line(y)
            took.append(perf_counter() - begun)
        assert sorted(took)[len(took) // 2] < 0.016


async def test_under_a_hundred_columns_the_map_has_the_screen(alone: None) -> None:
    async with opened(size=(80, 24)) as it:
        assert it.map.has_focus
        assert it.map.size.width > 70
        await it.pilot.press("up", "escape")
        assert it.rows.has_focus


@pytest.mark.parametrize("name", ["hostile-upload", "sourdough-question", "support-chat"])
async def test_small_sessions_have_a_map_too(alone: None, name: str) -> None:
    async with opened(sample_sessions.path(name), policy=Policy(budget=2_000, keep_recent=4)) as it:
        await it.pilot.press("up", "right", "m", "R", "pageup", "home")
        assert it.map.heat is not None
