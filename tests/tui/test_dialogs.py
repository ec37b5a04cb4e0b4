"""Choosing, asking, and help."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App
from textual.screen import Screen
from textual.widgets import Static

from tui.commands import COMMANDS
from tui.screens.ask import Ask
from tui.screens.choose import Choice, Choose
from tui.screens.help import Help, help_passages
from tui.widgets.text_pane import TextPane

CHOICES = [
    Choice("m", "Message", "the message", "m"),
    Choice("s", "Summary", "the summary", "s"),
    Choice("c", "Command line", "[bold]of this setting", "c"),
]


class Stage(App[None]):
    """Shows a dialog and remembers what it gave."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, dialog: Screen[Any]) -> None:
        super().__init__()
        self.given: list[Any] = []
        self._dialog = dialog

    def on_mount(self) -> None:
        self.push_screen(self._dialog, self.given.append)


@pytest.mark.parametrize(
    ("keys", "given"),
    [
        (["enter"], "s"),
        (["down", "enter"], "c"),
        (["k", "enter"], "m"),
        (["c"], "c"),
        (["escape"], None),
        (["q"], None),
    ],
)
async def test_choosing_starts_at_the_present_one(keys: list[str], given: str | None) -> None:
    app = Stage(Choose("Copy", CHOICES, "s"))
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.given == [given]


async def test_a_click_chooses() -> None:
    app = Stage(Choose("Copy", CHOICES))
    async with app.run_test() as pilot:
        await pilot.click("#choices", offset=(4, 2))
        await pilot.pause()
        assert app.given == ["c"]


async def test_a_click_beside_the_panel_leaves() -> None:
    app = Stage(Choose("Copy", CHOICES))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.click(offset=(1, 1))
        await pilot.pause()
        assert app.given == [None]


async def test_asking_until_the_answer_is_right() -> None:
    def check(text: str) -> str:
        return "" if text.endswith(".yaml") else f"[b]{text} is no YAML file."

    app = Stage(Ask("Save", "a", note="where to", check=check))
    async with app.run_test() as pilot:
        note = app.screen.query_one("#ask-note", Static)
        assert str(note.content) == "where to"
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == []
        assert str(note.content) == "[b]a is no YAML file."
        await pilot.press(*".yaml", "enter")
        await pilot.pause()
        assert app.given == ["a.yaml"]


async def test_nothing_typed_is_no_answer() -> None:
    app = Stage(Ask("Save"))
    async with app.run_test() as pilot:
        await pilot.press("enter", "escape")
        await pilot.pause()
        assert app.given == [None]


def test_help_tells_every_command_and_the_keys_of_the_settings() -> None:
    told = "\n".join(passage.text for passage in help_passages({"pin": "ctrl+k"}, "/s.yaml"))
    for command in COMMANDS:
        assert f" {command.id} " in told
        assert command.tooltip.split(" ", 1)[0] in told
    pin = next(line for line in told.splitlines() if " pin " in line)
    assert pin.split()[0] == "ctrl+k"
    assert "slider.more" in told
    assert "/s.yaml" in told


@pytest.mark.parametrize("width", [30, 60, 100])
def test_help_stays_in_its_width(width: int) -> None:
    *lines, _ = help_passages({}, "", width)
    longest = max(len(passage.text) for passage in lines)
    assert longest <= max(width, 19 + 18 + 16)


@pytest.mark.parametrize("size", [(120, 40), (40, 12), (8, 3)])
async def test_help_opens_moves_and_closes(size: tuple[int, int]) -> None:
    app = Stage(Help())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("j", "G")
        await pilot.pause()
        assert app.screen.query_one(TextPane).line_count > 60
        await pilot.press("question_mark")
        await pilot.pause()
        assert app.given == [None]
