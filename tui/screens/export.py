"""The export dialog: format and path, what the file will hold, and what it cannot hold."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message as Event
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from compaction.errors import CompactionError
from compaction.findings import Finding
from compaction.plaintext import one_line
from tui.screens.dialog import Dialog
from tui.widgets.looks import counted, grouped, plain
from tui.widgets.text_flow import Passage, Tone
from tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.export import Saved


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and two lines that say so and how to load it."""

    saved: Saved
    told: str


class FormatLine(Static, can_focus=True):
    """The format to write, moved through with the arrow keys."""

    DEFAULT_CSS = """
    FormatLine { height: 1; width: 1fr; }
    FormatLine:focus { background: $accent 24%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space,down", "turn(1)", "Next format", id="format.next", show=False),
        Binding("left,h,up", "turn(-1)", "Previous format", id="format.previous", show=False),
        Binding("enter", "screen.write", "Write", id="format.write", show=False),
    ]

    @dataclass
    class Changed(Event):
        """Another format was chosen."""

        line: FormatLine
        name: str

        @property
        def control(self) -> FormatLine:
            """The line it happened in."""
            return self.line

    def __init__(self, formats: tuple[tuple[str, str], ...], current: str) -> None:
        """`formats` are (name, title); `current` is the name chosen first."""
        super().__init__("", id="export-format", markup=False)
        self._formats = formats
        self._own = current
        names = [name for name, _ in formats]
        self._at = names.index(current) if current in names else 0

    @property
    def chosen(self) -> str:
        """The name of the chosen format."""
        return self._formats[self._at][0]

    def on_mount(self) -> None:
        """Show the first choice."""
        self._show()

    def action_turn(self, by: int) -> None:
        """Go to another format."""
        self._at = (self._at + by) % len(self._formats)
        self._show()
        self.post_message(self.Changed(self, self.chosen))

    def on_click(self) -> None:
        """A click goes to the next one."""
        self.action_turn(1)

    def _show(self) -> None:
        name, title = self._formats[self._at]
        own = ", as it was read" if name == self._own else ""
        self.update(Content(f"‹ {title} › {name}{own}"))


class Export(Dialog[Exported]):
    """Writes a result; gives what was written, None when it was left."""

    DEFAULT_CSS = """
    Export {
        & > #panel { width: 92; }
        & .export-label { height: 1; color: $foreground 65%; }
        & Input { height: 1; border: none; padding: 0; background: $foreground 8%; }
        & Input:focus { border: none; }
        & #export-holds { height: auto; padding: 1 0 0 0; }
        & TextPane { height: auto; max-height: 10; padding: 1 0 0 0; }
        & #export-wrong { height: auto; color: $error; display: none; }
        & #export-wrong.-shown { display: block; }
        &.-short #export-holds { padding: 0; }
        &.-short .export-label { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "write", "Write", id="export.write", show=False),
    ]

    @dataclass
    class Lost(Event):
        """What the chosen format cannot hold is known."""

        name: str
        findings: tuple[Finding, ...]
        error: str = ""

        bubble = False

    @dataclass
    class Written(Event):
        """The file was written, or could not be."""

        saved: Saved | None
        error: str = ""

        bubble = False

    def __init__(self, result: Compacted, *, folder: Path | None = None) -> None:
        """`folder` is where the file goes unless a path is typed; the present one by default."""
        super().__init__("Export", "enter writes · tab to the format, ←→ changes it · esc leaves")
        self._result = result
        self._folder = folder
        self._replacing = ""
        self._suggested = ""
        self._writing = False

    def content(self) -> ComposeResult:
        from compaction.formats import FORMATS

        session = self._result.session
        formats = tuple((each.name, each.title) for each in FORMATS)
        yield Static(Content("file"), classes="export-label")
        yield Input(compact=True, select_on_focus=False, id="export-path")
        yield Static(Content("format"), classes="export-label")
        yield FormatLine(formats, session.format)
        yield Static(Content(holds(self._result)), id="export-holds")
        yield TextPane(id="export-losses")
        yield Static("", id="export-wrong", markup=False)

    def on_mount(self) -> None:
        """Suggest a file and look what is lost."""
        self._suggest()
        entry = self.query_one("#export-path", Input)
        entry.focus()
        entry.cursor_position = len(entry.value)
        self._look(self.query_one(FormatLine).chosen)

    def _suggest(self) -> None:
        """Put the usual file of the format into the line, unless another one was typed."""
        entry = self.query_one("#export-path", Input)
        if entry.value != self._suggested:
            return
        name = self.query_one(FormatLine).chosen
        self._suggested = suggested_path(self._result, name, self._folder)
        entry.value = self._suggested

    # ------------------------------------------------------------------------------- losses

    @work(thread=True, exclusive=True, group="losses")
    def _look(self, name: str) -> None:
        from compaction.export import losses

        worker = get_current_worker()
        try:
            event = self.Lost(name, losses(self._result, name))
        except CompactionError as error:
            event = self.Lost(name, (), str(error))
        if not worker.is_cancelled:
            self.post_message(event)

    def on_export_lost(self, event: Export.Lost) -> None:
        """Say what the format cannot hold, before anything is written."""
        if event.name != self.query_one(FormatLine).chosen:
            return
        self.query_one(TextPane).show(loss_passages(event.findings, event.error))
        # A pane of text has no height of its own to grow to.
        lines = max(1, self.query_one(TextPane).line_count)
        self.query_one(TextPane).styles.height = min(10, lines + 1)

    # ------------------------------------------------------------------------------ choices

    def on_format_line_changed(self) -> None:
        """Another format has other endings and other losses."""
        self._suggest()
        self._replacing = ""
        self._wrong("")
        self._look(self.query_one(FormatLine).chosen)

    def on_input_changed(self) -> None:
        """What was wrong with the other path is not wrong with this one."""
        self._replacing = ""
        self._wrong("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write it."""
        event.stop()
        self.action_write()

    def _wrong(self, text: str) -> None:
        line = self.query_one("#export-wrong", Static)
        line.update(Content(text))
        line.set_class(bool(text), "-shown")

    # ------------------------------------------------------------------------------ writing

    def action_write(self) -> None:
        """Write the file. One that is there already is replaced when it is asked for twice."""
        path = self.query_one("#export-path", Input).value.strip()
        if path.startswith("~"):
            path = os.path.expanduser(path)  # noqa: PTH111 - a trailing slash must stay
        if self._writing:
            return
        if not path:
            self._wrong("Name the file to write.")
            return
        force = self._replacing == path
        if not force and _is_other_file(path, self._result):
            self._replacing = path
            self._wrong(f"{plain(path, 200)} is there already. Enter again replaces it.")
            return
        self._writing = True
        self._write(path, self.query_one(FormatLine).chosen, force)

    @work(thread=True, group="write")
    def _write(self, path: str, name: str, force: bool) -> None:
        from compaction.export import save

        try:
            event = self.Written(save(self._result, path, name, force=force))
        except CompactionError as error:
            event = self.Written(None, str(error))
        self.post_message(event)

    def on_export_written(self, event: Export.Written) -> None:
        """Close and say so, or say why not."""
        self._writing = False
        if event.saved is None:
            self._wrong(plain(event.error, 600))
        else:
            self.dismiss(Exported(event.saved, told_of(self._result, event.saved)))


# ------------------------------------------------------------------------------------- words


def suggested_path(result: Compacted, name: str, folder: Path | None = None) -> str:
    """A file name for the result in the format `name`, one that is not there yet.

    In `folder`, or relative to the present one: the folder of the session may be watched by the
    tool that wrote it.
    """
    from compaction.formats import format_named

    session = result.session
    source = Path(session.source.path or "session")
    suffix = format_named(name).suffix
    if name == session.format and source.suffix:
        suffix = source.suffix
    place = folder or Path()
    # The name may be hostile, and stands in a field as it is.
    suffix = one_line(suffix)
    stem = f"{one_line(source.stem)}-{'compacted' if result.made else 'copy'}"
    number = 1
    while True:
        tail = "" if number == 1 else f"-{number}"
        path = place / f"{stem}{tail}{suffix}"
        if not path.exists():
            return str(path)
        number += 1


def holds(result: Compacted) -> str:
    """What the file will hold, in one or two sentences."""
    from tui.carried import carried

    many = counted(len(result.messages), "message")
    if not result.made:
        why = (result.failure or result.plan.reason).rstrip(".")
        return f"The file will hold all {many}, unchanged: {plain(why, 300)}."
    made = result.summary
    became = carried(result)
    many_in = became.messages_in
    parts = [counted(many_in("head"), "head message")] if many_in("head") else []
    if made is not None:
        edited = ", edited" if made.edited else ""
        parts.append(
            f"one summary of {counted(many_in('summarized'), 'message')}"
            f" ({grouped(made.tokens)} tokens, {plain(made.summarizer, 60)}{edited})"
        )
    elif many_in("summarized"):
        dropped = many_in("summarized")
        parts.append(f"nothing of {counted(dropped, 'message')} that {_verb(dropped)} dropped")
    if many_in("kept"):
        parts.append(counted(many_in("kept"), "kept message"))
    if many_in("cleared"):
        parts.append(f"{counted(many_in('cleared'), 'message')} changed in place")
    if many_in("recent"):
        parts.append(counted(many_in("recent"), "recent message"))
    return (
        f"The file will hold {many}, {grouped(result.tokens_after)} tokens instead of "
        f"{grouped(result.tokens_before)}: {', '.join(parts)}."
    )


def _verb(many: int) -> str:
    return "is" if many == 1 else "are"


_SIGNS = {"error": "✕", "warning": "▲", "info": "·"}


def loss_passages(findings: tuple[Finding, ...], error: str = "") -> list[Passage]:
    """What the format cannot hold, or that it holds everything."""
    if error:
        return [Passage(f"✕ {error}", "error")]
    if not findings:
        return [Passage("✓ The format holds all of it.", "muted")]
    passages = []
    for finding in findings:
        place = f"#{finding.message}: " if finding.message is not None else ""
        tone: Tone = "error" if finding.level == "error" else "text"
        passages.append(Passage(f"{_SIGNS[finding.level]} {place}{finding.text}", tone))
    return passages


def told_of(result: Compacted, saved: Saved) -> str:
    """What was written, and how to load it."""
    name = plain(shlex.quote(saved.path), 300)
    return (
        f"Wrote {plain(saved.path, 300)}: {counted(len(result.messages), 'message')}, "
        f"{grouped(result.tokens_after)} tokens, {grouped(saved.bytes)} bytes of {saved.format}.\n"
        f"Load it: compaction {name} · compaction.load({plain(saved.path, 300)!r})"
    )


def _is_other_file(path: str, result: Compacted) -> bool:
    """Whether a file is there that is not the session, which is refused whatever is asked."""
    try:
        target = Path(path)
        if not target.is_file():
            return False
        source = result.session.source.path
        return not (source and target.samefile(source))
    except (OSError, ValueError):
        return False
