"""Pictures of the workbench on bundled samples: sizes, themes, and no colours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

import sample_sessions
from compaction.policy import Policy
from tui.app import Workbench
from tui.opening import Opening
from tui.screens.workbench import WorkbenchScreen
from tui.settings import Settings

CHAT = sample_sessions.path("support-chat")

Compare = Callable[..., bool]


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Workbench]:
    """Makes an app that looks the same every time."""
    monkeypatch.setenv("COMPACTION_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("COMPACTION_NO_CACHE", "1")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(Input, "cursor_blink", False)
    monkeypatch.setattr(TextArea, "cursor_blink", False)

    def made(theme: str = "", **settings: Any) -> Workbench:
        policy = Policy(budget=2_000, keep_recent=7)
        opening = Opening(str(CHAT), CHAT.name, policy=policy)
        return Workbench(opening, Settings(theme=theme, **settings))

    return made


def after(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Waits for the session, presses keys, and waits again."""

    async def run(pilot: Pilot[int]) -> None:
        await at_rest(pilot)
        for key in keys:
            await pilot.press(key)
        await at_rest(pilot)

    return run


async def at_rest(pilot: Pilot[int]) -> None:
    """Until nothing is read, counted or summarized any more."""
    for _ in range(200):
        await pilot.pause(0.02)
        (screen,) = (each for each in pilot.app.screen_stack if isinstance(each, WorkbenchScreen))
        counted = screen.counts is not None and screen.counts.exact
        if counted and not screen.summarizing and not screen.loading_session:
            await pilot.pause()
            return
    pytest.fail("the workbench never came to rest")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)], ids=["120x40", "80x24", "40x12"])
def test_sizes(snap_compare: Compare, app: Callable[..., Workbench], size: tuple[int, int]) -> None:
    assert snap_compare(app(), terminal_size=size, run_before=after("j", "j"))


def test_light(snap_compare: Compare, app: Callable[..., Workbench]) -> None:
    made = app("workbench-light", pane="summary")
    assert snap_compare(made, terminal_size=(120, 40), run_before=after())


def test_without_colours(
    snap_compare: Compare, app: Callable[..., Workbench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    made = app(pane="result")
    assert snap_compare(made, terminal_size=(120, 40), run_before=after("G"))


def test_a_message_in_a_narrow_terminal(
    snap_compare: Compare, app: Callable[..., Workbench]
) -> None:
    assert snap_compare(app(), terminal_size=(80, 24), run_before=after("j", "enter"))


def test_a_filter_and_a_search(snap_compare: Compare, app: Callable[..., Workbench]) -> None:
    keys = ("f", *"role:tool", "enter", "/", *"refund", "enter")
    assert snap_compare(app(), terminal_size=(120, 30), run_before=after(*keys))
