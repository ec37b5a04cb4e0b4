"""Searching and filtering: what is typed, and what the list shows of it.

Both look at whole messages, so both run in threads; what they found comes back as an event.
"""

from __future__ import annotations

from array import array

from textual import work
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from compaction.plaintext import one_line
from tui import filtering, loading
from tui.filtering import Filter
from tui.opening import Opening
from tui.screens.workbench_live import WorkbenchLive
from tui.settings import Settings
from tui.widgets.filter_bar import FilterBar
from tui.widgets.message_list import MessageList
from tui.widgets.search_bar import EntryBar, SearchBar

#: Conditions that another plan, or better counts, change.
_MOVING = frozenset({"region", "size", "tokens", "finding"})


class WorkbenchFinding(WorkbenchLive):
    """Finds messages."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._search_ticket = 0
        self._filter_ticket = 0
        self._needle = ""

    def action_search(self) -> None:
        """Open the search."""
        self.leave_pane()
        self.query_one(SearchBar).open()

    def action_filter(self) -> None:
        """Open the filter."""
        self.leave_pane()
        self.query_one(FilterBar).open()

    def on_entry_bar_changed(self, event: EntryBar.Changed) -> None:
        """Search, or say what a filter would leave, while it is typed."""
        if isinstance(event.bar, SearchBar):
            self._look_for(event.text)
            return
        event.bar.say("")
        made = self._parsed(event.bar, event.text)
        if made is not None:
            self._narrow((*self.filters, made), tried=True)

    def on_entry_bar_submitted(self, event: EntryBar.Submitted) -> None:
        """Go to the first hit; add the filter."""
        if isinstance(event.bar, SearchBar):
            self.set_focus(self.query_one(MessageList))
            self.action_next_hit(here=True)
            return
        made = self._parsed(event.bar, event.text)
        if made is None and event.text.strip():
            return
        event.bar.close()
        self.set_focus(self.query_one(MessageList))
        if made is not None:
            self.set_filters((*self.filters, made))

    def on_entry_bar_closed(self, event: EntryBar.Closed) -> None:
        """Forget what was looked for."""
        if isinstance(event.bar, SearchBar):
            self._look_for("")
        self.set_focus(self.query_one(MessageList))

    def _parsed(self, bar: EntryBar, text: str) -> Filter | None:
        """The filter, None when it is empty or wrong; the bar says what is wrong."""
        try:
            return filtering.parse(text)
        except filtering.FilterError as error:
            bar.say(str(error), wrong=True)
            return None

    # ------------------------------------------------------------------------------- search

    def look_for_none(self) -> None:
        """Close the search, so that the hits can be something else."""
        bar = self.query_one(SearchBar)
        if bar.is_open:
            bar.close()
        self._look_for("")

    def _look_for(self, needle: str) -> None:
        self._search_ticket += 1
        self._needle = needle
        self.hits = ()
        self.query_one(MessageList).set_search(needle, ())
        if not needle or self.session is None:
            self.query_one(SearchBar).say("")
            self.workers.cancel_group(self, "search")
            return
        self.query_one(SearchBar).say_count(None, 0, searching=True)
        self._search(needle, self._search_ticket)

    @work(thread=True, exclusive=True, group="search", exit_on_error=False, description="search")
    def _search(self, needle: str, ticket: int) -> None:
        worker = get_current_worker()
        if self.session is not None:
            loading.search(
                self.session, needle, ticket, self.post_message, lambda: worker.is_cancelled
            )

    def on_hits(self, event: loading.Hits) -> None:
        """Mark the hits, and go to the first one from the cursor on."""
        if event.ticket != self._search_ticket:
            return
        self.hits = tuple(filtering.within(event.indexes, self.rows))
        self.query_one(MessageList).set_search(event.needle, self.hits)
        self.action_next_hit(here=True)

    def action_next_hit(self, *, here: bool = False) -> None:
        """Go to the next message that holds the text."""
        self._to_hit(1, here=here)

    def action_previous_hit(self) -> None:
        """Go to the one before."""
        self._to_hit(-1, here=False)

    def _to_hit(self, step: int, *, here: bool) -> None:
        rows = self.query_one(MessageList)
        at = rows.cursor_near
        if here:
            at -= 1
        place = filtering.next_hit(self.hits, at, step)
        if place is not None:
            rows.select(self.hits[place])
        self.query_one(SearchBar).say_count(place, len(self.hits))

    # ------------------------------------------------------------------------------- filter

    def set_filters(self, filters: tuple[Filter, ...]) -> None:
        """Show only what all `filters` leave."""
        self.filters = filters
        text = "  ".join(f"⊂ {one_line(each.text, 40)}" for each in filters)
        chips = self.query_one("#chips", Static)
        chips.update(Content(f"{text}   esc drops the last" if text else ""))
        chips.set_class(bool(filters), "-shown")
        if filters:
            self._narrow(filters)
        else:
            self._filter_ticket += 1
            self._take_rows(None)

    def settled(self) -> None:
        """What filters leave may be something else under another plan."""
        super().settled()
        self._narrow_moving()

    def outcome(self) -> None:
        """What became of a plan may leave something else, too."""
        super().outcome()
        self._narrow_moving()

    def loaded(self) -> None:
        """A list that grew is filtered anew."""
        super().loaded()
        if self.filters:
            self._narrow(self.filters)

    def _narrow_moving(self) -> None:
        if any(clause.key in _MOVING for each in self.filters for clause in each.clauses):
            self._narrow(self.filters)

    def _narrow(self, filters: tuple[Filter, ...], *, tried: bool = False) -> None:
        self._filter_ticket += 1
        self._filter(filters, self._filter_ticket, tried=tried)

    @work(thread=True, exclusive=True, group="filter", exit_on_error=False, description="filter")
    def _filter(self, filters: tuple[Filter, ...], ticket: int, *, tried: bool) -> None:
        worker = get_current_worker()
        session, plan = self.session, self.shown_plan
        if session is None or plan is None:
            return
        rows = filtering.apply(
            session,
            plan.counts,
            plan,
            self.findings(),
            filters,
            cancelled=lambda: worker.is_cancelled,
        )
        if not worker.is_cancelled:
            self.post_message(loading.Narrowed(ticket, rows, tried))

    def on_narrowed(self, event: loading.Narrowed) -> None:
        """Show what is left, or how much would be."""
        if event.ticket != self._filter_ticket or self.session is None:
            return
        if event.tried:
            self.query_one(FilterBar).say_left(len(event.rows), len(self.session.messages))
        else:
            self._take_rows(event.rows)

    def _take_rows(self, rows: array[int] | None) -> None:
        self.rows = rows
        self.query_one(MessageList).rows = rows
        self.show_title()
        if self._needle:
            self._look_for(self._needle)
        if rows is not None and not rows:
            self.workbench.say("These filters leave no message; esc drops the last one.")
