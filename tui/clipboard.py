"""Copying: through the terminal, and through the desktop's own tool where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tui.widgets.looks import counted

if TYPE_CHECKING:
    from textual.app import App

#: Characters past which many terminals take nothing.
TERMINAL_LIMIT = 74_000

#: Seconds a desktop's tool may take.
_PATIENCE = 3

_Which = Callable[[str], str | None]


def copy(app: App[Any], text: str, what: str) -> str:
    """Copy `text`; gives the sentence that says so. `what` names it: "message #12"."""
    text = sendable(text)
    if not text:
        return f"There is nothing to copy: {what} is empty."
    app.copy_to_clipboard(text)
    command = desktop_command()
    if command is not None:
        app.run_worker(partial(hand_over, command, text), thread=True, exit_on_error=False)
    elif len(text) > TERMINAL_LIMIT:
        return (
            f"Copied {what} ({counted(len(text), 'character')}); many terminals take less. "
            "Export it (x) if it is cut."
        )
    return f"Copied {what} ({counted(len(text), 'character')})."


def sendable(text: str) -> str:
    """`text` as UTF-8 can hold it: lone surrogates become `\N{REPLACEMENT CHARACTER}`."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def desktop_command(
    environ: Mapping[str, str] | None = None, which: _Which = shutil.which
) -> tuple[str, ...] | None:
    """The desktop's tool that takes a text on standard input; None where there is none.

    Over SSH there is none: it would be the clipboard of the other machine.
    """
    environ = os.environ if environ is None else environ
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return None
    tools: list[tuple[str, ...]] = [("pbcopy",)]
    if environ.get("WAYLAND_DISPLAY"):
        tools.append(("wl-copy",))
    if environ.get("DISPLAY"):
        tools += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    for name, *options in tools:
        found = which(name)
        if found is not None:
            return (found, *options)
    return None


def hand_over(command: tuple[str, ...], text: str) -> bool:
    """Give `text` to a tool; whether it took it."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed tool, found on the path
            command,
            input=text.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
