"""A tmux server for each test, ended with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.tmux import Tmux, installed_program

Start = Callable[..., Tmux]


@pytest.fixture
def program() -> str:
    """The installed program; the test is skipped without it or without tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: the end-to-end tests need it")
    return installed_program()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a command in a tmux of its own: `start(command, size=(80, 24))`.

    Settings and caches of the program go to a folder of the test.
    """
    running: list[Tmux] = []
    home = tmp_path / "home"
    home.mkdir()

    def begin(command: str, **options: object) -> Tmux:
        tmux = Tmux(
            tmp_path / f"tmux{len(running)}",
            command,
            environment=(
                f"HOME={home}",
                f"XDG_CONFIG_HOME={home}/config",
                f"XDG_CACHE_HOME={home}/cache",
                f"XDG_STATE_HOME={home}/state",
                f"XDG_DATA_HOME={home}/data",
                "TERM=tmux-256color",
                "LC_ALL=C.UTF-8",
                "TEXTUAL_ANIMATIONS=none",
            ),
            **options,  # type: ignore[arg-type]
        )
        running.append(tmux)
        return tmux

    yield begin
    for tmux in running:
        tmux.close()
