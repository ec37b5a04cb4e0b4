"""`compaction check`: what a provider would refuse, before and after compaction."""

from __future__ import annotations

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

#: The columns of `finding_row`: level, place, code, and the whole text.
FINDING_COLUMNS = (Column(), Column(right=True), Column(widest=34), Column(wrap=True))
_COLOURS = {"error": "1;31", "warning": "33", "info": "2"}


@click.command(short_help="What a provider would refuse, before and after compaction.")
@session_argument
@dialect_option
@reading_options
@policy_options
@summary_options
@json_option
def check(as_json: bool, **given: Any) -> int:
    """What a provider would refuse, in the session and in its compacted result.

    Exits with 1 when there is a finding at error level, with 0 otherwise.

    \b
    --json prints {"dialect": NAME, "findings": [{"stage": "session" | "compacted",
    "level": "error" | "warning" | "info", "code": NAME, "message": INDEX | null,
    "text": SENTENCE}, ...], "compacts": BOOL}; the index of a message counts in the
    list of its stage. A finding that both lists have is told once for each.
    """
    from compaction.validity import check as find
    from tui.cli_work import compacted, dialect_of, load_session, planned

    settings = Settings.of(given)
    session = load_session(settings)
    dialect = dialect_of(settings, session)
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
        printer.table(
            FINDING_COLUMNS,
            [finding_row(finding) for finding in findings],
        )


def finding_row(finding: Finding) -> list[str | Cell]:
    """A finding as a table row: level, place, code, text with its remedy."""
    place = ""
    if finding.message is not None:
        place = f"#{finding.message}"
    elif finding.line is not None:
        place = f"line {finding.line}"
    text = f"{finding.text} {finding.remedy}".strip()
    return [Cell(finding.level, _COLOURS[finding.level]), place, Cell(finding.code, "2"), text]
