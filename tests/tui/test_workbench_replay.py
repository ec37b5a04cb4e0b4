"""The replay pane on the workbench: it follows the sliders, and shows the list of then."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import ContentSwitcher

import compaction
import sample_sessions
from compaction.policy import Policy, preset
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui import replaying
from tui.app import Workbench
from tui.opening import Opening
from tui.settings import Settings
from tui.widgets.facts import Facts
from tui.widgets.needs_list import NeedsList
from tui.widgets.replay_view import ReplayView
from tui.widgets.sawtooth import Sawtooth

LOGIN = sample_sessions.path("login-refactor")
SETTING = Policy(budget=40_000, keep_recent=20)


def unwrapped(text: str) -> str:
    """Text without the breaks of its lines."""
    return " ".join(text.split())


class Replaying(Person):
    """The running app with its replay pane."""

    @property
    def chart(self) -> Sawtooth:
        """The chart."""
        return self.screen.query_one(Sawtooth)

    @property
    def said(self) -> str:
        """The facts under it."""
        return "\n".join(text_of(self.screen.query_one(ReplayView).query_one(Facts)))

    @property
    def chips(self) -> str:
        """The line over the list."""
        return str(self.screen.query_one("#chips").render())

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        for _ in range(400):
            await self.app.workers.wait_for_complete()
            await self.pilot.pause()
            run = self.screen._run
            fresh = (
                run is not None
                and run.gone is not None
                and run.replay.policy == self.screen.history.present.policy
                and self.screen._fits(run)
            )
            waits = self.screen.pane == "replay" and not fresh and self.screen.session is not None
            if not (self.screen.summarizing or self.screen.loading_session or waits):
                return
            await self.pilot.pause(0.02)
        pytest.fail("the workbench never came to rest")


@asynccontextmanager
async def opened(
    source: str | Path = LOGIN,
    size: tuple[int, int] = (120, 40),
    policy: Policy = SETTING,
) -> AsyncIterator[Replaying]:
    """The workbench with its replay pane in front."""
    app = Workbench(Opening(str(source), str(source), policy=policy), Settings())
    async with app.run_test(size=size) as pilot:
        it = Replaying(app, pilot)
        await it.settle()
        await pilot.press("6")
        await it.settle()
        yield it


async def test_the_pane_shows_the_replay_of_the_present_policy(alone: None) -> None:
    expected = compaction.replay(compaction.load(LOGIN), SETTING)
    async with opened() as it:
        assert it.screen.query_one("#panes", ContentSwitcher).current == "replay"
        saw = it.chart.saw
        assert saw is not None
        assert it.chart.has_focus
        assert [saw.context(call) for call in range(saw.calls)] == list(expected.contexts())
        assert saw.compactions == tuple(each.call for each in expected.compactions)
        assert f"{saw.context(saw.calls - 1):,} tokens" in it.said
        assert f"${expected.money:,.2f}" in it.said
        assert it.screen.query_one(NeedsList).needs


async def test_a_slider_replays_at_every_tick(alone: None) -> None:
    async with opened() as it:
        saw = it.chart.saw
        it.screen._run = replaying.run(it.screen._run.past, SETTING)  # as quick as it is when warm
        it.screen.action_focus_budget()
        await it.pilot.press("pagedown")
        await it.pilot.pause()
        assert it.chart.saw is not saw
        assert it.chart.saw.budget == it.plan.budget < SETTING.budget
        await it.settle()


async def test_a_slow_replay_waits_for_the_slider_to_rest(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.screens.workbench_replay.QUICK", 0.0)
    async with opened() as it:
        saw = it.chart.saw
        it.screen.action_focus_budget()
        await it.pilot.press("pagedown")
        assert it.chart.saw is saw
        await it.settle()
        assert it.chart.saw.budget == it.plan.budget < SETTING.budget


async def test_scrubbing_shows_the_list_as_it_stood(alone: None) -> None:
    run = compaction.replay(compaction.load(LOGIN), SETTING)
    async with opened() as it:
        cursor, total = it.rows.cursor_message, it.rows.item_count
        await it.pilot.press("home")
        assert "call 1 of" in it.chips
        assert it.rows.item_count == run.regions_at(0).end
        await it.pilot.press("j")
        made = run.compactions[0]
        assert it.chart.call == made.call
        assert "compacts" in it.said
        assert f"a summary of ~{made.summary:,}" in it.said.replace("\n", " ").replace("  ", "")
        assert it.rows.item_count == made.at
        plan = it.rows.plan
        regions = [plan.region(index) for index in range(made.at)]
        assert regions.count("recent") == made.at - made.cut
        assert regions[made.cut] == "recent"
        assert regions[made.cut - 1] == "summarized"
        assert "become one summary" in "\n".join(text_of(it.rows))
        await it.pilot.press("escape")
        assert it.rows.item_count == total
        assert it.rows.plan is it.screen.shown_plan
        assert it.rows.cursor_message == cursor
        assert "stood" not in it.chips


async def test_the_past_of_a_policy_that_clears_in_place(alone: None) -> None:
    policy = preset("haystack-pruning").replace(budget=60_000)
    run = compaction.replay(compaction.load(LOGIN), policy)
    first, second = run.compactions[:2]
    async with opened(policy=policy) as it:
        await it.pilot.press("home", "j")
        plan = it.rows.plan
        regions = [plan.region(index) for index in range(first.at)]
        cleared = [index for index, region in enumerate(regions) if region == "cleared"]
        assert cleared == list(first.cleared)
        assert set(regions) == {"recent", "cleared"}
        many = len(first.cleared)
        words = f"compacts {many} messages are changed in place, keeps {first.at - many} messages:"
        assert words in unwrapped(it.said)
        assert "summar" not in unwrapped(it.said).partition("sent")[2].partition("money")[0]
        assert "╌" not in "\n".join(text_of(it.rows))
        await it.pilot.press("j")
        later = [i for i in range(second.at) if it.rows.plan.region(i) == "cleared"]
        assert later == sorted({*first.cleared, *second.cleared})


async def test_the_past_of_a_policy_that_drops(alone: None) -> None:
    policy = preset("litellm").replace(budget=60_000)
    run = compaction.replay(compaction.load(LOGIN), policy)
    first = run.compactions[0]
    gone = first.cut - first.start
    async with opened(policy=policy) as it:
        await it.pilot.press("home", "j")
        assert f"compacts {gone} messages are dropped, keeps" in unwrapped(it.said)
        it.rows.select(first.cut)
        assert f"{gone} messages" in (shown := "\n".join(text_of(it.rows)))
        assert "are dropped" in shown


async def test_the_boundary_of_the_past_is_not_moved(alone: None) -> None:
    async with opened() as it:
        await it.pilot.press("home", "j")
        it.rows.focus()
        await it.pilot.press("b")
        await it.pilot.pause()
        assert it.plan.policy == SETTING
        assert it.screen.in_the_past


async def test_leaving_the_pane_restores_the_list(alone: None) -> None:
    async with opened() as it:
        total = it.rows.item_count
        await it.pilot.press("home")
        assert it.rows.item_count < total
        await it.pilot.press("1")
        assert it.rows.item_count == total
        assert it.rows.plan is it.screen.shown_plan


async def test_a_filter_and_the_past_narrow_together(alone: None) -> None:
    async with opened() as it:
        await it.pilot.press("f", *"role:tool", "enter")
        await it.settle()
        tools = it.rows.item_count
        it.chart.focus()
        await it.pilot.press("home", "shift+right")
        end = it.screen._run.replay.regions_at(10).end
        assert 0 < it.rows.item_count < tools
        assert list(it.rows.rows) == [index for index in it.screen.rows if index < end]
        await it.pilot.press("escape")
        assert it.rows.item_count == tools


async def test_enter_on_what_was_needed_goes_to_the_message(alone: None) -> None:
    async with opened() as it:
        needs = it.screen.query_one(NeedsList)
        needs.focus()
        await it.pilot.press("enter")
        await it.pilot.pause()
        assert it.rows.cursor_message == needs.needs[0].of
        assert it.rows.has_focus


async def test_under_a_hundred_columns_the_pane_has_the_screen(alone: None) -> None:
    async with opened(size=(80, 24)) as it:
        assert it.chart.has_focus
        assert it.chart.size.width > 70
        await it.pilot.press("home", "escape")
        assert it.rows.has_focus
        assert it.rows.item_count < it.plan.n
        await it.pilot.press("escape")
        assert it.rows.item_count == it.plan.n


async def test_a_session_without_answers_says_so(alone: None, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": "hello"}] * 3))
    async with opened(talk) as it:
        assert "nothing to replay" in it.said.replace("\n", " ")
        await it.pilot.press("left", "home")


def log_of(folder: Path) -> Path:
    """A Claude Code log with one compaction of the tool: 8 messages before it, 8 after."""

    def line(at: int, kind: str, text: object, **more: object) -> dict[str, object]:
        message = {"role": kind, "content": text}
        if kind == "assistant":
            message |= {"id": f"m{at}", "type": "message", "model": "claude-sonnet-4-5"}
        return {
            "type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "s", "timestamp": f"2026-01-01T00:00:{at:02}Z", "message": message, **more,
        }  # fmt: skip

    def said(at: int) -> list[dict[str, str]]:
        text = f"message {at} about /src/file_{at % 4}.py " + "and many words " * 20
        return [{"type": "text", "text": text}]

    records = [line(at, "assistant" if at % 2 else "user", said(at)) for at in range(8)]
    records.append(
        {
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "uuid": "u8", "parentUuid": None, "logicalParentUuid": "u7", "sessionId": "s",
            "timestamp": "2026-01-01T00:00:08Z",
            "compactMetadata": {"trigger": "auto", "preTokens": 167000},
        }
    )  # fmt: skip
    records.append(line(9, "user", "They worked.", isCompactSummary=True))
    records += [line(at, "user" if at % 2 else "assistant", said(at)) for at in range(10, 18)]
    file = folder / "log.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in records))
    return file


async def test_a_recorded_compaction_is_undone_and_marked(alone: None, tmp_path: Path) -> None:
    source = log_of(tmp_path)
    live = compaction.load(source)
    whole = replaying.uncompacted(live)
    assert len(whole.messages) == 16
    async with opened(source, policy=Policy(budget=500, keep_recent=2)) as it:
        saw = it.chart.saw
        assert saw is not None
        assert len(saw.recorded) == 1
        assert "△" in "\n".join(text_of(it.chart))
        said = " ".join(it.said.split())
        assert "whole recorded history of 16 messages" in said
        assert "1 real compaction forgot" in said
        past = it.screen._run.past
        # The live list is the summary and what came after it.
        assert [past.found(index) for index in range(8)] == [None] * 8
        for index in range(8, 16):
            listed = past.found(index)
            assert listed is not None
            assert live.messages[listed].text == whole.messages[index].text
        await it.pilot.press("home")
        assert it.rows.item_count == 0
        await it.pilot.press("end", "escape")
        assert it.rows.item_count == it.plan.n


async def test_the_full_history_is_shown_as_it_is_now(alone: None, tmp_path: Path) -> None:
    async with opened(log_of(tmp_path), policy=Policy(budget=500, keep_recent=2)) as it:
        await it.pilot.press("home")
        it.screen.action_history()
        await it.pilot.pause()
        await it.settle()
        assert it.screen.session.history == "full"
        assert not it.screen.in_the_past
        assert it.rows.item_count == it.plan.n
        assert "stood" not in it.chips


async def test_the_pane_is_remembered(alone: None) -> None:
    app = Workbench(Opening(str(LOGIN), str(LOGIN), policy=SETTING), Settings(pane="replay"))
    async with app.run_test(size=(120, 40)) as pilot:
        it = Replaying(app, pilot)
        await it.settle()
        assert it.chart.saw is not None
        assert it.rows.has_focus


@pytest.mark.parametrize("name", ["hostile-upload", "scheduler-thinking", "support-chat"])
async def test_every_sample_replays(alone: None, name: str) -> None:
    async with opened(sample_sessions.path(name), policy=Policy(budget=2_000, keep_recent=4)) as it:
        for key in ("home", "j", "right", "end", "k", "escape", "escape"):
            await it.pilot.press(key)
        assert not any(ord(char) < 32 and char != "\n" for char in it.said)


async def test_a_file_that_grows_while_the_past_is_shown(alone: None, tmp_path: Path) -> None:
    lines = LOGIN.read_bytes().splitlines(keepends=True)
    growing = tmp_path / "log.jsonl"
    growing.write_bytes(b"".join(lines[:180]))
    async with opened(growing) as it:
        before = len(it.screen.session.messages)
        await it.pilot.press("a", "home", "j")
        shown = it.rows.item_count
        assert it.screen.in_the_past
        growing.write_bytes(b"".join(lines))
        for _ in range(200):
            await it.pilot.pause(0.05)
            if len(it.screen.session.messages) > before:
                break
        await it.settle()
        assert it.screen.in_the_past
        assert it.rows.item_count == shown
        await it.pilot.press("left", "escape")
        await it.pilot.pause()
        assert it.rows.item_count == len(it.screen.session.messages)
        assert it.rows.plan is it.screen.shown_plan
