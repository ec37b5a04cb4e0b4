"""Fixtures and settings shared by every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast inputs are found depends on the machine and on the seed, and says nothing of the code.
_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile(
    "ci", max_examples=200, deadline=None, print_blob=True, suppress_health_check=_QUIET
)
settings.register_profile("dev", max_examples=100, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

#: Real data beside the checkout.
SHARED = Path(__file__).resolve().parents[2] / "shared"


def _folder(name: str) -> Path:
    folder = SHARED / name if name else SHARED
    if not folder.is_dir():
        pytest.skip(f"the folder of real data ({name or 'shared'}) is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; the test is skipped where it is not."""
    return _folder("")


@pytest.fixture(scope="session")
def shared_sessions() -> Path:
    """Real session files by format."""
    return _folder("sessions")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Public bug reports as small inputs."""
    return _folder("cases")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was found in the real files, gathered from wherever the tests ran."""
    rows = [
        value
        for report in terminalreporter.getreports("passed")
        for key, value in report.user_properties
        if key == "real session" and report.when == "call"
    ]
    if not rows:
        return
    terminalreporter.section("real session files")
    line = "{:<17} {:>6} {:>8} {:>8} {:>5}  {:<15} {}".format
    say = terminalreporter.write_line
    say(line("format", "live", "left out", "problems", "conv.", "compacted", "file"))
    for row in sorted(rows, key=lambda row: (row[-1], row[0])):
        say(line(*row))
    refused = sum(row[0] == "refused" for row in rows)
    formats = len({row[0] for row in rows} - {"refused"})
    say(
        f"{len(rows)} real files: {len(rows) - refused} of {formats} formats read, written and "
        f"read again alike; {refused} without a session refused."
    )
