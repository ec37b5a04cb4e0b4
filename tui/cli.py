"""The program `compaction`: one click group, its exit codes, and errors as one sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from compaction import __version__
from compaction.errors import CompactionError, SummarizerError
from tui.cli_check import check
from tui.cli_export import export
from tui.cli_inspect import inspect
from tui.cli_lists import formats, policies
from tui.cli_open import demo, open_session
from tui.cli_output import complain, prepare_streams
from tui.cli_plan import plan
from tui.cli_replay import replay
from tui.cli_sweep import compare, recommend, sweep

#: Exit codes, as documented in the help.
DONE, FINDINGS, USAGE, NOT_MADE, INTERRUPTED = 0, 1, 2, 3, 130

#: Options of the group itself; any other first word starts the hidden command `open`.
_OWN_OPTIONS = frozenset({"--help", "-h", "--version"})


class WorkbenchGroup(click.Group):
    """A group whose first word may be a session instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Send everything that names no command to `open`, the workbench."""
        if not args or (args[0] not in self.commands and args[0] not in _OWN_OPTIONS):
            args = ["open", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=WorkbenchGroup,
    name="compaction",
    options_metavar="[SESSION] [OPTIONS]",
    subcommand_metavar="| COMMAND …",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "`compaction COMMAND --help` tells the options of one command. SESSION is a file, or - "
        "for standard input; write ./plan for a file that is named like a command. Exit codes: "
        "0 done, 1 findings at error level, 2 usage or unreadable input, 3 the result could not "
        "be made, 130 interrupted."
    ),
)
@click.version_option(__version__, "--version", message="compaction %(version)s")
def program() -> None:
    """See, tune and export the compaction of an LLM agent session.

    `compaction SESSION` opens the workbench on it; the commands below do the same work without
    a screen. Data goes to standard output, everything else to standard error.
    """


for _command in (
    open_session, demo, inspect, plan, export, check, replay, sweep, compare, recommend, policies,
    formats,
):  # fmt: skip
    program.add_command(_command)


def run(args: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code; errors are printed as one sentence."""
    prepare_streams()
    try:
        code = _invoke(list(sys.argv[1:] if args is None else args))
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return DONE
    return code


def _invoke(args: list[str]) -> int:
    try:
        result: Any = program.main(args, prog_name="compaction", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit:
        # Outside of its standalone mode click leaves by itself only when the reader is gone.
        raise BrokenPipeError from None
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted.")
        return INTERRUPTED
    except click.ClickException as error:
        complain(_sentence(error))
        return USAGE
    except SummarizerError as error:
        complain(str(error))
        return NOT_MADE
    except CompactionError as error:
        complain(str(error))
        return USAGE
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}.")
        return USAGE
    except MemoryError:
        complain("there is not enough memory for this session; try a smaller part of it.")
        return USAGE
    return result if isinstance(result, int) else DONE


def _sentence(error: click.ClickException) -> str:
    """The message of a usage error, with the command whose help tells more."""
    text = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return text
    path = context.command_path.removesuffix(" open")
    return f"{text} See `{path} --help`."


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's own flush at the end stays quiet."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the program."""
    sys.exit(run(args))
