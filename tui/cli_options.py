"""The options that commands share, and the value they arrive in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tui.widgets.amounts import parse_amount

if TYPE_CHECKING:
    _Count = click.ParamType[int]
    _Amount = click.ParamType[int | float]
else:  # older clicks have no generic parameter types
    _Count = _Amount = click.ParamType

Command = TypeVar("Command", bound=Callable[..., Any])

_FRACTION = re.compile(r"[0-9]*\.[0-9]+%?|[0-9]+%")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person asked for on the command line; None where they left the default."""

    session: str | None = None
    read_as: str | None = None
    history: str = "live"
    conversation: str | None = None
    tokenizer: str | None = None
    policy: str | None = None
    budget: int | None = None
    keep_recent: int | float | None = None
    safety: str | None = None
    pins: tuple[int, ...] = ()
    summarizer: str | None = None
    summary_file: str | None = None
    dialect: str | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> Settings:
        """The settings among click's parameters; a command need not offer all of them."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known})


class Tokens(_Count):
    """A number of tokens: `120000`, `120_000`, `120,000`, `120k` or `1.2M`."""

    name = "tokens"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number as an int of at least 1."""
        if isinstance(value, int):
            return value
        number = _amount(str(value), param, ctx)
        if number < 1:
            raise click.BadParameter("a budget has at least one token.", ctx, param)
        return number


class KeepRecent(_Amount):
    """How much of the end stays verbatim: a whole number, or a fraction such as 0.3."""

    name = "n"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        """An int of at least 0, or a float from 0 to 1 when written with a point."""
        if isinstance(value, (int, float)):
            return value
        text = str(value).strip()
        if not _FRACTION.fullmatch(text):
            return _amount(text, param, ctx)
        fraction = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        if fraction > 1:
            raise click.BadParameter(
                f"{text} is more than the whole; a number with a point is a fraction from 0 to 1.",
                ctx,
                param,
            )
        return fraction


def _amount(text: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
    try:
        return parse_amount(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", ctx, param) from error


def session_argument(command: Command) -> Command:
    """SESSION: a file, or - for standard input."""
    return click.argument("session", metavar="SESSION")(command)


def json_option(command: Command) -> Command:
    """--json: one object on standard output."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object, for programs."
    )(command)


def reading_options(command: Command) -> Command:
    """How to read and count a session."""
    return _all(
        command,
        click.option(
            "--as",
            "read_as",
            metavar="FORMAT",
            help="Read the file as this format instead of recognising it (see `formats`).",
        ),
        click.option(
            "--history",
            type=click.Choice(["live", "full"]),
            default="live",
            show_default=True,
            help="live: what is in the context window now; full: all that was ever sent.",
        ),
        click.option(
            "--conversation",
            metavar="ID",
            help="Which conversation, of a file that holds several.",
        ),
        click.option(
            "--tokenizer",
            metavar="NAME",
            help="Count with o200k_base (the default), chars/4, fast, cl100k_base, or calibrated "
            "(made true by the usage that the file reports).",
        ),
    )


def policy_options(command: Command) -> Command:
    """What to keep and what to summarize."""
    return _all(
        command,
        click.option(
            "--policy",
            metavar="NAME|FILE",
            help="A published policy (see `policies`), a YAML file, or file.py:Class of your own.",
        ),
        click.option(
            "--budget", type=Tokens(), metavar="TOKENS", help="Tokens the list may have: 120k."
        ),
        click.option(
            "--keep-recent",
            type=KeepRecent(),
            metavar="N",
            help="How much of the end stays verbatim; messages, unless the policy says otherwise.",
        ),
        click.option(
            "--safety",
            type=click.Choice(["off", "group", "turn"]),
            help="What a cut must not split.",
        ),
        click.option(
            "--pin",
            "pins",
            type=click.IntRange(min=0),
            multiple=True,
            metavar="INDEX",
            help="Keep this message verbatim, too; may be given several times.",
        ),
    )


def summary_options(command: Command) -> Command:
    """Who writes the summary."""
    return _all(
        command,
        click.option(
            "--summarizer",
            metavar="SPEC",
            help="digest (offline, the default), none, command:…, python:module:function, "
            "openai:MODEL or anthropic:MODEL (a key in OPENAI_API_KEY or ANTHROPIC_API_KEY).",
        ),
        click.option(
            "--summary-file",
            metavar="FILE",
            help="Take the summary from this text file instead of making one.",
        ),
    )


def strict_option(command: Command) -> Command:
    """--strict: an unreached budget is a failure."""
    return click.option(
        "--strict", is_flag=True, help="Exit with 3 when the result is still over the budget."
    )(command)


def dialect_option(command: Command) -> Command:
    """--dialect: whose rules."""
    return click.option(
        "--dialect",
        type=click.Choice(["openai-chat", "openai-responses", "anthropic", "gemini"]),
        help="Whose rules to check against; the default suits the format of the session.",
    )(command)


def _all(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
