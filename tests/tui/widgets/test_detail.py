from __future__ import annotations

import json

from textual.widgets import Markdown, Static

from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, message
from tui.widgets.detail import MARKDOWN_CHARS, MessageDetail, MessageHead, clock
from tui.widgets.message_text import passages_of, readable

from .samples import HOSTILE
from .stage import Stage, text_of

SIZE = (60, 24)
CALL = message(
    "assistant",
    [
        Thinking("Where is it used?"),
        Text("I'll start by reading."),
        ToolCall("call_1", "edit_file", '{"path": "a.py", "old": "x\\ny", "at": {"line": 4}}'),
    ],
    record={"role": "assistant", "content": "é"},
)


def head(detail: MessageDetail) -> str:
    return detail.query_one(MessageHead).render().plain


async def test_a_message_is_shown_whole() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE):
        detail.show(CALL, 17, tokens=8_412, estimated=True, region="summarized")
        assert head(detail) == "assistant #17 · ~8,412 tokens · ░S summarized"
        assert [line.rstrip() for line in text_of(detail.pane)][:9] == [
            "▸ thinking · 17 characters · t unfolds",
            "",
            "I'll start by reading.",
            "",
            "▸ call edit_file  call_1",
            "  path: a.py",
            "  old:",
            "    x",
            "    y",
        ]


async def test_thinking_unfolds_and_raw_shows_the_record() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(CALL, 17)
        detail.pane.focus()
        await pilot.press("t")
        assert text_of(detail.pane)[1].rstrip() == "  Where is it used?"
        await pilot.press("r")
        assert detail.mode == "raw"
        assert json.loads("\n".join(text_of(detail.pane))) == {
            "role": "assistant",
            "content": "é",
        }
        await pilot.press("r")
        assert detail.mode == "plain"


async def test_markdown_is_shown_on_demand_and_stays_text() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("user", "# Title\n\n[/red] **bold** [x](javascript:1)"), 3)
        detail.pane.focus()
        await pilot.press("m")
        await pilot.pause()
        assert detail.query_one(Markdown).display
        assert not detail.pane.display
        await pilot.press("m")
        assert detail.pane.display


async def test_a_long_text_stays_plain_and_says_so() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("user", "x " * MARKDOWN_CHARS), 3)
        detail.pane.focus()
        await pilot.press("m")
        note = detail.query_one("#detail-note", Static)
        assert "too long for Markdown" in str(note.content)
        assert text_of(detail.pane)[0].startswith("x x")
        assert not detail.query(Markdown)


async def test_ten_megabytes_show_their_beginning_at_once_and_their_end_on_demand() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("tool", "first\n" + "line of output\n" * 700_000 + "last"), 3)
        assert text_of(detail.pane)[0].rstrip() == "first"
        assert not detail.pane.complete
        assert detail.pane.line_count < 50_000
        detail.pane.focus()
        await pilot.press("G")
        assert detail.pane.complete
        assert "last" in text_of(detail.pane)[-1]


async def test_the_end_is_reached_before_there_is_a_scroll_bar() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("tool", "line\n" * 200 + "last"), 3)
        assert not detail.pane.show_vertical_scrollbar
        detail.pane.action_scroll_end()
        await pilot.pause()
        assert "last" in text_of(detail.pane)[-1]


async def test_hostile_content_is_only_text() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    parts = [Text(text) for text in HOSTILE] + [
        ToolCall("[/x]", "\x1b[31m[tool]", "{broken"),
        ToolResult("\u202e", (Text("\x9b2J"), Media("image", "[b"), Opaque("[k", "{}"))),
    ]
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("[/role]", parts, record={"a": "\x1b]0;x\x07"}), 1, note="[/red]")
        detail.pane.focus()
        for key in ("t", "r", "r", "m"):
            await pilot.press(key)
            await pilot.pause()
            for line in text_of(detail.pane):
                assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)
        assert head(detail).startswith("[/role] #1")


def test_json_is_set_out_and_everything_else_left_alone() -> None:
    assert readable('{"a": 1, "b": [1, 2]}') == "a: 1\nb: [1, 2]"
    assert readable("[1]") == "[\n  1\n]"
    assert readable("{broken") == "{broken"
    assert readable("[" * 100_000) == "[" * 100_000
    assert readable("plain") == "plain"


def test_parts_that_have_no_text_are_named() -> None:
    shown = passages_of(
        message(
            "user",
            [
                Media("image", "image/png", 1_204),
                Thinking("", sealed=99),
                Opaque("odd", "?"),
                ToolResult("c", (), is_error=True),
            ],
        )
    )
    assert [passage.text for passage in shown if passage.text] == [
        "[image/png, 1,204 bytes]",
        "▹ sealed thinking, 99 bytes",
        "▸ odd (a part this program does not know)",
        "?",
        "◂ result · error  c",
        "(no output)",
    ]
    assert "empty" in passages_of(message("user", []))[0].text


def test_the_clock() -> None:
    assert clock("2026-11-30T14:02:11.123Z") == "14:02:11"
    assert clock("2026-11-30") == "2026-11-30"


async def test_text_is_selected_with_the_mouse() -> None:
    detail = MessageDetail()
    stage = Stage(detail)
    async with stage.run_test(size=SIZE) as pilot:
        detail.show(message("user", "alpha beta\ngamma delta"), 1)
        await pilot.pause()
        await pilot.mouse_down(detail.pane, offset=(6, 0))
        await pilot.hover(detail.pane, offset=(4, 1))
        await pilot.mouse_up(detail.pane, offset=(4, 1))
        assert stage.screen.get_selected_text() == "beta\ngamma"
