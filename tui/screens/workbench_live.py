"""What happens by itself: reading, counting and planning, each newest wins.

Workers are given a description: without one Textual describes them by the repr of what they are
called with, which is a whole session.

Data flows one way. Another `Setting` makes another plan; the widgets are given the plan. What
takes time is done by `tui.loading` in threads, which post events.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from compaction.errors import PolicyError
from compaction.policy import Policy
from tui import loading
from tui.screens.workbench_summarizing import WorkbenchSummarizing
from tui.settings import Settings
from tui.state import History, Setting, with_pins
from tui.threads import leavable
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.looks import counted, short
from tui.widgets.message_list import MessageList
from tui.widgets.minimap import Minimap
from tui.widgets.slider import Slider
from tui.widgets.tour_card import TourCard

if TYPE_CHECKING:
    from compaction.messages import Session
    from compaction.planning import Plan
    from compaction.tokens import Counts
    from tui.opening import Opening

#: Seconds after which two changes of a slider are two gestures.
GESTURE = 0.8


class WorkbenchLive(WorkbenchSummarizing):
    """Keeps everything shown up to date with the file and the setting."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._load_ticket = 0
        self._count_ticket = 0
        self._gesture = 0

    # ------------------------------------------------------------------------------ loading

    def start_loading(self, *, keep_place: bool = False) -> None:
        """Read the session of `opening` in a thread."""
        self._load_ticket += 1
        self.stop_loading = False
        self.loading_session = True
        self.keep_place = keep_place
        if not keep_place:
            self.say_status(f"reading {self.opening.name} …", calm=True)
        # The frame is drawn first: a thread that reads would share the interpreter with it.
        self.call_after_refresh(self._start_load, self._load_ticket)

    def _start_load(self, ticket: int) -> None:
        if ticket == self._load_ticket:
            self._load(ticket)

    @work(thread=True, exclusive=True, group="load", exit_on_error=False, description="load")
    def _load(self, ticket: int) -> None:
        worker = get_current_worker()

        def stopped() -> bool:
            return worker.is_cancelled or self.stop_loading

        opening, post = self.opening, self.post_message
        tokenizer = self.history.present.policy.tokens

        def read() -> None:
            loading.make_ready(opening, tokenizer)
            loading.load(opening, ticket, post, stopped)

        leavable(read, lambda: worker.is_cancelled)

    def on_load_progress(self, event: loading.LoadProgress) -> None:
        """Say how far it is."""
        if event.ticket == self._load_ticket and self.loading_session and not self.keep_place:
            done, total, unit = event.progress
            share = done / total if total else 1
            bar = "█" * int(share * 24) + "·" * (24 - int(share * 24))
            self.say_status(
                f"reading {bar} {short(done)} of {short(total)} {unit} · esc keeps what is read",
                calm=True,
            )

    def on_loaded(self, event: loading.Loaded) -> None:
        """Show the session with estimated sizes, and count it."""
        if event.ticket != self._load_ticket:
            return
        self.loading_session = self.count_failed = False
        first = self.session is None
        before, self.session = self.session, event.session
        self.groups = event.groups
        self.counts = event.counts
        self.facts = event.facts
        self.query_one(BudgetBars).reported = event.facts.reported
        # What was loaded stays; the collector need not look at it again and again.
        gc.freeze()
        if isinstance(self.opening.source, str):
            self.workbench.remember_file(self.opening.source)
        self.say_status("")
        self._tell_problems(event.session, before)
        setting = self.history.present
        policy = with_pins(setting.policy, setting.policy.head.pins, len(event.session.messages))
        if policy is not setting.policy:
            self.history = History(Setting(policy, setting.summary_edit))
        self._renew(event.counts, fresh=True, ranges=first or not self.keep_place)
        self._count_ticket += 1
        # After the first sight of it: both at once would share the interpreter.
        self.call_after_refresh(self._start_count, self._count_ticket)
        if first and self.opening.demo:
            self.query_one(TourCard).start()
        self.loaded()

    def loaded(self) -> None:
        """Called when a session was read and is shown."""

    def _tell_problems(self, session: Session, before: Session | None) -> None:
        known = set(before.problems) if before is not None else set()
        serious = [p for p in session.problems if p.level != "info" and p not in known]
        if serious:
            first = serious[0].text
            more = f" And {counted(len(serious) - 1, 'more problem')}." if len(serious) > 1 else ""
            self.workbench.say(f"{first}{more}", severity="warning", title="Problems in the file")

    # ----------------------------------------------------------------------------- counting

    def _start_count(self, ticket: int) -> None:
        if ticket == self._count_ticket and self.session is not None and self.counts is not None:
            self._count(self.session, self.counts, ticket)

    @work(thread=True, exclusive=True, group="count", exit_on_error=False, description="count")
    def _count(self, session: Session, counts: Counts, ticket: int) -> None:
        worker = get_current_worker()
        policy = self.history.present.policy
        loading.count(
            session,
            policy,
            counts,
            self.workbench.count_cache,
            ticket,
            self.post_message,
            lambda: worker.is_cancelled,
        )

    def on_counted(self, event: loading.Counted) -> None:
        """Plan again with better numbers; nothing jumps."""
        if event.ticket == self._count_ticket:
            self._renew(event.counts, fresh=False, ranges=event.counts.exact)

    def on_count_failed(self, event: loading.CountFailed) -> None:
        """The estimates stay."""
        if event.ticket == self._count_ticket:
            self.count_failed = True
            self.workbench.say(event.reason, severity="warning", title="Sizes are estimates")
            self.recounted()

    def _renew(self, counts: Counts, *, fresh: bool, ranges: bool) -> None:
        """Take in new counts: another planner over the known groups, the list's new sizes."""
        from compaction.planning import Planner

        assert self.session is not None
        self.counts = counts
        self.planner = Planner(self.session, counts, self.groups)
        if ranges:
            self.set_ranges()
        rows = self.query_one(MessageList)
        self._replan(show=fresh or rows.counts is None)
        if counts.exact:
            self.show_message(rows.cursor_message)
        self.recounted()

    def recounted(self) -> None:
        """Called when there are other counts, and a plan made with them."""

    # ----------------------------------------------------------------------------- planning

    def set_policy(self, policy: Policy, label: str, *, gesture: bool = False) -> None:
        """Change the policy; `gesture` joins a run of changes into one step of undo."""
        before = self.history.present
        if policy == before.policy:
            return
        key = ("gesture", self._gesture) if gesture else None
        self.history = self.history.change(Setting(policy, before.summary_edit), label, gesture=key)
        if gesture:
            if self._settle is not None:
                self._settle.stop()
            self._settle = self.set_timer(GESTURE, self._end_gesture)
        self._take_setting(before)
        self.did("keep" if label == "keep recent" else label.partition(" ")[0])

    def _end_gesture(self) -> None:
        self._gesture += 1
        self._settle = None
        self.history = self.history.settled()
        self.settle_status()
        card = self.query_one(TourCard)
        if card.running and isinstance(self.focused, Slider):
            # A slider takes digits as its own, and the tour goes on with one.
            card.focus()

    def _take_setting(self, before: Setting) -> None:
        """Show the present setting; what depends on its units or tokenizer too."""
        policy = self.history.present.policy
        if self.session is not None and policy.tokens != before.policy.tokens:
            assert self.counts is not None
            self._count_ticket += 1
            self._count(self.session, self.counts, self._count_ticket)
        if self.planner is not None:
            budget = policy.budget or 0
            scale = self.query_one("#budget", Slider).scale
            other = policy.recent.unit != before.policy.recent.unit
            if other or not scale.minimum <= budget <= scale.maximum:
                self.set_ranges()
        self._replan()

    def _replan(self, *, show: bool = False) -> None:
        """The plan under the present setting, given to all that shows it."""
        if self.planner is None or self.session is None or self.counts is None:
            return
        policy = self.history.present.policy
        try:
            plan = self.planner.plan(policy)
        except PolicyError as error:
            self.say_status(str(error))
            return
        if self.plan is None or not _same_cut(self.plan, plan):
            self.became = None
        self.plan = plan
        tokens, shown = self._summary_tokens(), self.shown_plan
        assert shown is not None
        rows = self.query_one(MessageList)
        if show:
            rows.show(self.session, self.counts, shown, plan.groups, keep_place=self.keep_place)
        else:
            if rows.counts is not self.counts:
                rows.counts = self.counts
            rows.plan = shown
        rows.summary_tokens = tokens
        self.query_one(BudgetBars).show(shown, tokens)
        self.query_one(Minimap).show(shown, self.counts)
        self.show_sliders(plan)
        self.show_title()
        self.show_verdict(plan)
        self.show_message(rows.cursor_message)
        self.planned(plan)
        self._schedule_summary()

    def planned(self, plan: Plan) -> None:
        """Called with every new plan, once the list shows it."""


def _same_cut(one: Plan, other: Plan) -> bool:
    return _cut_of(one) == _cut_of(other)


def _cut_of(plan: Plan) -> tuple[object, ...]:
    """What decides which messages a summary is made of."""
    freed = plan.tokens_freed
    return plan.head_end, plan.cut, plan.kept, plan.compacts, plan.counts, plan.summarizes, freed
