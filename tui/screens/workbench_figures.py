"""The figures above the list: the title, the sliders with their ends and notes, one sentence."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from compaction.plaintext import one_line
from compaction.policy import Policy
from tui.screens.workbench_panes import WorkbenchPanes
from tui.widgets.header import Fact, Title, TitleLine
from tui.widgets.looks import counted, grouped
from tui.widgets.slider import Mark, Slider

if TYPE_CHECKING:
    from compaction.planning import Plan


class WorkbenchFigures(WorkbenchPanes):
    """Shows where the setting stands."""

    _said = ("", False)
    #: Runs while a slider is moved.
    _settle: Timer | None = None
    _status_held = False

    def set_ranges(self) -> None:
        """What the sliders go to: the session as it is, and the values that are set."""
        session, counts, groups = self.session, self.counts, self.groups
        assert session is not None
        assert counts is not None
        assert groups is not None
        policy = self.history.present.policy
        total = counts.total
        budget = self.query_one("#budget", Slider)
        asked = policy.budget or total
        budget.set_range(
            min(1_000, max(1, asked)), max(int(total * 1.25), asked, 8_000), kind="log"
        )
        budget.marks = [Mark(total, "total")]
        budget.whole = total
        keep = self.query_one("#keep", Slider)
        unit = policy.recent.unit
        ends = {
            "messages": len(session.messages),
            "turns": len(groups.turns),
            "groups": len(groups.starts),
            "tokens": total,
            "fraction": 100,
        }
        end = max(ends.get(unit, 0), self.keep_value(policy), 1)
        keep.set_range(0, end, kind="linear")
        keep.unit = "%" if unit == "fraction" else unit
        keep.whole = end
        keep.disabled = unit == "fit"

    @staticmethod
    def keep_value(policy: Policy) -> int:
        """keep_recent as the slider has it: a fraction in percent, 0 for what has none."""
        amount = policy.keep_recent
        if amount is None:
            return 0
        return round(amount * 100) if policy.recent.unit == "fraction" else int(amount)

    def show_sliders(self, plan: Plan, *, cut: bool = True) -> None:
        """What is asked, and where what is given is something else; `cut`: the list was cut."""
        policy = plan.policy
        budget, keep = self.query_one("#budget", Slider), self.query_one("#keep", Slider)
        scale = budget.scale
        if not scale.minimum <= plan.budget <= scale.maximum:
            budget.set_range(min(scale.minimum, plan.budget), max(scale.maximum, plan.budget))
        budget.value = plan.budget
        value = self.keep_value(policy)
        if value > keep.scale.maximum:
            keep.set_range(0, value, kind="linear")
        keep.value = value
        keep.note = plan.snap_note if cut else ""
        effective = plan.effective
        if effective is not None and plan.summarizes and cut:
            whole = effective * 100 if policy.recent.unit == "fraction" else effective
            keep.effective = int(whole)
        else:
            keep.effective = None

    def show_title(self) -> None:
        """Which session this is; what matters most stays where there is little room."""
        policy = self.history.present.policy
        facts: list[Fact] = []
        session, counts = self.session, self.counts
        if session is not None and counts is not None:
            from compaction.formats import format_named

            sign = "" if counts.exact and not counts.model else "~"
            shown = f"{grouped(len(self.rows))} shown" if self.rows is not None else ""
            facts = [
                Fact(format_named(session.format).title, 4),
                Fact(session.model, 5),
                Fact(counted(len(session.messages), "message"), 3),
                Fact(f"{sign}{grouped(counts.total)} tokens"),
                Fact("full history" if session.history == "full" else "", 1),
                Fact("whole file" if self.whole is not None else "", 1),
                Fact(self._reported(), 1),
                Fact("following" if self.following else "", 1),
                Fact(shown, 2),
                Fact(counts.label, 6),
            ]
        name = PurePath(self.opening.name).name or "no session"
        self.query_one(TitleLine).show(
            Title(name, tuple(facts), f"policy: {policy.name} ▾")
        )

    def _reported(self) -> str:
        """What the provider itself counted for the last response."""
        reported = self.facts.reported if self.facts is not None else None
        return f"provider {grouped(reported)}" if reported else ""

    def show_verdict(self, plan: Plan) -> None:
        """What stands in the way of the setting, in one sentence under the sliders."""
        if self.loading_session and not self.keep_place:
            return
        if plan.unreachable:
            self.say_status(plan.unreachable)
        elif not plan.compacts and plan.over_budget:
            self.say_status(plan.reason)
        else:
            self.say_status("")

    def say_status(self, text: str, *, calm: bool = False) -> None:
        """One line under the sliders; "" takes it away.

        While a slider moves, the line stays as high as it was: nothing below it jumps, and the
        screen is not laid out again, which costs more than all else that a slider does.
        """
        if (text, calm) == self._said:
            return
        shown = bool(self._said[0]) or self._status_held
        self._said = (text, calm)
        status = self.query_one("#status", Static)
        content = Content(one_line(text))
        width, height = status.content_size
        fits = shown and width and content.get_height({}, width) <= height
        self._status_held = bool(fits and not calm and self._settle is not None)
        status.update(content, layout=not self._status_held)
        if not self._status_held:
            status.set_class(bool(text), "-shown")
        status.set_class(calm, "-calm")

    def settle_status(self) -> None:
        """The line takes the room it needs now."""
        if self._status_held:
            self._status_held = False
            status = self.query_one("#status", Static)
            status.set_class(bool(self._said[0]), "-shown")
            status.refresh(layout=True)
