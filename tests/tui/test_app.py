"""The workbench as a person meets it: keys, drags, loading, and every size of terminal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import compaction
import sample_sessions
from compaction.policy import Policy
from compaction.summary import FromCallable
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui.app import Workbench
from tui.opening import Opening
from tui.screens.choose import Choose
from tui.screens.export import Export
from tui.screens.help import Help
from tui.screens.open import OpenSession
from tui.settings import Settings
from tui.widgets.filter_bar import FilterBar
from tui.widgets.search_bar import SearchBar
from tui.widgets.slider import Slider
from tui.widgets.summary_view import SummaryView

CHAT = sample_sessions.path("support-chat")
SETTING = Policy(budget=2_000, keep_recent=6)
#: The groups of workers that end by themselves; a dialog is waited for by another.
WORK = {"load", "count", "summary", "search", "filter", "outside", "usage"}


class Desk(Person):
    """The running app, and what a person can see of it."""

    @property
    def summary(self) -> SummaryView:
        return self.screen.query_one(SummaryView)

    def slider(self, name: str) -> Slider:
        return self.screen.query_one(f"#{name}", Slider)

    async def press(self, *keys: str) -> None:
        """Press keys, and wait for all they set going."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing works or is about to."""
        for _ in range(200):
            busy = [each for each in self.app.workers if each.group in WORK]
            if busy:
                await self.app.workers.wait_for_complete(busy)
            await self.pilot.pause()
            screen = self.screen
            if not busy and not screen.summarizing and not screen.loading_session:
                return
            await self.pilot.pause(0.02)
        pytest.fail("the workbench never came to rest")

    @property
    def notices(self) -> list[str]:
        """What was said so far."""
        return [each.message for each in self.app._notifications]


