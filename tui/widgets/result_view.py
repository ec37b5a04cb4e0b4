"""The compacted list: the messages as they will be sent, each with where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual.message import Message as Event
from textual.strip import Strip

from compaction.messages import Message
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, fit, grouped
from tui.widgets.message_row import Row, columns_for, first_line, paint_row


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One message of the result. `source` is its index in the session; None: made here."""

    message: Message
    region: str
    tokens: int
    source: int | None


class ResultView(LineList):
    """The compacted messages, one line each, in their new order."""

    @dataclass
    class Selected(Event):
        """The cursor stands on another row."""

        view: ResultView
        position: int
        row: ResultRow

        @property
        def control(self) -> ResultView:
            """The view it happened in."""
            return self.view

        def can_replace(self, message: Event) -> bool:
            """Only the newest place matters."""
            return isinstance(message, ResultView.Selected)

    @dataclass
    class Activated(Event):
        """A row was opened: show it in the session, or as the summary."""

        view: ResultView
        position: int
        row: ResultRow

        @property
        def control(self) -> ResultView:
            """The view it happened in."""
            return self.view

    _shown: Sequence[ResultRow] = ()
    _largest = 0
    _empty = ""

    def show(self, rows: Sequence[ResultRow], *, empty: str = "") -> None:
        """Show a result; `empty` is the sentence for a result with no rows."""
        self._shown = rows
        self._largest = max((row.tokens for row in rows), default=0)
        self._empty = empty
        self._strips.clear()
        self.items_changed()

    @property
    def item_count(self) -> int:
        return len(self._shown)

    @property
    def line_count(self) -> int:
        return max(1, self.item_count)

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        if not self._shown:
            return text_strip(self._empty, width, palette)
        shown = self._shown[line]
        columns = columns_for(
            width, len(str(self.item_count - 1)), max(5, len(grouped(self._largest)))
        )
        share = shown.tokens / self._largest if self._largest else 0
        row = Row(
            number=line,
            region=shown.region,
            rail="",
            role=shown.message.role,
            tokens=grouped(shown.tokens),
            eighths=max(1, round(columns.bar * 8 * share)) if shown.tokens else 0,
            text=first_line(shown.message),
            needle="",
            hit=False,
            cursor=line == self.cursor,
            typed=True,
        )
        key = (row, columns, width, palette.generation)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = paint_row(row, columns, width, palette)
        return strip

    def cursor_moved(self) -> None:
        self.post_message(self.Selected(self, self.cursor, self._shown[self.cursor]))

    def activated(self) -> None:
        self.post_message(self.Activated(self, self.cursor, self._shown[self.cursor]))


def text_strip(text: str, width: int, palette: Palette) -> Strip:
    """A muted sentence as one line."""
    return Strip([Segment(fit(text, width), palette.muted)], width)
