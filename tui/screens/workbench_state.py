"""What the workbench knows: the session, the setting with its history, the plan and the result."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from compaction.policy import Policy
from tui.settings import Pane, Settings
from tui.state import History, Setting

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.groups import Groups
    from compaction.messages import Session
    from compaction.planning import Plan, Planner
    from compaction.tokens import Counts
    from tui.app import Workbench
    from tui.carried import Carried
    from tui.filtering import Filter
    from tui.opening import Opening
    from tui.session_facts import SessionFacts
    from tui.whole_file import WholeFile
    from tui.widgets.result_view import ResultRow


class WorkbenchState(Screen[None]):
    """The values of one session on the screen. Its subclasses show and change them."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__()
        self.opening = opening
        self.settings = settings
        # The demo shows what it is meant to show, whatever was set last.
        policy = opening.policy or (None if opening.demo else settings.policy) or Policy()
        self.history: History[Setting] = History(Setting(policy, opening.summary_text))
        self.session: Session | None = None
        self.counts: Counts | None = None
        self.groups: Groups | None = None
        self.planner: Planner | None = None
        self.plan: Plan | None = None
        self.facts: SessionFacts | None = None
        #: The records beside the window, while they are shown.
        self.whole: WholeFile | None = None
        self.result: Compacted | None = None
        self.result_rows: tuple[ResultRow, ...] = ()
        #: What became of the present plan, once it was carried out.
        self.became: Carried | None = None
        #: What the summary still says of what it replaced, and what it does not.
        self.kept_values: tuple[str, ...] = ()
        self.lost_values: tuple[str, ...] = ()
        #: How many of both the tool's own summary holds, and how many of the lost ones.
        self.theirs_hold: tuple[int, int] | None = None
        self.summary_reason = ""
        self.summarizing = False
        self.filters: tuple[Filter, ...] = ()
        self.rows: array[int] | None = None
        self.hits: tuple[int, ...] = ()
        self.pane: Pane = "message" if opening.demo else settings.pane
        self.presenting = False
        self.following = False
        self.export_wanted = False
        self.loading_session = False
        #: Counting is not possible: the estimates stay.
        self.count_failed = False
        self.stop_loading = False
        self.keep_place = False

    @property
    def shown_plan(self) -> Plan | None:
        """The plan, as it was really carried out once it is: what widgets show."""
        # Widgets read of what became of a plan what they read of one.
        return cast("Plan", self.became) if self.became is not None else self.plan

    @property
    def workbench(self) -> Workbench:
        """The app this screen is of."""
        return cast("Workbench", self.app)
