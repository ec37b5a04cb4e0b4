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
        #: Session, counts and family of policies of the map that is being made.
        self._sweeping_for: tuple[object, object, object] | None = None

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

    def _present_map(self) -> sweeping.SweptMap | None:
        """The map of the session, the counts and the family of policies that are there now."""
        made = self._map
        if made is None or made.past.shown is not self.session:
            return None
        if made.past.counts is not self.counts:
            return None
        same = made.family == sweeping.family_of(self.history.present.policy)
        return made if same else None

    def _renew_map(self) -> None:
        if self.session is None or self.counts is None or self.groups is None:
            return
        if self._present_map() is not None:
            self._sweeping_for = None
            self._point()
            return
        family = sweeping.family_of(self.history.present.policy)
        wanted = (self.session, self.counts, family)
        if self._sweeping_for == wanted:
            return
        self._sweeping_for = wanted
        self.query_one(SweepView).show(None)
        self._say_sweeping(0, 0)
        self._sweep_ticket += 1
        self._sweep(self._sweep_ticket)

    def _say_sweeping(self, done: int, total: int) -> None:
        far = f" {done:,} of {total:,} settings" if total else ""
        self.query_one(SweepView).say([Fact("", f"sweeping …{far}", "muted")])

    def on_sweeping(self, event: sweeping.Sweeping) -> None:
        """Say how far it is."""
        if event.ticket == self._sweep_ticket and self._present_map() is None:
            self._say_sweeping(event.done, event.total)

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
        self._map, self._sweeping_for = event.map, None
        view = self.query_one(SweepView)
        if event.map is None:
            view.show(None)
            view.say([Fact("", one_line(event.reason), "error")])
            return
        view.show(event.map.heat)
        self._point()

    def _point(self) -> None:
        """The crosshair at the cell that is nearest to the sliders, and its values in words."""
        made, chart = self._present_map(), self.query_one(Heatmap)
        if made is None or chart.heat is None:
            return
        policy, heat = self.history.present.policy, made.heat
        here = chart.here = self._cell_of(made)
        setting = (self._budget(), policy.keep_recent)
        exact = (heat.budgets[here[0]], heat.amounts[here[1]]) == setting
        self.query_one(SweepView).say(facts_at(heat, here, made.why, exact=exact))

    def _budget(self) -> int | None:
        return self.plan.budget if self.plan is not None else self.history.present.policy.budget

    def _cell_of(self, made: sweeping.SweptMap) -> tuple[int, int]:
        """The cell that is nearest to the present setting."""
        heat, amount = made.heat, self.history.present.policy.keep_recent
        return (
            sweeping.nearest(heat.budgets, self._budget(), ratio=True),
            sweeping.nearest(heat.amounts, amount, ratio=heat.unit != "fraction"),
        )

    @on(Heatmap.Picked)
    def _cell_picked(self, event: Heatmap.Picked) -> None:
        """Move the sliders to the cell."""
        made = self._present_map()
        if made is None:
            return
        heat, policy = made.heat, self.history.present.policy
        amount = heat.amounts[event.amount]
        at = self._cell_of(made)
        try:
            # Along one axis the other value stays as it is, on the grid or not.
            changed = policy
            if event.budget != at[0]:
                changed = changed.replace(budget=heat.budgets[event.budget])
            if amount is not None and event.amount != at[1]:
                changed = changed.replace(keep_recent=amount)
        except PolicyError as error:
            self.workbench.say(str(error), severity="warning")
            self._point()
            return
        self.set_policy(changed, "sweep: budget and keep recent", gesture=True)

    @on(Heatmap.Adopted)
    def _adopted(self) -> None:
        """Take the advised setting."""
        made = self._present_map()
        if made is not None and made.advice is not None:
            advised = switched(self.history.present.policy, made.advice)
            if advised == self.history.present.policy:
                self.workbench.say("This is the advised setting.")
            self.set_policy(advised, "advised setting")
