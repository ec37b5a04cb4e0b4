"""The replay pane: the policy run over the whole session, and the list as it stood at a call.

A replay is made while its pane is in front: by the tick itself where that is quick, else in a
thread a moment after the last change; the newest wins.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import on, work
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from compaction.errors import CompactionError
from compaction.plaintext import one_line
from tui import replaying
from tui.opening import Opening
from tui.replay_words import facts_of
from tui.screens.workbench_conversation import WorkbenchConversation
from tui.settings import Pane, Settings
from tui.threads import leavable
from tui.widgets.facts import Fact
from tui.widgets.looks import grouped
from tui.widgets.message_list import MessageList
from tui.widgets.needs_list import NeedsList
from tui.widgets.replay_view import ReplayView
from tui.widgets.sawtooth import Sawtooth

if TYPE_CHECKING:
    from compaction.planning import Plan
    from tui.filtering import Filter

#: Seconds a replay may take for a slider to make it at every tick.
QUICK = 0.004


class WorkbenchReplay(WorkbenchConversation):
    """Replays, and goes back in time."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._replay_ticket = 0
        self._run: replaying.Run | None = None
        #: The call at which the list is shown, None for now; and where the cursor was before.
        self._past_call: int | None = None
        self._cursor_now = 0

    def loaded(self) -> None:
        """Another list has no past yet; one that grew keeps it."""
        super().loaded()
        if self._past_call is None:
            return
        if self.keep_place:
            self._show_past(self._past_call)
        else:
            self._past_call = None
            self.show_chips()

    # --------------------------------------------------------------------------- replaying

    def show_pane(self, pane: Pane, *, focus: bool = False) -> None:
        """A pane that is left takes its view of the past along."""
        super().show_pane(pane, focus=focus)
        if pane == "replay":
            self._renew_replay()
        else:
            self.leave_past()

    def planned(self, plan: Plan) -> None:
        """Follow a slider."""
        super().planned(plan)
        run = self._run
        if self.pane == "replay" and run is not None and run.took < QUICK and self._fits(run):
            try:
                self._show_run(replaying.run(run.past, plan.policy))
            except CompactionError as error:
                self._say_none(str(error))
        elif self._past_call is not None:
            self._show_past(self._past_call)

    def settled(self) -> None:
        """Nothing has changed for a moment: replay what was too slow for every tick."""
        super().settled()
        if self.pane == "replay":
            self._renew_replay()

    def outcome(self) -> None:
        """A summary that was made is not the one of then."""
        super().outcome()
        if self._past_call is not None:
            self._show_past(self._past_call)

    def _fits(self, run: replaying.Run) -> bool:
        """Whether a replay is of the session and the counts on the screen."""
        return run.past.shown is self.session and run.past.counts is self.counts

    def _renew_replay(self) -> None:
        run, policy = self._run, self.history.present.policy
        if self.session is None or self.counts is None or self.groups is None:
            return
        if run is not None and self._fits(run) and run.gone is not None:
            if run.replay.policy == policy:
                self._show_run(run)
                return
        elif run is None:
            self.query_one(ReplayView).say([Fact("", "replaying …", "muted")])
        self._replay_ticket += 1
        self._replay(self._replay_ticket)

    @work(thread=True, exclusive=True, group="replay", exit_on_error=False, description="replay")
    def _replay(self, ticket: int) -> None:
        worker = get_current_worker()
        session, counts, groups = self.session, self.counts, self.groups
        if session is None or counts is None or groups is None:
            return
        past = self._run.past if self._run is not None else None
        policy, post = self.history.present.policy, self.post_message

        def stopped() -> bool:
            return worker.is_cancelled or ticket != self._replay_ticket

        leavable(
            lambda: replaying.replay(
                past, session, counts, groups, policy, ticket, post, stopped
            ),
            stopped,
        )

    def on_replayed(self, event: replaying.Replayed) -> None:
        """Show it, unless something newer is on its way."""
        if event.ticket != self._replay_ticket:
            return
        if event.run is None:
            self._say_none(event.reason)
        else:
            self._show_run(event.run)

    def _say_none(self, reason: str) -> None:
        self._run = None
        self.leave_past()
        view = self.query_one(ReplayView)
        view.show(None)
        view.show_needs(())
        view.say([Fact("", one_line(reason), "error")])

    def _show_run(self, run: replaying.Run) -> None:
        self._run = run
        view = self.query_one(ReplayView)
        view.show(run.saw if run.saw.calls else None)
        view.say(facts_of(run, view.call))
        if run.gone is not None:
            view.show_needs(run.gone.needs)
        if self._past_call is not None:
            self._show_past(view.call)

    # ---------------------------------------------------------------------------- the past

    @on(Sawtooth.Scrubbed)
    def _scrubbed(self, event: Sawtooth.Scrubbed) -> None:
        if self._run is None:
            return
        self.query_one(ReplayView).say(facts_of(self._run, event.call))
        rows = self.query_one(MessageList)
        if self._past_call is None:
            self._cursor_now = rows.cursor_message or 0
        self._show_past(event.call)
        # The newest message of then is what the person looks at.
        rows.select(len(self.session.messages) if self.session is not None else 0)
        self.did("replay")

    def _show_past(self, call: int) -> None:
        """The list as it stood at a call."""
        run, rows = self._run, self.query_one(MessageList)
        if run is None or (self.session is not run.past.shown and not self.keep_place):
            return
        self._past_call = call
        plan = replaying.past_plan(run.past, run.replay, call)
        rows.rows = self._until(plan.end)
        # A list reads of a plan what the past has too.
        rows.plan = cast("Plan", plan)
        rows.summary_tokens = None
        self.show_chips()

    def _until(self, end: int) -> array[int]:
        """The messages before `end` that the filters leave."""
        shown = self.rows
        if shown is None:
            return array("q", range(end))
        return shown[: bisect_left(shown, end)]

    @property
    def in_the_past(self) -> bool:
        """Whether the list is shown as it stood at a call."""
        return self._past_call is not None

    def leave_past(self) -> bool:
        """Back to now; False when that is what is shown."""
        if self._past_call is None:
            return False
        self._past_call = None
        rows = self.query_one(MessageList)
        rows.rows = self.rows
        rows.plan = self.shown_plan
        rows.summary_tokens = self._summary_tokens()
        rows.select(self._cursor_now)
        self.show_chips()
        return True

    def set_filters(self, filters: tuple[Filter, ...]) -> None:
        """The line of the filters has the call too."""
        super().set_filters(filters)
        self.show_chips()

    def _take_rows(self, rows: array[int] | None) -> None:
        super()._take_rows(rows)
        if self._past_call is not None:
            self._show_past(self._past_call)

    def show_chips(self) -> None:
        """Say what narrows the list: filters, and a time that is past."""
        parts = [f"⊂ {one_line(each.text, 40)}" for each in self.filters]
        way = "esc drops the last" if parts else ""
        if self._past_call is not None and self._run is not None:
            calls = grouped(self._run.saw.calls)
            parts.append(f"◷ as it stood at call {grouped(self._past_call + 1)} of {calls}")
            way = "esc shows now"
        chips = self.query_one("#chips", Static)
        chips.update(Content(f"{'  '.join(parts)}   {way}" if parts else ""))
        chips.set_class(bool(parts), "-shown")

    @on(NeedsList.Jump)
    def _to_need(self, event: NeedsList.Jump) -> None:
        """Go to the message that held what was needed."""
        run = self._run
        if run is None:
            return
        index = run.past.found(event.need.of)
        if index is None:
            self.workbench.say(
                "That message is not in the window any more; V shows the full history."
            )
            return
        rows: Sequence[int] | None = self.query_one(MessageList).rows
        if rows is not None and index not in rows:
            self.leave_past()
        self.jump(index)
