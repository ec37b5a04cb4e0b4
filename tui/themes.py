"""The two themes of the workbench, and what it looks like without colours.

Each theme has one accent and three colours that mean something (`head`, `summarized`, `recent`)
and are used for nothing else: warnings, focus and buttons have others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

if TYPE_CHECKING:
    from textual.app import App

DARK: Final = Theme(
    name="workbench-dark",
    primary="#a78bfa",
    secondary="#8494a7",
    accent="#a78bfa",
    foreground="#d5dde5",
    background="#10161c",
    surface="#141b23",
    panel="#1a232d",
    warning="#e8956a",
    error="#ff7b72",
    success="#76b9ae",
    dark=True,
    variables={
        "head": "#58a6ff",
        "summarized": "#e3ad4a",
        "recent": "#57c47a",
        "border": "#2c3946",
        "border-blurred": "#222d38",
        "scrollbar": "#2c3946",
        "scrollbar-hover": "#3d4d5e",
        "scrollbar-active": "#a78bfa",
        "scrollbar-background": "#10161c",
        "scrollbar-background-hover": "#10161c",
        "scrollbar-background-active": "#10161c",
        "footer-background": "#10161c",
        "footer-key-foreground": "#a78bfa",
        "footer-description-foreground": "#98a6b5",
        "block-cursor-foreground": "#10161c",
        "block-cursor-background": "#a78bfa",
        "block-cursor-text-style": "none",
    },
)

LIGHT: Final = Theme(
    name="workbench-light",
    primary="#6a3fc4",
    secondary="#566475",
    accent="#6a3fc4",
    foreground="#1c2530",
    background="#f7f8fa",
    surface="#ffffff",
    panel="#e9edf2",
    warning="#9a3d12",
    error="#b3261e",
    success="#10665c",
    dark=False,
    variables={
        "head": "#0b5cad",
        "summarized": "#855000",
        "recent": "#1a6b36",
        "border": "#c3ccd6",
        "border-blurred": "#d8dee5",
        "scrollbar": "#c3ccd6",
        "scrollbar-hover": "#a5b1be",
        "scrollbar-active": "#6a3fc4",
        "scrollbar-background": "#f7f8fa",
        "scrollbar-background-hover": "#f7f8fa",
        "scrollbar-background-active": "#f7f8fa",
        "footer-background": "#f7f8fa",
        "footer-key-foreground": "#6a3fc4",
        "footer-description-foreground": "#4c5967",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#6a3fc4",
        "block-cursor-text-style": "none",
    },
)

#: The theme of a first start.
DEFAULT: Final = DARK.name


def register(app: App[Any]) -> None:
    """Make both themes known to `app`; Textual's own stay available."""
    for theme in (DARK, LIGHT):
        app.register_theme(theme)


def wants_no_color(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the environment asks for no colours: NO_COLOR with any value but "".

    Textual removes the variable when an App is made, so ask before.
    """
    return bool((os.environ if environ is None else environ).get("NO_COLOR"))


def line_filters(filters: Sequence[LineFilter], *, no_color: bool) -> list[LineFilter]:
    """The line filters of an app with its colours taken out, or all of them left in.

    Textual would turn colours into greys (which are colours to a terminal), and an empty
    NO_COLOR into a wish.
    """
    others = [each for each in filters if not isinstance(each, (Monochrome, NoColor, Uncoloured))]
    return [*others, Uncoloured()] if no_color else others


def has_shades(app: App[Any]) -> bool:
    """Whether a colour can be told from one a little darker: not with 16 colours, or none."""
    system = app.console.color_system
    few = system in ("standard", "windows") or (system is None and not app.is_headless)
    return not few and not any(isinstance(each, Uncoloured) for each in app.get_line_filters())


#: How much lighter or darker than the ground a patch must be to count as marked (of 1).
_MARKED = 0.08


class Uncoloured(LineFilter):
    """Takes out every colour; a marked background (a cursor, a hit) becomes reverse video."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments without colours."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(segment.text, _uncoloured(segment.style, background), segment.control)
            for segment in segments
        ]


@lru_cache(maxsize=4096)
def _uncoloured(style: Style, ground: Color) -> Style:
    patch, marked = style.bgcolor, bool(style.reverse)
    if not marked and patch is not None and not patch.is_default:
        marked = abs(Color.from_rich_color(patch).brightness - ground.brightness) > _MARKED
    # Added to, not remade: what a click means is kept in the style.
    return style + Style(color="default", bgcolor="default", reverse=marked)
