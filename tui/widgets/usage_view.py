"""What takes the tokens of a session: one sentence, and ranked bars. Enter goes to the messages."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.message import Message as Event
from textual.strip import Strip

from tui.using import Usage, UsageRow
from tui.widgets.laid_out_list import LaidOutList
from tui.widgets.looks import Palette, block_bar, fit, grouped, plain, right
from tui.widgets.text_flow import wrapped

#: Cells of the tokens and of the share, with the space before each.
_TOKENS, _SHARE = 10, 6
#: The narrowest label, and the narrowest and widest bar.
_LABEL, _BAR = 10, (4, 24)
#: Cells of the note, and the width from which on there is room for it.
_NOTE, _NOTED = 20, 70


class UsageView(LaidOutList):
    """The sentence, and a row for every role, kind, tool, file, message and repeat."""

    @dataclass
    class Opened(Event):
        """A row was opened."""

        view: UsageView
        row: UsageRow

        @property
        def control(self) -> UsageView:
            """The view it happened in."""
            return self.view

    _usage: Usage | None = None
    _waiting = "Nothing was looked at yet."
    _width = 0
    _rows: tuple[UsageRow, ...] = ()
    #: For each row the most tokens of a row in its list, which has the full bar.
    _largest: tuple[int, ...] = ()

    def show(self, usage: Usage | None, waiting: str = "") -> None:
        """Show what was found; `waiting` says what is done while there is nothing yet."""
        self._usage, self._waiting = usage, waiting
        self._width = 0
        self._lay_out(self.scrollable_content_region.width)
        self.items_changed()

    @property
    def usage(self) -> Usage | None:
        """What is shown."""
        return self._usage

    def on_resize(self) -> None:
        """Another width wraps the sentence differently."""
        self._lay_out(self.scrollable_content_region.width)
        self.items_changed()

    def _lay_out(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        room = max(8, width - 1)
        usage = self._usage
        if usage is None:
            texts = wrapped(plain(self._waiting), room)
            self.set_lines([(None, text, "muted") for text in texts])
            self._rows, self._largest = (), ()
            return
        sentence = wrapped(plain(usage.sentence), room)
        lines: list[tuple[int | None, str, str]] = [(None, text, "text") for text in sentence]
        rows: list[UsageRow] = []
        largest: list[int] = []
        for each in usage.lists:
            lines += [(None, "", "muted"), (None, each.heading, "heading")]
            for row in each.rows:
                lines.append((len(rows), "", ""))
                rows.append(row)
                largest.append(each.rows[0].tokens)
            if each.more:
                lines.append((None, f"  and {grouped(each.more)} more", "muted"))
        self.set_lines(lines)
        self._rows, self._largest = tuple(rows), tuple(largest)

    @property
    def item_count(self) -> int:
        return len(self._rows)

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        item, text, kind = self.lines[line]
        if item is None:
            style = palette.text if kind == "text" else palette.muted
            style += Style(bold=kind == "heading")
            return Strip([Segment(fit(text, width), style)], width)
        return self._paint_row(item, width, palette)

    def _paint_row(self, item: int, width: int, palette: Palette) -> Strip:
        assert self._usage is not None
        row = self._rows[item]
        rest = width - _TOKENS - _SHARE - 1
        bar = max(_BAR[0], min(_BAR[1], rest // 3))
        note = _NOTE if width >= _NOTED else 0
        label = max(_LABEL, rest - bar - note)
        share = row.tokens / self._usage.total if self._usage.total else 0.0
        length = round(bar * 8 * row.tokens / max(1, self._largest[item]))
        segments = [
            Segment(_label(row.label, label), palette.text),
            Segment(right(grouped(row.tokens), _TOKENS), palette.text),
            Segment(right(f"{share * 100:.0f} %", _SHARE) + " ", palette.muted),
            Segment(fit(block_bar(max(1, length) if row.tokens else 0), bar), palette.accent),
        ]
        if note:
            segments.append(Segment(fit("  " + row.note, note), palette.muted))
        return palette.row(segments, width, cursor=item == self.cursor)

    def activated(self) -> None:
        self.post_message(self.Opened(self, self._rows[self.cursor]))


def _label(text: str, width: int) -> str:
    """A name in `width` cells; of a long path the end tells more than the beginning."""
    shown = plain(text, 300)
    if len(shown) > width and "/" in shown and shown.isascii():
        shown = "…" + shown[len(shown) - width + 1 :]
    return fit(shown, width)
