"""Choosing among policies by what they come to, and changing one block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import work

from tui.comparing import Ground
from tui.screens.compare import Compare
from tui.screens.policy_editor import PolicyEditor
from tui.screens.workbench_sweep import WorkbenchSweep

if TYPE_CHECKING:
    from tui.screens.workbench_actions import WorkbenchActions


class WorkbenchPolicy(WorkbenchSweep):
    """What a person does with whole policies."""

    @work
    async def action_compare(self) -> None:
        """Several policies side by side; the one that is taken is one step of undo."""
        session, counts, groups = self.session, self.counts, self.groups
        if session is None or counts is None or groups is None:
            self.workbench.say("There is no session to compare policies on.")
            return
        past = next((each.past for each in (self._run, self._map) if each is not None), None)
        policy = self.history.present.policy
        chosen = await self.app.push_screen_wait(
            Compare(Ground(session, counts, groups, policy, past))
        )
        if chosen is not None:
            self.set_policy(chosen, f"policy {chosen.name}")

    def action_edit_policy(self) -> None:
        """Change the policy setting by setting."""
        # The editor takes back and saves as the whole workbench does.
        self.app.push_screen(PolicyEditor(cast("WorkbenchActions", self)))
