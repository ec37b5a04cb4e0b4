"""What the screen shows is what the result is: under every preset, and where a summary fails."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import compaction
import sample_sessions
from compaction.compacting import Compacted
from compaction.messages import Text, ToolResult, message
from compaction.policy import Policy, preset, presets
from compaction.summary import FromCallable
from compaction.tokens import count
from tests.compaction.planning_strategies import session_of
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui.app import Workbench
from tui.carried import Carried, carried
from tui.opening import Opening
from tui.replaying import PastPlan
from tui.resulting import result_rows
from tui.screens.export import holds
from tui.settings import Settings
from tui.widgets.budget_bar import BudgetBars, figures
from tui.widgets.minimap import cell_at
from tui.widgets.slider import Slider

LOGIN = sample_sessions.path("login-refactor")
SUPPORT = sample_sessions.path("support-chat")


def check_against(result: Compacted, became: Carried) -> None:
    """Every number of what became of a plan, worked out of the result alone."""
    shown = figures(became, became.summary_estimate)  # type: ignore[arg-type]
    assert shown.total_before == result.tokens_before
    assert shown.total_after == result.tokens_after
    assert sum(became.many) == len(result.session.messages)
    rows = result_rows(result, became)
    assert sum(row.tokens for row in rows) + became.overhead == result.tokens_after
    for row in rows:
        if row.source is not None:
            same = row.message is result.session.messages[row.source]
            assert (row.region == "cleared") == (not same)
    tokens, n = became.counts.tokens, became.n
    for start in range(0, n, 37):
        for stop in range(start, n + 1, 41):
            inside = range(start, stop)
            had = sum(tokens[i] for i in inside if became.region(i) == "cleared")
            assert became.had_cleared(start, stop) == had


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("path", [LOGIN, SUPPORT], ids=["login", "support"])
def test_the_numbers_are_those_of_the_result(path: Path, name: str) -> None:
    session = compaction.load(path)
    counts = count(session, "chars/4")
    for share in (0.2, 0.6):
        policy = preset(name).replace(budget=int(counts.total * share))
        result = compaction.compact(compaction.plan(session, policy, counts=counts))
        check_against(result, carried(result))


def test_a_result_without_its_call_and_one_that_is_clipped() -> None:
    long = "The north gate scanner was reset. " * 200
    messages = [
        message("user", "Look."),
        *(message("assistant", f"Lane {n} is open. " * 20) for n in range(12)),
        message("user", "And now?"),
        message("tool", [ToolResult("gone", (Text("an answer to nothing"),))]),
        message("assistant", "One moment."),
        message("tool", [ToolResult("also", (Text(long),))]),
        message("user", "Well?"),
    ]
    session = session_of(messages)
    for fit in ("none", "clip-largest"):
        for safety in ("group", "off"):
            policy = Policy(
                budget=400, keep_recent=5, fit=fit, safety=preset("default").safety.of(safety)  # type: ignore[arg-type]
            )
            plan = compaction.plan(session, policy, counts=count(session, "chars/4"))
            result = compaction.compact(plan, FromCallable(lambda _: "All is open.", "x"))
            check_against(result, carried(result))


# ------------------------------------------------------------------------------ on the screen


@asynccontextmanager
async def opened(path: Path, policy: Policy) -> AsyncIterator[Person]:
    app = Workbench(Opening(str(path), str(path), policy=policy), Settings())
    async with app.run_test(size=(120, 40)) as pilot:
        it = Person(app, pilot)
        await settled(it)
        yield it


async def settled(it: Person) -> None:
    for _ in range(400):
        await it.app.workers.wait_for_complete()
        await it.pilot.pause(0.02)
        screen = it.screen
        if screen.plan is not None and not (screen.summarizing or screen.loading_session):
            return
    pytest.fail("the workbench never came to rest")


def bars(it: Person) -> list[str]:
    return text_of(it.screen.query_one(BudgetBars))


async def test_a_recent_part_that_had_to_shrink_is_shown_as_it_is_then(alone: None) -> None:
    policy = preset("fit-window").replace(budget=1_256)
    async with opened(SUPPORT, policy) as it:
        result = it.screen.result
        assert result.plan is not it.plan
        shown = it.screen.query_one(BudgetBars).shown
        assert shown.total_after == result.tokens_after
        assert f"summarized {len(result.plan.summarized)} " in bars(it)[2]
        assert it.rows.plan.cut == result.plan.cut
        gone = result.plan.cut - 1
        assert it.rows.plan.region(gone) == "summarized"
        it.rows.select(gone)
        assert f"{len(result.plan.summarized)} messages" in "\n".join(text_of(it.rows))


def failing(_: object) -> str:
    return ""


@asynccontextmanager
async def asked(
    policy: Policy, path: Path = LOGIN, function: Callable[[object], str] = failing
) -> AsyncIterator[Person]:
    """The workbench after `s`, with a summarizer that is not free."""
    summarizer = FromCallable(function, "own")  # type: ignore[arg-type]
    app = Workbench(
        Opening(str(path), str(path), policy=policy, summarizer=summarizer), Settings()
    )
    async with app.run_test(size=(120, 40)) as pilot:
        it = Person(app, pilot)
        await settled(it)
        await pilot.press("s")
        await settled(it)
        yield it


def pane(it: Person) -> str:
    return " ".join("\n".join(text_of(it.screen.query_one("SummaryView TextPane"))).split())


@pytest.mark.parametrize("failure", ["keep", "raise"])
async def test_a_summary_that_fails_replaces_nothing_on_the_screen(
    alone: None, failure: str
) -> None:
    async with asked(Policy(budget=20_000, failure=failure)) as it:  # type: ignore[arg-type]
        shown = it.screen.query_one(BudgetBars).shown
        assert shown.total_after == shown.total_before
        assert "pinned" not in bars(it)[2]
        assert it.rows.boundary_line is None
        plan, counts = it.rows.plan, it.screen.counts
        assert {plan.region(index) for index in range(plan.n)} == {"recent"}
        assert {cell_at(y, 20, plan, counts).region for y in range(20)} == {"recent"}
        assert it.screen.query_one("#keep", Slider).note == ""
        assert "returned nothing" in pane(it)
        assert "returned nothing" in str(it.screen.query_one("#status").render())
        errors = [each for each in it.screen.findings() if each.code == "summary-failed"]
        assert [each.level for each in errors] == ["error"]
        held = holds(it.screen.result)
        assert "unchanged: The summarizer own returned nothing" in held


async def test_dropped_messages_are_said_to_be_dropped_where_a_summary_failed(alone: None) -> None:
    async with asked(Policy(budget=20_000, failure="truncate")) as it:
        assert "The old messages were dropped without one." in pane(it)
        assert it.screen.query_one(BudgetBars).shown.total_after == it.screen.result.tokens_after
        assert "S dropped 261 " in bars(it)[2]
        it.rows.select(it.rows.plan.cut)
        assert "are dropped" in "\n".join(text_of(it.rows))


async def test_a_placeholder_in_place_of_a_summary_says_why(alone: None) -> None:
    async with asked(Policy(budget=20_000, failure="placeholder")) as it:
        assert "✕" in pane(it)
        assert "returned nothing" in pane(it)
        assert "returned nothing" in str(it.screen.query_one("#status").render())


async def test_a_summary_that_arrives_leaves_the_past_alone(alone: None) -> None:
    async with opened(LOGIN, Policy(budget=30_000, keep_recent=20)) as it:
        await it.pilot.press("6")
        for _ in range(200):
            await it.pilot.pause(0.02)
            if it.screen._run is not None:
                break
        await it.pilot.press("home", "j")
        assert it.screen.in_the_past
        end = it.rows.item_count
        it.screen.set_policy(it.plan.policy.replace(budget=33_000), "budget")
        await settled(it)
        assert it.screen.in_the_past
        assert isinstance(it.rows.plan, PastPlan)
        assert it.rows.item_count <= end + 1
        await it.pilot.press("escape")
        assert it.rows.plan is it.screen.shown_plan


async def test_a_filter_is_of_what_became_of_the_plan(alone: None) -> None:
    policy = Policy(budget=1_400, keep_recent=20, fit="shrink-recent")
    async with opened(SUPPORT, policy) as it:
        await it.pilot.press("f", *"region:summarized", "enter")
        for budget in (2_400, 1_300, 2_000):
            it.screen.set_policy(it.plan.policy.replace(budget=budget), "budget")
            await settled(it)
            await it.app.workers.wait_for_complete()
            await it.pilot.pause()
            shown = it.screen.shown_plan
            wanted = [i for i in range(shown.n) if shown.region(i) == "summarized"]
            assert list(it.screen.rows) == wanted


async def test_asking_at_once_after_a_change_asks_once(alone: None) -> None:
    calls: list[int] = []
    going = threading.Event()

    def slow(messages: object) -> str:
        calls.append(1)
        going.wait(5)
        return "Short."

    summarizer = FromCallable(slow, "own")
    app = Workbench(
        Opening(str(SUPPORT), str(SUPPORT), policy=Policy(budget=900), summarizer=summarizer),
        Settings(),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        it = Person(app, pilot)
        await settled(it)
        it.screen.set_policy(it.plan.policy.replace(keep_recent=16), "keep")
        await pilot.press("s")
        for _ in range(40):
            await pilot.pause(0.02)
        assert it.screen.summarizing
        assert "The summary is being made" in pane(it)
        going.set()
        await settled(it)
        assert it.screen.result.summary.text == "Short."
        assert calls == [1]
