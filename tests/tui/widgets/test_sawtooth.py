"""The chart of a replay: what it shows at every width, and the cursor that goes through it."""

from __future__ import annotations

import pytest

from tui.widgets.sawtooth import LABEL, Saw, Sawtooth
from tui.widgets.sawtooth_shape import Shape, Tooth

from .stage import Stage, drawn, text_of

# 120 calls that each add 1k; compactions before calls 60 and 100 leave 20k.
SENT = [1_000 * (call + 1) for call in range(120)]
SAW = Saw(
    SENT,
    overhead=500,
    teeth=(
        Tooth(0, 60, 500, 2_000, 0),
        Tooth(60, 100, 20_000 - SENT[60], 2_000, 1_000),
        Tooth(100, 120, 20_000 - SENT[100], 2_000, 1_000),
    ),
    budget=60_000,
    compactions=(60, 100),
    declined=((30, 35),),
    recorded=(80,),
)


def contexts() -> list[int]:
    return [SAW.context(call) for call in range(SAW.calls)]


@pytest.mark.parametrize("width", [1, 7, 40, 120, 300])
def test_a_column_is_as_high_as_the_highest_of_its_calls(width: int) -> None:
    shape, every = Shape(SAW, width), contexts()
    assert len(shape.columns) == width
    for column in shape.columns:
        assert column.peak == max(every[column.first : column.until])
    assert shape.columns[0].first == 0
    assert shape.columns[-1].until == SAW.calls
    assert shape.top >= shape.peak


@pytest.mark.parametrize("width", [7, 40, 120, 300])
def test_every_call_has_columns_and_a_click_on_them_finds_it(width: int) -> None:
    shape = Shape(SAW, width)
    for call in range(SAW.calls):
        first, until = shape.column_of(call)
        assert 0 <= first < until <= width
        column = shape.columns[first]
        assert column.first <= call < column.until
    for made in SAW.compactions:
        assert shape.call_at(shape.column_of(made)[0]) == made


async def test_the_chart_says_the_budget_and_what_happened() -> None:
    chart = Sawtooth()
    async with Stage(chart, css="Sawtooth { height: 14; }").run_test(size=(90, 16)):
        chart.show(SAW)
        lines = text_of(chart)
    text = "\n".join(lines)
    assert any(line.strip().startswith("60k") for line in lines)
    assert "╌" in text
    assert "▲ compacts 2" in text
    assert "× could not 5" in text
    assert "△ really 1" in text
    assert "without 120.5k" in text
    shape = Shape(SAW, 90 - LABEL)
    marks = next(line for line in lines if "▲" in line)
    assert [x - LABEL for x, char in enumerate(marks) if char == "▲"] == [
        shape.column_of(call)[0] for call in (60, 100)
    ]


@pytest.mark.parametrize("size", [(8, 6), (20, 7), (45, 12), (200, 30)])
async def test_every_size_is_drawn_whole(size: tuple[int, int]) -> None:
    chart = Sawtooth()
    async with Stage(chart, css="Sawtooth { height: 1fr; }").run_test(size=size):
        chart.show(SAW)
        assert all(strip.cell_length == size[0] for strip in drawn(chart))
        assert "120" in "".join(text_of(chart)) or size[0] < 20


async def test_the_part_over_the_budget_is_seen_without_colour() -> None:
    chart = Sawtooth()
    over = Saw(SENT, 0, (Tooth(0, 120, 0, 2_000, 0),), budget=40_000)
    async with Stage(chart, css="Sawtooth { height: 14; }").run_test(size=(90, 16)):
        chart.show(over)
        assert "▒" in "\n".join(text_of(chart))


async def test_keys_scrub_through_the_calls() -> None:
    chart = Sawtooth()
    stage = Stage(chart)
    async with stage.run_test(size=(90, 16)) as pilot:
        chart.show(SAW)
        chart.focus()
        assert chart.call == 119
        await pilot.press("left", "left", "shift+left")
        assert chart.call == 107
        await pilot.press("up")
        assert chart.call == 100
        await pilot.press("k", "k")
        assert chart.call == 60
        await pilot.press("j", "home", "right")
        assert chart.call == 1
        await pilot.press("end", "right")
        assert chart.call == 119
        said = [event.call for event in stage.said(Sawtooth.Scrubbed)]
    assert said[-1] == 119
    assert said == [118, 117, 107, 100, 60, 100, 0, 1, 119]


async def test_the_mouse_scrubs_until_it_lets_go() -> None:
    chart = Sawtooth()
    stage = Stage(chart)
    async with stage.run_test(size=(127, 16)) as pilot:
        chart.show(SAW)
        await pilot.mouse_down(chart, offset=(LABEL + 10, 3))
        assert chart.call == 10
        await pilot.hover(chart, offset=(LABEL + 20, 3))
        assert chart.call == 20
        await pilot.mouse_up(chart, offset=(LABEL + 20, 3))
        await pilot.hover(chart, offset=(LABEL + 40, 3))
        assert chart.call == 20


async def test_another_walk_keeps_the_place_and_the_end_stays_the_end() -> None:
    chart = Sawtooth()
    longer = Saw([*SENT, 121_000], 0, (Tooth(0, 121, 0, 0, 0),), 60_000)
    async with Stage(chart).run_test(size=(90, 16)):
        chart.show(SAW)
        chart.show(longer)
        assert chart.call == 120
        chart.call = 30
        chart.show(SAW)
        assert chart.call == 30


async def test_no_calls_are_no_chart() -> None:
    chart = Sawtooth()
    async with Stage(chart).run_test(size=(40, 12)) as pilot:
        chart.show(None)
        chart.focus()
        await pilot.press("left", "end", "up")
        assert "".join(text_of(chart)).strip() == ""
        chart.show(Saw([], 0, (), 10))
        await pilot.press("left", "end", "up")
        assert "".join(text_of(chart)).strip() == ""


async def test_a_few_calls_are_wide_columns() -> None:
    chart = Sawtooth()
    three = Saw([10, 20, 30], 0, (Tooth(0, 3, 0, 5, 0),), 25)
    async with Stage(chart).run_test(size=(67, 12)):
        chart.show(three)
        shape = chart.shape
        assert shape is not None
        assert [shape.column_of(call) for call in range(3)] == [(0, 20), (20, 40), (40, 60)]
