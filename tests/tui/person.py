"""A person before the running app, as the tests of the screen have one."""

from __future__ import annotations

from textual.pilot import Pilot

import compaction
from tui.app import Workbench
from tui.screens.workbench import WorkbenchScreen
from tui.widgets.message_list import MessageList


class Person:
    """The running app, and what can be seen of it."""

    def __init__(self, app: Workbench, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> WorkbenchScreen:
        """The main screen, under whatever dialog."""
        found = next(each for each in self.app.screen_stack if isinstance(each, WorkbenchScreen))
        assert isinstance(found, WorkbenchScreen)
        return found

    @property
    def plan(self) -> compaction.Plan:
        """The plan that is shown."""
        plan = self.screen.plan
        assert plan is not None
        return plan

    @property
    def rows(self) -> MessageList:
        """The list of messages."""
        return self.screen.query_one(MessageList)
