"""The picker: sessions of recent and known places, narrowed by what is typed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message as Event
from textual.strip import Strip
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from tui.known_sessions import Known, first_words, known_sessions
from tui.screens.dialog import Dialog
from tui.widgets.line_list import LineList
from tui.widgets.looks import Palette, counted, fit, grouped, plain, right, short

#: Seconds between two batches that reach the screen.
_EVERY = 0.1

Source = Callable[[], Iterable[Known]]


class KnownList(LineList):
    """Sessions, one line each."""

    @dataclass
    class Chosen(Event):
        """A session was chosen."""

        list: KnownList
        path: str

        @property
        def control(self) -> KnownList:
            """The list it happened in."""
            return self.list

    _shown: tuple[Known, ...] = ()
    _now = 0.0

    def show(self, shown: Sequence[Known], now: float) -> None:
        """Show sessions; `now` is the time their ages count from."""
        self._shown, self._now = tuple(shown), now
        self.items_changed()

    @property
    def item_count(self) -> int:
        return len(self._shown)

    @property
    def current(self) -> Known | None:
        """The session under the cursor."""
        return self._shown[self.cursor] if self._shown else None

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        known = self._shown[line]
        chosen = line == self.cursor
        place = 13 if width >= 60 else 0
        first = line == 0 or self._shown[line - 1].place != known.place
        sign = ("▸ " if chosen else "  ") + fit(known.place if first else "", place)
        segments = [Segment(sign, palette.accent)]
        room = width - len(sign)
        facts = right(size_of(known.size), 10)
        if room > 60:
            facts = right(age(known.modified, self._now), 9) + facts
        room -= len(facts) + 2
        named = plain(known.title or known.name, 300)
        folder = min(34, room // 3) if room > 48 else 0
        style = palette.text + Style(bold=chosen)
        segments.append(Segment(fit(named, room - folder) + "  ", style))
        if folder:
            beside = known.name if known.title else known.folder
            segments.append(Segment(fit(plain(beside, 200), folder - 1) + " ", palette.muted))
        segments.append(Segment(facts, palette.muted))
        return palette.row(segments, width, cursor=chosen)

    def activated(self) -> None:
        known = self.current
        if known is not None:
            self.post_message(self.Chosen(self, known.path))


class OpenSession(Dialog[str]):
    """Gives the path of the chosen session; None when it was left."""

    DEFAULT_CSS = """
    OpenSession {
        & > #panel { width: 120; height: 90%; }
        & Input { height: 1; border: none; padding: 0; background: $foreground 8%; }
        & Input:focus { border: none; }
        & #open-note { height: auto; color: $foreground 65%; padding: 0 0 1 0; }
        & #open-note.-wrong { color: $error; }
        & KnownList { height: 1fr; }
        & KnownList > .tint--cursor { background: $accent 24%; }
        &.-short #open-note { padding: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", "Down", id="open.down", show=False),
        Binding("up,ctrl+p", "move(-1)", "Up", id="open.up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="open.page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="open.page-up", show=False),
    ]

    @dataclass
    class Found(Event):
        """More sessions were found, or more is known about them."""

        known: tuple[Known, ...]
        complete: bool

        bubble = False

    def __init__(
        self, recent: Sequence[str] = (), *, source: Source | None = None, now: float | None = None
    ) -> None:
        """`source` gives other sessions than those of the known places."""
        super().__init__("Open a session", "enter opens · type to narrow, or a path · esc leaves")
        self._source = source or partial(known_sessions, tuple(recent))
        self._now = time.time() if now is None else now
        self._known: tuple[Known, ...] = ()
        self._complete = False

    def content(self) -> ComposeResult:
        yield Input(placeholder="name, folder, first words …", compact=True, id="open-filter")
        yield Static(Content("looking …"), id="open-note")
        yield KnownList()

    def on_mount(self) -> None:
        """Look in the places, behind the screen."""
        self.query_one(Input).focus()
        self._look()

    @work(thread=True, exclusive=True, group="open")
    def _look(self) -> None:
        """Find the sessions, then their first words, and tell of both in batches."""
        worker = get_current_worker()
        found: list[Known] = []
        told = time.monotonic()
        for known in self._source():
            found.append(known)
            if worker.is_cancelled:
                return
            if time.monotonic() - told >= _EVERY:
                self.post_message(self.Found(tuple(found), complete=False))
                told = time.monotonic()
        self.post_message(self.Found(tuple(found), complete=True))
        for at, known in enumerate(found):
            if worker.is_cancelled:
                return
            if not known.title:
                found[at] = replace(known, title=first_words(known.path))
            if time.monotonic() - told >= _EVERY or at == len(found) - 1:
                self.post_message(self.Found(tuple(found), complete=True))
                told = time.monotonic()

    def on_open_session_found(self, event: OpenSession.Found) -> None:
        """Show them."""
        self._known, self._complete = event.known, event.complete
        self._narrow()

    def on_input_changed(self) -> None:
        """Narrow the list."""
        self._narrow()

    def _narrow(self) -> None:
        entries = self.query_one(KnownList)
        before = entries.current
        shown = narrowed(self._known, self.query_one(Input).value)
        entries.show(shown, self._now)
        paths = [known.path for known in shown]
        if before is not None and before.path in paths:
            entries.move_cursor(paths.index(before.path), notify=False)
        if not self._complete:
            self._say(f"{grouped(len(self._known))} so far …")
        elif len(shown) == len(self._known):
            self._say(counted(len(shown), "session"))
        else:
            self._say(f"{grouped(len(shown))} of {counted(len(self._known), 'session')}")

    def _say(self, text: str, *, wrong: bool = False) -> None:
        note = self.query_one("#open-note", Static)
        note.update(Content(text))
        note.set_class(wrong, "-wrong")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open the session under the cursor, or the file whose path was typed."""
        event.stop()
        typed = typed_path(event.value)
        current = self.query_one(KnownList).current
        if typed is not None:
            self.dismiss(str(typed))
        elif current is not None:
            self.dismiss(current.path)
        else:
            self._say(f"There is no session or file {plain(event.value, 120)}.", wrong=True)

    def on_known_list_chosen(self, event: KnownList.Chosen) -> None:
        """Open it."""
        event.stop()
        self.dismiss(event.path)

    def on_click(self, event: events.Click) -> None:
        """A click beside the panel leaves."""
        if event.widget is self:
            self.dismiss(None)

    def action_move(self, by: int) -> None:
        """Move the cursor of the list while the filter has the focus."""
        self.query_one(KnownList).action_cursor_by(by)

    def action_page(self, by: int) -> None:
        """Move by a page."""
        self.query_one(KnownList).action_page(by)


def narrowed(known: Sequence[Known], text: str) -> list[Known]:
    """Those whose title, name, folder or place hold every word of `text`, letter case ignored."""
    words = text.casefold().split()
    if not words:
        return list(known)
    return [
        each
        for each in known
        if all(
            word in f"{each.title}\n{each.name}\n{each.folder}\n{each.place}".casefold()
            for word in words
        )
    ]


def typed_path(text: str) -> Path | None:
    """The file that `text` names; None when it names none."""
    text = text.strip()
    if not text:
        return None
    try:
        path = Path(text).expanduser()
        return path if path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def age(then: float, now: float) -> str:
    """How long ago: `now`, `5 min`, `3 h`, `12 d`, or the date; "" for no time."""
    if then <= 0:
        return ""
    seconds = max(0.0, now - then)
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min"
    if seconds < 86_400:
        return f"{seconds // 3600:.0f} h"
    if seconds < 60 * 86_400:
        return f"{seconds // 86_400:.0f} d"
    return time.strftime("%Y-%m", time.localtime(then))


def size_of(size: int) -> str:
    """A size in bytes: `812 B`, `4.1 MB`."""
    text = short(size)
    return f"{text[:-1]} {text[-1].upper()}B" if text[-1:] in {"k", "M"} else f"{text} B"
