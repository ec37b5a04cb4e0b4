"""Fixtures of the tests of the screen and the command line."""

from __future__ import annotations

import io
import sys

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
