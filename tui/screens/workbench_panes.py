"""The panes at the right of the workbench: message, summary, result, findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widgets import ContentSwitcher

from compaction.findings import Finding
from tui.screens.workbench_state import WorkbenchState
from tui.settings import Pane
from tui.widgets.detail import MessageDetail
from tui.widgets.findings_view import FindingsView
from tui.widgets.looks import grouped
from tui.widgets.message_list import MessageList
from tui.widgets.pane_tabs import PaneTabs
from tui.widgets.result_view import ResultView
from tui.widgets.summary_view import SummaryShown, SummaryView
from tui.widgets.their_summary import Theirs
from tui.widgets.tour_card import TourCard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compaction.compacting import Compacted
    from compaction.planning import Plan

#: Where a summary stands, in words.
_PLACES = {
    "after-head": "after head", "before-recent": "before recent", "at-the-gap": "where the gap is",
    "first": "first", "last": "last",
}  # fmt: skip


class WorkbenchPanes(WorkbenchState):
    """What the panes show."""

    _shown_findings: tuple[Finding, ...] | None = None
    _shown_message: tuple[object, ...] = ()
    #: The message with the tool's own summary, and its text.
    _theirs: tuple[object, str] = (None, "")

    def show_pane(self, pane: Pane, *, focus: bool = False) -> None:
        """Bring a pane to the front; `focus` also goes there."""
        self.pane = pane
        self.query_one("#panes", ContentSwitcher).current = pane
        self.show_tabs()
        if focus:
            self.give_room()
            target = self.query_one(f"#{pane}")
            inner = next(
                (one for one in (target, *target.query("*")) if one.focusable and one.display),
                None,
            )
            if inner is not None:
                self.call_after_refresh(inner.focus)

    def did(self, what: str) -> None:
        """Tell the tour what was done."""
        self.query_one(TourCard).did(what)

    def give_room(self) -> None:
        """Where list and panes have no room side by side, the pane has the screen."""
        self.set_class(not self.has_class("-wide"), "-pane")

    def on_pane_tabs_chosen(self, event: PaneTabs.Chosen) -> None:
        """Open the pane whose name was clicked."""
        self.show_pane(event.pane)
        self.did(f"pane-{event.pane}")

    def show_tabs(self) -> None:
        """The names of the panes, with what they count."""
        findings = self.findings()
        counts = {}
        if findings:
            counts["findings"] = grouped(len(findings))
        made = self.result.summary if self.result is not None else None
        if self.summarizing:
            counts["summary"] = "…"
        elif made is not None:
            counts["summary"] = grouped(made.tokens)
        urgent = any(finding.level == "error" for finding in findings)
        self.query_one(PaneTabs).show(self.pane, counts, urgent=urgent)

    # ------------------------------------------------------------------------------ message

    def show_message(self, index: int | None) -> None:
        """Show one message at length."""
        plan, session = self.shown_plan, self.session
        if index is None or plan is None or session is None or index >= plan.n:
            return
        message = session.messages[index]
        tokens, estimated = plan.counts.tokens[index], index >= plan.counts.done
        region = plan.region(index)
        shown = (id(session), index, tokens, estimated, region)
        if shown == self._shown_message:
            return
        self._shown_message = shown
        links = plan.groups.links.answers(index)
        note = "answered by " + ", ".join(f"#{one}" for one in links[:8]) if links else ""
        self.query_one(MessageDetail).show(
            message, index, tokens=tokens, estimated=estimated, region=region, note=note
        )

    # ------------------------------------------------------------------------------ summary

    def show_summary(self) -> None:
        """Show the summary as it stands: made, on its way, failed, or not needed."""
        plan, result = self.plan, self.result
        view = self.query_one(SummaryView)
        if view.editing:
            return
        view.show(replace(self._summary_shown(plan, result), theirs=self.their_summary()))
        self.show_tabs()

    def their_summary(self) -> Theirs | None:
        """The newest summary that the recording tool made; None where it made none."""
        session, facts, counts = self.session, self.facts, self.counts
        if session is None or counts is None or facts is None or facts.theirs is None:
            return None
        index = facts.theirs
        message = session.messages[index]
        if self._theirs[0] is not message:
            self._theirs = (message, message.text)
        return Theirs(
            self._theirs[1], index, message.summary, counts.tokens[index], self.theirs_hold
        )

    def _summary_shown(self, plan: Plan | None, result: Compacted | None) -> SummaryShown:
        if plan is None:
            return SummaryShown("none", reason="No session is open.")
        if self.summarizing:
            return SummaryShown("computing")
        if result is None:
            state = "failed" if self.summary_reason and plan.compacts else "none"
            if not plan.compacts:
                return SummaryShown("none", reason=plan.reason)
            return SummaryShown(state, reason=self.summary_reason or plan.reason)  # type: ignore[arg-type]
        made = result.summary
        if made is None:
            if result.failure:
                gone = "Nothing is replaced. "
                if result.made:
                    gone = "The old messages were dropped without one. "
                return SummaryShown("failed", reason=gone + result.failure)
            return SummaryShown("none", reason=result.plan.reason)
        return SummaryShown(
            "made",
            text=made.text,
            content=made.content,
            role=made.role,
            place=_PLACES.get(plan.policy.summary.place, plan.policy.summary.place),
            tokens=made.tokens,
            summarizer=made.summarizer,
            edited=made.edited,
            reason=result.failure,
            kept=self.kept_values,
            lost=self.lost_values,
        )

    # ------------------------------------------------------------------------------- result

    def show_result(self) -> None:
        """Show the compacted list."""
        view = self.query_one(ResultView)
        result = self.result
        if result is None or not result.made:
            shown = self.shown_plan
            view.show((), empty=shown.reason if shown is not None else "No session is open.")
            return
        view.show(self.result_rows)

    def on_result_view_activated(self, event: ResultView.Activated) -> None:
        """Go to the message that a line of the result came from."""
        source = event.row.source
        if source is not None:
            self.jump(source)
        else:
            self.show_pane("summary")

    # ----------------------------------------------------------------------------- findings

    def findings(self) -> tuple[Finding, ...]:
        """Everything there is to say: the file, the plan, the result; each once."""
        found: dict[tuple[str, int | None, int | None, str], Finding] = {}
        groups: list[Sequence[Finding]] = []
        if self.result is not None and not self.summarizing:
            groups.append(self.result.findings)
        elif self.plan is not None:
            groups.append(self.plan.findings)
        if self.session is not None:
            groups.append(self.session.problems)
        for group in groups:
            for finding in group:
                key = (finding.code, finding.message, finding.line, finding.text)
                found.setdefault(key, finding)
        return tuple(found.values())

    def show_findings(self) -> None:
        """Show the findings that there are now."""
        view = self.query_one(FindingsView)
        findings = self.findings()
        if findings != self._shown_findings:
            self._shown_findings = findings
            view.show(findings)
        self.show_tabs()

    def on_findings_view_jump(self, event: FindingsView.Jump) -> None:
        """Go to the message a finding is about."""
        self.jump(event.index)

    def jump(self, index: int) -> None:
        """Put the cursor on a message, and show it."""
        self.set_class(False, "-pane")
        self.query_one(MessageList).select(index)
        self.set_focus(self.query_one(MessageList))
        self.show_message(index)

    def leave_pane(self) -> bool:
        """Back from a pane that has the screen to the list; False when none has it."""
        if not self.has_class("-pane"):
            return False
        self.set_class(False, "-pane")
        self.set_focus(self.query_one(MessageList))
        return True
