"""The replay pane: the sawtooth, what it says at the cursor, and what was needed later."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from compaction.needing import Need
from tui.widgets.facts import Fact, Facts
from tui.widgets.needs_list import NeedsList
from tui.widgets.sawtooth import Saw, Sawtooth


class ReplayView(Vertical):
    """Three widgets, one below the other; the chart has the keys first."""

    DEFAULT_CSS = """
    ReplayView {
        height: 1fr;
        & Sawtooth { height: 40%; min-height: 7; max-height: 18; }
        & Facts { margin: 1 0; max-height: 45%; }
        & NeedsList { height: 1fr; min-height: 1; }
    }
    .-low ReplayView Facts { margin: 0; }
    """

    def compose(self) -> ComposeResult:
        yield Sawtooth()
        yield Facts()
        yield NeedsList()

    def show(self, saw: Saw | None) -> None:
        """Show another walk."""
        self.query_one(Sawtooth).show(saw)

    def say(self, facts: Sequence[Fact]) -> None:
        """Say other things under the chart."""
        self.query_one(Facts).show(facts)

    def show_needs(self, needs: Sequence[Need]) -> None:
        """List what was needed later."""
        self.query_one(NeedsList).show(needs)

    @property
    def call(self) -> int:
        """The call under the cursor."""
        return self.query_one(Sawtooth).call
