"""A program in a tmux of its own: keys, mouse, resizing, and waiting for what the screen shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest

#: Seconds a screen may take to show what is waited for, on a busy machine.
PATIENCE = 40.0
_BETWEEN_LOOKS = 0.05


def installed_program() -> str:
    """The installed `compaction` of the running interpreter; the test is skipped without it."""
    beside = Path(sys.executable).with_name("compaction")
    found = str(beside) if beside.exists() else shutil.which("compaction")
    if found is None:
        pytest.skip("the program is not installed in this environment (pip install -e .)")
    return found


class Tmux:
    """One session of one private tmux server."""

    def __init__(
        self,
        socket: Path,
        command: str,
        *,
        size: tuple[int, int] = (120, 40),
        cwd: Path | None = None,
        environment: Sequence[str] = (),
    ) -> None:
        self._tmux = shutil.which("tmux") or pytest.skip("tmux is not installed")
        self._socket = str(socket)
        self._never = Event()
        width, height = size
        self._run(
            *("-f", "/dev/null", "new-session", "-d", "-s", "test"),
            *("-x", str(width), "-y", str(height)),
            *(("-c", str(cwd)) if cwd else ()),
            *(part for each in environment for part in ("-e", each)),
            # The shell tells how the program ended and stays, so that its words can be read.
            f"{command}; echo \"exit status $?\"; exec cat",
        )

    def _run(self, *args: str) -> str:
        done = subprocess.run(
            [self._tmux, "-S", self._socket, *args],
            capture_output=True,
            text=True,
            check=True,
            env=_terminal_environment(),
        )
        return done.stdout

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names: `x`, `Enter`, `Left`, `C-d`."""
        self._run("send-keys", "-t", "test", *names)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._run("send-keys", "-t", "test", "-l", "--", text)

    def mouse(self, kind: str, column: int, row: int) -> None:
        """An SGR mouse event at a cell counted from 0; `kind` is press, drag or release."""
        button, end = {"press": (0, "M"), "drag": (32, "M"), "release": (0, "m")}[kind]
        self.type(f"\x1b[<{button};{column + 1};{row + 1}{end}")

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press at `start`, move to `end` in four steps, let go."""
        (column, row), (last, last_row) = start, end
        self.mouse("press", column, row)
        for step in range(1, 5):
            self.mouse("drag", column + (last - column) * step // 4, last_row)
        self.mouse("release", last, last_row)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self._run("resize-window", "-t", "test", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        """What is on the screen now, one line a row."""
        return self._run("capture-pane", "-p", "-t", "test")

    def wait(self, shows: str | Callable[[str], bool], why: str = "") -> str:
        """The first screen that shows a text (or satisfies a condition); fails after PATIENCE."""
        wanted = shows if callable(shows) else lambda screen: shows in screen
        deadline = time.monotonic() + PATIENCE
        while True:
            screen = self.screen()
            if wanted(screen):
                return screen
            if time.monotonic() > deadline:
                pytest.fail(f"the screen never showed {why or shows!r}:\n{screen}")
            self._never.wait(_BETWEEN_LOOKS)

    def wait_for_exit(self, status: int = 0) -> str:
        """The screen once the program has ended with `status`."""
        return self.wait(f"exit status {status}")

    def close(self) -> None:
        """End the server of this test, and only that one."""
        subprocess.run([self._tmux, "-S", self._socket, "kill-server"], capture_output=True)


def _terminal_environment() -> dict[str, str]:
    """The environment without the size that a test plug-in sets: the terminal has its own."""
    return {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}


def place(screen: str, text: str) -> tuple[int, int]:
    """(column, row) in cells of the first place that shows `text`."""
    from rich.cells import cell_len

    for row, line in enumerate(screen.splitlines()):
        at = line.find(text)
        if at >= 0:
            return cell_len(line[:at]), row
    pytest.fail(f"{text!r} is not on the screen:\n{screen}")
