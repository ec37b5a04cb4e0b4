"""A policy as a form: one setting a line, changed in place, with what is wrong under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.strip import Strip

from compaction.errors import PolicyError
from compaction.policy import Policy
from tui.policy_fields import Field, blocks, policy_fields, stepped, typed
from tui.widgets.laid_out_list import LaidOutList
from tui.widgets.looks import Palette, fit, plain
from tui.widgets.text_flow import wrapped

#: Cells for the names of the settings.
_NAME = 16


class PolicyForm(LaidOutList):
    """Every setting of every block. What a person changes is told at once, if it can be."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "step(1)", "Next value", id="form.next", show=False),
        Binding("left,h", "step(-1)", "Value before", id="form.before", show=False),
        Binding("space", "step(1)", "Next value", id="form.toggle", show=False),
    ]

    @dataclass
    class Changed(Event):
        """A setting was changed."""

        form: PolicyForm
        field: Field
        policy: Policy

        @property
        def control(self) -> PolicyForm:
            """The form it happened in."""
            return self.form

    def __init__(self, policy: Policy, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._fields = policy_fields()
        self._policy = policy
        self._entry: str | None = None
        self._error = ""

    def on_mount(self) -> None:
        """The number of lines is known from the beginning."""
        self._lay_out()

    # --------------------------------------------------------------------------------- data

    @property
    def policy(self) -> Policy:
        """The policy that is shown."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        if policy != self._policy:
            self._policy = policy
            self._error = ""
            self._lay_out()

    @property
    def field(self) -> Field:
        """The setting under the cursor."""
        return self._fields[self.cursor]

    @property
    def error(self) -> str:
        """What is wrong with what was tried last, "" for nothing."""
        return self._error

    @property
    def editing(self) -> bool:
        """Whether a value is being typed."""
        return self._entry is not None

    def go_to(self, key: str) -> None:
        """Put the cursor on a setting by its dotted name."""
        keys = [each.key for each in self._fields]
        self.move_cursor(keys.index(key))

    def _lay_out(self) -> None:
        lines: list[tuple[int | None, str, str]] = []
        item = -1
        for name, some in blocks():
            if lines:
                lines.append((None, "", "heading"))
            if name:
                lines.append((None, name, "heading"))
            for _ in some:
                item += 1
                lines.append((item, "", ""))
                if item == self._cursor and self._error:
                    room = max(10, self.scrollable_content_region.width - 4)
                    lines += [(None, piece, "error") for piece in wrapped(self._error, room)]
        self.set_lines(lines)
        self.items_changed()

    @property
    def item_count(self) -> int:
        return len(self._fields)

    # -------------------------------------------------------------------------------- hands

    def _try(self, make: Callable[[], Policy]) -> bool:
        field = self.field
        try:
            made = make()
        except PolicyError as error:
            self._error = plain(str(error), 400)
            self._lay_out()
            self._show_error()
            return False
        self._error, self._entry = "", None
        before, self._policy = self._policy, made
        self._lay_out()
        if made != before:
            self.post_message(self.Changed(self, field, made))
        return True

    def _show_error(self) -> None:
        """Scroll so far that what is wrong is seen under its field."""
        last = max(at for at, line in enumerate(self.lines) if line[2] == "error")
        height = self.scrollable_content_region.height
        if last >= self.scroll_offset.y + height:
            self.scroll_to(y=last - height + 1, animate=False)

    def action_step(self, step: int) -> None:
        """The next value, or the one before."""
        field, policy = self.field, self._policy
        if field.kind in ("text", "yaml") or (
            field.kind == "number" and field.value(policy) is None
        ):
            return
        self._try(lambda: stepped(field, policy, step))

    def activated(self) -> None:
        if self.field.kind in ("choice", "flag"):
            self.action_step(1)
        else:
            self._edit(self.field.shown(self._policy))

    def cursor_moved(self) -> None:
        self._entry = None
        if self._error:
            self._error = ""
            self._lay_out()
        self.refresh()

    def _edit(self, text: str | None) -> None:
        self._entry = text
        self.refresh()

    def check_consume_key(self, key: str, character: str | None) -> bool:  # noqa: ARG002
        """While a value is typed every printable key belongs to it."""
        return self.editing and character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Digits open the entry of a number; while it is open it takes every key."""
        char = event.character if event.is_printable else None
        if self._entry is None:
            if char is not None and char.isdecimal() and self.field.kind == "number":
                self._edit(char)
                event.stop()
            return
        if event.key in ("tab", "shift+tab"):
            self._commit()
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self._error = ""
            self._entry = None
            self._lay_out()
        elif event.key == "enter":
            self._commit()
        elif event.key in ("backspace", "ctrl+h"):
            self._edit(self._entry[:-1])
        elif event.key == "ctrl+u":
            self._edit("")
        elif char is not None and len(self._entry) < 2_000:
            self._edit(self._entry + char)

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted goes into the entry."""
        if self._entry is not None:
            text = event.text.replace("\n", " ")
            self._edit(self._entry + "".join(char for char in text if char.isprintable()))
            event.stop()

    def _commit(self) -> None:
        text, field, policy = self._entry or "", self.field, self._policy
        self._try(lambda: typed(field, policy, text))

    # ------------------------------------------------------------------------------ drawing

    def paint(self, line: int, width: int, palette: Palette) -> Strip:
        item, text, kind = self.lines[line]
        if item is None:
            wrong = kind == "error"
            style = palette.error if wrong else palette.muted + Style(bold=True)
            shown = "  " + text if wrong else text
            return Strip([Segment(fit(shown, width), style)], width)
        field = self._fields[item]
        here = item == self.cursor
        label = field.name.replace("_", " ")
        name = Segment(fit(f"  {label}" if field.block else label, _NAME + 2), palette.muted)
        segments = [name, *self._value(field, here, max(4, width - _NAME - 4), palette)]
        return palette.row(segments, width, cursor=here)

    def _value(self, field: Field, here: bool, room: int, palette: Palette) -> list[Segment]:
        strong = palette.text + Style(bold=True)
        if here and self._entry is not None:
            # The end of a long text is where it is typed.
            shown = plain(self._entry)[-(room - 1) :]
            return [Segment(shown, palette.accent), Segment("▏", palette.accent)]
        text = plain(field.shown(self._policy), room * 2)
        if not text:
            return [Segment("—", palette.faint)]
        steps = field.kind in ("choice", "flag", "number")
        if here and steps:
            return [
                Segment("‹ ", palette.accent),
                Segment(text, strong),
                Segment(" ›", palette.accent),
            ]
        return [Segment(fit(text, room).rstrip(), palette.text)]
