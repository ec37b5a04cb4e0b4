"""`compaction check --fix`: a repaired copy of a session, and what was changed in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tui.cli_check import finding_rows
from tui.cli_export import to_stdout
from tui.cli_output import Cell, Column, Printer, count, note, print_json

if TYPE_CHECKING:
    from compaction.formats.base import Dialect
    from compaction.messages import Session


def fixed(
    session: Session,
    dialect: Dialect,
    output: str,
    out_format: str | None,
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Write the repaired session and tell each change. 1 when something is still refused."""
    from compaction.export import losses, save
    from compaction.repairing import repair

    result = repair(session, dialect)
    for loss in losses(result, out_format):
        note(f"{loss.level}: {loss.text}")
    if output == "-":
        size, name = to_stdout(result, out_format), out_format or session.format
    else:
        saved = save(result, output, out_format, force=force)
        size, name = saved.bytes, saved.format
    if as_json:
        print_json(
            {
                "dialect": dialect,
                "changes": [change.as_json() for change in result.changes],
                "findings": [finding.as_json() for finding in result.remaining],
                "output": {"path": output, "format": name, "bytes": size},
            }
        )
        return 1 if result.remaining else 0
    printer = Printer(sys.stderr) if output == "-" else Printer.standard()
    where = "standard output" if output == "-" else output
    if not result.changes:
        printer.line(f"Nothing to mend for {dialect}; {where} is a copy.")
    else:
        printer.line(Cell(f"{dialect}: ", "1"), f"{count(len(result.changes), 'change')}")
        printer.table(
            (Column(right=True), Column(widest=34), Column(wrap=True)),
            [
                [
                    "" if change.message is None else f"#{change.message}",
                    Cell(change.code, "2"),
                    change.text,
                ]
                for change in result.changes
            ],
        )
    if result.remaining:
        printer.line(Cell("left: ", "1;31"), "what could not be mended")
        printer.table(
            (Column(), Column(right=True), Column(widest=34), Column(wrap=True)),
            finding_rows(result.remaining),
        )
    return 1 if result.remaining else 0
