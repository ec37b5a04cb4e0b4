"""The workbench under the hands of a person: sliders, the mouse, typed values, every pane."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import ContentSwitcher

import compaction
import sample_sessions
from compaction.policy import Policy
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui import loading
from tui.app import Workbench
from tui.opening import Opening
from tui.settings import Settings
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.search_bar import SearchBar
from tui.widgets.slider import Slider
from tui.widgets.summary_view import SummaryView

CHAT = sample_sessions.path("support-chat")
SETTING = Policy(budget=2_000, keep_recent=6)
PANES = {"1": "message", "2": "summary", "3": "result", "4": "findings"}


class Hands(Person):
    """The running app and the keys and the mouse before it."""

    @property
    def bars(self) -> list[str]:
        """The bars as they stand on the screen."""
        return text_of(self.screen.query_one(BudgetBars))

    def slider(self, name: str) -> Slider:
        """The slider called `name`."""
        return self.screen.query_one(f"#{name}", Slider)

    async def press(self, *keys: str) -> None:
        """Press keys, and wait for all they set going."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is read, counted or summarized."""
        for _ in range(200):
            await self.app.workers.wait_for_complete()
            await self.pilot.pause()
            if not self.screen.summarizing and not self.screen.loading_session:
                return
            await self.pilot.pause(0.02)
        pytest.fail("the workbench never came to rest")


Open = Callable[..., AbstractAsyncContextManager[Hands]]


@pytest.fixture
def hands(alone: None) -> Open:
    """Opens the workbench: `async with hands(source) as it`."""

    @asynccontextmanager
    async def opened(
        source: str | bytes | Path = CHAT,
        *,
        size: tuple[int, int] = (120, 40),
        policy: Policy | None = SETTING,
        settle: bool = True,
    ) -> AsyncIterator[Hands]:
        given = str(source) if isinstance(source, Path) else source
        name = given if isinstance(given, str) else "standard input"
        app = Workbench(Opening(given, name, policy=policy), Settings())
        async with app.run_test(size=size) as pilot:
            it = Hands(app, pilot)
            if settle:
                await it.settle()
            yield it

    return opened


async def test_the_title_and_the_bars_say_the_counts(hands: Open) -> None:
    async with hands() as it:
        whole = compaction.plan(compaction.load(CHAT), SETTING)
        title = text_of(it.screen.query_one("#title"))[0]
        assert f"{whole.n} messages" in title
        assert f"{whole.tokens_before:,}" in title
        assert it.plan.tokens_before == whole.tokens_before
        assert any("2,000" in line or "2k" in line.lower() for line in it.bars)


async def test_a_key_on_the_budget_changes_the_plan_and_the_bars(hands: Open) -> None:
    async with hands() as it:
        before, bars = it.plan, it.bars
        it.slider("budget").focus()
        await it.press("end")
        assert it.plan.budget > before.tokens_before
        assert before.compacts
        assert not it.plan.compacts
        assert it.bars != bars
        await it.press("home")
        assert it.plan.compacts
        assert it.plan.budget == it.slider("budget").value == it.slider("budget").scale.minimum


async def test_a_drag_follows_the_mouse_and_is_one_step_of_undo(hands: Open) -> None:
    async with hands() as it:
        keep = it.slider("keep")
        parts = keep._parts
        values = []
        await it.pilot.mouse_down(keep, offset=(parts.start + 2, 0))
        for cell in (5, 8, 11):
            await it.pilot.hover(keep, offset=(parts.start + cell, 0))
            await it.pilot.pause()
            values.append(it.plan.policy.keep_recent)
        await it.pilot.mouse_up(keep, offset=(parts.start + 11, 0))
        await it.settle()
        assert values == sorted(set(values))
        assert it.plan.policy.keep_recent == keep.value == values[-1]
        await it.press("u")
        assert it.plan.policy == SETTING
        assert keep.value == 6


