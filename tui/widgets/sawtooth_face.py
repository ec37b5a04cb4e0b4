"""How a sawtooth is drawn: columns in eighths, the budget through them, marks and numbers below."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.widgets.looks import Palette, grouped, right, short
from tui.widgets.sawtooth_shape import Column, Shape

_BLOCKS = " ▁▂▃▄▅▆▇█"
_MADE, _REAL, _NOT = "▲", "△", "×"


@dataclass(frozen=True, slots=True)
class Face:
    """Everything that decides how a sawtooth looks; `label` cells at the left are numbers."""

    shape: Shape
    call: int
    height: int
    label: int
    focused: bool = False

    @property
    def real(self) -> bool:
        """Whether there is a line for what a tool really did."""
        return bool(self.shape.saw.recorded) and self.height >= 8

    @property
    def legend(self) -> bool:
        """Whether there is room to say what the signs mean."""
        return self.height >= 8

    @property
    def rows(self) -> int:
        """Lines of the columns themselves."""
        return max(1, self.height - 2 - self.real - self.legend)

    @property
    def unit(self) -> float:
        """Tokens of an eighth of a cell."""
        return self.shape.top / (self.rows * 8)

    @property
    def budget_row(self) -> int:
        """The line of the budget, counted from below; past the top where it is not shown."""
        return min(int(self.shape.saw.budget / self.unit / 8), self.rows)


def line_of(face: Face, y: int, palette: Palette) -> Strip:
    """One line, counted from above."""
    below = y - face.rows
    if below < 0:
        return _columns(face, face.rows - 1 - y, palette)
    if below == 0:
        return _marks(face, palette)
    if face.real:
        below -= 1
        if below == 0:
            return _real(face, palette)
    if below == 1:
        return _axis(face, palette)
    return _legend(face, palette) if below == 2 and face.legend else Strip([])


def _columns(face: Face, row: int, palette: Palette) -> Strip:
    saw, budget_row = face.shape.saw, face.budget_row
    text, style = "", palette.faint
    if row == budget_row:
        text, style = short(saw.budget), palette.text + Style(bold=True)
    elif row == face.rows - 1 and budget_row < row - 1:
        text = short(face.shape.top)
    elif row == 0:
        text = "0"
    segments = [Segment(right(text, face.label - 1) + " ", style)]
    first, until = face.shape.column_of(face.call)
    for x, column in enumerate(face.shape.columns):
        char, style = _cell(face, column, row, palette)
        if first <= x < until:
            if char in " ·╌":
                char, style = "│" if x == first else " ", palette.accent
            else:
                style = palette.accent + Style(bold=True)
        segments.append(Segment(char, style))
    return Strip(segments).simplify()


def _cell(face: Face, column: Column, row: int, palette: Palette) -> tuple[str, Style]:
    eighths = max(1, round(column.peak / face.unit)) if column.peak else 0
    fill = max(0, min(8, eighths - row * 8))
    if fill:
        middle = (row * 8 + fill / 2) * face.unit
        if row > face.budget_row:
            return ("▒" if fill == 8 else _BLOCKS[fill]), palette.error
        if middle <= column.head:
            region = "head"
        else:
            region = "summarized" if middle <= column.head + column.summary else "recent"
        return _BLOCKS[fill], palette.regions[region]
    if row == face.budget_row:
        return "╌", palette.muted
    if column.without > column.peak and int(column.without / face.unit / 8) == row:
        return "·", palette.faint
    return " ", palette.text


def _marks(face: Face, palette: Palette) -> Strip:
    """What the policy did: where it compacted, and where it could not."""
    shape, saw = face.shape, face.shape.saw
    cells = [(" ", palette.text)] * shape.width
    for call, end in saw.declined:
        first, _ = shape.column_of(call)
        _, until = shape.column_of(end - 1)
        for x in range(first, min(until, shape.width)):
            cells[x] = (_NOT if x == first else "╌", palette.error)
    for call in saw.compactions:
        cells[_at(shape, call)] = (_MADE, palette.regions["summarized"] + Style(bold=True))
    return _under(face, cells, palette)


def _real(face: Face, palette: Palette) -> Strip:
    """What the tool did that made the session."""
    shape, saw = face.shape, face.shape.saw
    cells = [(" ", palette.text)] * shape.width
    for call in saw.recorded:
        cells[_at(shape, min(call, saw.calls - 1))] = (_REAL, palette.text)
    return _under(face, cells, palette)


def _at(shape: Shape, call: int) -> int:
    return min(shape.width - 1, shape.column_of(call)[0])


def _under(face: Face, cells: list[tuple[str, Style]], palette: Palette) -> Strip:
    start = Segment(" " * face.label, palette.text)
    return Strip([start, *(Segment(char, style) for char, style in cells)]).simplify()


def _axis(face: Face, palette: Palette) -> Strip:
    """The numbers of the first, the last and the present call."""
    shape, calls = face.shape, face.shape.saw.calls
    width, here = shape.width, grouped(face.call + 1)
    end = grouped(calls)
    at = max(0, min(width - len(here), _at(shape, face.call) - len(here) // 2))
    cells = [(" ", palette.faint)] * width
    for start, text in ((0, "1"), (width - len(end), end)):
        # A number that would touch the present one gives way to it.
        if start >= 0 and (start + len(text) < at or start > at + len(here)):
            cells[start : start + len(text)] = [(char, palette.faint) for char in text]
    cells[at : at + len(here)] = [(char, palette.accent + Style(bold=True)) for char in here]
    label = Segment(right("call", face.label - 1) + " ", palette.faint)
    made = [label, *(Segment(char, style) for char, style in cells[:width])]
    return Strip(made).simplify()


def _legend(face: Face, palette: Palette) -> Strip:
    """What the signs mean; what has no room goes, the last first."""
    shape, saw = face.shape, face.shape.saw
    entries: list[tuple[str, str, Style]] = []
    if saw.compactions:
        count = grouped(len(saw.compactions))
        entries.append((_MADE, f"compacts {count}", palette.regions["summarized"]))
    if saw.declined:
        calls = sum(until - call for call, until in saw.declined)
        entries.append((_NOT, f"could not {grouped(calls)}", palette.error))
    if saw.recorded:
        entries.append((_REAL, f"really {grouped(len(saw.recorded))}", palette.text))
    if shape.without > shape.peak:
        entries.append(("·", f"without {short(shape.without)}", palette.faint))
    entries.append(("╌", "budget", palette.muted))
    segments = [Segment(" " * face.label, palette.text)]
    room = shape.width
    for sign, text, style in entries:
        if cell_len(text) + 2 > room:
            break
        segments += [Segment(sign + " ", style), Segment(text + "  ", palette.muted)]
        room -= cell_len(text) + 4
    return Strip(segments)


def marked(calls: tuple[int, ...], call: int) -> bool:
    """Whether `call` is one of the ascending `calls`."""
    place = bisect_left(calls, call)
    return place < len(calls) and calls[place] == call