Open = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the workbench: `async with desk(opening) as it`."""
    monkeypatch.setenv("COMPACTION_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("COMPACTION_NO_CACHE", "1")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")

    @asynccontextmanager
    async def opened(
        source: str | bytes | Path | None = CHAT,
        *,
        size: tuple[int, int] = (120, 40),
        settings: Settings | None = None,
        policy: Policy | None = SETTING,
        **more: Any,
    ) -> AsyncIterator[Desk]:
        given = str(source) if isinstance(source, Path) else source
        name = given if isinstance(given, str) else "standard input"
        app = Workbench(Opening(given, name, policy=policy, **more), settings)
        async with app.run_test(size=size) as pilot:
            it = Desk(app, pilot)
            await it.settle()
            yield it

    return opened


# -------------------------------------------------------------------------------- opening


async def test_it_opens_counted_planned_and_summarized(desk: Open) -> None:
    async with desk() as it:
        whole = compaction.plan(compaction.load(CHAT), SETTING)
        assert it.plan.counts.exact
        assert it.plan.tokens_before == whole.tokens_before
        assert (it.plan.cut, it.plan.compacts) == (whole.cut, True)
        assert it.slider("budget").value == 2_000
        assert it.slider("keep").value == 6
        assert it.summary.shown.state == "made"
        assert it.summary.shown.tokens == it.rows.summary_tokens


async def test_a_session_from_standard_input(desk: Open) -> None:
    async with desk(CHAT.read_bytes()) as it:
        assert it.plan.n == len(compaction.load(CHAT))


async def test_what_cannot_be_read_is_said_and_another_is_asked_for(
    desk: Open, tmp_path: Path
) -> None:
    broken = tmp_path / "[bold]broken.json"
    broken.write_bytes(b"\x00\x01\x02")
    async with desk(broken) as it:
        assert isinstance(it.app.screen, OpenSession)
        assert any("[bold]broken.json" in notice for notice in it.notices)
        await it.pilot.press("escape")
        await it.pilot.press("q")
    assert it.app.return_code == 0


async def test_without_a_session_the_picker_is_open(desk: Open) -> None:
    async with desk(None) as it:
        assert isinstance(it.app.screen, OpenSession)


@pytest.mark.parametrize("name", [each.name for each in sample_sessions.samples()])
async def test_every_sample_opens_under_the_default_policy(desk: Open, name: str) -> None:
    async with desk(sample_sessions.path(name), policy=None) as it:
        assert it.plan.n == it.rows.item_count > 0
        await it.press("2", "3", "4", "1", "G", "b", "space", "u", "u")
        assert it.plan.policy == Policy()


# -------------------------------------------------------------------------------- sliders


async def test_a_slider_moves_the_plan_at_once_and_undo_takes_the_drag_back(desk: Open) -> None:
    async with desk() as it:
        cut = it.plan.cut
        it.slider("keep").focus()
        await it.pilot.press("right", "right", "right")
        await it.pilot.pause()
        assert it.plan.policy.keep_recent == 9
        assert it.plan.cut < cut
        await it.settle()
        await it.press("u")
        assert it.plan.policy == SETTING
        assert it.plan.cut == cut
        await it.press("ctrl+r")
        assert it.plan.policy.keep_recent == 9
        assert it.slider("keep").value == 9


async def test_what_is_kept_is_said_where_it_is_not_what_was_asked(desk: Open) -> None:
    async with desk() as it:
        asked = next(
            amount
            for amount in range(1, it.plan.n)
            if compaction.plan(it.plan.session, SETTING.replace(keep_recent=amount)).snap_note
        )
        it.slider("keep").focus()
        await it.press(*f"{asked}", "enter")
        assert it.plan.snap_note
        assert it.plan.snap_note == it.slider("keep").note


async def test_a_budget_out_of_reach_is_said(desk: Open) -> None:
    async with desk(policy=Policy(budget=10, keep_recent=6)) as it:
        assert it.plan.unreachable
        status = it.screen.query_one("#status")
        assert status.display
        assert str(it.plan.unreachable)[:40] in str(status.render())


# -------------------------------------------------------------------------- boundary and pins


async def test_the_boundary_moves_by_a_group(desk: Open) -> None:
    async with desk() as it:
        cut, starts = it.plan.cut, list(it.plan.groups.starts)
        await it.press("[")
        assert it.plan.cut == starts[starts.index(cut) - 1]
        await it.press("]")
        assert it.plan.cut == cut


async def test_the_boundary_goes_to_the_cursor(desk: Open) -> None:
    async with desk() as it:
        target = it.plan.groups.starts[len(it.plan.groups.starts) // 2]
        it.rows.select(target)
        await it.press("b")
        assert it.plan.cut == target


async def test_a_pin_keeps_a_message_and_can_be_taken_back(desk: Open) -> None:
    async with desk() as it:
        index = it.plan.summarized[2]
        it.rows.select(index)
        await it.press("space")
        assert index in it.plan.policy.head.pins
        assert it.plan.region(index) == "kept"
        await it.press("space")
        assert it.plan.policy == SETTING


# ---------------------------------------------------------------------------------- summary


async def test_an_edited_summary_is_kept_marked_and_undoable(desk: Open) -> None:
    async with desk() as it:
        made = it.summary.shown.text
        await it.press("e")
        assert it.summary.editing
        await it.press(*"Kept.")
        await it.press("ctrl+s")
        assert it.summary.shown.edited
        assert it.summary.shown.text.startswith("Kept.")
        assert it.screen.result is not None
        assert it.screen.result.summary is not None
        assert it.screen.result.summary.edited
        await it.press("u")
        assert it.summary.shown.text == made
        assert not it.summary.shown.edited


async def test_an_edit_outlives_another_plan(desk: Open) -> None:
    async with desk(summary_text="By hand.") as it:
        await it.press("[")
        assert it.summary.shown.text == "By hand."
        assert it.summary.shown.edited


async def test_a_summarizer_that_may_cost_runs_only_when_asked(desk: Open) -> None:
    asked: list[int] = []

    def summarize(text: str) -> str:
        asked.append(len(text))
        return "What was said before."

    async with desk(summarizer=FromCallable(summarize, name="python:mine")) as it:
        await it.press("[", "]")
        assert not asked
        await it.press("s")
        assert len(asked) == 1
        assert it.summary.shown.text == "What was said before."


async def test_why_a_summary_failed_is_shown(desk: Open) -> None:
    async with desk(summarizer=FromCallable(lambda text: "", name="python:empty")) as it:
        await it.press("s")
        assert it.summary.shown.state == "failed"
        assert "python:empty" in it.summary.shown.reason


async def test_nothing_is_summarized_within_the_budget(desk: Open) -> None:
    async with desk(policy=Policy()) as it:
        assert not it.plan.compacts
        assert it.summary.shown.state == "none"
        assert it.plan.reason in it.summary.shown.reason


# ------------------------------------------------------------------------- search and filter


async def test_search_counts_and_goes_from_hit_to_hit(desk: Open) -> None:
    async with desk() as it:
        await it.press("/", *"refund")
        expected = [
            index
            for index, message in enumerate(it.plan.session.messages)
            if "refund" in message.text.lower()
        ]
        assert list(it.screen.hits) == expected
        await it.press("enter")
        assert it.rows.cursor_message == expected[0]
        await it.press("n")
        assert it.rows.cursor_message == expected[1]
        await it.press("N", "N")
        assert it.rows.cursor_message == expected[-1]


async def test_filters_stack_and_escape_drops_the_last(desk: Open) -> None:
    async with desk() as it:
        await it.press("f", *"role:user", "enter")
        users = [i for i, m in enumerate(it.plan.session.messages) if m.role == "user"]
        assert list(it.rows.rows or ()) == users
        await it.press("f", *"region:summarized", "enter")
        both = [index for index in users if it.plan.region(index) == "summarized"]
        assert list(it.rows.rows or ()) == both
        await it.press("escape")
        assert list(it.rows.rows or ()) == users
        await it.press("escape")
        assert it.rows.rows is None


async def test_a_filter_follows_the_plan(desk: Open) -> None:
    async with desk() as it:
        await it.press("f", *"region:recent", "enter")
        await it.press("[")
        assert list(it.rows.rows or ()) == list(it.plan.recent)


async def test_a_wrong_filter_is_told_and_taken_by_nobody(desk: Open) -> None:
    async with desk() as it:
        await it.press("f", *"region:nowhere", "enter")
        assert it.screen.query_one(FilterBar).has_class("-wrong")
        assert it.rows.rows is None


async def test_escape_leaves_one_thing_at_a_time(desk: Open) -> None:
    async with desk() as it:
        await it.press("f", *"role:user", "enter", "/", *"the", "enter")
        assert it.screen.query_one(SearchBar).is_open
        await it.press("escape")
        assert not it.screen.query_one(SearchBar).is_open
        assert it.rows.rows is not None
        await it.press("escape")
        assert it.rows.rows is None


# ------------------------------------------------------------------------------ the session


async def test_a_file_that_grows_is_followed_without_a_jump(desk: Open, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"question {n}"}) for n in range(40)]
    growing = tmp_path / "chat.jsonl"
    growing.write_text("\n".join(lines) + "\n")
    async with desk(growing) as it:
        it.rows.select(11)
        await it.press("a")
        growing.write_text("\n".join([*lines, lines[0], lines[1]]) + "\n")
        for _ in range(200):
            await it.pilot.pause(0.05)
            if it.plan.n == 42:
                break
        assert it.plan.n == 42
        assert it.rows.cursor_message == 11
        assert it.rows.item_count == 42
        await it.press("G")
        assert it.rows.cursor_message == 41
        assert "question 1" in "\n".join(text_of(it.rows))
        await it.press("f", *"role:user", "enter")
        assert it.rows.item_count == 42
        answer = json.dumps({"role": "assistant", "content": "an answer"})
        growing.write_text("\n".join([*lines, *lines[:2], answer, lines[2]]) + "\n")
        for _ in range(200):
            await it.pilot.pause(0.05)
            if it.plan.n == 44 and it.rows.item_count == 43:
                break
        assert it.rows.item_count == 43
        await it.press("escape")
        assert it.rows.item_count == 44
        await it.press("a")
        assert not it.screen.following


async def test_full_history_and_back(desk: Open) -> None:
    compacted = sample_sessions.path("exchange-rates-codex")
    async with desk(compacted) as it:
        live = it.plan.n
        await it.press("V")
        assert it.plan.session.history == "full"
        assert it.plan.n > live
        await it.press("V")
        assert it.plan.n == live


async def test_export_writes_what_is_shown(
    desk: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "talk.json"
    source.write_bytes(CHAT.read_bytes())
    async with desk(source) as it:
        await it.press("x")
        assert isinstance(it.app.screen, Export)
        await it.press("enter")
        await it.settle()
        assert it.screen.result is not None
        expected = len(it.screen.result.messages)
    (written,) = (path for path in tmp_path.glob("*.json") if path != source)  # noqa: ASYNC240
    assert len(compaction.load(written)) == expected
    assert source.read_bytes() == CHAT.read_bytes()


async def test_a_policy_is_saved_and_reads_back(
    desk: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with desk() as it:
        await it.press("w", "enter")
        assert Policy.from_yaml(tmp_path / "default.yaml") == SETTING


async def test_a_published_policy_is_chosen_and_undone(desk: Open) -> None:
    async with desk() as it:
        await it.press("p")
        assert isinstance(it.app.screen, Choose)
        await it.press("down", "enter")
        assert it.plan.policy.name != "default"
        await it.press("u")
        assert it.plan.policy == SETTING


@pytest.mark.parametrize(("key", "begins"), [("s", "[Summary of"), ("c", "compaction export ")])
async def test_copying(desk: Open, key: str, begins: str) -> None:
    async with desk() as it:
        await it.press("y", key)
        assert it.app.clipboard.startswith(begins)


async def test_the_command_line_makes_the_present_setting(desk: Open) -> None:
    async with desk() as it:
        await it.press("y", "c")
        assert "--budget 2000" in it.app.clipboard
        assert "--keep-recent 6" in it.app.clipboard
        assert "support-chat.json" in it.app.clipboard


# -------------------------------------------------------------------------------- settings


async def test_another_key_of_the_settings_counts(desk: Open) -> None:
    settings = Settings(keymap={"pin": "ctrl+k", "list.down": "ctrl+j"})
    async with desk(settings=settings) as it:
        index = it.plan.summarized[2]
        it.rows.select(index)
        await it.press("ctrl+k")
        assert index in it.plan.policy.head.pins
        before = it.rows.cursor
        await it.press("ctrl+j")
        assert it.rows.cursor == before + 1


async def test_broken_settings_are_a_notice(desk: Open, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.yaml").write_text("theme: [red\n")
    async with desk() as it:
        assert any("settings.yaml, line" in notice for notice in it.notices)


async def test_settings_that_were_given_are_not_written(desk: Open, tmp_path: Path) -> None:
    async with desk(settings=Settings()) as it:
        await it.press("q")
    assert not (tmp_path / "config").exists()


async def test_what_was_set_last_is_remembered(desk: Open, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    talk.write_bytes(CHAT.read_bytes())
    async with desk(talk, policy=None) as it:
        it.slider("keep").focus()
        await it.press("right", "escape", "3", "q")
    async with desk(talk, policy=None) as it:
        assert it.plan.policy.keep_recent == 21
        assert it.screen.pane == "result"
        assert it.app.settings.recent == (str(talk),)


# ----------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize("size", [(8, 3), (20, 5), (40, 12), (59, 10), (80, 24), (100, 30)])
async def test_no_size_is_too_small(desk: Open, size: tuple[int, int]) -> None:
    async with desk(size=size) as it:
        await it.press("j", "j", "enter", "escape", "[", "2", "escape", "/", "a", "escape")
        await it.press("P", "P", "?", "escape", "G")
        assert it.plan.n == it.rows.item_count
        await it.pilot.press("q")
    assert it.app.return_code == 0


async def test_in_a_narrow_terminal_a_message_has_the_screen(desk: Open) -> None:
    async with desk(size=(80, 24)) as it:
        right = it.screen.query_one("#right")
        assert it.rows.display
        assert not right.display
        await it.press("enter")
        assert right.display
        assert right.size.width > 70
        await it.press("escape")
        assert not right.display
        assert it.rows.has_focus


async def test_on_a_small_terminal_list_and_sliders_remain(desk: Open) -> None:
    async with desk(size=(50, 20)) as it:
        assert not it.screen.query_one("#bars").display
        assert it.slider("budget").size.width > 40
        assert it.rows.size.height > 12


async def test_every_size_in_turn(desk: Open) -> None:
    async with desk() as it:
        await it.press("enter")
        for size in ((80, 24), (8, 3), (120, 40), (50, 9), (160, 50)):
            await it.pilot.resize_terminal(*size)
            await it.settle()
        assert it.rows.display
        assert it.screen.query_one("#right").display


# -------------------------------------------------------------------------------- the rest


async def test_help_lists_the_keys(desk: Open) -> None:
    async with desk() as it:
        await it.press("?")
        assert isinstance(it.app.screen, Help)


async def test_markup_in_names_and_messages_is_text(desk: Open, tmp_path: Path) -> None:
    hostile = tmp_path / "[@click=app.quit]x[bold].json"
    hostile.write_text(json.dumps([{"role": "user", "content": "[/bold][red]\x1b[2J"}] * 8))
    async with desk(hostile, policy=Policy(budget=20, keep_recent=2)) as it:
        await it.press("1", "2", "3", "4", "/", *"[/bold]", "enter", "f", *"[red]", "enter")
        assert it.rows.item_count == 8
        await it.press("escape", "escape")


async def test_the_tour_is_there_for_the_demo_and_can_be_left(desk: Open) -> None:
    from tui.widgets.tour_card import TourCard

    demo = sample_sessions.path(sample_sessions.DEMO)
    async with desk(demo, policy=None, demo=True) as it:
        card = it.screen.query_one(TourCard)
        assert card.running
        await it.press("enter")
        assert card.step == 1
        it.slider("budget").focus()
        await it.press("left")
        assert card.step == 2
        await it.press("escape")
        assert not card.running
    async with desk() as it:
        assert not it.screen.query_one(TourCard).running


async def test_a_large_session_costs_a_slider_no_more(desk: Open, tmp_path: Path) -> None:
    """A plan on the screen touches what is visible: no message is asked anything."""
    many = tmp_path / "many.json"
    many.write_text(json.dumps([{"role": "user", "content": "a word or two"}] * 3_000))
    async with desk(many, policy=Policy(budget=5_000, keep_recent=20)) as it:
        asked = 0
        region = compaction.Plan.region

        def counting(plan: compaction.Plan, index: int) -> str:
            nonlocal asked
            asked += 1
            return region(plan, index)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compaction.Plan, "region", counting)
            it.screen.set_policy(it.plan.policy.replace(keep_recent=40), "keep recent")
            await it.pilot.pause()
        assert 0 < asked < 200


