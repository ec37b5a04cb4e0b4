from __future__ import annotations

import pytest
from textual import events

from tui.widgets.slider import Mark, Slider

from .stage import Stage, text_of

SIZE = (80, 6)


def budget(**given: object) -> Slider:
    """A budget slider as the workbench has it."""
    return Slider(
        "budget", 0, 187_204, 100_000, unit="tokens", ticks=[8_000, 32_000, 128_000], **given
    )


def values(stage: Stage) -> list[int]:
    """The values a person chose."""
    return [event.value for event in stage.said(Slider.Changed)]


async def test_keys_step() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        for key, value in [
            ("right", 100_200),
            ("l", 100_400),
            ("left", 100_200),
            ("h", 100_000),
            ("shift+right", 102_000),
            ("shift+left", 100_000),
            ("home", 0),
            ("end", 187_204),
        ]:
            await pilot.press(key)
            assert slider.value == value
        assert values(stage)[-1] == 187_204


async def test_page_keys_move_by_a_tenth_of_the_track() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        await pilot.press("pageup")
        assert 110_000 <= slider.value <= 125_000
        await pilot.press("pagedown", "pagedown")
        assert 75_000 <= slider.value <= 90_000


async def test_one_event_for_every_distinct_value() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        await pilot.press("end", "end", "right", "shift+right")
        slider.value = 5_000
        await pilot.pause()
        assert values(stage) == [187_204]


async def test_both_ends_are_reached_by_a_click() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        start, track = slider._parts.start, slider._parts.track
        await pilot.click(slider, offset=(start, 0))
        assert slider.value == 0
        await pilot.click(slider, offset=(start + track - 1, 0))
        assert slider.value == 187_204


async def test_a_drag_is_live_and_goes_past_the_ends() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        start, track = slider._parts.start, slider._parts.track
        await pilot.mouse_down(slider, offset=(start + track // 2, 0))
        seen = [slider.value]
        for x in (start + track // 2 + 5, start + track, start - 3):
            await pilot.hover(slider, offset=(x, 0))
            seen.append(slider.value)
        await pilot.mouse_up(slider, offset=(start, 0))
        await pilot.hover(slider, offset=(start + 9, 0))
        assert seen[0] < seen[1] < seen[2] == 187_204
        assert slider.value == seen[3] == 0
        assert values(stage) == seen


async def test_a_mark_is_hit_exactly() -> None:
    slider = Slider("budget", 0, 1_000_000, 100_000, ticks=[])
    slider.marks = [Mark(187_204, "total")]
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        cell = slider.scale.cell(187_204, slider._parts.track)
        await pilot.click(slider, offset=(slider._parts.start + cell, 0))
        assert slider.value == 187_204


async def test_the_wheel_steps() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        for kind in (events.MouseScrollUp, events.MouseScrollUp, events.MouseScrollDown):
            await pilot._post_mouse_events([kind], slider, (20, 0))
        assert values(stage) == [100_200, 100_400, 100_200]


@pytest.mark.parametrize(
    ("typed", "value"), [("128k", 128_000), ("=50%", 93_602), ("=.1M", 100_000), ("7", 7)]
)
async def test_a_value_is_typed(typed: str, value: int) -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        await pilot.press(*["equals_sign" if char == "=" else char for char in typed])
        assert slider.editing
        assert slider.value == 100_000
        await pilot.press("enter")
        assert slider.value == value
        assert not slider.editing


async def test_keys_that_come_all_at_once_are_typed_whole() -> None:
    slider = Slider("budget", 0, 100_000, 100)
    stage = Stage(slider)
    async with stage.run_test() as pilot:
        slider.focus()
        await pilot.pause()
        for key in ("equals_sign", "4", "5", "k"):
            stage.simulate_key(key)
        await pilot.pause()
        await pilot.press("enter")
        assert slider.value == 45_000


async def test_a_wrong_entry_says_why_and_stays_open() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        await pilot.press("1", "2", "q")
        assert "“q” is in no amount; try 128k" in text_of(slider)[1]
        assert "12q" not in text_of(slider)[0]
        await pilot.press("k", "m", "enter")
        assert "“12km” is no amount" in text_of(slider)[1]
        assert slider.editing
        await pilot.press("backspace", "backspace", "M", "enter")
        assert "12,000,000 is outside 0 to 187,204" in text_of(slider)[1]
        await pilot.press("escape")
        assert not slider.editing
        assert values(stage) == []


async def test_an_entry_takes_the_keys_that_move_otherwise() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        await pilot.press("1", "h", "l", "right", "home", "equals_sign")
        assert slider.value == 100_000
        assert slider.check_consume_key("l", "l")
        await pilot.press("ctrl+u", "enter")
        assert not slider.editing


async def test_a_click_on_the_number_opens_the_entry_and_paste_fills_it() -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        await pilot.click(slider, offset=(70, 0))
        assert slider.editing
        slider.post_message(events.Paste("64k\n"))
        await pilot.pause()
        await pilot.press("enter")
        assert slider.value == 64_000


async def test_the_lines_show_value_ticks_marks_and_note() -> None:
    slider = budget()
    slider.marks = [Mark(60_000, "total")]
    stage = Stage(slider)
    async with stage.run_test(size=SIZE):
        track, below = text_of(slider)
        assert track.startswith("budget  ━")
        assert "● " in track or "●─" in track
        assert track.rstrip().endswith("100,000 tokens")
        assert "╵8k" in below
        assert "╵total" in below
        assert "╵128k" in below
        slider.note = "kept 22: the cut moved back to the call at #412"
        assert text_of(slider)[1].strip().startswith("kept 22: the cut moved")


async def test_the_effective_value_stands_on_the_track() -> None:
    slider = Slider("keep recent", 0, 412, 20, region="recent")
    stage = Stage(slider)
    async with stage.run_test(size=SIZE):
        assert "○" not in text_of(slider)[0]
        slider.effective = 60
        assert "○" in text_of(slider)[0]


@pytest.mark.parametrize("width", [12, 20, 34, 60])
async def test_it_fits_where_there_is_little_room(width: int) -> None:
    slider = budget()
    stage = Stage(slider)
    async with stage.run_test(size=(width, 4)):
        assert all(len(line) == width for line in text_of(slider))
        assert "100,000" in text_of(slider)[0]


async def test_a_range_of_one_value_is_no_error() -> None:
    slider = Slider("keep recent", 0, 0, 0)
    stage = Stage(slider)
    async with stage.run_test(size=SIZE) as pilot:
        slider.focus()
        await pilot.press("right", "end", "pageup")
        await pilot.click(slider, offset=(30, 0))
        assert values(stage) == []


def test_a_newer_change_replaces_an_older_one_of_the_same_slider() -> None:
    one, other = Slider("a"), Slider("b")
    assert Slider.Changed(one, 1).can_replace(Slider.Changed(one, 2))
    assert not Slider.Changed(one, 1).can_replace(Slider.Changed(other, 2))
