"""The installed workbench in a real terminal: keys, mouse, resizing, export, a pipe."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import compaction
import sample_sessions
from tests.e2e.conftest import Start
from tests.e2e.tmux import Tmux, place

pytestmark = pytest.mark.e2e

DEMO = sample_sessions.path(sample_sessions.DEMO)
CHAT = sample_sessions.path("support-chat")
WIDE, SMALL = (120, 40), (80, 24)


def setting(screen: str, label: str) -> int:
    """The number a slider shows at the end of its line."""
    line = next(line for line in screen.splitlines() if label in line and "●" in line)
    own = line[line.index(label) :]
    numbers = re.findall(r"\d[\d,]*", own.split("●", 1)[1])
    assert numbers, line
    return int(numbers[0].replace(",", ""))


def opened(tmux: Tmux, name: str) -> str:
    """The screen once the session is counted and planned."""
    return tmux.wait(
        lambda screen: (
            name in screen
            and "●" in screen
            and ("▌R" in screen or "░S" in screen)
            and "estimated" not in screen
        ),
        f"the counted session {name}",
    )


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["120x40", "80x24"])
def test_the_demo_opens_and_closes(program: str, start: Start, size: tuple[int, int]) -> None:
    tmux = start(f"{program} demo", size=size)
    screen = opened(tmux, "login-refactor")
    assert "budget" in screen
    assert "100,000" in screen
    assert setting(screen, "keep recent") == 20
    tmux.keys("q")
    tmux.wait_for_exit(0)


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["120x40", "80x24"])
def test_a_drag_on_the_budget_changes_the_plan(
    program: str, start: Start, size: tuple[int, int]
) -> None:
    tmux = start(f"{program} {shlex.quote(str(DEMO))}", size=size)
    before = setting(opened(tmux, "login-refactor"), "budget")
    screen = tmux.screen()
    row = next(n for n, line in enumerate(screen.splitlines()) if "budget" in line and "●" in line)
    column, _ = place(screen.splitlines()[row], "●")
    tmux.drag((column, row), (column - 6, row))
    tmux.wait(lambda shown: setting(shown, "budget") < before, "a smaller budget")
    tmux.keys("u")
    tmux.wait(lambda shown: setting(shown, "budget") == before, "the old budget again")


def test_keys_typed_in_one_go_reach_the_slider_they_are_for(program: str, start: Start) -> None:
    tmux = start(f"{program} {shlex.quote(str(DEMO))}", size=WIDE)
    opened(tmux, "login-refactor")
    tmux.keys("B", "Left", "K", "Right", "Right")
    screen = tmux.wait(lambda shown: setting(shown, "keep recent") == 22, "two messages more")
    assert setting(screen, "budget") < 100_000


def test_the_screen_follows_the_size_of_the_terminal(program: str, start: Start) -> None:
    tmux = start(f"{program} {shlex.quote(str(CHAT))}", size=WIDE)
    opened(tmux, "support-chat")
    tmux.resize(*SMALL)
    tmux.wait(
        lambda shown: "user" in shown and max(map(len, shown.splitlines())) <= 80,
        "the small screen",
    )
    tmux.resize(*WIDE)
    tmux.wait(lambda shown: any(len(line) > 100 for line in shown.splitlines()), "the wide screen")
    tmux.keys("q")
    tmux.wait_for_exit(0)


def test_export_writes_a_file_that_loads_again(program: str, start: Start, tmp_path: Path) -> None:
    session = tmp_path / "talk.json"
    session.write_bytes(CHAT.read_bytes())
    tmux = start(f"{program} talk.json --budget 2k --keep-recent 6", size=WIDE, cwd=tmp_path)
    opened(tmux, "talk.json")
    tmux.keys("x")
    tmux.wait("Export")
    tmux.keys("Enter")
    tmux.wait("Wrote")
    tmux.keys("q")
    tmux.wait_for_exit(0)
    (written,) = [path for path in tmp_path.glob("*.json") if path != session]
    again = compaction.load(written)
    assert again.format == "openai-chat"
    assert 6 < len(again) < 46
    assert session.read_bytes() == CHAT.read_bytes()


def test_a_piped_session_opens_and_keys_work(program: str, start: Start) -> None:
    tmux = start(f"cat {shlex.quote(str(CHAT))} | {program} -", size=WIDE)
    screen = opened(tmux, "standard input")
    before = setting(screen, "budget")
    tmux.keys("q")
    tmux.wait_for_exit(0)
    assert before == 100_000


def test_nothing_of_a_hostile_session_acts(program: str, start: Start) -> None:
    hostile = sample_sessions.path("hostile-upload")
    tmux = start(f"{program} {shlex.quote(str(hostile))}", size=WIDE)
    opened(tmux, "hostile-upload")
    for _ in range(12):
        tmux.keys("j")
    screen = tmux.wait("What should we tell")
    assert "keep recent" in screen
    tmux.keys("q")
    tmux.wait_for_exit(0)
