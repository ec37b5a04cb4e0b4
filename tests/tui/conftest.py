"""Fixtures of the tests of the screen and the command line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.tui.running import Cli, Ran


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs one command line in this process, `stdin` on its standard input."""

    def run_one(*args: object, stdin: bytes = b"") -> Ran:
        from tui.cli import run

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        code = run([str(arg) for arg in args])
        out, err = capsysbinary.readouterr()
        return Ran(code, out.decode("utf-8", "surrogatepass"), err.decode("utf-8"))

    return run_one


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person at this machine: no settings, no cache, no wish about colours."""
    monkeypatch.setenv("COMPACTION_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("COMPACTION_NO_CACHE", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
