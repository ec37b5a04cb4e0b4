"""One message, whole: who said it, when, what it costs, what becomes of it, and all it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static

from compaction.messages import Message
from compaction.plaintext import block
from tui.widgets.looks import COMPONENTS, REGIONS, Tinted, css, grouped, plain
from tui.widgets.message_text import passages_of, raw_passages
from tui.widgets.text_flow import Passage
from tui.widgets.text_pane import TextPane

#: Markdown costs ten times as much as plain text to lay out; longer texts stay plain.
MARKDOWN_CHARS = 40_000


class MessageHead(Tinted, Static):
    """Facts about a message in one muted line, its region in its colour."""

    DEFAULT_CSS = css("MessageHead")
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    _facts: tuple[str, ...] = ()
    _region = ""

    def show(self, facts: Sequence[str], region: str = "") -> None:
        """Show facts, and a region when there is one."""
        self._facts, self._region = tuple(facts), region
        self.refresh(layout=True)

    def render(self) -> Content:
        """Made when it is drawn, so that another theme recolours it."""
        head = Content(" · ".join(self._facts))
        look = REGIONS.get(self._region)
        if look is None:
            return head
        colour = self.palette.regions[self._region].color
        tint = colour.get_truecolor().hex if colour is not None else ""
        sign = Content.styled(f"{look.glyph}{look.letter} {self._region}", tint)
        return head.append(" · ").append(sign)


class MessageDetail(Vertical):
    """The message under the cursor. Plain text; `m` Markdown, `r` raw record, `t` thinking."""

    DEFAULT_CSS = """
    MessageDetail {
        background: transparent;
        & > #detail-head { height: auto; color: $foreground 65%; padding: 0 0 1 0; }
        & > #detail-note { height: auto; color: $foreground 65%; display: none; }
        & > #detail-note.-shown { display: block; }
        & > #detail-markdown { display: none; background: transparent; height: 1fr; }
        &.-markdown > #detail-markdown { display: block; }
        &.-markdown > TextPane { display: none; }
        & Markdown { background: transparent; padding: 0; margin: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "markdown", "Markdown", id="message.markdown", show=False),
        Binding("r", "raw", "Raw record", id="message.raw", show=False),
        Binding("t", "thinking", "Thinking", id="message.thinking", show=False),
    ]

    def __init__(
        self,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - the name Textual gives it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self._message: Message | None = None
        self._record = ""
        self._mode = "plain"
        self._unfolded = False

    def compose(self) -> ComposeResult:
        yield MessageHead(id="detail-head")
        yield Static("", id="detail-note", markup=False)
        yield TextPane([Passage("Choose a message to read it here.", "faint")])
        yield VerticalScroll(id="detail-markdown")

    # --------------------------------------------------------------------------------- data

    def show(
        self,
        message: Message | None,
        index: int | None = None,
        *,
        tokens: int | None = None,
        estimated: bool = False,
        region: str = "",
        note: str = "",
    ) -> None:
        """Show a message; None empties the pane. Showing the same one only renews its head.

        `index` is its place in the session, None for one that has none (a summary). `note` is
        one more fact for the head, such as what became of it.
        """
        facts = head_of(message, index, tokens, estimated, note)
        self.query_one(MessageHead).show(facts, region if message is not None else "")
        if message is self._message and message is not None:
            return
        self._message, self._record = message, ""
        self._show_content()

    def show_record(self, text: str, *facts: str) -> None:
        """Show a record of the file that is no message, as it stands there."""
        self.query_one(MessageHead).show([plain(fact, 200) for fact in facts])
        self._message, self._record = None, text
        self._show_content()

    @property
    def message(self) -> Message | None:
        """The message that is shown."""
        return self._message

    @property
    def mode(self) -> str:
        """How it is shown: "plain", "markdown" or "raw"."""
        return self._mode

    @property
    def pane(self) -> TextPane:
        """The pane the plain text stands in."""
        return self.query_one(TextPane)

    def _show_content(self) -> None:
        message = self._message
        self.set_class(False, "-markdown")
        self._say("")
        if message is None:
            none = Passage("No message here.", "faint")
            self.pane.show([Passage(self._record, "muted") if self._record else none])
        elif self._mode == "raw":
            self._say("raw record · r shows it as text")
            self.pane.show(raw_passages(message))
        elif self._mode == "markdown" and len(text := message.text) <= MARKDOWN_CHARS:
            self._say("Markdown · m shows it plain")
            self._show_markdown(text)
        else:
            if self._mode == "markdown":
                self._say(f"{grouped(len(text))} characters: too long for Markdown, shown plain")
            self.pane.show(passages_of(message, thinking=self._unfolded))

    def _show_markdown(self, text: str) -> None:
        place = self.query_one("#detail-markdown", VerticalScroll)
        found = place.query(Markdown)
        if found:
            found.first(Markdown).update(block(text))
        else:
            place.mount(Markdown(block(text), open_links=False))
        place.scroll_home(animate=False)
        self.set_class(True, "-markdown")

    def _say(self, note: str) -> None:
        line = self.query_one("#detail-note", Static)
        line.update(Content(note))
        line.set_class(bool(note), "-shown")

    # ------------------------------------------------------------------------------ actions

    def _switch(self, mode: str) -> None:
        self._mode = "plain" if self._mode == mode else mode
        self._show_content()

    def action_markdown(self) -> None:
        """Between plain text and Markdown."""
        self._switch("markdown")

    def action_raw(self) -> None:
        """Between the text and the source record."""
        self._switch("raw")

    def action_thinking(self) -> None:
        """Fold or unfold the thinking."""
        self._unfolded = not self._unfolded
        if self._message is not None and self._mode == "plain":
            self.pane.show(
                passages_of(self._message, thinking=self._unfolded), keep_place=True
            )


def head_of(
    message: Message | None,
    index: int | None,
    tokens: int | None,
    estimated: bool,
    note: str = "",
) -> list[str]:
    """The facts above a message: `assistant #17`, `14:02:11`, `8,412 tokens`."""
    if message is None:
        return []
    who = plain(message.role, 40)
    facts = [f"{who} #{index}" if index is not None else who]
    if message.time:
        facts.append(clock(message.time))
    if message.name:
        facts.append(plain(message.name, 60))
    if message.summary:
        facts.append("an earlier summary")
    if message.injected:
        facts.append("not typed by a person")
    if tokens is not None:
        facts.append(f"{'~' if estimated else ''}{grouped(tokens)} tokens")
    if note:
        facts.append(plain(note, 200))
    return facts


def clock(time: str) -> str:
    """The time of day in an ISO time, or the text itself when it has none."""
    day, _, rest = plain(time, 40).partition("T")
    return rest[:8] if len(rest) >= 8 and rest[2] == ":" else day


