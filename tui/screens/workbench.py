"""The main screen: its layout, and what a person does to the widgets on it."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import ContentSwitcher, Static

from compaction.errors import PolicyError
from tui import loading
from tui.commands import bindings, rebound
from tui.opening import Opening
from tui.screens.workbench_actions import WorkbenchActions
from tui.settings import Settings
from tui.state import keep_from
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.detail import MessageDetail
from tui.widgets.filter_bar import FilterBar
from tui.widgets.findings_view import FindingsView
from tui.widgets.header import TitleLine
from tui.widgets.key_line import KeyLine
from tui.widgets.message_list import MessageList
from tui.widgets.minimap import Minimap
from tui.widgets.pane_tabs import PaneTabs
from tui.widgets.replay_view import ReplayView
from tui.widgets.result_view import ResultView
from tui.widgets.search_bar import SearchBar
from tui.widgets.slider import Slider
from tui.widgets.summary_view import SummaryView
from tui.widgets.sweep_view import SweepView
from tui.widgets.tour_card import TourCard
from tui.widgets.usage_view import UsageView

#: Token counts that windows and budgets are often set to.
TICKS = (8_000, 32_000, 128_000, 200_000, 1_000_000)


class WorkbenchScreen(WorkbenchActions):
    """One session under one setting."""

    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (14, "-low"), (32, "-tall")]  # noqa: RUF012
    AUTO_FOCUS: ClassVar[str | None] = "#list"

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        for binding in bindings(settings.keymap):
            for one in Binding.make_bindings([binding]):
                self._bindings.key_to_bindings.setdefault(one.key, []).append(one)

    # ------------------------------------------------------------------------------- layout

    def compose(self) -> ComposeResult:
        yield TitleLine(id="title")
        yield BudgetBars(id="bars")
        with Horizontal(id="sliders"):
            yield Slider("budget", 1_000, 200_000, 100_000, kind="log", ticks=TICKS, id="budget")
            yield Slider("keep recent", 0, 20, 20, region="recent", id="keep")
        yield Static("", id="status", markup=False)
        with Horizontal(id="work"):
            with Vertical(id="left"):
                yield SearchBar(id="search")
                yield FilterBar(id="filter")
                yield Static("", id="chips", markup=False)
                with Horizontal(id="listing"):
                    yield MessageList(id="list")
                    yield Minimap(id="map")
            with Vertical(id="right"):
                yield PaneTabs(id="tabs")
                with ContentSwitcher(initial=self.pane, id="panes"):
                    yield MessageDetail(id="message")
                    yield SummaryView(id="summary")
                    yield ResultView(id="result")
                    yield FindingsView(id="findings")
                    yield UsageView(id="usage")
                    yield ReplayView(id="replay")
                    yield SweepView(id="sweep")
        yield TourCard(self.settings.keymap, id="tour")
        yield KeyLine(rebound(self.settings.keymap), id="keys")

    def on_mount(self) -> None:
        """Start reading, or ask what to read."""
        self.show_title()
        self.show_pane(self.pane)
        if self.opening.source is None:
            self.say_status("No session is open.", calm=True)
            self.call_after_refresh(self.action_open)
        else:
            self.start_loading()

    def on_load_failed(self, event: loading.LoadFailed) -> None:
        """Say why, and ask for another session."""
        if event.ticket != self._load_ticket:
            return
        self.loading_session = False
        self.say_status(event.reason)
        self.workbench.say(event.reason, severity="error", title="This session cannot be opened")
        if self.session is None:
            self.action_open()

    # -------------------------------------------------------------------------- what is done

    @on(Slider.Changed, "#budget")
    def _budget_changed(self, event: Slider.Changed) -> None:
        try:
            changed = self.history.present.policy.replace(budget=event.value)
        except PolicyError as error:
            self.workbench.say(str(error), severity="warning")
            return
        self.set_policy(changed, "budget", gesture=True)

    @on(Slider.Changed, "#keep")
    def _keep_changed(self, event: Slider.Changed) -> None:
        policy = self.history.present.policy
        value: int | float = event.value
        if policy.recent.unit == "fraction":
            value = event.value / 100
        try:
            changed = policy.replace(keep_recent=value)
        except PolicyError as error:
            self.workbench.say(str(error), severity="warning")
            return
        self.set_policy(changed, "keep recent", gesture=True)

    def on_message_list_boundary_moved(self, event: MessageList.BoundaryMoved) -> None:
        """Keep everything from there on; a list of the past is only looked at."""
        if self.in_the_past:
            self.workbench.say("This is the list of an earlier call; esc shows now.")
        elif self.plan is not None:
            self.set_policy(keep_from(self.plan, event.cut), "boundary", gesture=True)

    def on_message_list_selected(self, event: MessageList.Selected) -> None:
        """Show the message under the cursor."""
        self.query_one(Minimap).cursor = event.index
        self.show_message(event.index)

    def on_message_list_activated(self, event: MessageList.Activated) -> None:
        """Open it at length."""
        self.show_message(event.index)
        self.show_pane("message", focus=True)

    def on_message_list_viewed(self, event: MessageList.Viewed) -> None:
        """Mark on the map what is on the screen."""
        self.query_one(Minimap).window = (event.first, event.last)

    def on_minimap_jumped(self, event: Minimap.Jumped) -> None:
        """Go there."""
        self.query_one(MessageList).select(event.index)

    def on_tour_card_ended(self) -> None:
        """The keys are the list's again."""
        self.set_focus(self.query_one(MessageList))

    def on_title_line_policy_clicked(self) -> None:
        """Choose another policy."""
        self.action_choose_policy()
