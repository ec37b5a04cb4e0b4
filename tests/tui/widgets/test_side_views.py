from __future__ import annotations

from textual.widgets import Static, TextArea

from compaction.findings import Finding
from tui.widgets.filter_bar import FilterBar
from tui.widgets.findings_view import FindingsView
from tui.widgets.result_view import ResultRow, ResultView
from tui.widgets.search_bar import EntryBar, SearchBar
from tui.widgets.summary_view import SummaryShown, SummaryView
from tui.widgets.text_pane import TextPane

from .samples import HOSTILE, conversation
from .stage import Stage, text_of

SIZE = (70, 24)
MADE = SummaryShown(
    "made",
    "Asked: move login",
    "Summary of 391 messages.\nAsked: move login",
    "user",
    "after the head",
    1_214,
    "digest",
    kept=["src/auth/login.py"],
    lost=["x=2", "LOGIN_TTL=900"],
    needed=["LOGIN_TTL=900"],
)


def body(view: SummaryView) -> list[str]:
    return [line.rstrip() for line in text_of(view.query_one(TextPane))]


async def test_the_summary_is_shown_as_it_is_sent() -> None:
    view = SummaryView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE):
        view.show(MADE)
        head = str(view.query_one("#summary-head", Static).content)
        assert head == "role user · after the head · 1,214 tokens · digest"
        lines = body(view)
        assert lines[:2] == ["Summary of 391 messages.", "Asked: move login"]
        assert lines[4:8] == [
            "keeps 1 of 3 exact values · loses 2, 1 needed later",
            "✕ LOGIN_TTL=900  needed later",
            "✕ x=2",
            "✓ src/auth/login.py",
        ]


async def test_every_state_says_what_is() -> None:
    view = SummaryView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE):
        view.show(SummaryShown("computing"))
        assert "being made" in body(view)[0]
        view.show(SummaryShown("failed", reason="the command ended with status 3"))
        assert body(view)[0].startswith("✕ No summary was made")
        assert body(view)[2] == "the command ended with status 3"
        view.show(SummaryShown("none", reason="The session is under its budget."))
        assert body(view)[0] == "The session is under its budget."


async def test_an_edit_is_kept_or_dropped() -> None:
    view = SummaryView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE) as pilot:
        view.show(MADE)
        view.query_one(TextPane).focus()
        await pilot.press("e")
        assert view.editing
        assert view.query_one(TextArea).text == MADE.text
        await pilot.press("N", "o", "escape")
        assert not view.editing
        assert stage.said(SummaryView.Edited) == []
        await pilot.press("e", "ctrl+s")
        assert stage.said(SummaryView.Edited) == []
        await pilot.press("e", "O", "k", "ctrl+s")
        assert [event.text for event in stage.said(SummaryView.Edited)] == ["OkAsked: move login"]


async def test_nothing_is_edited_where_there_is_no_summary() -> None:
    view = SummaryView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE) as pilot:
        view.show(SummaryShown("none"))
        view.query_one(TextPane).focus()
        await pilot.press("e")
        assert not view.editing


async def test_the_result_lists_its_messages() -> None:
    session, counts, _ = conversation(6)
    rows = [
        ResultRow(one, region, counts.tokens[at], source)
        for at, (one, region, source) in enumerate(
            zip(
                session.messages,
                ["head", "summarized", "recent", "recent", "recent", "recent"],
                [0, None, 392, 393, 394, 395],
                strict=True,
            )
        )
    ]
    view = ResultView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE) as pilot:
        view.show(rows)
        view.focus()
        assert [line[:2] for line in text_of(view)[:3]] == ["▌H", "░S", "▌R"]
        await pilot.press("j", "j", "enter")
        assert [event.row.source for event in stage.said(ResultView.Selected)] == [None, 392]
        assert [event.row.source for event in stage.said(ResultView.Activated)] == [392]
        view.show([], empty="Nothing is compacted.")
        assert text_of(view)[0].startswith("Nothing is compacted.")
        await pilot.press("j", "enter")


