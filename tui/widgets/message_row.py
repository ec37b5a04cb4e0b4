"""One message as one line: which columns fit, and how they are drawn.

A `Row` holds everything that changes its look, so that it is its own cache key.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from compaction.messages import Message
from tui.widgets.looks import (
    REGIONS,
    Palette,
    block_bar,
    counted,
    cut,
    fit,
    grouped,
    plain,
    right,
    short,
)

if TYPE_CHECKING:
    from compaction.planning import Plan

#: Below this width the bar goes, and role names are short.
NARROW = 56
_WIDE = 76

_RAILS = {"": "  ", "first": "┌ ", "middle": "├ ", "last": "└ "}
_SHORT_ROLES = {"system": "sys", "developer": "dev", "assistant": "asst"}
#: A first line longer than this is cut before it is looked at.
_LONGEST_LINE = 200


class Columns(NamedTuple):
    """Widths in cells; a width of 0 leaves the column out."""

    number: int
    rail: int
    role: int
    tokens: int
    bar: int
    text: int


class Row(NamedTuple):
    """Everything that decides how a message's line looks."""

    number: int
    region: str
    rail: str
    role: str
    tokens: str
    eighths: int
    text: str
    needle: str
    hit: bool
    cursor: bool
    typed: bool


@lru_cache(maxsize=64)
def columns_for(width: int, number: int, tokens: int) -> Columns:
    """The columns that fit into `width` cells; `number` and `tokens` are their widest texts."""
    narrow = width < NARROW
    number = max(2, number)
    role = 4 if narrow else 9
    bar = 0 if narrow else (12 if width >= _WIDE else 8)
    used = 3 + number + 1 + 2 + role + 1 + tokens + 2 + (bar + 1 if bar else 0)
    return Columns(number, 2, role, tokens, bar, max(0, width - used))


def first_line(message: Message) -> str:
    """What a list shows of a message: a result says whose it is, a summary that it is one."""
    text = plain(message.preview, _LONGEST_LINE)
    if message.results and message.tool and not text.startswith(message.tool):
        return f"{plain(message.tool, 40)} → {text}"
    if message.summary:
        return f"≡ {text}"
    return text


def role_label(role: str, width: int) -> str:
    """A role in `width` cells, the known ones shortened to words where they must be."""
    if width < 9:
        role = _SHORT_ROLES.get(role, role)
    return fit(plain(role, 40), width)


def paint_row(row: Row, columns: Columns, width: int, palette: Palette) -> Strip:
    """The line of one message, exactly `width` cells."""
    look = REGIONS[row.region]
    tint = palette.regions[row.region]
    gone = row.region in {"summarized", "cleared"}
    strong = palette.muted if gone else palette.text
    text = row.text
    body = palette.muted if gone or not row.typed else palette.text
    segments = [
        Segment(look.glyph + look.letter + " ", tint + Style(bold=True)),
        Segment(
            right(str(row.number), columns.number) + " ", palette.text if row.hit else palette.faint
        ),
        Segment(_RAILS[row.rail], palette.faint),
        Segment(role_label(row.role, columns.role) + " ", strong),
        Segment(right(row.tokens, columns.tokens) + "  ", strong),
    ]
    if columns.bar:
        segments.append(Segment(fit(block_bar(row.eighths), columns.bar) + " ", tint))
    segments.extend(_highlighted(cut(text, columns.text), row.needle, body, palette.hit))
    if row.cursor:
        segments = [
            Segment(part, palette.on_cursor(style) if style is not palette.hit else style)
            for part, style, _ in segments
            if style is not None
        ]
    ground = palette.on_cursor(palette.text) if row.cursor else palette.text
    return Strip(segments).adjust_cell_length(width, ground)


def _highlighted(text: str, needle: str, body: Style, hit: Style) -> list[Segment]:
    """`text` with every occurrence of `needle` marked, letter case ignored."""
    if not needle:
        return [Segment(text, body)]
    parts: list[Segment] = []
    end = 0
    for found in re.finditer(re.escape(needle), text, re.IGNORECASE):
        parts.append(Segment(text[end : found.start()], body))
        parts.append(Segment(found.group(), hit))
        end = found.end()
    parts.append(Segment(text[end:], body))
    return [part for part in parts if part.text]


def paint_boundary(
    plan: Plan, summary_tokens: int | None, width: int, palette: Palette, *, held: bool
) -> Strip:
    """The line between what is summarized and what is recent, which says what happens there.

    `summary_tokens` are those of the summary that was made; None shows the estimate. `held`:
    the mouse is on it.
    """
    messages = plan.messages_in("summarized")
    made = summary_tokens
    after = grouped(made) if made is not None else f"~{grouped(plan.summary_estimate)}"
    what, brief = f"become one summary of {after}", f"→ summary {after}"
    if plan.policy.summary.middle == "drop" or (made == 0 and plan.summarizes):
        what = brief = "are dropped"
    elif plan.policy.summary.summarizer == "none":
        what = "are left out, and one sentence says so"
    if messages == 1:
        what = what.replace("become ", "becomes ").replace("are ", "is ")
    text = f"{counted(messages, 'message')}, {grouped(plan.tokens_summarized)} tokens {what}"
    if len(text) + 6 > width:
        text = f"{grouped(messages)} · {short(plan.tokens_summarized)} {brief}"
    grip = "═" if held else "╌"
    text = cut(f" {text} ", max(0, width - 4))
    rest = grip * max(0, width - 2 - cell_len(text))
    style = palette.regions["summarized"] + Style(bold=True, reverse=held)
    return Strip([Segment(grip * 2 + text + rest, style)]).adjust_cell_length(width, style)
