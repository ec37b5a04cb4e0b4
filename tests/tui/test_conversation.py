"""Files with several conversations: the question which one, and its answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

import sample_sessions
from compaction.policy import Policy
from tests.tui.person import Person
from tests.tui.widgets.stage import text_of
from tui.app import Workbench
from tui.opening import Opening
from tui.screens.choose import ChoiceList, Choose
from tui.screens.workbench import WorkbenchScreen
from tui.settings import Settings

Open = Callable[..., AbstractAsyncContextManager[Person]]


@pytest.fixture
def person(alone: None) -> Open:
    """Opens the workbench and waits for the session."""

    @asynccontextmanager
    async def opened(
        source: Path, *, size: tuple[int, int] = (120, 40), **more: Any
    ) -> AsyncIterator[Person]:
        app = Workbench(Opening(str(source), source.name, **more), Settings())
        async with app.run_test(size=size) as pilot:
            it = Person(app, pilot)
            await ready(it)
            yield it

    return opened


async def ready(it: Person) -> None:
    """Until a session is shown and counted."""
    for _ in range(200):
        await it.pilot.pause(0.02)
        counts = it.screen.counts
        if counts is not None and counts.exact and not it.screen.loading_session:
            await it.pilot.pause()
            return
    pytest.fail("the session never came")


def many(folder: Path, number: int) -> Path:
    """A file of `number` conversations; the last word of each title is its number."""
    talks = [
        {
            "id": f"talk-{at}",
            "conversations": [
                {"from": "human", "value": f"[bold]question {at}"},
                *({"from": "gpt", "value": f"answer {at}"} for _ in range(at)),
            ],
        }
        for at in range(1, number + 1)
    ]
    file = folder / "talks.json"
    file.write_text(json.dumps(talks))
    return file


async def test_several_conversations_are_asked_about(person: Open, tmp_path: Path) -> None:
    async with person(many(tmp_path, 3)) as it:
        assert isinstance(it.app.screen, Choose)
        lines = text_of(it.app.screen.query_one(ChoiceList))
        assert [line.split()[-2:] for line in lines] == [
            ["2", "messages"], ["3", "messages"], ["4", "messages"]
        ]
        assert lines[0].startswith("● 1  [bold]question 1")
        await it.pilot.press("down", "enter")
        await ready(it)
        assert it.screen.opening.conversation == "talk-2"
        assert it.plan.n == 3
        assert isinstance(it.app.screen, WorkbenchScreen)


async def test_leaving_keeps_what_is_shown_and_it_can_be_asked_again(
    person: Open, tmp_path: Path
) -> None:
    policy = Policy(budget=7, keep_recent=1)
    async with person(many(tmp_path, 3), policy=policy) as it:
        screen = it.screen
        await it.pilot.press("escape")
        assert it.app.screen is screen
        assert it.plan.n == 2
        await it.pilot.press("C", "end", "enter")
        await ready(it)
        assert it.plan.n == 4
        assert it.plan.policy == policy
        await it.pilot.press("C")
        await it.pilot.pause()
        assert it.app.screen.query_one(ChoiceList).cursor == 2


async def test_many_conversations_are_found_by_typing(person: Open, tmp_path: Path) -> None:
    async with person(many(tmp_path, 40)) as it:
        assert it.app.screen.query_one(Input).has_focus
        await it.pilot.press(*"question 33q", "backspace")
        entries = it.app.screen.query_one(ChoiceList)
        assert entries.item_count == 2  # "33 messages" is found, too
        await it.pilot.press("down", "enter")
        await ready(it)
        assert it.screen.opening.conversation == "talk-33"


async def test_nothing_found_is_nothing_chosen(person: Open, tmp_path: Path) -> None:
    async with person(many(tmp_path, 20)) as it:
        await it.pilot.press(*"zzz", "enter")
        await it.pilot.pause()
        assert isinstance(it.app.screen, Choose)
        await it.pilot.press("escape")
        await it.pilot.pause()
        assert it.plan.n == 2


async def test_one_that_was_asked_for_is_not_asked_about(person: Open, tmp_path: Path) -> None:
    async with person(many(tmp_path, 3), conversation="2") as it:
        assert isinstance(it.app.screen, WorkbenchScreen)
        assert it.plan.n == 3


async def test_a_file_of_one_conversation_says_so(person: Open) -> None:
    async with person(sample_sessions.path("support-chat")) as it:
        await it.pilot.press("C")
        await it.pilot.pause()
        assert isinstance(it.app.screen, WorkbenchScreen)
        said = [each.message for each in it.app._notifications]
        assert any("only one conversation" in one for one in said)
