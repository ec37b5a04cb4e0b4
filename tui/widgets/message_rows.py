"""The rows of a list of messages: what is shown on which line, and how it is drawn.

A region is asked of the plan when a row is drawn, and only then: a new plan refreshes the
visible rows and touches no other. The same holds for the records beside the window.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.strip import Strip

from compaction.messages import Message, RecordedCompaction, Session, Source
from tui.whole_file import WholeFile, sketch
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, grouped
from tui.widgets.message_row import (
    Columns,
    Row,
    columns_for,
    first_line,
    paint_boundary,
    paint_row,
)
from tui.widgets.places import Places
from tui.widgets.record_row import paint_compaction, paint_overhead, paint_record

if TYPE_CHECKING:
    from compaction.groups import Groups
    from compaction.planning import Plan
    from compaction.tokens import Counts

#: What decides how a line looks; None for the boundary and for marks.
_Look = tuple[int, str, str] | None


class MessageRows(LineList):
    """Draws the messages of a session, or those a filter leaves, and what stands between them.

    Items are places in the shown rows; properties speak of message indexes.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._messages: Sequence[Message] = ()
        self._source: Source | None = None
        self._compactions: Sequence[RecordedCompaction] = ()
        self._whole: WholeFile | None = None
        #: What the marks of the places are; None is the overhead.
        self._marks: tuple[RecordedCompaction | None, ...] = ()
        self._counts: Counts | None = None
        self._plan: Plan | None = None
        self._groups: Groups | None = None
        self._places = Places()
        self._summary_tokens: int | None = None
        self._needle = ""
        self._hits: Sequence[int] = ()
        self._largest = 0
        self._dragging = False
        self._hovering = False
        self._last_cut: int | None = None
        self._viewed = (-1, -1)
        #: What plan and counts decided of every line of the screen when it was drawn.
        self._drawn: dict[int, _Look] = {}

    # --------------------------------------------------------------------------------- data

    def show(
        self,
        session: Session,
        counts: Counts | None = None,
        plan: Plan | None = None,
        groups: Groups | None = None,
        *,
        keep_place: bool = False,
    ) -> None:
        """Show a session. `keep_place` leaves cursor and view alone, for a session that grew."""
        self._messages = session.messages
        self._source, self._compactions = session.source, session.compactions
        self._plan, self._groups = plan, groups
        self._set_counts(counts)
        if not keep_place or (self._whole and not self._whole.fits(len(self._messages))):
            self._whole = None
        self._place(self._places.rows if keep_place else None)
        if not keep_place:
            self._needle, self._hits = "", ()
            self._cursor = 0
            self._summary_tokens = None
        self._strips.clear()
        self.items_changed()
        if not keep_place:
            self.scroll_to(y=0, animate=False)
        self.view_changed()

    def view_changed(self) -> None:
        """Called when other messages may be on the screen."""

    @property
    def plan(self) -> Plan | None:
        """The plan that colours the rows. Setting it redraws what is visible and no more."""
        return self._plan

    @plan.setter
    def plan(self, plan: Plan | None) -> None:
        self._plan = plan
        cut = plan.cut if plan is not None and plan.summarizes else None
        self._rearrange(replace(self._places, cut=cut))
        self._refresh_changed()

    def _rearrange(self, places: Places) -> None:
        """Put lines elsewhere around the same items: what is read stays where it is."""
        top = self._places.item_from(self.scroll_offset.y)
        line, lines = self.line_of(top), self.line_count
        self._places = places
        if self.line_count != lines:
            self.items_changed()
        moved = self.line_of(top) - line
        if moved and self.scroll_offset.y and not self._dragging:
            self.scroll_to(y=self.scroll_offset.y + moved, animate=False)

    @property
    def whole(self) -> WholeFile | None:
        """The records beside the window that are shown between the messages; None for none."""
        return self._whole

    @whole.setter
    def whole(self, whole: WholeFile | None) -> None:
        index = self._places.message(self._cursor) if self.item_count else 0
        offset = self.line_of(self._cursor) - self.scroll_offset.y
        self._whole = whole
        self._place(self._places.rows)
        self.items_changed()
        if self.item_count:
            # The message under the cursor stays on its line of the screen.
            self._cursor = self._places.nearest(index)
            self._show_from(max(0, self.line_of(self._cursor) - offset))
            self.move_cursor(self._cursor)
        self.view_changed()

    def _refresh_changed(self) -> None:
        """Draw the lines again that look otherwise now; the boundary counts what it ends."""
        top = self.scroll_offset.y
        for y in range(self.page_height):
            if self._drawn.get(y) != self._look(top + y) or top + y == self.boundary_line:
                self.refresh_line(top + y)

    def _look(self, line: int) -> _Look:
        """What plan and counts decide of a line: its message, the region, the tokens."""
        item = self.item_at(line)
        if item is None:
            return None
        record = self._places.record(item)
        if record is not None:
            return -1 - record, "", ""
        index = self._places.message(item)
        region = self._plan.region(index) if self._plan is not None else "recent"
        return index, region, self._tokens(index)

    def _tokens(self, index: int) -> str:
        counts = self._counts
        if counts is None:
            return ""
        guess = "" if counts.exact or index < counts.done else "~"
        return guess + grouped(counts.tokens[index])

    @property
    def counts(self) -> Counts | None:
        """Token counts of the messages; setting them redraws what is visible."""
        return self._counts

    @counts.setter
    def counts(self, counts: Counts | None) -> None:
        before, largest = self._counts, self._largest
        self._set_counts(counts)
        overhead = [one.overhead if one is not None else 0 for one in (before, counts)]
        if bool(overhead[0]) != bool(overhead[1]):
            self._rearrange(self._placed(self._places.rows))
        if overhead[0] != overhead[1]:
            self.refresh()
        exact = [one is not None and one.exact for one in (before, counts)]
        if before is None or largest != self._largest or exact[0] != exact[1]:
            self.refresh()
        else:
            self._refresh_changed()

    def _set_counts(self, counts: Counts | None) -> None:
        self._counts = counts
        self._largest = max(counts.tokens, default=0) if counts is not None else 0

    @property
    def summary_tokens(self) -> int | None:
        """Tokens of the summary that was really made; None while only its estimate is known."""
        return self._summary_tokens

    @summary_tokens.setter
    def summary_tokens(self, tokens: int | None) -> None:
        if tokens != self._summary_tokens:
            self._summary_tokens = tokens
            line = self.boundary_line
            if line is not None and 0 <= line - self.scroll_offset.y < self.page_height:
                self.refresh_line(line)

    @property
    def rows(self) -> array[int] | None:
        """Indexes of the messages a filter leaves, ascending; None shows all."""
        return self._places.rows

    @rows.setter
    def rows(self, rows: array[int] | None) -> None:
        index = self._places.message(self._cursor) if self.item_count else None
        was = self.cursor_message
        self._place(rows)
        self.items_changed()
        if index is not None:
            self.select(index, notify=False)
            if self.cursor_message != was and self.item_count:
                self.cursor_moved()
        self.view_changed()

    def set_search(self, needle: str, hits: Sequence[int] = ()) -> None:
        """Mark `needle` in the rows; `hits` are the indexes of the messages that hold it."""
        self._needle, self._hits = needle, hits
        self.refresh()

    # ------------------------------------------------------------------------------- places

    @property
    def cursor_message(self) -> int | None:
        """Index of the message under the cursor; None on a record and in an empty list."""
        if not self.item_count or self.cursor_record is not None:
            return None
        return self._places.message(self._cursor)

    @property
    def cursor_record(self) -> int | None:
        """Which record beside the window is under the cursor; None where it is a message."""
        return self._places.record(self._cursor)

    @property
    def cursor_near(self) -> int:
        """The message under the cursor, or the one after the record under it."""
        return self._places.message(self._cursor) if self.item_count else 0

    def select(self, index: int, *, notify: bool = True) -> None:
        """Put the cursor on the message `index`, or on the nearest one that is shown."""
        if self.item_count:
            self.move_cursor(self._places.nearest(index), notify=notify, centre=True)

    @property
    def window(self) -> tuple[int, int]:
        """The first and last message on the screen, both included; (-1, -1) when empty."""
        if not self.item_count:
            return (-1, -1)
        places, top = self._places, self.scroll_offset.y
        first = places.item_from(top)
        last = max(first, places.item_until(top + self.page_height - 1))
        end = places.message(last) - (places.record(last) is not None)
        return places.message(first), end

    @property
    def boundary_line(self) -> int | None:
        """The line of the boundary; None when nothing is summarized."""
        return self._places.boundary

    def _place(self, rows: array[int] | None) -> None:
        self._places = self._placed(rows)

    def _placed(self, rows: array[int] | None) -> Places:
        """Where everything stands; the marks too, which no slider moves."""
        plan, whole = self._plan, self._whole
        cut = plan.cut if plan is not None and plan.summarizes else None
        n = len(self._messages)
        places = Places(n, rows, cut)
        if whole is not None and rows is None:
            places = replace(places, before=whole.before, spots=whole.spots)
        overhead = self._counts is not None and self._counts.overhead > 0
        # At the very beginning of a list there is nothing that was compacted, but in the file.
        made = [one for one in self._compactions if whole is not None or 0 < one.at < n]
        made.sort(key=lambda one: one.at)
        marks: list[RecordedCompaction | None] = [None] if overhead else []
        self._marks = (*marks, *made)
        at = [0] if overhead else []
        return replace(places, marks=(*at, *(places.item(one.at) for one in made)))

    @property
    def item_count(self) -> int:
        return self._places.items

    @property
    def line_count(self) -> int:
        return self._places.lines

    def line_of(self, item: int) -> int:
        return self._places.line_of(item)

    def item_at(self, line: int) -> int | None:
        return self._places.item_at(line)

    # ------------------------------------------------------------------------------ drawing

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        item = self.item_at(line)
        y = line - self.scroll_offset.y
        if item is None:
            self._drawn[y] = None
            return self._paint_between(line, width, palette)
        record = self._places.record(item)
        if record is not None:
            self._drawn[y] = (-1 - record, "", "")
            return self._paint_record(record, item == self._cursor, width, palette)
        row = self._row(item)
        self._drawn[y] = (row.number, row.region, row.tokens)
        counts = self._counts
        columns = self._columns(width)
        key = (row, columns, width, palette.generation, self._largest)
        strip = self._strips.get(key)
        if strip is None:
            if columns.bar and self._largest and row.tokens:
                amount = counts.tokens[row.number] if counts is not None else 0
                eighths = max(1, round(columns.bar * 8 * amount / self._largest))
                row = row._replace(eighths=eighths)
            strip = self._strips[key] = paint_row(row, columns, width, palette)
        return strip

    def _columns(self, width: int) -> Columns:
        counts = self._counts
        widest = max(self._largest, counts.overhead if counts is not None else 0)
        tokens = len(grouped(widest)) + (counts is not None and not counts.exact)
        return columns_for(width, len(str(len(self._messages) - 1)), max(5, tokens))

    def _paint_between(self, line: int, width: int, palette: Palette) -> Strip:
        """A line that is no item: the overhead, a compaction of the tool, the boundary."""
        mark = self._places.mark_at(line)
        if mark is None:
            assert self._plan is not None
            held = self._dragging or self._hovering
            return paint_boundary(self._plan, self._summary_tokens, width, palette, held=held)
        made, counts = self._marks[mark], self._counts
        if made is not None:
            return paint_compaction(made, width, palette)
        assert counts is not None
        calibrated = counts.calibration is not None
        columns = self._columns(width)
        return paint_overhead(counts.overhead, calibrated, self._largest, columns, width, palette)

    def _paint_record(self, record: int, cursor: bool, width: int, palette: Palette) -> Strip:
        assert self._whole is not None
        assert self._source is not None
        columns = self._columns(width)
        key = ("record", id(self._whole), record, cursor, columns, width, palette.generation)
        strip = self._strips.get(key)
        if strip is None:
            one = self._whole.records[record]
            found = sketch(self._source, one.span)
            strip = self._strips[key] = paint_record(
                one.span.line, one.reason, found, columns, width, palette, cursor=cursor
            )
        return strip

    def _row(self, item: int) -> Row:
        index = self._places.message(item)
        message = self._messages[index]
        place = bisect_left(self._hits, index)
        return Row(
            number=index,
            region=self._plan.region(index) if self._plan is not None else "recent",
            rail=self._groups.rail(index) if self._groups is not None else "",
            role=message.role,
            tokens=self._tokens(index),
            eighths=0,
            text=first_line(message),
            needle=self._needle,
            hit=place < len(self._hits) and self._hits[place] == index,
            cursor=item == self._cursor,
            typed=message.typed or message.role != "user",
        )
