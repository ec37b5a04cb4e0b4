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
from tui.widgets.text_flow import Passage, wrapped
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


#: Below this width the names that the settings use are left out.
_NAMED = 66


class Help(Dialog[None]):
    """All keys as they are now, with the settings' own in place of the usual ones."""

    DEFAULT_CSS = """
    Help {
        & > #panel { width: 100; height: 94%; }
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
        yield TextPane()

    def on_mount(self) -> None:
        """The keys move the text at once."""
        self.query_one(TextPane).focus()
        self.call_after_refresh(self._lay_out)

    def on_resize(self) -> None:
        """Another width wraps differently."""
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        pane = self.query_one(TextPane)
        width = pane.scrollable_content_region.width
        pane.show(help_passages(self._keymap, self._place, width), keep_place=True)


def help_passages(
    keymap: Mapping[str, str], place: str = "", width: int = 100
) -> list[Passage]:
    """What help says, one passage a line of at most `width` cells."""
    passages: list[Passage] = []

    def tell(keys: str, name: str, text: str) -> None:
        passages.extend(_lines(keys, name, text, width))

    for group, commands in grouped(keymap):
        passages.append(Passage(group, "accent"))
        for command in commands:
            keys = "  ".join(shown_key(key) for key in command.keys) or "no key"
            tell(keys, command.id, command.tooltip)
        passages.append(Passage(""))
    for heading, widget in _WIDGETS:
        passages.append(Passage(heading, "accent"))
        for binding in _bindings_of(widget):
            keys = keymap.get(binding.id or "", binding.key)
            shown = "  ".join(shown_key(key) for key in split_keys(keys))
            tell(shown, binding.id or "", binding.description)
        passages.append(Passage(""))
    for heading, lines in (("With the mouse", _MOUSE), ("Signs", _SIGNS)):
        passages.append(Passage(heading, "accent"))
        for sign, text in lines:
            tell(sign, "", text)
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


def _lines(keys: str, name: str, text: str, width: int) -> Iterator[Passage]:
    """Keys, a name and what it does, in columns; what is too long goes on below its beginning."""
    left = f"  {keys}{' ' * max(2, 19 - cell_len(keys))}"
    if width >= _NAMED and name:
        left += name + " " * max(2, 18 - cell_len(name))
    room = max(16, width - cell_len(left))
    for at, piece in enumerate(wrapped(text, room)):
        yield Passage((left if at == 0 else " " * cell_len(left)) + piece)


def _bindings_of(widget: type[Widget]) -> Iterator[Binding]:
    """The bindings with an id that `widget` and the widgets it is made of bring along."""
    told: set[str] = set()
    for owner in widget.__mro__:
        for binding in vars(owner).get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in told:
                told.add(binding.id)
                yield binding
