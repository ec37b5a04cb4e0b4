"""The summary that is made by itself, a moment after the last change; the newest one wins."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from textual import work
from textual.timer import Timer
from textual.worker import get_current_worker

from tui import loading
from tui.screens.workbench_figures import WorkbenchFigures
from tui.settings import Settings
from tui.threads import leavable
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.message_list import MessageList
from tui.widgets.minimap import Minimap

if TYPE_CHECKING:
    from compaction.planning import Plan
    from tui.opening import Opening

#: Seconds after the last change until the summary is made again.
DEBOUNCE = 0.15


class WorkbenchSummarizing(WorkbenchFigures):
    """Keeps the summary up to date with the plan."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._summary_ticket = 0
        self._summary_turn = Lock()
        self._debounce: Timer | None = None

    def _schedule_summary(self) -> None:
        """Make the summary again once nothing has changed for a moment."""
        if self._debounce is not None:
            self._debounce.stop()
        self._debounce = self.set_timer(DEBOUNCE, self._make_summary)
        self._summary_ticket += 1
        self.summarizing = True

    def settled(self) -> None:
        """Called when the plan has not changed for a moment."""

    def _make_summary(self, *, asked: bool = False) -> None:
        plan = self.plan
        if plan is None:
            self.summarizing = False
            return
        self.settled()
        edit = self.history.present.summary_edit
        if plan.compacts and edit is None and not asked and not self.is_free():
            self.summarizing = False
            self._no_result()
            self.summary_reason = "Press s to make the summary; this summarizer may cost money."
            self._show_outcome()
            return
        self.show_summary()
        self._summarize(plan, edit, self._summary_ticket)

    def stop_summary(self) -> None:
        """Wait for the summary no longer."""
        self._summary_ticket += 1
        self.summarizing = False
        self.workers.cancel_group(self, "summary")
        self.summary_reason = "It was stopped; s makes it."
        made = self.result.summary if self.result is not None else None
        if made is not None and made.edited and self.history.present.summary_edit is None:
            # The edit was given up for the summary that is not made now.
            self._no_result()
        self._show_outcome()

    def is_free(self) -> bool:
        """Whether the summarizer costs nothing, so that it may run by itself."""
        summarizer = self.opening.summarizer
        name = summarizer.name if summarizer else self.history.present.policy.summary.summarizer
        return name in ("digest", "none")

    @work(thread=True, exclusive=True, group="summary", exit_on_error=False, description="summary")
    def _summarize(self, plan: Plan, edit: str | None, ticket: int) -> None:
        worker = get_current_worker()

        def stopped() -> bool:
            return worker.is_cancelled or ticket != self._summary_ticket

        summarizer, post = self.opening.summarizer, self.post_message
        # One that waits for a program or a server keeps nobody from the interpreter.
        turn = self._summary_turn if edit is not None or self.is_free() else None
        theirs = self.facts.theirs if self.facts is not None else None

        def summarize() -> None:
            loading.summarize(plan, summarizer, edit, ticket, post, stopped, theirs)

        leavable(summarize, stopped, turn)

    def on_summarized(self, event: loading.Summarized) -> None:
        """Show the real summary and its size, unless something newer is on its way."""
        if event.ticket != self._summary_ticket:
            return
        self.summarizing = False
        self.result, self.result_rows = event.result, event.rows
        self.kept_values, self.lost_values = event.kept, event.lost
        self.theirs_hold = event.theirs
        self.summary_reason = event.reason
        self.became = event.became
        self._show_outcome()

    def _show_outcome(self) -> None:
        shown = self.shown_plan
        if shown is not None:
            tokens, rows = self._summary_tokens(), self.query_one(MessageList)
            rows.plan, rows.summary_tokens = shown, tokens
            self.query_one(BudgetBars).show(shown, tokens)
            self.query_one(Minimap).show(shown, self.counts)
            made = self.result is None or self.result.made
            carried_out = self.result.plan if self.result is not None else self.plan
            if carried_out is not None:
                self.show_sliders(carried_out, cut=made)
            self.show_verdict(shown)
            if self.result is not None and self.result.failure:
                self.say_status(self.result.failure)
            self.show_message(rows.cursor_message)
        self.show_summary()
        self.show_result()
        self.show_findings()
        self.outcome()

    def _no_result(self) -> None:
        self.result, self.result_rows, self.became = None, (), None
        self.kept_values, self.lost_values = (), ()
        self.theirs_hold = None

    def outcome(self) -> None:
        """Called when there is a result, or none is to be expected."""

    def _summary_tokens(self) -> int | None:
        """The size of the summary in what is shown; None while that is an estimate."""
        return self.became.summary_estimate if self.became is not None else None
