"""`--help` needs click and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROBE = """
import sys
from tui.cli import run
code = run(sys.argv[1:])
heavy = {"textual", "rich", "tiktoken", "yaml", "orjson", "regex", "compaction.formats",
         "compaction.planning", "compaction.summary"} & set(sys.modules)
print("code", code, "heavy", sorted(heavy))
"""


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["plan", "--help"], ["export", "--help"], ["demo", "-h"]]
)
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PROBE, *args], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip().splitlines()[-1] == "code 0 heavy []"


def test_headless_commands_load_no_screen() -> None:
    import sample_sessions

    path = str(sample_sessions.path("support-chat"))
    probe = (
        "import sys; from tui.cli import run; run(sys.argv[1:]); "
        "sys.stderr.write(str('textual' in sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", probe, "plan", path], capture_output=True, text=True, check=True
    )
    assert ran.stderr.endswith("False")
