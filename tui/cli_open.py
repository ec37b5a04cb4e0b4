"""`compaction SESSION` and `compaction demo`: the workbench on the screen."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
from tui.opening import Opening

if TYPE_CHECKING:
    from compaction.formats.base import Dialect, History

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
    opening = _opening(settings)
    terminal.require_terminal(name, piped_input=piped)
    if piped:
        opening = replace(opening, source=_piped(), name="standard input")
    return _show(opening)


@click.command(short_help="Open the workbench on a bundled session that is over budget.")
@reading_options
@policy_options
@summary_options
@dialect_option
def demo(**given: Any) -> int:
    """Open the workbench on a bundled session that is over budget."""
    import sample_sessions

    path = str(sample_sessions.path(sample_sessions.DEMO))
    opening = _opening(replace(Settings.of(given), session=path))
    terminal.require_terminal(path)
    return _show(replace(opening, demo=True))


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


def _opening(settings: Settings) -> Opening:
    """The settings as values; what is wrong with them is told before a screen is drawn."""
    from tui.cli_work import policy_of, summarizer_of, summary_text_of

    asked = (
        settings.policy,
        settings.tokenizer,
        settings.budget,
        settings.keep_recent,
        settings.safety,
        settings.pins or None,
    )
    return Opening(
        source=settings.session,
        name=settings.session or "",
        read_as=settings.read_as,
        history=cast("History", settings.history),
        conversation=settings.conversation,
        policy=None if all(each is None for each in asked) else policy_of(settings),
        summarizer=summarizer_of(settings),
        summary_text=summary_text_of(settings),
        dialect=cast("Dialect | None", settings.dialect),
    )


def _piped() -> bytes:
    """The session on standard input; the keyboard is put in its place."""
    data = terminal.read_piped()
    if not data.strip():
        raise SessionError("standard input is empty: pipe a session in.")
    terminal.keyboard_from_terminal()
    return data


def _show(opening: Opening) -> int:
    """Run the workbench until it is closed; gives its exit code."""
    from tui.app import Workbench

    app = Workbench(opening)
    app.run()
    return app.return_code or 0
