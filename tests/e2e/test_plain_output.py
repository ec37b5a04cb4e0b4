"""Every command on the hostile sample, on a terminal: nothing of it reaches the terminal raw."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sample_sessions

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

pytestmark = pytest.mark.e2e

HOSTILE = sample_sessions.path("hostile-upload")
#: What the program itself writes on a terminal: colours.
_OWN = re.compile("\x1b\\[[0-9;]*m")
_ACTS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def on_a_terminal(*args: str, **environment: str) -> tuple[int, str]:
    """Exit code and all that reached the terminal (standard output and error)."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "tui", *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **environment},
        close_fds=True,
    )
    os.close(theirs)
    received = bytearray()
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not chunk:
            break
        received += chunk
    os.close(ours)
    return program.wait(), received.decode("utf-8", "surrogateescape")


COMMANDS = [
    ("inspect", "FILE"),
    ("inspect", "FILE", "--json"),
    ("inspect", "FILE", "--history", "full"),
    ("plan", "FILE"),
    ("plan", "FILE", "--budget", "2000", "--keep-recent", "3"),
    ("plan", "FILE", "--json"),
    ("check", "FILE", "--budget", "2000"),
    ("check", "FILE", "--json"),
    ("export", "FILE", "-o", "-"),
    ("export", "FILE", "-o", "-", "--budget", "2000", "--keep-recent", "3"),
    ("export", "FILE", "-o", "OUT", "--budget", "2000", "--keep-recent", "3", "--json"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_hostile_reaches_the_terminal(command: tuple[str, ...], tmp_path: Path) -> None:
    hostile_name = tmp_path / "a\x1b[31mb\u202ec\x9b2J.jsonl"
    hostile_name.write_bytes(HOSTILE.read_bytes())
    names = {"FILE": str(hostile_name), "OUT": str(tmp_path / "out.jsonl")}
    code, shown = on_a_terminal(*(names.get(part, part) for part in command))
    assert code in {0, 1}, shown
    assert shown.strip()
    assert not _ACTS.search(_OWN.sub("", shown))


@pytest.mark.parametrize("name", ["a\x1b[2Jb.json", "a\u202eb.json", "a\x9b2Jb", "[/bold]"])
def test_a_hostile_name_in_an_error(name: str, tmp_path: Path) -> None:
    for command in (("plan",), ("inspect",), ()):
        code, shown = on_a_terminal(*command, str(tmp_path / name))
        assert code == 2
        assert not _ACTS.search(shown)
        assert len(shown.strip().splitlines()) == 1


def test_colours_follow_the_terminal_and_no_color() -> None:
    assert "\x1b[" in on_a_terminal("plan", str(HOSTILE))[1]
    assert "\x1b" not in on_a_terminal("plan", str(HOSTILE), NO_COLOR="1")[1]
    assert "\x1b" not in on_a_terminal("plan", str(HOSTILE), TERM="dumb")[1]


def test_a_dumb_terminal_gets_no_screen() -> None:
    code, shown = on_a_terminal(str(HOSTILE), TERM="dumb")
    assert code == 2
    assert "TERM=dumb" in shown
