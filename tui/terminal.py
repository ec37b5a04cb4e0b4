"""The terminal the workbench needs: whether it is there, and a keyboard after piped input."""

from __future__ import annotations

import os
import shlex
import sys

from compaction.errors import CompactionError

_STDIN, _STDERR = 0, 2


class NoTerminalError(CompactionError):
    """The workbench cannot be drawn here; the text names the command that needs no screen."""


def require_terminal(session: str | None, *, piped_input: bool = False) -> None:
    """Raise NoTerminalError unless keys can be read and a screen drawn.

    `piped_input` says that standard input carries the session: then only a terminal to draw on is
    needed, and `keyboard_from_terminal` finds the keys.
    """
    streams = [sys.stdout, sys.stderr] if piped_input else [sys.stdin, sys.stdout, sys.stderr]
    headless = f"compaction plan {shlex.quote(session) if session else 'SESSION'}"
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise NoTerminalError(
            f"the workbench needs a terminal and there is none here; run `{headless}`."
        )
    if os.environ.get("TERM") == "dumb":
        raise NoTerminalError(f"the terminal cannot draw a screen (TERM=dumb); run `{headless}`.")


def read_piped() -> bytes:
    """All of standard input."""
    return sys.stdin.buffer.read()


def keyboard_from_terminal() -> None:
    """Put the terminal where standard input was, once the piped session has been read.

    Raises NoTerminalError where there is no terminal to read keys from.
    """
    try:
        path = os.ttyname(_STDERR)
        terminal = os.open(path, os.O_RDWR)
    except (OSError, AttributeError) as error:  # Windows has no ttyname
        raise NoTerminalError(
            "no keyboard can be read after piped input here; save the session to a file and "
            "open that."
        ) from error
    os.dup2(terminal, _STDIN)
    os.close(terminal)
