"""The whole file in the list, how it is counted, the tool's own summary, what ate the tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from compaction.formats import load, omitted
from compaction.messages import Source, Span
from compaction.policy import Policy
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui.app import Workbench
from tui.opening import Opening
from tui.settings import Settings
from tui.whole_file import placed, sketch
from tui.widgets.budget_bar import BudgetBars
from tui.widgets.detail import MessageDetail
from tui.widgets.places import Places
from tui.widgets.summary_view import SummaryView
from tui.widgets.text_pane import TextPane
from tui.widgets.usage_view import UsageView

Open = Callable[..., AbstractAsyncContextManager[Person]]


def line(at: int, kind: str, content: object, **more: Any) -> dict[str, Any]:
    """One record of a Claude Code log, the child of the one before."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        read = 9_000 + 60 * at
        message |= {
            "id": f"m{at}", "type": "message", "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": read, "output_tokens": 20},
        }
    return {
        "type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None,
        "sessionId": "s", "timestamp": f"2026-01-01T00:00:{at:02}Z", "isSidechain": False,
        "message": message, **more,
    }  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with a compaction of the tool in it: 8 messages before it, 9 after."""
    records: list[dict[str, Any]] = []
    for at in range(8):
        kind = "assistant" if at % 2 else "user"
        text = f"[b]old {at}[/b] in /src/old_{at}.py with port {4000 + at}"
        records.append(line(at, kind, [{"type": "text", "text": text}]))
    records.append(
        {
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "uuid": "u8", "parentUuid": None, "logicalParentUuid": "u7", "sessionId": "s",
            "timestamp": "2026-01-01T00:00:08Z", "isSidechain": False,
            "compactMetadata": {"trigger": "auto", "preTokens": 167000},
        }
    )  # fmt: skip
    kept = "They worked in /src/new_11.py and wanted peace."
    records.append(line(9, "user", kept, isCompactSummary=True))
    for at in range(10, 18):
        kind = "user" if at % 2 else "assistant"
        text = f"new {at} in /src/new_{at}.py, " + "many words are said here " * 6
        records.append(line(at, kind, [{"type": "text", "text": text}]))
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in records))
    return file


@pytest.fixture
def person(alone: None) -> Open:
    """Opens the workbench and waits for the session."""

    @asynccontextmanager
    async def opened(
        source: Path, *, size: tuple[int, int] = (120, 40), policy: Policy | None = None
    ) -> AsyncIterator[Person]:
        app = Workbench(Opening(str(source), source.name, policy=policy), Settings())
        async with app.run_test(size=size) as pilot:
            it = Person(app, pilot)
            await rest(it)
            yield it

    return opened


async def rest(it: Person) -> None:
    """Until nothing is read, counted or found any more."""
    for _ in range(200):
        busy = [each for each in it.app.workers if each.group != "default"]
        if busy:
            await it.app.workers.wait_for_complete(busy)
        await it.pilot.pause(0.02)
        counts = it.screen.counts
        ready = counts is not None and counts.exact and not it.screen.loading_session
        if ready and not busy and not it.screen.summarizing:
            await it.pilot.pause()
            return
    pytest.fail("the workbench never came to rest")


def said(it: Person) -> str:
    return "\n".join(each.message for each in it.app._notifications)


async def test_records_beside_the_window_stand_between_the_messages(
    person: Open, log: Path
) -> None:
    async with person(log) as it:
        live = it.rows.item_count
        await it.pilot.press("v")
        await rest(it)
        many = len(omitted(it.plan.session))
        assert many >= 8
        assert it.rows.item_count == live + many
        assert it.rows.cursor_message == 0
        await it.pilot.press("g")
        await it.pilot.pause()
        assert it.rows.cursor_message is None
        lines = text_of(it.rows)
        place = next(at for at, text in enumerate(lines) if "compacted here by the tool" in text)
        assert "167,000" in lines[place]
        assert "auto" in lines[place]
        assert "⟨" in lines[place - 1]
        assert "[b]old 0[/b]" in "\n".join(lines)
        head = str(it.screen.query_one("#detail-head").render())
        assert "before the last compaction" in head
        pane = it.screen.query_one(MessageDetail).query_one(TextPane)
        assert '"parentUuid": null' in pane.passages[0].text
        await it.pilot.press("v")
        await it.pilot.pause()
        assert it.rows.item_count == live


async def test_a_record_is_not_pinned_and_no_boundary(person: Open, log: Path) -> None:
    policy = Policy(budget=100, keep_recent=2)
    async with person(log, policy=policy) as it:
        await it.pilot.press("v")
        await rest(it)
        await it.pilot.press("g", "space", "b")
        await rest(it)
        assert it.plan.policy == policy
        assert said(it).count("not in the window") == 2
        await it.pilot.press("enter", "j")
        assert it.screen.pane == "message"


async def test_a_slider_moves_while_the_whole_file_is_shown(person: Open, log: Path) -> None:
    async with person(log, policy=Policy(budget=100, keep_recent=2)) as it:
        await it.pilot.press("v")
        await rest(it)
        for key in ("[", "[", "]", "G", "g", "j"):
            await it.pilot.press(key)
        await rest(it)
        assert it.plan.compacts
        boundary = it.rows.boundary_line
        assert boundary is not None
        assert it.rows.item_at(boundary) is None
        below = it.rows.item_at(boundary + 1)
        assert below is not None
        assert it.rows._places.message(below) == it.plan.cut


async def test_the_compaction_is_marked_in_the_full_history(person: Open, log: Path) -> None:
    async with person(log) as it:
        assert "compacted here" not in "\n".join(text_of(it.rows))
        await it.pilot.press("V")
        await rest(it)
        assert it.plan.session.history == "full"
        assert "compacted here by the tool: 167,000" in "\n".join(text_of(it.rows))


async def test_only_rows_on_the_screen_are_parsed(
    person: Open, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Span] = []

    def counted(source: Source, span: Span) -> Any:
        drawn.append(span)
        return sketch(source, span)

    monkeypatch.setattr("tui.widgets.message_rows.sketch", counted)
    async with person(log) as it:
        session = it.plan.session
        one = omitted(session)[0]
        whole = placed(session, (one,) * 100_000)
        it.screen.session = session
        it.rows.whole = whole
        await it.pilot.pause()
        await it.pilot.press("g", "j", "j", "G", "k")
        await it.pilot.pause()
        assert it.rows.line_count > 100_000
        assert len(drawn) < 6 * it.rows.page_height


async def test_counting_goes_round_and_says_how_good_it_is(person: Open, log: Path) -> None:
    async with person(log) as it:
        legend = text_of(it.screen.query_one(BudgetBars))[2]
        assert "estimate" in legend
        assert f"provider {9_000 + 60 * 16:,}" in text_of(it.screen.query_one("#title"))[0]
        await it.pilot.press("t")
        await rest(it)
        counts = it.plan.counts
        assert counts.calibration is not None
        first = text_of(it.rows)[0]
        assert "overhead" in first
        assert f"{counts.overhead:,}" in first
        assert "not in" in first
        assert it.rows.item_at(0) is None
        assert "calibrated on 4" in text_of(it.screen.query_one(BudgetBars))[2]
        await it.pilot.press("t")
        await rest(it)
        assert it.plan.policy.tokens == "chars/4"
        assert "estimate" in text_of(it.screen.query_one(BudgetBars))[2]
        await it.pilot.press("t", "u")
        await rest(it)
        assert it.plan.policy.tokens == "chars/4"


async def test_the_tools_own_summary_stands_beside_ours(person: Open, log: Path) -> None:
    async with person(log, policy=Policy(budget=100, keep_recent=2)) as it:
        view = it.screen.query_one(SummaryView)
        assert view.shown.theirs is not None
        assert "wanted peace" in view.shown.theirs.text
        await it.pilot.press("S")
        await rest(it)
        told = "\n".join(each.text for each in view.query_one(TextPane).passages)
        assert "They worked in /src/new_11.py and wanted peace." in told
        assert f"ours {view.shown.tokens:,} tokens · theirs" in told
        assert "of the" in told
        assert it.screen.pane == "summary"
        await it.pilot.press("S")
        await it.pilot.pause()
        assert not view.beside


async def test_without_a_summary_of_the_tool_it_is_said(person: Open, tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([{"role": "user", "content": "hello"}]))
    async with person(file) as it:
        await it.pilot.press("S")
        assert "made no summary" in said(it)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_what_takes_the_tokens(person: Open, log: Path, size: tuple[int, int]) -> None:
    async with person(log, size=size) as it:
        await it.pilot.press("5")
        await rest(it)
        view = it.screen.query_one(UsageView)
        lines = "\n".join(text_of(view))
        assert "The session has" in lines
        assert "by role" in lines
        view.focus()
        await it.pilot.press("g", "enter")
        await rest(it)
        (narrowed,) = it.screen.filters
        assert narrowed.text.startswith("role:")
        assert it.rows.item_count < it.plan.n
        labels = [row.label for row in view._rows]
        largest = next(at for at, label in enumerate(labels) if label.startswith("#"))
        view.move_cursor(largest)
        view.activated()
        await rest(it)
        assert it.screen.filters == ()
        assert f"#{it.rows.cursor_message} " in labels[largest]


def test_a_record_in_one_line(log: Path) -> None:
    whole = omitted(load(log))[0]
    source = load(log).source
    assert sketch(source, whole.span).kind == "user"
    odd = Source(b"[1,2]\nnot json\n" + b'{"a": "' + b"x" * 100_000)
    assert sketch(odd, Span(0, 5, 1)).text == "[1,2]"
    assert sketch(odd, Span(6, 14, 2)).text == "not json"
    assert len(sketch(odd, Span(15, len(odd.data), 3)).text) < 1_000


def test_marks_and_records_keep_their_places() -> None:
    before = [0, 0, 2, 3]
    spots = [at + place for place, at in enumerate(before)]
    from array import array

    one = Places(3, None, 2, array("l", before), array("l", spots), (0, 5))
    items = [one.item_at(row) for row in range(one.lines)]
    assert [each for each in items if each is not None] == list(range(7))
    assert [one.record(item) for item in range(7)] == [0, 1, None, None, 2, None, 3]
    assert [one.message(item) for item in (2, 3, 5)] == [0, 1, 2]
    assert one.mark_at(0) == 0
    assert items[one.boundary or 0] is None
    assert all(one.item_at(one.line_of(item)) == item for item in range(7))


async def test_our_count_stays_where_the_title_is_short(person: Open, log: Path) -> None:
    async with person(log, size=(80, 24)) as it:
        title = text_of(it.screen.query_one("#title"))[0]
        assert f"~{it.plan.counts.total:,} tokens" in title
