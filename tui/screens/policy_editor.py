"""The policy editor: a form over the ten blocks, live, with its YAML beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static, TextArea

from compaction.errors import PolicyError
from compaction.plaintext import one_line
from compaction.policy import Policy
from tui.policy_files import policy_in, wrong_with
from tui.screens.ask import Ask
from tui.state import switched
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.policy_form import PolicyForm

if TYPE_CHECKING:
    from tui.screens.workbench_actions import WorkbenchActions

#: Seconds after the last key until YAML that is typed is read.
_REST = 0.25


class PolicyEditor(Screen[None]):
    """Every change is a change of the workbench below, and one step of undo a setting."""

    DEFAULT_CSS = """
    PolicyEditor {
        background: $background;
        & #editor-body { padding: 1 2 0 2; }
        & #editor-title { height: 1; text-style: bold; margin: 0 0 1 0; }
        & #editor-verdict { height: auto; max-height: 2; color: $foreground 65%; }
        & #editor-work { height: 1fr; margin: 1 0; }
        & PolicyForm { width: 1fr; }
        & TextArea {
            width: 1fr; margin: 0 0 0 3; border: none; padding: 0; background: $foreground 4%;
        }
        & #editor-note { height: auto; max-height: 3; color: $error; }
        & #editor-keys { height: auto; color: $foreground 65%; }
        &.-narrow TextArea { display: none; margin: 0; }
        &.-narrow.-yaml TextArea { display: block; }
        &.-narrow.-yaml PolicyForm { display: none; }
        &.-short #editor-verdict, &.-low #editor-verdict, &.-low BudgetBars { display: none; }
        &.-short #editor-body, &.-low #editor-body { padding: 0 1; }
        &.-short #editor-title, &.-low #editor-title { margin: 0; }
        &.-low #editor-work { margin: 0; }
    }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as the base has it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-short"), (32, "-tall")]  # noqa: RUF012 - as the base has it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="editor.close", show=False),
        Binding("ctrl+e", "leave", "Back", id="editor.toggle", show=False, priority=True),
        Binding("tab", "other", "Form or YAML", id="editor.other", show=False, priority=True),
        Binding("ctrl+s", "save", "Save", id="editor.save", show=False, priority=True),
        Binding("ctrl+o", "load", "Load", id="editor.load", show=False, priority=True),
        Binding("u", "undo", "Undo", id="editor.undo", show=False),
        Binding("ctrl+r", "redo", "Redo", id="editor.redo", show=False),
    ]
    AUTO_FOCUS: ClassVar[str | None] = "PolicyForm"

    def __init__(self, below: WorkbenchActions) -> None:
        super().__init__()
        self._below = below
        #: The YAML as it was last written here: what differs from it was typed.
        self._written = ""
        self._rest: Timer | None = None

    @property
    def policy(self) -> Policy:
        """The policy of the workbench."""
        return self._below.history.present.policy

    def compose(self) -> ComposeResult:
        with Vertical(id="editor-body"):
            yield Static("Policy", id="editor-title", markup=False)
            yield BudgetBars(id="editor-bars")
            yield Static("", id="editor-verdict", markup=False)
            with Horizontal(id="editor-work"):
                yield PolicyForm(self.policy)
                yield TextArea(
                    "", show_line_numbers=True, tab_behavior="focus", id="editor-yaml", compact=True
                )
            yield Static("", id="editor-note", markup=False)
            yield Static(
                Content(
                    "← → change · enter types · tab YAML · u undo · ctrl+s save · ctrl+o load · esc"
                ),
                id="editor-keys",
            )

    def on_mount(self) -> None:
        """Show the policy as it is."""
        self._show(write=True)

    # ------------------------------------------------------------------------------- showing

    def _show(self, *, write: bool) -> None:
        """The present policy in the form, in the bars and (`write`) as YAML."""
        policy, plan = self.policy, self._below.plan
        self.query_one("#editor-title", Static).update(
            Content(f"Policy {one_line(policy.name, 60)}")
        )
        self.query_one(PolicyForm).policy = policy
        if write:
            area = self.query_one(TextArea)
            self._written = policy.to_yaml()
            place = area.cursor_location
            area.load_text(self._written)
            area.move_cursor(place)
        if plan is not None and plan.policy == policy:
            self.query_one(BudgetBars).show(plan, None)
            self.query_one("#editor-verdict", Static).update(
                Content(one_line(plan.unreachable or plan.reason))
            )

    def _note(self, text: str) -> None:
        self.query_one("#editor-note", Static).update(Content(one_line(text)))

    # ------------------------------------------------------------------------------ changing

    def on_policy_form_changed(self, event: PolicyForm.Changed) -> None:
        """Plan again, and write it anew."""
        self._note("")
        self._below.set_policy(event.policy, event.field.key, gesture=True)
        self._show(write=True)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Read what was typed once nothing more is typed."""
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        if event.text_area.text != self._written:
            self._rest = self.set_timer(_REST, self._read)

    def _read(self) -> None:
        text = self.query_one(TextArea).text
        self._rest = None
        try:
            policy = Policy.from_yaml(text if "\n" in text else text + "\n")
        except PolicyError as error:
            self._note(str(error).replace("the policy, line", "line"))
            return
        self._note("")
        self._written = text
        self._below.set_policy(policy, "YAML", gesture=True)
        self._show(write=False)

    # ------------------------------------------------------------------------------ commands

    def action_leave(self) -> None:
        """Back to the list; what was typed a moment ago counts."""
        if self._rest is not None:
            self._rest.stop()
            self._read()
        self.dismiss(None)

    def action_other(self) -> None:
        """From the form to the YAML, or back."""
        form, area = self.query_one(PolicyForm), self.query_one(TextArea)
        to_yaml = not area.has_focus
        self.set_class(to_yaml, "-yaml")
        self.set_focus(area if to_yaml else form)

    def action_save(self) -> None:
        """Write it to a file."""
        self._below.action_save_policy()

    def action_undo(self) -> None:
        """Take back the last change."""
        self._below.action_undo()
        self._show(write=True)

    def action_redo(self) -> None:
        """Make it again."""
        self._below.action_redo()
        self._show(write=True)

    @work
    async def action_load(self) -> None:
        """Take the policy of a file; the pins of the session stay."""
        path = await self.app.push_screen_wait(Ask("Load a policy", check=wrong_with))
        if path:
            policy = switched(self.policy, policy_in(path))
            self._below.set_policy(policy, f"policy {policy.name}")
            self._note("")
            self._show(write=True)
