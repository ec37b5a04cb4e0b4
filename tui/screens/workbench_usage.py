"""The pane that tells what takes the tokens: found in a thread, when somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from tui import using
from tui.opening import Opening
from tui.screens.workbench_file import WorkbenchFile
from tui.settings import Pane, Settings
from tui.threads import leavable
from tui.widgets.looks import grouped
from tui.widgets.message_list import MessageList
from tui.widgets.usage_view import UsageView

if TYPE_CHECKING:
    from compaction.inspecting import Inspection
    from compaction.tokens import Counts


class WorkbenchUsage(WorkbenchFile):
    """Shows what takes the tokens, and leads from there to the messages."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._usage_ticket = 0
        #: The counts and the budget that what is shown was found for, or is being found.
        self._usage_asked: tuple[Counts, int | None] | None = None
        self._usage_known: tuple[Counts, Inspection, using.Usage] | None = None

    def show_pane(self, pane: Pane, *, focus: bool = False) -> None:
        """Look for what takes the tokens when that is asked for."""
        super().show_pane(pane, focus=focus)
        self._look_into()

    def recounted(self) -> None:
        """Other counts, other shares."""
        super().recounted()
        self._look_into()

    def settled(self) -> None:
        """The sentence speaks of the budget."""
        super().settled()
        self._look_into()

    def _look_into(self) -> None:
        """Find what takes the tokens, where the pane is open and does not say it yet."""
        session, counts = self.session, self.counts
        if self.pane != "usage" or session is None or counts is None:
            return
        asked = (counts, self.history.present.policy.budget)
        if self._usage_asked is not None and (
            self._usage_asked[0] is counts and self._usage_asked[1] == asked[1]
        ):
            return
        view = self.query_one(UsageView)
        if not counts.exact and not self.count_failed:
            view.show(None, "The messages are being counted …")
            return
        self._usage_asked = asked
        self._usage_ticket += 1
        if self._usage_known is None or self._usage_known[0] is not counts:
            self._usage_known = None
            view.show(None, "Looking through the messages …")
        self._find_usage(self._usage_ticket)

    @work(thread=True, exclusive=True, group="usage", exit_on_error=False, description="usage")
    def _find_usage(self, ticket: int) -> None:
        worker = get_current_worker()
        session, asked, known = self.session, self._usage_asked, self._usage_known
        if session is None or asked is None:
            return
        counts, budget = asked
        found = (known[1], known[2]) if known is not None and known[0] is counts else None
        post = self.post_message

        def stopped() -> bool:
            return worker.is_cancelled

        def look() -> None:
            using.find_usage(session, counts, budget, found, ticket, post, stopped)

        leavable(look, stopped)

    def on_usage_found(self, event: using.UsageFound) -> None:
        """Show it, unless something newer is on its way."""
        if event.ticket != self._usage_ticket:
            return
        if event.usage is None or event.inspection is None:
            self.query_one(UsageView).show(None, event.reason)
            return
        self._usage_known = (event.counts, event.inspection, event.usage)
        self.query_one(UsageView).show(event.usage)

    def on_usage_view_opened(self, event: UsageView.Opened) -> None:
        """Show its messages: narrow the list to them, or go through them one by one."""
        row = event.row
        if row.narrow is not None:
            self.set_class(False, "-pane")
            if row.narrow not in self.filters:
                self.set_filters((*self.filters, row.narrow))
            self.set_focus(self.query_one(MessageList))
            return
        if not row.messages:
            self.workbench.say("No messages are known for this row.")
            return
        if self.rows is not None:
            self.set_filters(())
        if len(row.messages) == 1:
            self.jump(row.messages[0])
            return
        self._go_through(row)

    def _go_through(self, row: using.UsageRow) -> None:
        """Make the messages of a row the hits that `n` and `N` lead to; go to the first."""
        self.look_for_none()
        self.hits = row.messages
        self.query_one(MessageList).set_search("", self.hits)
        self.jump(row.messages[0])
        many = grouped(len(row.messages))
        self.workbench.say(f"#{row.messages[0]} is the first of {many}; n and N go through them.")
