"""The sweep pane: a map of all settings, whose crosshair is the two sliders.

The map is made once for a session and a family of policies, in a thread; a slider only moves the
crosshair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.worker import get_current_worker

from compaction.errors import PolicyError
from compaction.plaintext import one_line
from tui import sweeping
from tui.opening import Opening
from tui.screens.workbench_replay import WorkbenchReplay
from tui.settings import Pane, Settings
from tui.state import switched
from tui.threads import leavable
from tui.widgets.facts import Fact
from tui.widgets.heatmap import Heatmap
from tui.widgets.sweep_view import SweepView, facts_at

if TYPE_CHECKING:
    from compaction.planning import Plan


class WorkbenchSweep(WorkbenchReplay):
    """Shows every setting at once."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._sweep_ticket = 0
        self._map: sweeping.SweptMap | None = None

    def show_pane(self, pane: Pane, *, focus: bool = False) -> None:
        """Sweep once the pane is in front."""
        super().show_pane(pane, focus=focus)
        if pane == "sweep":
            self._renew_map()

    def planned(self, plan: Plan) -> None:
        """The crosshair follows the sliders."""
        super().planned(plan)
        if self.pane == "sweep":
            self._point()

    def settled(self) -> None:
        """Nothing has changed for a moment: another family needs another map."""
        super().settled()
        if self.pane == "sweep":
            self._renew_map()

    def _renew_map(self) -> None:
        made, policy = self._map, self.history.present.policy
        if self.session is None or self.counts is None or self.groups is None:
            return
        if (
            made is not None
            and made.past.shown is self.session
            and made.past.counts is self.counts
            and made.family == sweeping.family_of(policy)
        ):
            self._point()
            return
        if made is None:
            self.query_one(SweepView).say([Fact("", "sweeping …", "muted")])
        self._sweep_ticket += 1
        self._sweep(self._sweep_ticket)

    @work(thread=True, exclusive=True, group="sweep", exit_on_error=False, description="sweep")
    def _sweep(self, ticket: int) -> None:
        worker = get_current_worker()
        session, counts, groups = self.session, self.counts, self.groups
        if session is None or counts is None or groups is None:
            return
        known = (self._map.past if self._map else None, self._run.past if self._run else None)
        past = next((each for each in known if each is not None and each.counts is counts), None)
        policy, post = self.history.present.policy, self.post_message

        def stopped() -> bool:
            return worker.is_cancelled or ticket != self._sweep_ticket

        leavable(
            lambda: sweeping.sweep(past, session, counts, groups, policy, ticket, post, stopped),
            stopped,
        )

    def on_mapped(self, event: sweeping.Mapped) -> None:
        """Show it, unless something newer is on its way."""
        if event.ticket != self._sweep_ticket:
            return
        self._map = event.map
        view = self.query_one(SweepView)
        if event.map is None:
            view.show(None)
            view.say([Fact("", one_line(event.reason), "error")])
            return
        view.show(event.map.heat)
        self._point()

    def _point(self) -> None:
        """The crosshair at the cell that is nearest to the sliders, and its values in words."""
        made, chart = self._map, self.query_one(Heatmap)
        if made is None or chart.heat is None:
            return
        policy, heat = self.history.present.policy, made.heat
        budget = self.plan.budget if self.plan is not None else policy.budget
        here = (
            sweeping.nearest(heat.budgets, budget, ratio=True),
            sweeping.nearest(heat.amounts, policy.keep_recent, ratio=heat.unit != "fraction"),
        )
        chart.here = here
        self.query_one(SweepView).say(facts_at(heat, here, made.why))

    @on(Heatmap.Picked)
    def _cell_picked(self, event: Heatmap.Picked) -> None:
        """Move the sliders to the cell."""
        if self._map is None:
            return
        heat, policy = self._map.heat, self.history.present.policy
        amount = heat.amounts[event.amount]
        try:
            changed = policy.replace(budget=heat.budgets[event.budget])
            if amount is not None:
                changed = changed.replace(keep_recent=amount)
        except PolicyError as error:
            self.workbench.say(str(error), severity="warning")
            self._point()
            return
        self.set_policy(changed, "sweep: budget and keep recent", gesture=True)

    @on(Heatmap.Adopted)
    def _adopted(self) -> None:
        """Take the advised setting."""
        if self._map is not None and self._map.advice is not None:
            advised = switched(self.history.present.policy, self._map.advice)
            if advised == self.history.present.policy:
                self.workbench.say("This is the advised setting.")
            self.set_policy(advised, "advised setting")
