"""`compaction SESSION` and `compaction demo`: the workbench on the screen."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import click

from compaction.errors import SessionError
from tui import terminal
from tui.cli_options import (
    Settings,
    dialect_option,
    policy_options,
    reading_options,
    summary_options,
)

#: Commands by name, to tell a misspelled command from a missing file.
_COMMANDS = ("demo", "inspect", "plan", "export", "check", "policies", "formats")


@click.command("open", hidden=True)
@click.argument("session", metavar="SESSION", required=False)
@reading_options
@policy_options
@summary_options
@dialect_option
def open_session(**given: Any) -> int:
    """Open the workbench on SESSION; without one, on a picker of files."""
    settings = Settings.of(given)
    name = settings.session
    piped = name == "-"
    if name is not None and not piped:
        _must_exist(name)
    terminal.require_terminal(name, piped_input=piped)
    data: bytes | None = None
    if piped:
        data = terminal.read_piped()
        if not data.strip():
            raise SessionError("standard input is empty: pipe a session in.")
        terminal.keyboard_from_terminal()
    return _show(settings, data)


@click.command(short_help="Open the workbench on a bundled session that is over budget.")
@reading_options
@policy_options
@summary_options
@dialect_option
def demo(**given: Any) -> int:
    """Open the workbench on a bundled session that is over budget."""
    import dataclasses

    import sample_sessions

    path = str(sample_sessions.path(sample_sessions.DEMO))
    settings = dataclasses.replace(Settings.of(given), session=path)
    terminal.require_terminal(path)
    return _show(settings, None, demo=True)


def _must_exist(name: str) -> None:
    """Raise SessionError for a file that is not there, naming the command it may have meant."""
    try:
        if Path(name).exists():
            return
    except (OSError, ValueError) as error:
        raise SessionError(f"{name!r} is no usable file name.") from error
    near = difflib.get_close_matches(name, _COMMANDS, 1)
    hint = f" Did you mean the command `{near[0]}`?" if near else ""
    raise SessionError(f"{name}: there is no such file, and no command of that name.{hint}")


def _show(settings: Settings, data: bytes | None, *, demo: bool = False) -> int:
    """Run the workbench until it is closed; gives its exit code."""
    raise NotImplementedError