async def test_findings_are_grouped_and_lead_to_their_message() -> None:
    view = FindingsView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE) as pilot:
        view.show(
            [
                Finding("info", "skipped", "line skipped", line=33),
                Finding("warning", "promoted", "The summary is promoted to system."),
                Finding("error", "orphan", "No call before it. " * 6, 17, remedy="Use group."),
                Finding("error", "empty", "Empty content.", 20),
            ]
        )
        view.focus()
        lines = [line.rstrip() for line in text_of(view)]
        assert lines[0] == "2 errors"
        assert lines[1].startswith("✕    #17  No call before it.")
        assert lines[3].strip() == "→ Use group."
        assert lines[4] == "✕    #20  Empty content."
        assert lines[6:8] == ["1 warning", "▲         The summary is promoted to system."]
        assert lines[9:11] == ["1 note", "·   l.33  line skipped"]
        await pilot.press("j", "enter", "j", "enter", "g", "enter")
        assert [event.index for event in stage.said(FindingsView.Jump)] == [20, 17]
        await pilot.click(view, offset=(12, 4))
        assert view.cursor == 1


async def test_what_is_wrong_at_many_places_is_told_once_and_opened_one_by_one() -> None:
    ids = [Finding("info", "long-id", f"#{n} has a long id.", n) for n in (3, 5, 8, 13, 21)]
    few = [Finding("warning", "empty", f"Empty content in #{n}.", n) for n in (2, 4, 6)]
    over = Finding("warning", "over-budget-after", "The result is over its budget.")
    view = FindingsView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE) as pilot:
        view.show([*ids[:2], *few, over, *ids[2:]])
        view.focus()
        lines = [line.rstrip() for line in text_of(view)]
        assert lines[:3] == [
            "4 warnings",
            "▲         The result is over its budget.",
            "▲     #2  Empty content in #2.",
        ]
        assert lines[6:9] == [
            "5 notes",
            "·     #3  #3 has a long id.",
            "          and 4 more like it: #5, #8, #13, #21",
        ]
        assert len(view.findings) == 9
        await pilot.press("G", "enter")
        assert [line.rstrip() for line in text_of(view)][7:9] == [
            "·     #5  #5 has a long id.",
            "          and 4 more like it: #3, #8, #13, #21",
        ]
        await pilot.press(*["enter"] * 5)
        assert [event.index for event in stage.said(FindingsView.Jump)] == [3, 5, 8, 13, 21, 3]


async def test_no_findings_and_hostile_findings() -> None:
    view = FindingsView()
    stage = Stage(view)
    async with stage.run_test(size=SIZE) as pilot:
        view.show([])
        assert text_of(view)[0].startswith("✓ Nothing to report.")
        await pilot.press("j", "enter")
        view.show([Finding("error", "x", text, remedy=text) for text in HOSTILE])
        for line in text_of(view):
            assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)


async def test_a_search_is_typed_counted_and_closed() -> None:
    bar = SearchBar()
    stage = Stage(bar)
    async with stage.run_test(size=SIZE) as pilot:
        assert not bar.display
        bar.open()
        await pilot.press("[", "/", "r", "enter")
        assert [event.text for event in stage.said(EntryBar.Changed)] == ["[", "[/", "[/r"]
        assert [event.text for event in stage.said(EntryBar.Submitted)] == ["[/r"]
        count = bar.query_one(".entry-count", Static)
        bar.say_count(2, 41)
        assert str(count.content) == "3 of 41"
        bar.say_count(None, 0)
        assert str(count.content) == "not found"
        await pilot.press("escape")
        assert not bar.is_open
        assert bar.text == ""
        assert len(stage.said(EntryBar.Closed)) == 1


async def test_a_filter_says_what_it_leaves() -> None:
    bar = FilterBar()
    stage = Stage(bar)
    async with stage.run_test(size=SIZE):
        bar.open("role:tool")
        bar.say_left(41, 1_412)
        count = bar.query_one(".entry-count", Static)
        assert str(count.content) == "41 of 1,412 messages"
        bar.say_wrong("unknown region “x”")
        assert bar.has_class("-wrong")
        assert stage.said(EntryBar.Changed) == []
