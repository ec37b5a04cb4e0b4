"""What was needed later, and facts with their names."""

from __future__ import annotations

from compaction.needing import Need
from tui.widgets.facts import Fact, Facts
from tui.widgets.needs_list import NeedsList

from .samples import HOSTILE
from .stage import Stage, drawn, text_of

NEEDS = (
    Need("src/auth.py", "path", 12, 48, "argument"),
    Need("Never touch migrations/", "sentence", 1, 200, "constraint"),
    Need("read_file {}", "call", 7, 90, "fetched", 812),
)


async def test_what_weighs_most_comes_first_and_enter_goes_there() -> None:
    needs = NeedsList()
    stage = Stage(needs)
    async with stage.run_test(size=(60, 8)) as pilot:
        needs.show(NEEDS)
        lines = text_of(needs)
        assert lines[0].startswith("5 rule   #1 → end")
        assert "Never touch migrations/" in lines[0]
        assert "#12 → #48" in lines[1]
        assert "#7 → #90" in lines[2]
        needs.focus()
        await pilot.press("j", "enter")
        assert [event.need.of for event in stage.said(NeedsList.Jump)] == [12]


async def test_transcript_text_is_harmless() -> None:
    needs = NeedsList()
    async with Stage(needs).run_test(size=(50, 14)):
        needs.show([Need(text, "value", 0, 1, "answer") for text in HOSTILE])
        assert all(strip.cell_length == 49 for strip in drawn(needs))
        assert not any(ord(char) < 32 or char in "\x9b\u202e" for char in "".join(text_of(needs)))


async def test_facts_wrap_beside_their_names() -> None:
    facts = Facts()
    async with Stage(facts).run_test(size=(30, 10)) as pilot:
        facts.show([Fact("sent", "one two three four five six seven"), Fact("money", "$1.50")])
        await pilot.pause()
        lines = [line.rstrip() for line in text_of(facts)]
        assert lines == [
            "sent   one two three four five",
            "       six seven",
            "money  $1.50",
        ]
        facts.show([])
        await pilot.pause()
        assert facts.size.height == 0
