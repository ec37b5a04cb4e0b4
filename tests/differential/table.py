"""Writes RESULTS.md: how often each preset keeps what its original keeps, with the versions.

    python -m pip install --group differential-light .      (or: --group differential)
    python -m tests.differential.table

Rows of originals that are not installed stay as they are, since not all go into one environment.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from tests.differential.cases import cases
from tests.differential.comparing import Tally, compare
from tests.differential.describing import Original, installed
from tests.differential.originals import ORIGINALS

RESULTS = Path(__file__).with_name("RESULTS.md")

_TOP = """# Presets against their originals

Written by `python -m tests.differential.table`. Each original runs on the same lists of messages
as the preset, drawn ones and the bundled sessions, at several budgets or sizes, with the same count
for every message; what both keep, change in place and put a summary to must be the same. *Acted*
are the comparisons in which the original changed anything. Known differences are those the notes
of the preset tell; there may be no others.

| preset | original | compared | acted | equal | known differences | others |
|---|---|---:|---:|---:|---|---:|
"""


def row(name: str, original: Original, tally: Tally) -> str:
    """One line of the table."""
    known = "; ".join(f"{count} {why}" for why, count in sorted(tally.known.items())) or "none"
    what = f"{original.package} {installed(original)}: {original.what}"
    numbers = f"{tally.total} | {tally.acted} | {tally.same}"
    return f"| {name} | {what} | {numbers} | {known} | {len(tally.unexplained)} |"


def main() -> None:
    """Compare what is installed, and write the table."""
    logging.disable(logging.CRITICAL)
    written = RESULTS.read_text() if RESULTS.exists() else ""
    rows = dict(re.findall(r"^(?=\| ([a-z-]+) \|)(.+)$", written, re.MULTILINE))
    for name, original in ORIGINALS.items():
        if not installed(original):
            print(f"{name}: {original.package} is not installed, its row stays as it is")
            continue
        made = cases(tools=original.tools, system=original.system)
        tally = compare(made, original.run, original.policy, original.explain, original.budgets)
        rows[name] = row(name, original, tally)
        print(rows[name])
    rows.pop("preset", None)
    body = "\n".join(rows[name] for name in ORIGINALS if name in rows)
    RESULTS.write_text(f"{_TOP}{body}\n")


if __name__ == "__main__":
    main()
