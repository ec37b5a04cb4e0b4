"""Whether there is a terminal, and the keyboard after a piped session."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from tui.terminal import NoTerminalError, require_terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def streams(monkeypatch: pytest.MonkeyPatch, *terminals: str) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal() if name in terminals else io.StringIO())
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_terminal_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    streams(monkeypatch, "stdin", "stdout", "stderr")
    require_terminal("s.jsonl")


@pytest.mark.parametrize("missing", ["stdin", "stdout", "stderr"])
def test_each_stream_is_needed(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    streams(monkeypatch, *({"stdin", "stdout", "stderr"} - {missing}))
    with pytest.raises(NoTerminalError, match=r"compaction plan 'my file\.jsonl'"):
        require_terminal("my file.jsonl")


def test_piped_input_needs_no_keyboard_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    streams(monkeypatch, "stdout", "stderr")
    require_terminal("-", piped_input=True)


_REPLUMB = """
import os, sys
from tui import terminal
terminal.require_terminal("-", piped_input=True)
data = terminal.read_piped()
terminal.keyboard_from_terminal()
assert sys.__stdin__.fileno() == 0 and os.isatty(0)
os.write(1, b"read %d, then %s" % (len(data), os.read(0, 3)))
"""


def test_keys_come_from_the_terminal_after_a_piped_session() -> None:
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-c", _REPLUMB],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    assert program.stdin is not None
    program.stdin.write(b"a session of 23 letters")
    program.stdin.close()
    os.write(ours, b"abc\n")
    shown = b""
    while b"then" not in shown:
        chunk = os.read(ours, 1000)
        assert chunk
        shown += chunk
    program.wait()
    os.close(ours)
    assert b"read 23, then abc" in shown
