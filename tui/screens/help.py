"""Help: every key and what it does, from the table of commands and from the widgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from tui.commands import grouped, shown_key, split_keys
from tui.screens.dialog import Dialog
from tui.widgets.detail import MessageDetail
from tui.widgets.message_list import MessageList
from tui.widgets.slider import Slider
from tui.widgets.summary_view import SummaryView
from tui.widgets.text_flow import Passage
from tui.widgets.text_pane import TextPane

#: Widgets whose own keys are told, under a heading.
_WIDGETS: tuple[tuple[str, type[Widget]], ...] = (
    ("In the list", MessageList),
    ("On a slider", Slider),
    ("In the message", MessageDetail),
    ("In the summary", SummaryView),
)

_MOUSE = (
    ("drag a slider", "set it; the wheel moves it by a step, a click on its number types it"),
    ("drag the boundary", "choose where the recent messages begin"),
    ("click the map", "go to that part of the session"),
    ("double click", "open a message"),
)

_SIGNS = (
    ("▌H", "head: kept first, word for word"),
    ("░S", "summarized: one summary stands for it"),
    ("◆K", "kept: pinned, or kept by the policy"),
    ("▌R", "recent: kept word for word"),
    ("~", "an estimate; the exact number follows"),
)


class Help(Dialog[None]):
    """All keys as they are now, with the settings' own in place of the usual ones."""

    DEFAULT_CSS = """
    Help {
        & > #panel { width: 92; height: 94%; }
        & TextPane { height: 1fr; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,question_mark", "leave", "Close", id="help.close", show=False),
    ]

    def __init__(self, keymap: Mapping[str, str] | None = None, *, place: str = "") -> None:
        """`place` is the settings file in which keys can be changed."""
        super().__init__("Keys", "j k or the wheel move · esc closes")
        self._keymap = dict(keymap or {})
        self._place = place

    def content(self) -> ComposeResult:
        yield TextPane(help_passages(self._keymap, self._place))

    def on_mount(self) -> None:
        """The keys move the text at once."""
        self.query_one(TextPane).focus()


def help_passages(keymap: Mapping[str, str], place: str = "") -> list[Passage]:
    """What help says, one passage a line."""
    passages: list[Passage] = []
    for group, commands in grouped(keymap):
        passages.append(Passage(group, "accent"))
        for command in commands:
            keys = "  ".join(shown_key(key) for key in command.keys) or "no key"
            passages.append(_line(keys, command.id, command.tooltip))
        passages.append(Passage(""))
    for heading, widget in _WIDGETS:
        passages.append(Passage(heading, "accent"))
        for binding in _bindings_of(widget):
            keys = keymap.get(binding.id or "", binding.key)
            shown = "  ".join(shown_key(key) for key in split_keys(keys))
            passages.append(_line(shown, binding.id or "", binding.description))
        passages.append(Passage(""))
    for heading, lines in (("With the mouse", _MOUSE), ("Signs", _SIGNS)):
        passages.append(Passage(heading, "accent"))
        passages.extend(_line(sign, "", text) for sign, text in lines)
        passages.append(Passage(""))
    where = f" ({place})" if place else ""
    passages.append(
        Passage(
            f"Every key can be changed in the settings file{where}: under `keys`, the name in the "
            "middle and the key it shall have, such as `pin: ctrl+k`.",
            "muted",
        )
    )
    return passages


def _line(keys: str, name: str, text: str) -> Passage:
    line = f"  {keys}{' ' * max(2, 20 - cell_len(keys))}"
    if name:
        line += name + " " * max(2, 20 - cell_len(name))
    return Passage(line + text)


def _bindings_of(widget: type[Widget]) -> Iterator[Binding]:
    """The bindings with an id that `widget` and the widgets it is made of bring along."""
    told: set[str] = set()
    for owner in widget.__mro__:
        for binding in vars(owner).get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in told:
                told.add(binding.id)
                yield binding
