"""Several policies side by side over the session that is open; Enter takes one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import get_current_worker

from compaction.errors import PolicyError
from compaction.plaintext import one_line
from compaction.policy import Policy, preset, presets
from tui import comparing
from tui.comparing import Compared, Ground
from tui.policy_files import policy_in, wrong_with
from tui.screens.ask import Ask
from tui.screens.choose import Choice, Choose
from tui.state import switched
from tui.threads import leavable
from tui.widgets.compare_table import CompareTable
from tui.widgets.facts import Fact, Facts
from tui.widgets.looks import counted, plain

#: Presets that are compared before anybody chooses others.
FIRST = ("default", "three-region", "fit-window", "keep-last", "untrusted-data")

_FILE = "\0file"


class Compare(Screen[Policy | None]):
    """Gives the policy that was taken; None when it was left."""

    DEFAULT_CSS = """
    Compare {
        background: $background;
        & #compare-body { padding: 1 2; }
        & #compare-title { height: 1; text-style: bold; margin: 0 0 1 0; }
        & #compare-note { height: auto; color: $foreground 65%; margin: 1 0; }
        & Facts { height: 1fr; }
        & #compare-keys { height: auto; color: $foreground 65%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", id="compare.close", show=False),
        Binding("b", "budgets", "Own budgets", id="compare.budgets", show=False),
        Binding("a", "add", "Add a policy", id="compare.add", show=False),
        Binding("delete,x", "drop", "Leave one out", id="compare.drop", show=False),
    ]
    AUTO_FOCUS: ClassVar[str | None] = "CompareTable"

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        self._ground = ground
        self._others: list[Policy] = [preset(name) for name in FIRST if name in presets()]
        #: Whether each policy has its own budget, or all the one that is set.
        self._own = ground.policy.budget is None
        self._ticket = 0
        #: The place among the others of every column; -1 for the present policy.
        self._places = [-1]

    def compose(self) -> ComposeResult:
        with Vertical(id="compare-body"):
            yield Static("Compare policies", id="compare-title", markup=False)
            yield CompareTable()
            yield Static("", id="compare-note", markup=False)
            yield Facts()
            yield Static(
                Content("← → choose · enter takes · a adds · x leaves out · b budgets · esc back"),
                id="compare-keys",
            )

    def on_mount(self) -> None:
        """Compare the first ones."""
        self._renew()

    # ----------------------------------------------------------------------------- comparing

    def policies(self) -> list[Policy]:
        """The present policy and the others, under the budgets that are asked for."""
        present = self._ground.policy
        out = [present]
        self._places = [-1]
        for place, policy in enumerate(self._others):
            made = switched(present, policy)
            if not self._own and present.budget is not None:
                # One that cannot have it stays as it was published.
                with suppress(PolicyError):
                    made = made.replace(budget=present.budget)
            # What is set already has a column.
            if made != present:
                out.append(made)
                self._places.append(place)
        return out

    def _renew(self) -> None:
        self._ticket += 1
        self._note("replaying …")
        self._compare(self.policies(), self._ticket)

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False, description="compare")
    def _compare(self, policies: list[Policy], ticket: int) -> None:
        worker = get_current_worker()
        ground, post = self._ground, self.post_message

        def stopped() -> bool:
            return worker.is_cancelled or ticket != self._ticket

        leavable(lambda: comparing.compare(ground, policies, ticket, post, stopped), stopped)

    def on_comparison(self, event: comparing.Comparison) -> None:
        """Show it, unless something newer is on its way."""
        if event.ticket != self._ticket:
            return
        if event.past is not None:
            self._ground = replace(self._ground, past=event.past)
        self.query_one(CompareTable).show(event.columns)
        own, budget = self._own, self._ground.policy.budget
        how = "each at its own budget" if own else f"all at a budget of {budget or 0:,}"
        calls = len(event.past.line) if event.past is not None else 0
        self._note(event.reason or f"replayed over {counted(calls, 'call')}, {how} (b changes it)")
        self._say()

    def _note(self, text: str) -> None:
        self.query_one("#compare-note", Static).update(Content(one_line(text)))

    def on_compare_table_moved(self) -> None:
        """Say what there is to say about the column."""
        self._say()

    def _say(self) -> None:
        table = self.query_one(CompareTable)
        facts = facts_of(table.columns[table.cursor]) if table.columns else []
        self.query_one(Facts).show(facts)

    # ------------------------------------------------------------------------------ commands

    def on_compare_table_adopted(self, event: CompareTable.Adopted) -> None:
        """Take the policy."""
        columns = self.query_one(CompareTable).columns
        self.dismiss(columns[event.column].policy)

    def action_leave(self) -> None:
        """Back without a change."""
        self.dismiss(None)

    def action_budgets(self) -> None:
        """All at the budget that is set, or each at its own."""
        if self._ground.policy.budget is not None:
            self._own = not self._own
            self._renew()

    def action_drop(self) -> None:
        """Leave out the policy under the cursor."""
        at = self.query_one(CompareTable).cursor
        if at < len(self._places) and self._places[at] >= 0:
            del self._others[self._places[at]]
            self._renew()

    @work
    async def action_add(self) -> None:
        """Compare one more: a published policy, or a file."""
        known = {policy.name for policy in self._others}
        choices = [Choice(_FILE, "A YAML file …", "a policy that was saved", key="f")]
        choices += [
            Choice(name, name, plain(preset(name).source, 120))
            for name in presets()
            if name not in known
        ]
        chosen = await self.app.push_screen_wait(Choose("Compare with", choices))
        if chosen is None:
            return
        if chosen != _FILE:
            self._others.append(preset(chosen))
            self._renew()
            return
        path = await self.app.push_screen_wait(Ask("Compare with a policy", check=wrong_with))
        if path:
            self._others.append(policy_in(path))
            self._renew()


def facts_of(column: Compared) -> list[Fact]:
    """Where a policy comes from, and what is found about it."""
    policy = column.policy
    facts = [Fact("policy", plain(policy.name, 60), strong=True)]
    if column.reason:
        facts.append(Fact("", plain(column.reason, 300), "error"))
    if policy.source:
        facts.append(Fact("from", plain(policy.source, 200), "muted"))
    if policy.notes:
        facts.append(Fact("notes", plain(policy.notes, 400), "muted"))
    facts.extend(
        Fact("" if number else "findings", plain(finding.text, 300))
        for number, finding in enumerate(column.findings[:4])
    )
    return facts
