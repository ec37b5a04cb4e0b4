"""What was needed later and was gone: one line each, Enter goes to the message that held it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual.message import Message as Event
from textual.strip import Strip

from compaction.needing import Need
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, fit, plain

#: How a value comes back, in a word.
HOW = {
    "argument": "call",
    "request": "user",
    "answer": "answer",
    "fetched": "again",
    "constraint": "rule",
}


class NeedsList(LineList):
    """Needs, those that weigh most first."""

    @dataclass
    class Jump(Event):
        """The message that held a value is asked for."""

        list: NeedsList
        need: Need

        @property
        def control(self) -> NeedsList:
            """The list it happened in."""
            return self.list

    _needs: tuple[Need, ...] = ()

    def show(self, needs: Sequence[Need]) -> None:
        """Show other needs."""
        ordered = tuple(sorted(needs, key=lambda need: (-need.weight, need.at, need.of)))
        if ordered == self._needs:
            return
        self._needs = ordered
        self._cursor = 0
        self.items_changed()
        self.scroll_to(y=0, animate=False, immediate=True)

    @property
    def needs(self) -> tuple[Need, ...]:
        """The needs in the order they are shown."""
        return self._needs

    @property
    def item_count(self) -> int:
        return len(self._needs)

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        need = self._needs[line]
        later = "end" if need.how == "constraint" else f"#{need.at}"
        segments = [
            Segment(f"{need.weight} ", palette.muted),
            Segment(fit(HOW[need.how], 7), palette.text),
            Segment(fit(f"#{need.of} → {later}", 14), palette.muted),
            Segment(fit(plain(need.text, 200), max(0, width - 23)), palette.text),
        ]
        return palette.row(segments, width, cursor=line == self.cursor)

    def activated(self) -> None:
        self.post_message(self.Jump(self, self._needs[self.cursor]))
