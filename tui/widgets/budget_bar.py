"""Two bars on one scale: the session as it is, and what a plan would make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.count_label import count_labels
from tui.widgets.looks import (
    COMPONENTS,
    REGIONS,
    Palette,
    Tinted,
    css,
    fit,
    left_block,
    right,
    short,
)

if TYPE_CHECKING:
    from compaction.planning import Plan, Region

#: Of the legend: words, numbers of messages, the reason why nothing is done.
_WORDINGS = (
    (True, True, True),
    (True, True, False),
    (True, False, False),
    (False, False, False),
)

#: The regions with their words in the legend, in order.
_LEGEND: Final[dict[Region, str]] = {
    "head": "head",
    "summarized": "summarized",
    "kept": "pinned",
    "cleared": "cleared",
    "recent": "recent",
}

#: From this height on every bar is two lines thick, for a demonstration.
_THICK = 5


@dataclass(frozen=True, slots=True)
class Piece:
    """One segment of a bar: tokens in the colour of a region ("" is neither region)."""

    region: str
    tokens: int


@dataclass(frozen=True, slots=True)
class BarFigures:
    """The numbers behind both bars. `estimated`: the summary is not made yet."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    budget: int
    compacts: bool
    estimated: bool

    @property
    def total_before(self) -> int:
        """Tokens of the whole list now."""
        return sum(piece.tokens for piece in self.before)

    @property
    def total_after(self) -> int:
        """Tokens of the compacted list."""
        return sum(piece.tokens for piece in self.after)

    @property
    def scale(self) -> int:
        """What the full width of a bar stands for."""
        return max(self.total_before, self.total_after, self.budget, 1)


def figures(plan: Plan, summary_tokens: int | None = None) -> BarFigures:
    """The figures of `plan`; `summary_tokens` is the real summary's size once it is made."""
    head = Piece("head", plan.tokens_head)
    overhead = Piece("", plan.overhead)
    recent = Piece("recent", plan.tokens_recent)
    kept = Piece("kept", plan.tokens_kept)
    cleared = Piece("cleared", plan.tokens_cleared)
    had = Piece("cleared", plan.tokens_cleared + plan.tokens_freed)
    before = (overhead, head, Piece("summarized", plan.tokens_summarized), kept, had, recent)
    if not plan.compacts:
        return BarFigures(before, before, plan.budget, compacts=False, estimated=False)
    made = plan.summary_estimate if summary_tokens is None else summary_tokens
    after = (overhead, head, Piece("summarized", made), kept, cleared, recent)
    estimated = summary_tokens is None and plan.summary_estimate > 0
    return BarFigures(before, after, plan.budget, compacts=True, estimated=estimated)


