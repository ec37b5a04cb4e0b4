"""How regions and texts look: glyphs, letters, colours and widths shared by every widget.

The three region colours are the theme variables `$head`, `$summarized` and `$recent`; a theme
that does not define them gets its `$primary`, `$warning` and `$success`. Colour is never alone:
every region has a glyph and a letter too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.strip import Strip

from compaction.plaintext import one_line

if TYPE_CHECKING:
    from textual.widget import Widget

    _Base = Widget
else:
    _Base = object


@dataclass(frozen=True, slots=True)
class RegionLook:
    """The signs of one region. `variable` names the theme colour."""

    glyph: str
    letter: str
    variable: str
    component: str


REGIONS: Final[dict[str, RegionLook]] = {
    "head": RegionLook("▌", "H", "head", "region--head"),
    "summarized": RegionLook("░", "S", "summarized", "region--summarized"),
    "kept": RegionLook("◆", "K", "head", "region--kept"),
    "cleared": RegionLook("·", "C", "summarized", "region--cleared"),
    "recent": RegionLook("▌", "R", "recent", "region--recent"),
}

#: Component classes of every widget here, for a stylesheet that wants to change one.
COMPONENTS: Final[frozenset[str]] = frozenset(
    {look.component for look in REGIONS.values()}
    | {
        "tint--text",
        "tint--muted",
        "tint--faint",
        "tint--accent",
        "tint--error",
        "tint--hit",
        "tint--cursor",
        "tint--window",
    }
)

_CSS = """
WIDGET {
    & > .region--head, & > .region--kept { color: $primary; }
    & > .region--summarized, & > .region--cleared { color: $warning; }
    & > .region--recent { color: $success; }
    & > .tint--text { color: $foreground; }
    & > .tint--muted { color: $foreground 65%; }
    & > .tint--faint { color: $foreground 38%; }
    & > .tint--accent { color: $accent; }
    & > .tint--error { color: $error; }
    & > .tint--hit { color: $foreground; background: $accent 40%; text-style: bold; }
    & > .tint--cursor { background: $foreground 8%; }
    & > .tint--window { background: $foreground 12%; }
    &:focus > .tint--cursor { background: $accent 24%; }
}
"""


def css(widget: str) -> str:
    """Default styles of the component classes for the widget class called `widget`."""
    return _CSS.replace("WIDGET", widget)


@dataclass(frozen=True, slots=True)
class Palette:
    """Resolved styles of one widget; `generation` changes whenever any of them may have."""

    generation: int
    regions: dict[str, Style]
    text: Style
    muted: Style
    faint: Style
    accent: Style
    error: Style
    hit: Style
    cursor: Style
    window: Style

    def on_cursor(self, style: Style) -> Style:
        """`style` on the ground of the row under the cursor."""
        return style + self.cursor

    def row(self, segments: Iterable[Segment], width: int, *, cursor: bool) -> Strip:
        """One line of a list, exactly `width` cells wide, on the ground of the cursor or not."""
        ground = self.text
        if cursor:
            segments = [
                Segment(part, self.on_cursor(style or ground)) for part, style, _ in segments
            ]
            ground = self.on_cursor(ground)
        return Strip(segments).adjust_cell_length(width, ground)

    def on_block(self, style: Style) -> Style:
        """Letters on a filled block of the colour of `style`."""
        return Style(color=self.text.bgcolor, bgcolor=style.color, bold=True)


class Tinted(_Base):
    """Mixed into a widget: its palette, resolved once per change of style.

    Resolving a component style costs more than drawing a row, so it happens here and not in
    `render_line`.
    """

    _palette: Palette | None = None
    _generation = 0

    def notify_style_update(self) -> None:
        self._palette = None
        super().notify_style_update()

    def on_focus(self) -> None:
        self._palette = None

    def on_blur(self) -> None:
        self._palette = None

    @property
    def palette(self) -> Palette:
        """The styles to draw with now."""
        if self._palette is None:
            self._generation += 1
            self._palette = _resolve(self, self._generation)
        return self._palette


def _resolve(widget: Widget, generation: int) -> Palette:
    ground = Style(bgcolor=widget.rich_style.bgcolor)

    def tint(name: str) -> Style:
        return widget.get_component_rich_style(f"tint--{name}")

    def partial(name: str) -> Style:
        # Alpha colours are blended with the ground by the full style only.
        full = tint(name)
        return Style(bgcolor=full.bgcolor)

    variables = widget.app.theme_variables
    regions: dict[str, Style] = {}
    for name, look in REGIONS.items():
        style = widget.get_component_rich_style(look.component)
        try:
            themed = Color.parse(variables.get(look.variable, ""))
        except ColorParseError:
            regions[name] = style
        else:
            regions[name] = style + Style(color=themed.rich_color)
    return Palette(
        generation,
        regions,
        tint("text") + ground,
        tint("muted") + ground,
        tint("faint") + ground,
        tint("accent") + ground,
        tint("error") + ground,
        tint("hit"),
        partial("cursor"),
        partial("window"),
    )


# ------------------------------------------------------------------------------------ numbers


def grouped(number: int) -> str:
    """`187204` as `187,204`."""
    return f"{number:,}"


def short(number: int) -> str:
    """`187204` as `187.2k`, `1234567` as `1.23M`; below a thousand as it is."""
    size = abs(number)
    if size < 1_000:
        return str(number)
    if size < 999_950:
        text = f"{number / 1_000:.1f}"
        return f"{text.removesuffix('.0')}k"
    text = f"{number / 1_000_000:.2f}".rstrip("0").rstrip(".")
    return f"{text}M"


def counted(number: int, word: str) -> str:
    """`1 message`, `391 messages`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


# -------------------------------------------------------------------------------------- cells

_LEFT_BLOCKS = " ▏▎▍▌▋▊▉█"
# Joiners and presentation selectors make clusters whose width terminals disagree about.
_JOINERS = dict.fromkeys([0x200C, 0x200D, 0xFE0E, 0xFE0F])


def plain(text: str, limit: int | None = None) -> str:
    """Transcript text on one line, harmless, and of a width every terminal agrees about."""
    line = one_line(text, limit)
    return line if line.isascii() else line.translate(_JOINERS)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells, `…` where something was cut; wide characters stay whole."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def fit(text: str, width: int) -> str:
    """`text` cut and padded on the right to exactly `width` cells."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def right(text: str, width: int) -> str:
    """`text` cut and padded on the left to exactly `width` cells."""
    text = cut(text, width)
    return " " * (width - cell_len(text)) + text


@lru_cache(maxsize=1024)
def block_bar(eighths: int) -> str:
    """A bar of `eighths` eighths of a cell."""
    whole, rest = divmod(max(0, eighths), 8)
    return "█" * whole + (_LEFT_BLOCKS[rest] if rest else "")


def left_block(eighths: int) -> str:
    """One cell filled from the left: 0 is blank, 8 is full."""
    return _LEFT_BLOCKS[max(0, min(8, eighths))]
