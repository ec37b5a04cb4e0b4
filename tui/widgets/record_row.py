"""Lines of a list that are no messages: records beside the window, compactions, the overhead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from compaction.messages import RecordedCompaction
from tui.widgets.looks import Palette, block_bar, cut, fit, grouped, plain, right
from tui.widgets.message_row import Columns, role_label

if TYPE_CHECKING:
    from tui.whole_file import Sketch

#: What the overhead is, the longest words first: added by the client, or in the file.
_ADDED = (
    "system prompt, tools, what the client adds - not in the file",
    "prompt, tools - not in the file",
    "prompt, tools, not in file",
)
_DEFINED = ("tool definitions, sent with every request", "tool definitions")

#: A text longer than this is cut before it is looked at.
_LONGEST = 200


def paint_record(
    line: int,
    reason: str,
    sketch: Sketch,
    columns: Columns,
    width: int,
    palette: Palette,
    *,
    cursor: bool,
) -> Strip:
    """A record that is not in the window: dim, with the reason and what it begins with."""
    kind = role_label(plain(sketch.kind, 40) or "record", columns.role)
    number = right(f"{line}", columns.number) if len(str(line)) <= columns.number else "…"
    text = plain(sketch.text, _LONGEST)
    segments = [
        Segment("╎  ", palette.faint),
        Segment(right(number, columns.number) + " ", palette.faint),
        Segment("  " + kind + " ", palette.faint),
        Segment(f"⟨{plain(reason, 60)}⟩ ", palette.muted),
    ]
    used = sum(segment.cell_length for segment in segments)
    segments.append(Segment(cut(text, max(0, width - used)), palette.faint))
    return palette.row(segments, width, cursor=cursor)


def compaction_words(made: RecordedCompaction, width: int) -> str:
    """What the tool's own compaction did, in `width` cells."""
    before = grouped(made.before) if made.before is not None else ""
    after = grouped(made.after) if made.after is not None else ""
    if before and after:
        size = f"{before} → {after}"
    elif before or after:
        size = f"{before} tokens before" if before else f"{after} tokens after"
    else:
        size = ""
    facts = ", ".join(each for each in (size, plain(made.trigger, 30)) if each)
    for start in ("compacted here by the tool", "compacted by the tool", "compacted"):
        text = f"{start}: {facts}" if facts else start
        if len(text) <= width:
            break
    return cut(text, width)


def paint_compaction(made: RecordedCompaction, width: int, palette: Palette) -> Strip:
    """The line where the tool compacted the session itself."""
    text = f" {compaction_words(made, max(0, width - 6))} "
    rest = "━" * max(0, width - 2 - cell_len(text))
    style = palette.muted + Style(bold=True)
    return Strip([Segment("━━" + text + rest, style)]).adjust_cell_length(width, style)


def paint_overhead(
    tokens: int, calibrated: bool, largest: int, columns: Columns, width: int, palette: Palette
) -> Strip:
    """What the window holds beside the messages: no message, and nothing that can be cut."""
    words = _ADDED if calibrated else _DEFINED
    what = next((each for each in words if len(each) <= columns.text), words[-1])
    indent = 3 + columns.number + 1 + columns.rail
    segments = [
        Segment("▌" + " " * (indent - 1), palette.faint),
        Segment(fit("overhead" if columns.role >= 8 else "over", columns.role) + " ", palette.text),
        Segment(right(grouped(tokens), columns.tokens) + "  ", palette.text),
    ]
    if columns.bar:
        eighths = max(1, min(columns.bar * 8, round(columns.bar * 8 * tokens / max(1, largest))))
        segments.append(Segment(fit(block_bar(eighths), columns.bar) + " ", palette.faint))
    segments.append(Segment(cut(what, columns.text), palette.muted))
    return Strip(segments).adjust_cell_length(width, palette.text).crop(0, width)