class BudgetBars(Tinted, Widget):
    """`before` and `after` as bars, with totals at the right and a legend below.

    Three lines; with a height of 2 the legend goes, with 5 the bars are thicker. What is still
    past the budget in `after` is hatched, so that a plan that does not reach it is seen without
    reading.
    """

    DEFAULT_CSS = css("BudgetBars") + """
    BudgetBars { height: 3; background: transparent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._plan: Plan | None = None
        self._figures: BarFigures | None = None
        self._reported: int | None = None

    def show(self, plan: Plan | None, summary_tokens: int | None = None) -> None:
        """Show a plan; `summary_tokens` is the real summary's size, None for its estimate."""
        before, self._plan = self._plan, plan
        shown = None if plan is None else figures(plan, summary_tokens)
        if shown != self._figures or _legend_key(before) != _legend_key(plan):
            self._figures = shown
            self.refresh()

    @property
    def reported(self) -> int | None:
        """What the provider counted for the last response; None where nothing tells it."""
        return self._reported

    @reported.setter
    def reported(self, reported: int | None) -> None:
        if reported != self._reported:
            self._reported = reported
            self.refresh()

    @property
    def shown(self) -> BarFigures | None:
        """The figures on the screen."""
        return self._figures

    # ------------------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        palette = self.palette
        width = self.size.width
        shown = self._figures
        thick = 2 if self.size.height >= _THICK else 1
        if shown is None or y > 2 * thick:
            strip = Strip([])
        elif y == 2 * thick:
            strip = self._legend(shown, width, palette)
        else:
            strip = self._bar_line(shown, y >= thick, width, palette, named=y % thick == 0)
        return strip.adjust_cell_length(width, palette.text)

    def _bar_line(
        self, shown: BarFigures, after: bool, width: int, palette: Palette, *, named: bool
    ) -> Strip:
        label = 8 if width >= 40 else 2
        verdict = self._verdict(shown, after, width, palette)
        side = max(
            sum(cell_len(part.text) for part in self._verdict(shown, which, width, palette))
            for which in (False, True)
        )
        track = max(4, width - label - side - 1)
        name = ("after" if after else "before") if label > 2 else ("a" if after else "b")
        pieces = shown.after if after else shown.before
        segments = [Segment(fit(name if named else "", label), palette.muted)]
        segments.extend(
            bar_cells(pieces, shown, track, palette, after=after, lettered=named)
        )
        if after and named:
            _write_budget(segments, len(segments) - track, shown, palette)
        if not named:
            return Strip(segments)
        segments.append(Segment(" ", palette.text))
        segments.extend(verdict)
        # Textual's work on a line is by the segment, and a bar is made cell by cell.
        return Strip(segments).simplify()

    def _verdict(
        self, shown: BarFigures, after: bool, width: int, palette: Palette
    ) -> list[Segment]:
        """What stands at the right of a bar: its total, and what that means."""
        guess = "~" if after and shown.estimated else ""
        total = shown.total_after if after else shown.total_before
        bold = Style(bold=True)
        segments = [Segment(right(guess + short(total), 8), palette.text + bold)]
        over = total - shown.budget
        room = width >= 70
        if over > 0:
            text = f"over by {short(over)}" if room else f"+{short(over)}"
            segments.append(Segment("  " + fit(text, 15 if room else 7), palette.error + bold))
        elif after and shown.compacts:
            saved = 1 - total / max(1, shown.total_before)
            text = f"saves {guess}{saved:.0%}" if room else f"−{saved:.0%}"
            segments.append(
                Segment("  " + fit(text.replace("%", " %"), 15 if room else 7), palette.text)
            )
        else:
            text = ("nothing to do" if after else f"{short(-over)} free") if room else "fits"
            segments.append(Segment("  " + fit(text, 15 if room else 7), palette.muted))
        return segments

    def _legend(self, shown: BarFigures, width: int, palette: Palette) -> Strip:
        """What the colours mean and how good the counts are, in the longest words that fit."""
        plan = self._plan
        assert plan is not None
        labels = count_labels(plan.counts, self._reported)
        strip = Strip([])
        # The words of the colours matter more than those of the counts, which can be short.
        for words, numbers, reason in _WORDINGS:
            segments = _legend_of(shown, plan, palette, words=words, numbers=numbers)
            if reason and plan.reason and not plan.compacts:
                segments.append(Segment(plan.reason, palette.muted))
            strip = Strip([Segment(" " * (8 if width >= 40 else 2), palette.text), *segments])
            room = width - strip.cell_length - 1
            label = next((one for one in labels if cell_len(one) <= room), None)
            if label is not None:
                gap = " " * (width - strip.cell_length - cell_len(label))
                return Strip([*strip, Segment(gap, palette.text), Segment(label, palette.muted)])
        return strip


def _legend_key(plan: Plan | None) -> tuple[object, ...]:
    """What the legend says beside the figures."""
    if plan is None:
        return ()
    regions = tuple(plan.messages_in(region) for region in _LEGEND)
    return *regions, plan.reason, plan.counts.label


