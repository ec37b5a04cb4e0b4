"""How a slider looks: its track, its ticks and its note, as lines."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.widgets.looks import Palette, cut, fit, grouped, right, short
from tui.widgets.slider_scale import Scale

#: Below these widths the label goes, and the unit.
_LABELLED, _WITH_UNIT = 34, 44
#: Cells a number has at least, so that two sliders below each other line up.
_NUMBER = 7


@dataclass(frozen=True, slots=True)
class Mark:
    """A value worth knowing on the track, and the word under it."""

    value: int
    label: str
    glyph: str = "╵"


@dataclass(frozen=True, slots=True)
class Parts:
    """Widths of the label, the track and the box with the number, in cells."""

    label: int
    track: int
    box: int

    @property
    def start(self) -> int:
        """The first cell of the track."""
        return self.label

    @property
    def end(self) -> int:
        """The cell after the track."""
        return self.label + self.track


#: What stands in the place of a number that is worked out, the longest that fits.
_WORKED_OUT = ("what fits", "fits")


@dataclass(frozen=True, slots=True)
class Face:
    """Everything a slider shows. `entry` is what is being typed, None while nothing is.

    `worked_out`: there is no number to choose, since it is found out of other settings.
    """

    label: str
    scale: Scale
    value: int
    unit: str
    effective: int | None
    marks: tuple[Mark, ...]
    ticks: tuple[int, ...]
    note: str
    entry: str | None
    error: str
    focused: bool
    held: bool
    fill: Style
    worked_out: bool = False


def parts_for(width: int, label: str, unit: str, maximum: int) -> Parts:
    """How `width` cells are shared out."""
    label_cells = len(label) + 2 if width >= _LABELLED else 0
    number = max(len(grouped(maximum)), _NUMBER)
    unit_cells = len(unit) + 1 if unit and width >= _WITH_UNIT else 0
    box = min(width, number + unit_cells + 3)
    return Parts(label_cells, max(2, width - label_cells - box), box)


def track_line(face: Face, parts: Parts, palette: Palette) -> Strip:
    """Label, track and number."""
    scale = face.scale
    knob = scale.cell(face.value, parts.track)
    cells: list[tuple[str, Style]] = [
        ("━", face.fill) if cell < knob else ("─", palette.faint) for cell in range(parts.track)
    ]
    for mark in face.marks:
        if scale.minimum <= mark.value <= scale.maximum:
            cell = scale.cell(mark.value, parts.track)
            cells[cell] = ("┿" if cell < knob else "┼", palette.muted)
    if face.effective is not None:
        cells[scale.cell(face.effective, parts.track)] = ("○", face.fill)
    bold = Style(bold=True)
    cells[knob] = ("●", (face.fill if face.held else palette.text) + bold)
    label = palette.text + bold if face.focused else palette.muted
    segments = [Segment(fit(face.label, parts.label), label)] if parts.label else []
    segments.extend(Segment(char, style) for char, style in cells)
    segments.extend(_box(face, parts, palette))
    return Strip(segments).simplify()


def _box(face: Face, parts: Parts, palette: Palette) -> list[Segment]:
    if face.entry is not None:
        style = palette.error if face.error else palette.accent
        room = parts.box - 2
        return [
            Segment(" ", palette.text),
            Segment(right(face.entry[-room + 1 :] + "▏", room), style + palette.window),
            Segment(" ", palette.text),
        ]
    room = max(len(grouped(face.scale.maximum)), _NUMBER)
    strong = palette.text + Style(bold=True)
    if face.worked_out:
        text = next((one for one in _WORKED_OUT if len(one) < parts.box), "")
        return [Segment(right(text, parts.box - 1) + " ", palette.muted)]
    segments = [Segment(" " + right(grouped(face.value), room) + " ", strong)]
    rest = parts.box - room - 2
    if face.unit and rest > len(face.unit):
        segments.append(Segment(fit(face.unit, rest), palette.muted))
    return segments


def tick_line(face: Face, parts: Parts, palette: Palette) -> Strip:
    """Marks and ticks under their cells; a label that would touch another is left out."""
    scale = face.scale
    wanted = [(mark.value, mark.label, mark.glyph, palette.muted) for mark in face.marks]
    wanted += [(value, short(value), "╵", palette.faint) for value in face.ticks]
    taken: list[tuple[int, int, str, Style]] = []
    for value, label, glyph, style in wanted:
        if not scale.minimum <= value <= scale.maximum:
            continue
        start = scale.cell(value, parts.track)
        text = glyph + label
        end = start + cell_len(text)
        if end > parts.track + parts.box:
            text = label + glyph
            start, end = start + 1 - cell_len(text), start + 1
        if start >= 0 and all(end < left or start > stop for left, stop, _, _ in taken):
            taken.append((start, end, text, style))
    segments: list[Segment] = []
    at = -parts.label
    for start, end, text, style in sorted(taken, key=lambda entry: entry[0]):
        segments.append(Segment(" " * (start - at), palette.text))
        segments.append(Segment(text, style))
        at = end
    return Strip(segments)


def note_line(face: Face, parts: Parts, palette: Palette) -> Strip:
    """What is wrong with the entry, or else the note: under the track, or from the left on."""
    room = max(0, parts.track + parts.box)
    style = palette.error if face.error else face.fill
    said = face.error or face.note
    over = min(parts.label, max(0, cell_len(said) - room))
    text = cut(said, room + over)
    return Strip([Segment(" " * (parts.label - over), palette.text), Segment(text, style)])
