"""Whatever is pressed, clicked, dragged or resized, the workbench goes on and leaves cleanly."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.pilot import Pilot

import sample_sessions
from tui.app import Workbench
from tui.commands import COMMANDS
from tui.opening import Opening
from tui.settings import Settings

#: What ends the program or leaves it for another one is not among the keys.
_LEAVING = {"quit", "edit-outside"}
KEYS = [key for command in COMMANDS for key in command.keys if command.id not in _LEAVING]
KEYS += [
    *("j", "k", "g", "G", "h", "l", "m", "r", "t", "c", "5", "0"),
    *("tab", "shift+tab", "enter", "escape", "escape", "left", "right", "up", "down"),
    *("pageup", "pagedown", "home", "end", "equals_sign", "backspace", "ctrl+s"),
]
SIZES = [(120, 40), (100, 30), (80, 24), (59, 20), (40, 12), (20, 5), (8, 3), (200, 60)]
SAMPLES = ["login-refactor", "support-chat", "hostile-upload", "exchange-rates-codex"]


async def one_step(pilot: Pilot[int], chance: random.Random) -> None:
    """A key, or now and then a click, a drag or another size."""
    width, height = pilot.app.size
    places = [(chance.randrange(width), chance.randrange(height)) for _ in range(2)]
    match chance.random():
        case kind if kind < 0.05:
            await pilot.resize_terminal(*chance.choice(SIZES))
        case kind if kind < 0.15:
            await pilot.click(offset=places[0])
        case kind if kind < 0.2:
            await pilot.mouse_down(offset=places[0])
            await pilot.hover(offset=places[1])
            await pilot.mouse_up(offset=places[1])
        case _:
            await pilot.press(chance.choice(KEYS))


@pytest.mark.parametrize("seed", range(8))
async def test_nothing_stops_it(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPACTION_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.setenv("COMPACTION_NO_CACHE", "1")
    # What is copied goes to no clipboard of the desktop.
    monkeypatch.setenv("SSH_TTY", "/dev/null")
    chance = random.Random(seed)
    source = str(sample_sessions.path(SAMPLES[seed % len(SAMPLES)]))
    before = Path(source).read_bytes()  # noqa: ASYNC240
    app = Workbench(Opening(source=source, name=Path(source).name), Settings())
    async with app.run_test(size=chance.choice(SIZES)) as pilot:
        if seed % 2:
            await app.workers.wait_for_complete()
        for _ in range(40):
            if not app.is_running or app._exit:  # a click on "quit" in the line of keys
                break
            await one_step(pilot, chance)
        assert app._exception is None
    assert Path(source).read_bytes() == before  # noqa: ASYNC240
