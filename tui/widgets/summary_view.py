"""The summary as it will be sent: its role, place and tokens, its text, what it keeps and loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message as Event
from textual.widgets import Static, TextArea

from compaction.plaintext import block
from tui.widgets.looks import grouped, plain
from tui.widgets.text_flow import Passage
from tui.widgets.text_pane import TextPane
from tui.widgets.their_summary import Theirs, beside, their_passages

State = Literal["none", "computing", "failed", "made"]

#: Kept and lost values listed one by one; the rest is counted.
LISTED = 200


@dataclass(frozen=True, slots=True)
class SummaryShown:
    """What the view shows.

    `text` is what a person edits, `content` the message exactly as it is sent (its label and
    wrapper around the text). `reason` says why there is none, or why something else stands in
    place of the one that was wanted. `lost` and
    `kept` are exact values of the replaced messages; `needed` are the lost ones that a later
    message uses.
    """

    state: State = "none"
    text: str = ""
    content: str = ""
    role: str = "user"
    place: str = ""
    tokens: int | None = None
    summarizer: str = ""
    edited: bool = False
    reason: str = ""
    kept: Sequence[str] = field(default=())
    lost: Sequence[str] = field(default=())
    needed: Sequence[str] = field(default=())
    theirs: Theirs | None = None


class SummaryView(Vertical):
    """Shows a summary and lets it be edited in place."""

    DEFAULT_CSS = """
    SummaryView {
        background: transparent;
        & > #summary-head { height: auto; color: $foreground 65%; padding: 0 0 1 0; }
        & > TextArea { display: none; height: 1fr; border: none; padding: 0; }
        & > #summary-keys { display: none; height: 1; color: $foreground 65%; }
        &.-editing > TextArea { display: block; }
        &.-editing > #summary-keys { display: block; }
        &.-editing > TextPane { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit the summary", id="summary.edit", show=False),
        Binding("ctrl+s", "keep_edit", "Keep the edit", id="summary.keep", show=False),
        Binding("escape", "drop_edit", "Drop the edit", id="summary.drop", show=False),
    ]

    @dataclass
    class Edited(Event):
        """A person changed the text and kept the change."""

        view: SummaryView
        text: str

        @property
        def control(self) -> SummaryView:
            """The view it happened in."""
            return self.view

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._shown = SummaryShown()
        self._beside = False

    def compose(self) -> ComposeResult:
        yield Static("", id="summary-head", markup=False)
        yield TextPane(passages_of(self._shown))
        yield TextArea("", soft_wrap=True, tab_behavior="focus")
        yield Static(Content("ctrl+s keeps the edit · escape drops it"), id="summary-keys")

    # --------------------------------------------------------------------------------- data

    def show(self, shown: SummaryShown) -> None:
        """Show a summary, or why there is none. A text that is being edited stays open."""
        same_place = shown.state == self._shown.state == "made"
        self._shown = shown
        self.query_one("#summary-head", Static).update(head_of(shown))
        self._show_text(keep_place=same_place)

    def _show_text(self, *, keep_place: bool = False) -> None:
        passages = passages_of(self._shown, theirs=self._beside)
        self.query_one(TextPane).show(passages, keep_place=keep_place)

    @property
    def beside(self) -> bool:
        """Whether the summary that the tool itself made is shown after ours."""
        return self._beside

    @beside.setter
    def beside(self, beside: bool) -> None:
        self._beside = beside
        self._show_text()

    @property
    def shown(self) -> SummaryShown:
        """What is shown."""
        return self._shown

    @property
    def editing(self) -> bool:
        """Whether the text is open for editing."""
        return self.has_class("-editing")

    # ------------------------------------------------------------------------------ editing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do nothing now go on to whoever else has a use for them."""
        if action in {"keep_edit", "drop_edit"}:
            return self.editing
        if action == "edit":
            return self._shown.state == "made" and not self.editing
        return super().check_action(action, parameters)

    def action_edit(self) -> None:
        """Open the text for editing."""
        area = self.query_one(TextArea)
        # The editor draws what it holds, so it holds the harmless form of the text.
        area.text = block(self._shown.text)
        self.set_class(True, "-editing")
        area.focus()

    def action_keep_edit(self) -> None:
        """Close the editor and tell of the new text, when it is another one."""
        text = self.query_one(TextArea).text
        self._close()
        if text != block(self._shown.text):
            self.post_message(self.Edited(self, text))

    def action_drop_edit(self) -> None:
        """Close the editor and forget what was typed."""
        self._close()

    def _close(self) -> None:
        self.set_class(False, "-editing")
        self.query_one(TextPane).focus()


def head_of(shown: SummaryShown) -> Content:
    """`role user · after the head · 1,214 tokens · digest · edited`."""
    own = f"the tool's own: {shown.theirs.label}" if shown.theirs is not None else ""
    if shown.state != "made":
        return Content(own)
    facts = [f"role {plain(shown.role, 20)}"]
    if shown.place:
        facts.append(plain(shown.place, 40))
    if shown.tokens is not None:
        facts.append(f"{grouped(shown.tokens)} tokens")
    if shown.summarizer:
        facts.append(plain(shown.summarizer, 60))
    if shown.edited:
        facts.append("edited")
    if own:
        facts.append(own)
    return Content(" · ".join(facts))


def passages_of(shown: SummaryShown, *, theirs: bool = False) -> list[Passage]:
    """What the pane says; `theirs` adds the summary that the tool itself made."""
    passages = _ours(shown)
    if not theirs or shown.theirs is None:
        return passages
    made = shown.tokens if shown.state == "made" else None
    both = their_passages(shown.theirs, len(shown.kept), len(shown.lost))
    if made is not None:
        # The two texts stand together, and what ours keeps and loses below them.
        return [*beside(shown.theirs, made), passages[0], *both, *passages[1:]]
    return [*beside(shown.theirs, made), *passages, *both]


def _ours(shown: SummaryShown) -> list[Passage]:
    """The text as it is sent, and below it what survives and what is lost."""
    if shown.state == "computing":
        return [Passage(f"◌ {shown.reason or 'The summary is being made …'}", "muted")]
    if shown.state == "failed":
        return [
            Passage("✕ No summary was made.", "error"),
            Passage(""),
            Passage(shown.reason, "text"),
        ]
    if shown.state == "none":
        return [Passage(shown.reason or "Nothing is summarized, so no summary is needed.", "muted")]
    passages = [Passage(shown.content or shown.text)]
    if shown.reason:
        passages += [Passage(""), Passage(f"✕ {shown.reason}", "error")]
    total = len(shown.kept) + len(shown.lost)
    if total:
        needed = f", {grouped(len(shown.needed))} needed later" if shown.needed else ""
        passages += [
            Passage(""),
            Passage("─" * 24, "faint"),
            Passage(
                f"keeps {grouped(len(shown.kept))} of {grouped(total)} exact values"
                f" · loses {grouped(len(shown.lost))}{needed}",
                "muted",
            ),
        ]
        later = set(shown.needed)
        # Tens of thousands are not put in order for nothing.
        lost = sorted(shown.lost, key=lambda one: one not in later) if later else shown.lost
        passages += _listed(lost, later)
        passages += [Passage(f"✓ {plain(value, 200)}", "muted") for value in shown.kept[:LISTED]]
        if len(shown.kept) > LISTED:
            passages.append(Passage(f"  and {grouped(len(shown.kept) - LISTED)} more", "faint"))
    return passages


def _listed(lost: Sequence[str], later: set[str]) -> list[Passage]:
    passages = [
        Passage(
            f"✕ {plain(value, 200)}{'  needed later' if value in later else ''}",
            "error" if value in later else "text",
        )
        for value in lost[:LISTED]
    ]
    if len(lost) > LISTED:
        passages.append(Passage(f"  and {grouped(len(lost) - LISTED)} more", "faint"))
    return passages
