"""Making the summary on request, and changing it: in place, or in an editor of one's own."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from tui.screens.workbench_finding import WorkbenchFinding
from tui.state import Setting
from tui.widgets.summary_view import SummaryView


class WorkbenchSummary(WorkbenchFinding):
    """What a person does with the summary."""

    def action_summarize(self) -> None:
        """Make the summary now."""
        if self.plan is None or not self.plan.summarizes:
            reason = self.plan.reason if self.plan is not None else "no session is open"
            self.workbench.say(f"There is nothing to summarize: {reason}.")
            return
        if self._debounce is not None:
            # What it would make by itself is made now.
            self._debounce.stop()
        before = self.history.present
        if before.summary_edit is not None:
            self.history = self.history.change(Setting(before.policy), "summary made anew")
        self._summary_ticket += 1
        self.summarizing = True
        self._make_summary(asked=True)
        self.show_pane("summary")

    def action_edit_summary(self) -> None:
        """Edit the summary in place."""
        if self.result is None or self.result.summary is None:
            self.workbench.say("There is no summary to edit.")
            return
        self.show_pane("summary")
        self.give_room()
        self.query_one(SummaryView).action_edit()

    def action_their_summary(self) -> None:
        """Show the summary that the tool itself made after ours, or ours alone."""
        view = self.query_one(SummaryView)
        if self.their_summary() is None:
            self.workbench.say("The tool that recorded this session made no summary in it.")
            return
        self.show_pane("summary", focus=not self.has_class("-wide"))
        if not view.editing:
            view.beside = not view.beside

    def on_summary_view_edited(self, event: SummaryView.Edited) -> None:
        """Take the edited text, as one step of undo."""
        self.edit_summary(event.text)

    def edit_summary(self, text: str) -> None:
        """Use `text` as the summary."""
        if not text.strip():
            self.workbench.say("An empty summary never replaces anything.", severity="warning")
            return
        before = self.history.present
        self.history = self.history.change(Setting(before.policy, text), "summary")
        self._take_setting(before)

    def action_edit_outside(self) -> None:
        """Edit the summary in the editor of the environment."""
        made = self.result.summary if self.result is not None else None
        if made is None:
            self.workbench.say("There is no summary to edit.")
            return
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            self.workbench.say("Set $EDITOR to the editor you want.", severity="warning")
            return
        with tempfile.TemporaryDirectory(prefix="compaction-") as folder:
            file = Path(folder) / "summary.md"
            file.write_text(made.text, encoding="utf-8")
            try:
                with self.app.suspend():
                    done = subprocess.run([*shlex.split(editor), str(file)], check=False)  # noqa: S603
                text = file.read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError) as error:
                self.workbench.say(f"{editor} cannot be run: {error}.", severity="error")
                return
        if done.returncode:
            self.workbench.say(
                f"{editor} ended with {done.returncode}; the summary stays as it was."
            )
        elif text.strip() != made.text.strip():
            self.edit_summary(text.rstrip("\n"))
