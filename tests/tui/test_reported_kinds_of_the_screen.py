"""Kinds of faults that people reported of other screens, each with an input of its own."""

from __future__ import annotations

from array import array

from compaction.groups import find_groups
from compaction.messages import Text, message
from compaction.plaintext import block, one_line
from tests.tui.widgets.samples import FakePlan, counts_of, session_of
from tests.tui.widgets.stage import Stage, text_of
from tui.commands import COMMANDS
from tui.widgets.detail import MessageDetail
from tui.widgets.message_list import MessageList

SIZE = (100, 20)

#: A flag, a family of joined signs, a sign with a selector, marks on a letter, wide letters.
SIGNS = ("\U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f")
WIDE = (*SIGNS, "e\u0301\u0302", "\u6e2f\u53e3", "\uff21", "plain")


async def rows(*said: str) -> list[str]:
    """The rows of the list of messages with these texts."""
    session = session_of([message("user", text) for text in said])
    counts = counts_of(array("q", [1234] * len(said)))
    widget = MessageList()
    stage = Stage(widget)
    async with stage.run_test(size=SIZE):
        plan = FakePlan(counts, 0, 0, 10**6, compacts=False)
        widget.show(session, counts, plan, find_groups(session.messages))
        return text_of(widget)[: len(said)]


async def shown(text: str) -> str:
    """The text of the message that is opened."""
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("tool", [Text(text)]), 0)
        await pilot.pause()
        return "\n".join(text_of(detail.pane))


async def test_carriage_returns_are_lines() -> None:
    text = "one\r\ntwo\rfetching 10 %\rfetching 100 %\n"
    assert block(text).splitlines() == ["one", "two", "fetching 10 %", "fetching 100 %"]
    lines = [line.strip() for line in (await shown(text)).splitlines()]
    assert [line for line in lines if line in block(text)][:4]
    assert not any("\r" in line for line in lines)
    (row,) = await rows(text)
    assert "one two fetching 10 %" in row
    assert "\r" not in row


async def test_wide_and_joined_signs_shift_no_column_before_the_text() -> None:
    lines = await rows(*(f"{sign} said" for sign in WIDE))
    starts = {line[: line.index("1,234")] for line in lines}
    # What stands before the tokens differs in the number of the row alone.
    assert len({len(start) for start in starts}) == 1
    assert all(line.index("1,234") < line.index("said") for line in lines)


async def test_marks_of_direction_are_shown() -> None:
    text = "invoice\u202egpj.exe \u2066hidden\u2069 \u05e9\u05dc\u05d5\u05dd"
    (row,) = await rows(text)
    for seen in (row, await shown(text), one_line(text), block(text)):
        assert not set(seen) & set("\u202e\u2066\u2069")
        assert "invoice\u2426gpj.exe" in seen
        assert "\u05e9\u05dc\u05d5\u05dd" in seen


def test_every_command_has_a_key_that_terminals_leave() -> None:
    """Terminals, tmux and editors take many keys with ctrl and alt for themselves."""
    taken = ("ctrl+", "alt+", "shift+f", "super+")
    for command in COMMANDS:
        plain = [key for key in command.keys if not key.startswith(taken)]
        # What has no key at all is reached through the palette, which has one.
        assert plain or not command.keys, command.id
    assert next(one for one in COMMANDS if one.id == "quit").keys[0] == "q"