def _legend_of(
    shown: BarFigures, plan: Plan, palette: Palette, *, words: bool, numbers: bool
) -> list[Segment]:
    before = {piece.region: piece.tokens for piece in shown.before}
    after = {piece.region: piece.tokens for piece in shown.after}
    gap = "   " if words else " "
    segments: list[Segment] = []
    for region, word in _LEGEND.items():
        messages = plan.messages_in(region)
        if not messages:
            continue
        gone = plan.policy.summary.middle == "drop"
        gone = gone or (not shown.estimated and not after["summarized"])
        if region == "summarized" and gone:
            word = "dropped"
        look = REGIONS[region]
        segments.append(Segment(look.glyph + look.letter, palette.regions[region]))
        if words:
            number = f" {messages:,}" if numbers else ""
            segments.append(Segment(f" {word}{number}", palette.text))
        text = f" {short(before[region])}"
        if word in ("summarized", "cleared"):
            guess = "~" if shown.estimated and region == "summarized" else ""
            text += f" → {guess}{short(after[region])}"
        segments.append(Segment(text + gap, palette.muted))
    if before[""]:
        word = "▌ overhead" if words else "▌"
        segments.append(Segment(f"{word} {short(before[''])}{gap}", palette.faint))
    return segments


def bar_cells(
    pieces: Sequence[Piece],
    shown: BarFigures,
    width: int,
    palette: Palette,
    *,
    after: bool,
    lettered: bool = True,
) -> list[Segment]:
    """A bar of `width` cells: the pieces edge to edge, what is free dotted, the budget marked.

    Edges fall on eighths of a cell; a piece that holds anything is at least two of them wide.
    Where a piece is wide enough it bears its letter, so that colour is never alone.
    """
    unit = width * 8 / shown.scale
    edges: list[tuple[int, Style]] = []
    letters: dict[int, tuple[str, Style]] = {}
    at = 0.0
    end = 0
    for piece in pieces:
        if piece.tokens <= 0:
            continue
        at += piece.tokens * unit
        first = -(-end // 8) + 1
        end = min(width * 8, max(round(at), end + 2))
        style = palette.regions.get(piece.region, palette.faint)
        edges.append((end, style))
        if lettered and piece.region and end // 8 - first >= 2:
            letters[first] = (REGIONS[piece.region].letter, palette.on_block(style))
    mark = _mark(shown, width)
    total = shown.total_after if after else shown.total_before
    over = after and total > shown.budget
    segments: list[Segment] = []
    for cell in range(width):
        char, style = _cell(cell * 8, edges, palette)
        if cell == mark and shown.budget < shown.scale:
            inside = char not in " ·"
            char = "▏" if not inside else "┃"
            style = palette.text + (Style(bgcolor=style.color) if inside else Style())
        elif cell in letters:
            char, style = letters[cell]
        elif over and cell > mark and char == "█":
            char = "▒"
        segments.append(Segment(char, style))
    return segments


def _mark(shown: BarFigures, width: int) -> int:
    """The cell of the budget on a bar of `width` cells."""
    return min(width - 1, shown.budget * width // shown.scale)


def _cell(start: int, edges: Sequence[tuple[int, Style]], palette: Palette) -> tuple[str, Style]:
    """The cell that begins at `start` eighths: full, an edge between two pieces, or free."""
    for place, (end, style) in enumerate(edges):
        if end <= start:
            continue
        if end >= start + 8:
            return "█", style
        beyond = edges[place + 1][1] if place + 1 < len(edges) else None
        ground = Style(bgcolor=beyond.color) if beyond is not None else Style()
        return left_block(end - start), style + ground
    return "·", palette.faint


def _write_budget(
    segments: list[Segment], start: int, shown: BarFigures, palette: Palette
) -> None:
    """Say what the mark is, and how much is free, where the bar that begins at `start` has room."""
    mark = start + _mark(shown, len(segments) - start)
    free = shown.budget - shown.total_after
    used = next((at for at in range(start, mark) if segments[at].text == "·"), mark)
    if free > 0:
        _write(segments, used + 1, mark - 1, f" {short(free)} free ", palette.muted)
    _write(segments, mark + 1, len(segments), f"budget {short(shown.budget)}", palette.muted)


def _write(segments: list[Segment], start: int, end: int, text: str, style: Style) -> None:
    """Put `text` over the free cells from `start`, when all of it fits before `end`."""
    if start + len(text) > end or any(cell.text != "·" for cell in segments[start:end]):
        return
    for offset, char in enumerate(text):
        segments[start + offset] = Segment(char, style)
