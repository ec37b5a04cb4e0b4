"""The tour: its steps, what moves it on, and how it ends."""

from __future__ import annotations

import re

import pytest

from tests.tui.widgets.stage import Stage
from tui.commands import COMMANDS, rebound
from tui.widgets.tour_card import STEPS, TourCard, card_text

KEYS = {each.id: each.keys[0] for each in rebound() if each.keys}


def test_four_steps_that_name_only_commands_that_exist() -> None:
    assert len(STEPS) == 4
    known = {command.id for command in COMMANDS}
    for step in STEPS:
        assert set(re.findall(r"\{([^}]+)\}", step.text)) <= known


@pytest.mark.parametrize("at", range(4))
def test_keys_stand_in_the_text(at: int) -> None:
    told = card_text(at, KEYS).plain
    assert f"{at + 1}/4" in told
    assert "{" not in told
    assert "enter" in told
    assert "enter" not in card_text(at, KEYS, focused=False).plain
    if at == 3:
        assert "space pins" in told
        assert "esc" not in told


def test_keys_of_the_settings_stand_in_the_text() -> None:
    card = TourCard({"pin": "ctrl+k"})
    assert "ctrl+k pins" in card_text(3, card._keys).plain


async def test_what_was_asked_for_moves_it_on() -> None:
    card = TourCard()
    stage = Stage(card)
    async with stage.run_test() as pilot:
        assert not card.running
        card.start()
        card.did("budget")
        assert card.step == 0
        await pilot.press("enter")
        card.did("pane-summary")
        assert card.step == 1
        card.did("keep")
        assert card.step == 2
        await pilot.press("left")
        assert card.step == 1
        await pilot.press("n")
        card.did("pane-summary")
        assert card.step == 3
        await pilot.press("enter")
        await pilot.pause()
        assert not card.running
        assert [event.completed for event in stage.said(TourCard.Ended)] == [True]


async def test_it_can_be_left_at_any_step_and_taken_again() -> None:
    card = TourCard()
    stage = Stage(card)
    async with stage.run_test() as pilot:
        card.start()
        await pilot.press("escape")
        await pilot.pause()
        assert not card.display
        assert [event.completed for event in stage.said(TourCard.Ended)] == [False]
        card.action_end()
        await pilot.pause()
        assert len(stage.said(TourCard.Ended)) == 1
        card.start()
        await pilot.pause()
        assert card.step == 0
        assert card.display
        await pilot.click(TourCard)
        assert card.step == 1
