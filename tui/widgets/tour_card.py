"""The guided tour: four short steps at the bottom of the screen, over which the work goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message as Event
from textual.widgets import Static

from tui.commands import rebound, shown_key


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `{pin}` in `text` is the key of the command `pin`, `until` what ends the step."""

    heading: str
    text: str
    until: frozenset[str] = frozenset()


STEPS: Final[tuple[Step, ...]] = (
    Step(
        "This session is over its budget",
        "The upper bar is what a model would be sent now, the lower one what compaction makes of "
        "it. H is kept first, S becomes one summary, R stays word for word.",
    ),
    Step(
        "Move a slider and watch",
        "{focus-budget} goes to the budget, {focus-keep} to keep recent; then ← → or the mouse. "
        "Bars, colours and summary follow at once.",
        frozenset({"budget", "keep"}),
    ),
    Step(
        "Read what would stand for the old part",
        "In the list (tab or a click leads there) {pane-summary} shows the summary exactly as it "
        "would be sent, and below it what it keeps and loses. {edit-summary} changes its text.",
        frozenset({"pane-summary"}),
    ),
    Step(
        "Choose what must stay",
        "{pin} pins the message under the cursor, {keep-from-cursor} keeps everything from there "
        "on, {undo} takes it back. {export} writes the result, {help} has all keys.",
        frozenset({"pin", "boundary"}),
    ),
)


class TourCard(Static, can_focus=True):
    """Shows one step after another; hidden until it is started."""

    DEFAULT_CSS = """
    TourCard {
        display: none;
        height: auto;
        padding: 0 2;
        margin: 0 1;
        border-left: outer $accent;
        background: $surface;
        color: $foreground;
    }
    TourCard.-shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right,n", "go_on", "Next step", id="tour.next", show=False),
        Binding("left,N", "go_back", "Step before", id="tour.back", show=False),
        Binding("escape", "end", "End the tour", id="tour.end", show=False),
    ]

    @dataclass
    class Ended(Event):
        """The tour is over; `completed` when its last step was reached."""

        card: TourCard
        completed: bool

        @property
        def control(self) -> TourCard:
            """The card it happened on."""
            return self.card

    def __init__(self, keymap: Mapping[str, str] | None = None, *, id: str | None = None) -> None:  # noqa: A002 - the name Textual gives it
        super().__init__("", id=id, markup=False)
        self._keys = {
            each.id: shown_key(each.keys[0]) if each.keys else each.name
            for each in rebound(keymap)
        }
        self._at = -1

    @property
    def running(self) -> bool:
        """Whether a step is shown."""
        return self._at >= 0

    @property
    def step(self) -> int:
        """Number of the shown step from 0; -1 when none is."""
        return self._at

    def start(self) -> None:
        """Show the first step and take the focus."""
        self._show(0)
        self.focus()

    def did(self, what: str) -> None:
        """Something was done; the step that asked for it is over."""
        if self.running and what in STEPS[self._at].until:
            self.action_go_on()

    def action_go_on(self) -> None:
        """Go to the next step; after the last one the tour is over."""
        if self._at + 1 < len(STEPS):
            self._show(self._at + 1)
        else:
            self._close(completed=True)

    def action_go_back(self) -> None:
        """Go to the step before."""
        self._show(max(0, self._at - 1))

    def action_end(self) -> None:
        """End the tour."""
        self._close(completed=False)

    def on_click(self) -> None:
        """A click goes on."""
        self.action_go_on()

    def on_focus(self) -> None:
        """Its keys work now, and it says so."""
        self._tell()

    def on_blur(self) -> None:
        """Its keys belong to somebody else now."""
        self._tell()

    def _show(self, at: int) -> None:
        self._at = at
        self._tell()
        self.set_class(True, "-shown")

    def _tell(self) -> None:
        if self.running:
            self.update(card_text(self._at, self._keys, focused=self.has_focus))

    def _close(self, *, completed: bool) -> None:
        if self.running:
            self._at = -1
            self.set_class(False, "-shown")
            self.post_message(self.Ended(self, completed))


def card_text(at: int, keys: Mapping[str, str], *, focused: bool = True) -> Content:
    """The text of a step, with the keys as they are now; `focused`: those of the card work."""
    step = STEPS[at]
    text = step.text
    for id_, key in keys.items():
        text = text.replace(f"{{{id_}}}", key)
    last = at + 1 == len(STEPS)
    if not focused:
        way = "a click here ends the tour" if last else "try it, or click here to go on"
    else:
        way = "enter ends the tour" if last else "enter goes on · esc ends the tour"
    return Content.assemble(
        (f"{at + 1}/{len(STEPS)} ", "$accent bold"),
        (step.heading, "bold"),
        f"\n{text}\n",
        (way, "$foreground 65%"),
    )
