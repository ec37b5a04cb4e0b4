"""A program on a raw pseudo-terminal: every byte it writes, taken apart, and its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest
from rich.cells import cell_len

from tests.e2e.tmux import PATIENCE

#: What a terminal does more than print, by the byte after the escape that starts a string.
_STRINGS = {b"]": "OSC", b"P": "DCS", b"_": "APC", b"^": "PM", b"X": "SOS"}

_TOKEN = re.compile(
    rb"\x1b\[(?P<csi>[0-?]*[ -/]*[@-~])"
    rb"|\x1b(?P<kind>[]P_^X])(?P<string>.*?)(?P<end>\x07|\x1b\\)"
    rb"|\x1b(?P<short>[ -/]*[0-Z\\`-~])"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    rb"|(?P<text>[^\x00-\x1f\x7f]+)"
    rb"|(?P<open>\x1b)",
    re.DOTALL,
)


#: The beginning of a sequence, or of a character in UTF-8, that the rest is missing of.
_CUT = re.compile(
    rb"(\x1b(\[[0-?]*[ -/]*|[]P_^X][^\x07\x1b]*\x1b?)?"
    rb"|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One thing a terminal does: `kind` is CSI, OSC, DCS, APC, PM, SOS, ESC, C0, text or open."""

    kind: str
    value: str


def tokens(data: bytes) -> Iterator[Token]:
    """What a terminal makes of `data`, in order. Bytes that are no UTF-8 stay as surrogates."""
    for found in _TOKEN.finditer(data):
        if found["kind"] is not None:
            yield Token(_STRINGS[found["kind"]], _decoded(found["string"]))
            continue
        for name, kind in (
            ("csi", "CSI"), ("short", "ESC"), ("control", "C0"), ("text", "text"),
            ("open", "open"),
        ):  # fmt: skip
            if found[name] is not None:
                yield Token(kind, _decoded(found[name]))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class Screen:
    """The cells a full-screen program has drawn: cursor moves and text are all it understands."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns = columns
        self._cells = [[" "] * columns for _ in range(rows)]
        self._at = [0, 0]

    def feed(self, token: Token) -> None:
        """Do what one token says, as far as it moves or prints."""
        row, column = self._at
        if token.kind == "CSI" and token.value[-1] in "Hf":
            numbers = [int(one or 1) for one in token.value[:-1].split(";")] + [1, 1]
            self._at = [numbers[0] - 1, numbers[1] - 1]
        elif token.value == "\r":
            self._at = [row, 0]
        elif token.value == "\n":
            self._at = [min(row + 1, len(self._cells) - 1), column]
        elif token.kind == "text":
            for character in token.value:
                self._put(character)

    def _put(self, character: str) -> None:
        row, column = self._at
        width = cell_len(character)
        if width and row < len(self._cells) and column < self._columns:
            self._cells[row][column] = character
            for behind in range(column + 1, min(column + width, self._columns)):
                self._cells[row][behind] = ""
        self._at = [row, column + width]

    @property
    def text(self) -> str:
        """The rows."""
        return "\n".join("".join(row).rstrip() for row in self._cells)


class RawTerminal:
    """One program on a pseudo-terminal of its own, all of whose bytes are kept."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        size: tuple[int, int] = (100, 30),
    ) -> None:
        self._ours, theirs = pty.openpty()
        columns, rows = size
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        self._program = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**inherited, "TERM": "xterm-256color", **environment},
            start_new_session=True,
        )
        os.close(theirs)
        self.received = bytearray()
        self._screen = Screen(columns, rows)
        self._fed = 0

    def keys(self, text: str) -> None:
        """Send keys as a terminal does."""
        os.write(self._ours, text.encode())

    def wait(self, shows: str | Callable[[str], bool]) -> str:
        """The first screen that shows a text (or satisfies a condition)."""
        wanted = shows if callable(shows) else lambda screen: shows in screen
        deadline = time.monotonic() + PATIENCE
        while not wanted(self.screen):
            if not self._read(deadline):
                pytest.fail(f"the screen never showed {shows!r}:\n{self.screen}")
        return self.screen

    @property
    def screen(self) -> str:
        """What is drawn by what was received so far."""
        end = len(self.complete)
        for token in tokens(bytes(self.received[self._fed : end])):
            self._screen.feed(token)
        self._fed = end
        return self._screen.text

    @property
    def complete(self) -> bytes:
        """What was received, without a last sequence or character that is cut."""
        cut = _CUT.search(self.received, max(self._fed, len(self.received) - 64))
        return bytes(self.received[: cut.start()] if cut else self.received)

    def _read(self, deadline: float) -> bool:
        """Take in what the program has written; False when it has ended or takes too long."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            chunk = os.read(self._ours, 65536)
        except OSError:  # Linux says so when the last writer is gone
            return False
        self.received += chunk
        return bool(chunk)

    def ended(self) -> int:
        """Everything up to the end of the program, and its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self._program.wait(PATIENCE)

    def close(self) -> None:
        """End the program if it runs still."""
        if self._program.poll() is None:
            self._program.kill()
            self._program.wait()
        os.close(self._ours)
