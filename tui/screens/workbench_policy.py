"""Choosing among policies by what they come to, and changing one block by block."""

from __future__ import annotations

from textual import work

from tui.comparing import Ground
from tui.screens.compare import Compare
from tui.screens.workbench_sweep import WorkbenchSweep


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
