"""`compaction check`: what a provider would refuse, before and after compaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from tui.cli_options import (
    Settings,
    dialect_option,
    json_option,
    policy_options,
    reading_options,
    session_argument,
    summary_options,
)
from tui.cli_output import Cell, Column, Printer, count, print_json

if TYPE_CHECKING:
    from compaction.findings import Finding

#: The columns of `finding_rows`: level, place, code, and the whole text.
FINDING_COLUMNS = (Column(), Column(right=True), Column(widest=34), Column(wrap=True))

#: Characters for the places of findings that are told as one.
_PLACES = 120
_NAMES = {"error": "error", "warning": "warning", "info": "note"}
_COLOURS = {"error": "1;31", "warning": "33", "info": "2"}


@click.command(short_help="What a provider would refuse, before and after compaction.")
@session_argument
@dialect_option
@reading_options
@policy_options
@summary_options
@click.option(
    "--fix",
    is_flag=True,
    help="Write a copy of the session in which all that can be is mended, to the file of -o.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The file for --fix, or - for standard output; never the session itself.",
)
@click.option(
    "--format",
    "out_format",
    metavar="FORMAT",
    help="The format for --fix; the default is the one the session came in.",
)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@json_option
def check(
    as_json: bool,
    fix: bool,
    output: str | None,
    out_format: str | None,
    force: bool,
    **given: Any,
) -> int:
    """What a provider would refuse, in the session and in its compacted result.

    Exits with 1 when there is a finding at error level, with 0 otherwise. With --fix the session
    is not compacted: a copy is written with the least change that the API takes, each change is
    listed, and the exit code is 1 only for what could not be mended.

    \b
    --json prints {"dialect": NAME, "findings": [{"stage": "session" | "compacted",
    "level": "error" | "warning" | "info", "code": NAME, "message": INDEX | null,
    "text": SENTENCE}, ...], "compacts": BOOL}; the index of a message counts in the
    list of its stage. A finding that both lists have is told once for each. With --fix it
    prints {"dialect", "changes": [{"message": INDEX | null, "code", "text"}, ...],
    "findings": [FINDING, ...], "output": {"path", "format", "bytes"}}: what is left.
    """
    from compaction.validity import check as find
    from tui.cli_work import compacted, dialect_of, load_session, planned

    settings = Settings.of(given)
    if fix and output is None:
        raise click.UsageError("--fix writes a repaired copy; name its file with -o.")
    if output is not None and not fix:
        raise click.UsageError("-o is for --fix; to write the compacted result use `export`.")
    if fix and output == "-" and as_json:
        raise click.UsageError("--json and -o - both want standard output; name a file with -o.")
    session = load_session(settings)
    dialect = dialect_of(settings, session)
    if fix and output is not None:
        from tui.cli_fix import fixed

        return fixed(session, dialect, output, out_format, force=force, as_json=as_json)
    before = find(session.messages, dialect)
    result = compacted(planned(session, settings), settings)
    made = result.messages is not session.messages
    after = find(result.messages, dialect) if made else ()
    stages = {"session": before, "compacted": after}
    if as_json:
        findings = [
            {"stage": stage, **finding.as_json()}
            for stage, found in stages.items()
            for finding in found
        ]
        print_json({"dialect": dialect, "findings": findings, "compacts": made})
    else:
        _print(Printer.standard(), dialect, stages, made=made)
    refused = any(finding.level == "error" for found in stages.values() for finding in found)
    return 1 if refused else 0


def _print(
    printer: Printer, dialect: str, stages: dict[str, tuple[Finding, ...]], *, made: bool
) -> None:
    from compaction.findings import LEVELS

    titles = {"session": "the session as it is", "compacted": "the compacted result"}
    for stage, findings in stages.items():
        if stage == "compacted" and not made:
            printer.line("Nothing is compacted under this policy: the result is the session.")
            continue
        if not findings:
            printer.line(Cell("ok  ", "32"), f"{dialect} accepts {titles[stage]}.")
            continue
        printer.line(
            Cell(f"{dialect}: ", "1"), f"{count(len(findings), 'finding')} in {titles[stage]}"
        )
        for level in LEVELS:
            found = [finding for finding in findings if finding.level == level]
            if found:
                printer.heading(count(len(found), _NAMES[level]))
                printer.table(FINDING_COLUMNS, finding_rows(found))


def finding_rows(findings: Iterable[Finding]) -> list[list[str | Cell]]:
    """Findings as rows of a table: level, place, code, text with its remedy; most severe first.

    What is wrong in the same way at many places is one row that names them.
    """
    from compaction.findings import gathered, places

    rows: list[list[str | Cell]] = []
    for first, *others in gathered(findings):
        text = first.text
        if others:
            text += "" if text.endswith((".", "!", "?")) else "."
            text += f" And {len(others):,} more like it: {places(others, _PLACES)}."
        text = f"{text} {first.remedy}".strip()
        level = Cell(first.level, _COLOURS[first.level])
        rows.append([level, first.place, Cell(first.code, "2"), text])
    return rows