async def test_the_mouse_lets_go_of_the_slider(hands: Open) -> None:
    async with hands() as it:
        keep = it.slider("keep")
        start = keep._parts.start
        await it.pilot.mouse_down(keep, offset=(start + 4, 0))
        await it.pilot.mouse_up(keep, offset=(start + 4, 0))
        value = keep.value
        await it.pilot.hover(keep, offset=(start + 12, 0))
        await it.settle()
        assert keep.value == value


async def test_a_value_is_typed(hands: Open) -> None:
    async with hands(sample_sessions.path("login-refactor"), policy=None) as it:
        assert it.plan.n > 40
        it.slider("keep").focus()
        await it.press("equals_sign", "4", "0")
        assert it.slider("keep").editing
        await it.press("enter")
        assert not it.slider("keep").editing
        assert it.plan.policy.keep_recent == 40
        assert it.slider("keep").value == 40


async def test_digits_belong_to_the_entry_and_not_to_the_panes(hands: Open) -> None:
    async with hands() as it:
        pane = it.screen.pane
        it.slider("keep").focus()
        await it.press("equals_sign", "3", "escape")
        assert it.screen.pane == pane
        assert it.plan.policy == SETTING


async def test_keys_of_commands_can_be_searched_for(hands: Open) -> None:
    """`[`, `]`, `q` and `u` are letters while a search is typed."""
    async with hands() as it:
        await it.press("slash", "left_square_bracket", "right_square_bracket", "q", "u")
        bar = it.screen.query_one(SearchBar)
        assert bar.text == "[]qu"
        assert it.plan.policy == SETTING
        assert it.app.is_running
        await it.press("escape")
        assert not bar.is_open
        assert it.rows.has_focus


async def test_a_bracket_is_found_as_it_is_written(hands: Open, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    texts = ["plain", "a [bold] word", "nothing", "[/] and [x]", "end"] * 3
    talk.write_text(json.dumps([{"role": "user", "content": text} for text in texts]))
    async with hands(talk, policy=Policy(budget=20, keep_recent=2)) as it:
        await it.press("slash", "left_square_bracket")
        expected = [index for index, text in enumerate(texts) if "[" in text]
        assert list(it.screen.hits) == expected
        await it.press("enter", "n")
        at = expected.index(it.rows.cursor_message)
        await it.press("N")
        assert it.rows.cursor_message == expected[at - 1]


async def test_keys_bring_the_panes_to_the_front(hands: Open) -> None:
    async with hands() as it:
        for key in "4321":
            await it.press(key)
            assert it.screen.query_one("#panes", ContentSwitcher).current == PANES[key]
            assert it.rows.has_focus


async def test_every_key_of_an_edit_reaches_it(hands: Open) -> None:
    """The first letters too, typed before the screen has been drawn again."""
    async with hands() as it:
        await it.pilot.press("e", *"exqu")
        await it.press("ctrl+s")
        assert it.screen.query_one(SummaryView).shown.text.startswith("exqu")
        assert it.screen.query_one(SummaryView).shown.edited


async def test_quitting_while_a_session_is_read(
    hands: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def endless(
        opening: Opening, ticket: int, post: loading.Post, stopped: Callable[[], bool]
    ) -> None:
        started.append(ticket)
        while not stopped():
            pass

    monkeypatch.setattr(loading, "load", endless)
    async with hands(settle=False) as it:
        await it.pilot.pause()
        assert it.screen.loading_session
        await it.pilot.press("q")
    assert started
    assert it.app.return_code == 0


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (20, 5), (8, 3)])
async def test_a_hostile_session_in_every_pane(hands: Open, size: tuple[int, int]) -> None:
    source = sample_sessions.path("hostile-upload")
    async with hands(source, size=size, policy=Policy(budget=2_000, keep_recent=2)) as it:
        for key in PANES:
            await it.press(key, "escape")
        for _ in range(it.rows.item_count):
            await it.press("j")
        assert it.rows.cursor == it.rows.item_count - 1
        shown = "\n".join(text_of(it.rows))
        assert not any(ord(char) < 32 and char != "\n" for char in shown)
        assert not any(char in shown for char in "\x1b\u202e\u2066\ud83d")
        await it.press("q")
    assert it.app.return_code == 0
