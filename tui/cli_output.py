"""What the commands print: sanitised lines and aligned tables, colour only on a terminal.

Everything here goes through `compaction.plaintext`, so no text of a transcript or of a file name
reaches the terminal as anything but text. Data is printed on standard output, narration on
standard error.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

from compaction.plaintext import block, one_line

#: What stands for a drawn glyph where the encoding of the stream has none.
_PLAIN_GLYPHS = str.maketrans(
    {
        "█": "#",
        "▉": "#",
        "▊": "#",
        "▋": "#",
        "▌": "|",
        "▍": "|",
        "▎": "|",
        "▏": "|",
        "▒": "=",
        "░": ":",
        "◆": "*",
        "·": ".",
        "─": "-",
        "│": "|",
        "├": "|",
        "└": "`",
        "→": ">",
        "…": "~",
        "▸": ">",
        "“": '"',
        "”": '"',
        "’": "'",
        "–": "-",
        "—": "-",
        "≈": "~",
    }
)
_EIGHTHS = " ▏▎▍▌▋▊▉"

#: In JSON text every character outside ASCII stands in a string, where an escape means the same.
_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def prepare_streams() -> None:
    """Let no encoding of the terminal make printing fail: what it lacks is shown as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: a terminal, no NO_COLOR, and a TERM that is not dumb."""
    return (
        stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def draws(stream: TextIO) -> bool:
    """Whether the encoding of the stream has the glyphs that bars and tables are drawn with."""
    try:
        "█▏░◆…─".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def complain(text: str) -> None:
    """One error on standard error, on one line, quietly when nobody can read it."""
    _tell(f"compaction: {text}")


def note(text: str) -> None:
    """One line of narration on standard error."""
    _tell(text)


def _tell(text: str) -> None:
    clean = one_line(text)
    if not draws(sys.stderr):
        clean = clean.translate(_PLAIN_GLYPHS)
    try:
        sys.stderr.write(f"{clean}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        return


def print_json(value: object) -> None:
    """One JSON object on standard output: exact, and without one raw character that acts."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not utf8, indent=None, separators=(", ", ": "))
    sys.stdout.write(_UNSAFE_IN_JSON.sub(_escaped, text) + "\n")


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


# ------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class Cell:
    """Text with the SGR parameters of its colour ("" for none), such as "1;36"."""

    text: str
    sgr: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """How a column looks: its heading, which side it is aligned to, and its widest width.

    What is too long is cut, with an ellipsis; a last column that wraps is told in full.
    """

    heading: str = ""
    right: bool = False
    widest: int | None = None
    wrap: bool = False


@dataclass(slots=True)
class Printer:
    """Prints to one stream, and knows its width, its glyphs and whether it has colours."""

    stream: TextIO
    colour: bool = False
    glyphs: bool = True
    width: int = 100

    @classmethod
    def standard(cls) -> Printer:
        """The printer of standard output; 100 columns where that is no terminal."""
        stream = sys.stdout
        width = 100
        if stream.isatty():
            try:
                width = os.get_terminal_size(stream.fileno()).columns or width
            except OSError:
                width = 100
        return cls(stream, wants_colour(stream), draws(stream), max(40, width))

    def line(self, *cells: str | Cell) -> None:
        """Cells side by side on one line."""
        self._write("".join(self._painted(_cell(cell)) for cell in cells))

    def heading(self, text: str) -> None:
        """A heading with a blank line before it."""
        self._write("")
        self.line(Cell(text, "1"))

    def text(self, text: str) -> None:
        """Free text with its line breaks."""
        for line in block(text).split("\n"):
            self._write(line)

    def table(
        self, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], indent: int = 2
    ) -> None:
        """Rows under headings, aligned; the last column ends at the width of the terminal."""
        body = [[_clean(_cell(cell)) for cell in row] for row in rows]
        headings = [_clean(Cell(column.heading, "2")) for column in columns]
        if any(cell.text for cell in headings):
            body.insert(0, headings)
        widths = [
            min(
                max((cell_width(row[at].text) for row in body), default=0),
                column.widest or self.width,
            )
            for at, column in enumerate(columns)
        ]
        if columns and not columns[-1].right:
            used = indent + sum(widths[:-1]) + 2 * (len(columns) - 1)
            widths[-1] = max(8, min(widths[-1], self.width - used))
        for row in body:
            rest: list[str] = []
            if columns[-1].wrap:
                first, *rest = wrapped(row[-1].text, widths[-1])
                row[-1] = Cell(first, row[-1].sgr)
            cells = (
                self._aligned(cell, width, right=column.right)
                for cell, width, column in zip(row, widths, columns, strict=True)
            )
            self._write((" " * indent + "  ".join(cells)).rstrip())
            before = " " * (indent + sum(widths[:-1]) + 2 * (len(columns) - 1))
            for line in rest:
                self._write(before + self._painted(Cell(line, row[-1].sgr), clean=True))

    def bar(self, share: float, width: int) -> str:
        """A bar of `share` (0 to 1) of `width` cells, in eighths where there are glyphs for it."""
        eighths = round(max(0.0, min(1.0, share)) * width * 8)
        if share > 0:
            eighths = max(1, eighths)
        full, rest = divmod(eighths, 8)
        return "█" * full + (_EIGHTHS[rest] if rest else "")

    def _aligned(self, cell: Cell, width: int, *, right: bool) -> str:
        text = fit(cell.text, width)
        pad = " " * (width - cell_width(text))
        painted = self._painted(Cell(text, cell.sgr), clean=True)
        return pad + painted if right else painted + pad

    def _painted(self, cell: Cell, *, clean: bool = False) -> str:
        text = cell.text if clean else one_line(cell.text)
        return f"\x1b[{cell.sgr}m{text}\x1b[0m" if cell.sgr and self.colour and text else text

    def _write(self, line: str) -> None:
        self.stream.write((line if self.glyphs else line.translate(_PLAIN_GLYPHS)) + "\n")


def _cell(cell: str | Cell) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


def _clean(cell: Cell) -> Cell:
    return Cell(one_line(cell.text), cell.sgr)


def cell_width(text: str) -> int:
    """Terminal cells that `text` takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, width: int) -> str:
    """`text` cut to `width` cells, an ellipsis in place of what is left out."""
    if cell_width(text) <= width:
        return text
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, max(0, width - 1)).rstrip()}…"


def wrapped(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` cells, broken between words where there are any."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_width(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        lines[-1:] = _chopped(word, width)
    return lines


def _chopped(word: str, width: int) -> list[str]:
    if cell_width(word) <= width:
        return [word]
    from rich.cells import chop_cells

    return chop_cells(word, width) or [""]


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 message`, `1,204 messages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def share(part: int, whole: int) -> str:
    """`part` of `whole` in per cent, "" when there is no whole."""
    if not whole:
        return ""
    per_cent = 100 * part / whole
    return f"{per_cent:.1f} %" if 0 < per_cent < 10 else f"{per_cent:.0f} %"
