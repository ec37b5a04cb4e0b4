"""Policies side by side, one column each; the best of every line stands out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip
from textual.widget import Widget

from tui.comparing import Compared
from tui.widgets.amounts import dollars
from tui.widgets.looks import (
    COMPONENTS,
    Palette,
    Tinted,
    css,
    fit,
    grouped,
    plain,
    short,
)

#: Cells for the names of the lines, and of a column at least.
LABEL, COLUMN = 13, 16

#: A figure of a column: what is compared (None for nothing), and how it is written.
Figure = Callable[[Compared], tuple[float | None, str]]


def _money(column: Compared) -> tuple[float | None, str]:
    money = column.row.money if column.row is not None else None
    return (None, "not known") if money is None else (money, dollars(money))


def _of_row(name: str) -> Figure:
    def figure(column: Compared) -> tuple[float | None, str]:
        if column.row is None:
            return None, "—"
        value = getattr(column.row, name)
        return value, short(value) if name in ("sent", "peak") else grouped(value)

    return figure


def _after(column: Compared) -> tuple[float | None, str]:
    sign = "~" if column.compacts else ""
    return None, f"{sign}{short(column.after)}"


def _settings(column: Compared) -> tuple[float | None, str]:
    policy = column.policy
    keep = policy.keep_recent
    unit = policy.recent.unit
    if keep is None:
        recent = "fit"
    elif unit == "fraction":
        recent = f"{keep * 100:.0f} %"
    else:
        recent = f"keep {short(int(keep))}" if unit == "messages" else f"{short(int(keep))} {unit}"
    return None, f"{short(column.budget)} · {recent}"


#: The lines of figures. Those with values are compared: the least is the best.
FIGURES: tuple[tuple[str, Figure], ...] = (
    ("", _settings),
    ("now leaves", _after),
    ("tokens sent", _of_row("sent")),
    ("money", _money),
    ("compactions", _of_row("compactions")),
    ("peak", _of_row("peak")),
    ("lost later", _of_row("lost")),
    ("findings", lambda column: (None, grouped(len(column.findings)))),
)
_BEST = frozenset({"tokens sent", "money", "peak", "lost later"})


class CompareTable(Tinted, Widget, can_focus=True):
    """The columns that fit beside each other; the others come with the cursor."""

    DEFAULT_CSS = css("CompareTable") + """
    CompareTable { height: 10; background: transparent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,tab", "move(1)", "Right", id="compare.right", show=False),
        Binding("left,h,shift+tab", "move(-1)", "Left", id="compare.left", show=False),
        Binding("home,g", "move(-999)", "First", id="compare.first", show=False),
        Binding("end,G", "move(999)", "Last", id="compare.last", show=False),
        Binding("enter", "adopt", "Adopt", id="compare.adopt", show=False),
    ]

    @dataclass
    class Moved(Event):
        """The cursor stands on another column."""

        table: CompareTable
        column: int

    @dataclass
    class Adopted(Event):
        """A column was chosen."""

        table: CompareTable
        column: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._columns: tuple[Compared, ...] = ()
        self._cursor = 0
        self._first = 0
        self._best: dict[str, float] = {}

    def show(self, columns: Sequence[Compared]) -> None:
        """Show other columns; the first is the present setting."""
        self._columns = tuple(columns)
        self._cursor = max(0, min(self._cursor, len(columns) - 1))
        self._best = {}
        for name, figure in FIGURES:
            known = [value for value, _ in map(figure, columns) if value is not None]
            if name in _BEST and len(set(known)) > 1:
                self._best[name] = min(known)
        self.refresh()

    @property
    def columns(self) -> tuple[Compared, ...]:
        """What is shown."""
        return self._columns

    @property
    def cursor(self) -> int:
        """The column under the cursor."""
        return self._cursor

    def action_move(self, columns: int) -> None:
        """Move the cursor."""
        before = self._cursor
        self._cursor = max(0, min(self._cursor + columns, len(self._columns) - 1))
        if self._cursor != before:
            self.refresh()
            self.post_message(self.Moved(self, self._cursor))

    def action_adopt(self) -> None:
        """Choose the column under the cursor."""
        if self._columns:
            self.post_message(self.Adopted(self, self._cursor))

    def on_click(self, event: events.Click) -> None:
        """A click selects, a double click chooses."""
        offset = event.get_content_offset(self)
        if offset is None or offset.x < LABEL:
            return
        column = self._first + (offset.x - LABEL) // self._wide
        if column < len(self._columns):
            self.action_move(column - self._cursor)
            if event.chain == 2:
                self.action_adopt()

    # ------------------------------------------------------------------------------ drawing

    @property
    def _fitting(self) -> int:
        return max(1, (self.size.width - LABEL) // COLUMN)

    @property
    def _wide(self) -> int:
        shown = max(1, min(self._fitting, len(self._columns)))
        return max(COLUMN, min(26, (self.size.width - LABEL) // shown))

    def render_line(self, y: int) -> Strip:
        palette, width = self.palette, self.size.width
        fitting = self._fitting
        self._first = max(min(self._first, self._cursor), self._cursor - fitting + 1)
        shown = range(self._first, min(self._first + fitting, len(self._columns)))
        if not shown or y > len(FIGURES) + 1:
            return Strip.blank(width, palette.text)
        name = "" if y < 2 else FIGURES[y - 2][0]
        label = name
        if y == 0 and len(self._columns) > fitting:
            label = f"{self._cursor + 1} of {len(self._columns)}"
        segments = [Segment(fit(label, LABEL), palette.muted)]
        for number in shown:
            segments.extend(self._cell(number, y, name, palette))
        return Strip(segments).adjust_cell_length(width, palette.text)

    def _cell(self, number: int, y: int, name: str, palette: Palette) -> list[Segment]:
        column, wide = self._columns[number], self._wide
        here = number == self._cursor
        if y == 0:
            style = palette.text + Style(bold=True)
            if here:
                style = palette.on_cursor(palette.accent + Style(bold=True, underline=True))
            sign = "● " if number == 0 else "  "
            made = [Segment(sign, palette.accent), Segment(plain(column.policy.name, 60), style)]
        elif y == 1:
            made = self._bar(column, wide - 4, palette)
        else:
            value, text = FIGURES[y - 2][1](column)
            best = name in self._best and value == self._best[name]
            style = palette.muted if y == 2 else palette.text
            if best:
                style = palette.accent + Style(bold=True)
            made = [Segment("✓ " if best else "  ", style), Segment(text, style)]
        ground = palette.on_cursor(palette.text) if here else palette.text
        if here:
            made = [Segment(part, palette.on_cursor(style or ground)) for part, style, _ in made]
        cell = Strip(made).adjust_cell_length(wide - 2, ground)
        return [*cell, Segment("  ", palette.text)]

    def _bar(self, column: Compared, width: int, palette: Palette) -> list[Segment]:
        """What it leaves, against the largest of all columns."""
        most = max(1, *(each.after for each in self._columns))
        segments = [Segment("  ", palette.text)]
        at = used = 0
        for region, tokens in (
            ("head", column.head),
            ("summarized", column.summary),
            ("recent", column.recent),
        ):
            at += tokens
            end = max(used + (tokens > 0), round(at * width / most))
            glyph = "▒" if region == "summarized" else "█"
            style = palette.regions[region]
            segments.append(Segment(glyph * (min(end, width) - used), style))
            used = min(end, width)
        segments.append(Segment("·" * (width - used), palette.faint))
        return segments
