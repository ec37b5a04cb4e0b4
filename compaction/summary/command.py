"""A shell command as a summarizer: the transcript on its input, the summary on its output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import IO

from compaction.errors import SummarizerError
from compaction.plaintext import one_line
from compaction.summary.protocol import SummaryRequest
from compaction.summary.transcript import readable

#: Seconds a command may run unless told otherwise.
TIMEOUT = 120.0
#: Bytes of output read before the command is stopped: no summary is this long.
OUTPUT_LIMIT = 4 * 1024 * 1024

_STDERR_LIMIT = 64 * 1024
_POLL = 0.05
_GRACE = 2.0
_POSIX = os.name == "posix"


class Command:
    """Runs a shell line. The messages come on its standard input as readable text.

    The wanted length stands in the variable COMPACTION_MAX_TOKENS of its environment. It is
    stopped, with every process it started, after `timeout` seconds or when cancelled.
    """

    def __init__(self, line: str, timeout: float = TIMEOUT) -> None:
        self._line = line
        self._timeout = timeout

    @property
    def name(self) -> str:
        return f"command:{self._line}"

    def summarize(self, request: SummaryRequest) -> str:
        """What the command printed. Raises SummarizerError with its exit status and the end of
        its error output; Cancelled when the request was.
        """
        run = _Run(self._line, request)
        try:
            status = run.wait(self._timeout, request.heed)
        finally:
            run.stop()
        return self._answer(run, status)

    def _answer(self, run: _Run, status: int | None) -> str:
        said = _last_line(bytes(run.stderr))
        tail = f": {said}" if said else ""
        shown = one_line(self._line, 60)
        if run.overflowed:
            raise SummarizerError(
                f"The summarizer command printed more than {OUTPUT_LIMIT:,} bytes and was stopped"
                f" ({shown})."
            )
        if status is None:
            raise SummarizerError(
                f"The summarizer command did not finish within {self._timeout:g} s and was"
                f" stopped ({shown}){tail}."
            )
        if status != 0:
            how = f"was ended by signal {-status}" if status < 0 else f"exited with {status}"
            raise SummarizerError(f"The summarizer command {how} ({shown}){tail}.")
        try:
            return bytes(run.stdout).decode("utf-8")
        except UnicodeDecodeError as error:
            raise SummarizerError(
                f"The summarizer command printed bytes that are not UTF-8 text, at byte"
                f" {error.start:,} ({shown})."
            ) from error


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1], 200) if lines else ""


class _Run:
    """One started command with its three pipes served by threads, so that none can block."""

    def __init__(self, line: str, request: SummaryRequest) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.overflowed = False
        environment = {**os.environ, "COMPACTION_MAX_TOKENS": str(request.max_tokens)}
        try:
            self._process = subprocess.Popen(  # noqa: S602 - a shell line is what was asked for
                line,
                shell=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=_POSIX,
            )
        except (OSError, ValueError) as error:
            raise SummarizerError(f"The summarizer command cannot be started: {error}.") from error
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        work = (
            (_feed, self._process.stdin, readable(request.messages)),
            (self._read, self._process.stdout, self.stdout, OUTPUT_LIMIT),
            (self._read, self._process.stderr, self.stderr, _STDERR_LIMIT),
        )
        self._threads = [
            threading.Thread(target=call, args=arguments, daemon=True) for call, *arguments in work
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, pipe: IO[bytes], into: bytearray, limit: int) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(pipe.fileno(), 65536):
                if len(into) < limit:
                    into += chunk[: limit - len(into)]
                elif into is self.stdout:
                    self.overflowed = True
                    return

    def wait(self, timeout: float, heed: Callable[[], None]) -> int | None:
        """The exit status; None when the time was up or the output too long."""
        deadline = time.monotonic() + timeout
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(_POLL)
            heed()
            if self.overflowed or time.monotonic() >= deadline:
                return None

    def stop(self) -> None:
        """Ends what is left of the command and its children, and closes the pipes."""
        if self._process.poll() is not None:
            # What it printed before it ended is still on its way through the pipes.
            self._join(_GRACE)
        self._kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._join(_GRACE)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()

    def _join(self, seconds: float) -> None:
        for thread in self._threads:
            thread.join(seconds)

    def _kill(self) -> None:
        if _POSIX:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif sys.platform == "win32":
            subprocess.run(  # noqa: S603
                ["taskkill", "/F", "/T", "/PID", str(self._process.pid)],  # noqa: S607
                check=False,
                capture_output=True,
            )
        if self._process.poll() is None:
            self._process.kill()


def _feed(pipe: IO[bytes], chunks: Iterable[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for chunk in chunks:
            pipe.write(chunk.encode("utf-8", "replace"))
        pipe.close()
