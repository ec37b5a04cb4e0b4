"""How a heat map is drawn: solid shades of one colour, or patterns where there are few colours."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from tui.widgets.heat_data import METRICS, SHORT, Heat
from tui.widgets.looks import Palette, right, short

#: Cells for the budgets at the left.
LABEL = 7

_PATTERNS = "·░▒▓█"
_FRONT, _BEST = "•", "★"


@dataclass(frozen=True, slots=True)
class Face:
    """Everything that decides how a map looks; `wide` and `tall` are those of a cell."""

    heat: Heat
    metric: str
    here: tuple[int, int]
    wide: int = 3
    tall: int = 1
    solid: bool = True
    focused: bool = False


def _names(width: int) -> list[tuple[int, str, str]]:
    """The names of the metrics with where they stand."""
    names = METRICS if sum(map(len, METRICS.values())) + 2 * len(METRICS) <= width else SHORT
    out, at = [], 0
    for metric, name in names.items():
        out.append((at, metric, name))
        at += len(name) + 2
    return out


def metric_line(metric: str, width: int, palette: Palette) -> Strip:
    """The names of the metrics; the one that is shown stands out."""
    segments: list[Segment] = []
    for _, each, name in _names(width):
        style = palette.muted
        if each == metric:
            style = palette.text + Style(bold=True, underline=True)
        segments += [Segment(name, style), Segment("  ", palette.text)]
    segments.append(Segment("m", palette.faint))
    return Strip(segments)


def metric_at(x: int, width: int) -> str | None:
    """The metric whose name is at a column of that line."""
    for at, metric, name in _names(width):
        if at <= x < at + len(name):
            return metric
    return None


def line_of(face: Face, y: int, width: int, palette: Palette) -> Strip:
    """One line under the names, counted from above."""
    rows = len(face.heat.budgets)
    if y < rows * face.tall:
        return _cells(face, rows - 1 - y // face.tall, y % face.tall == 0, palette)
    below = y - rows * face.tall
    if below == 0:
        return _amounts(face, palette)
    return _signs(face, width, palette) if below == 1 else Strip([])


def _cells(face: Face, budget: int, first: bool, palette: Palette) -> Strip:
    heat = face.heat
    here = budget == face.here[0]
    label = right(short(heat.budgets[budget]) if first else "", LABEL - 1)
    style = palette.accent + Style(bold=True) if here else palette.muted
    segments = [Segment(label + " ", style)]
    for amount in range(len(heat.amounts)):
        cell = heat.cell(budget, amount)
        segments.extend(_cell(face, cell, (budget, amount) == face.here, first, palette))
    return Strip(segments)


def _cell(face: Face, cell: int, here: bool, first: bool, palette: Palette) -> list[Segment]:
    heat, wide = face.heat, face.wide
    share = heat.share(face.metric, cell)
    mark = _BEST if cell == heat.best else (_FRONT if cell in heat.front else "")
    mark = mark if first else ""
    if share is None:
        text, ink = " " * wide, palette.faint
    elif face.solid:
        shade = _shade(share, palette)
        text = " " * wide
        ink = Style(color=shade.get_contrast_text(1.0).rich_color, bgcolor=shade.rich_color)
    else:
        pattern = _PATTERNS[min(len(_PATTERNS) - 1, int(share * len(_PATTERNS)))]
        text, ink = pattern * wide, palette.accent
    cells = list(text)
    middle = (wide - 1) // 2
    if mark:
        cells[middle] = mark
    if here and first:
        cells[0], cells[-1] = "[", "]"
        if wide == 2 and mark:
            cells[:] = mark, "]"
    text = "".join(cells)
    strong = Style(bold=True)
    if face.solid or not (mark or here):
        return [Segment(text, ink + (strong if mark or here else Style()))]
    # A sign among patterns needs a colour, and a ground, of its own.
    return [
        Segment(char, palette.text + strong if char in "[]•★" else ink) for char in text
    ]


def _shade(share: float, palette: Palette) -> Color:
    ground = palette.text.bgcolor
    accent = palette.accent.color
    low = Color.from_rich_color(ground) if ground is not None else Color.parse("#101010")
    high = Color.from_rich_color(accent) if accent is not None else Color.parse("#a78bfa")
    # The least value is still seen to be a cell.
    return low.blend(high, 0.10 + 0.90 * share)


def _amounts(face: Face, palette: Palette) -> Strip:
    """The amounts under their columns; one that has no room is left out, never the present one."""
    heat, wide = face.heat, face.wide
    width = wide * len(heat.amounts)
    cells: list[tuple[str, Style]] = [(" ", palette.muted)] * width
    strong = palette.accent + Style(bold=True)

    def write(amount: int, style: Style) -> None:
        text = heat.amount_label(heat.amounts[amount])
        start = max(0, min(width - len(text), amount * wide + (wide - len(text)) // 2))
        around = cells[max(0, start - 1) : start + len(text) + 1]
        if all(char == " " for char, _ in around):
            cells[start : start + len(text)] = [(char, style) for char in text]

    write(min(face.here[1], len(heat.amounts) - 1), strong)
    for amount in range(len(heat.amounts)):
        if amount != face.here[1]:
            write(amount, palette.muted)
    label = Segment(right("keep", LABEL - 1) + " ", palette.faint)
    return Strip([label, *(Segment(char, style) for char, style in cells)]).simplify()


def _signs(face: Face, width: int, palette: Palette) -> Strip:
    """What shades and signs mean."""
    low, high = face.heat.ends(face.metric)
    segments = [Segment(" " * LABEL, palette.text)]
    said = face.heat.said
    segments.append(Segment(f"{_plain(said(face.metric, low))} ", palette.muted))
    if face.solid:
        for step in range(5):
            shade = Style(bgcolor=_shade(step / 4, palette).rich_color)
            segments.append(Segment(" ", shade))
    else:
        segments.append(Segment(_PATTERNS, palette.accent))
    segments.append(Segment(f" {_plain(said(face.metric, high))}", palette.muted))
    used = sum(len(each.text) for each in segments)
    for sign, text in ((_FRONT, "best trades"), (_BEST, "advised")):
        if used + len(text) + 4 <= width:
            segments += [Segment(f"  {sign} ", palette.text), Segment(text, palette.muted)]
            used += len(text) + 4
    return Strip(segments)


def _plain(text: str) -> str:
    return text.removesuffix(" tokens' worth").removesuffix(" compactions").removesuffix(
        " compaction"
    )
