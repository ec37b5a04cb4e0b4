"""The map of settings: shades with and without colour, the crosshair, the metrics."""

from __future__ import annotations

import pytest

from tui.widgets import heatmap
from tui.widgets.heat_data import METRICS, Heat
from tui.widgets.heatmap import Heatmap
from tui.widgets.heatmap_face import LABEL
from tui.widgets.sweep_view import facts_at

from .stage import Stage, drawn, text_of

BUDGETS, AMOUNTS = (10_000, 20_000, 40_000, 80_000), (0, 5, 20)
HEAT = Heat(
    BUDGETS,
    AMOUNTS,
    "messages",
    {
        "cost": tuple(float(n + 1) for n in range(12)),
        "sent": tuple(1_000 * 3**n for n in range(12)),
        "peak": (5_000,) * 12,
        "compactions": tuple(12 - n for n in range(12)),
        "lost": (*(100 - n for n in range(11)), None),
    },
    front=frozenset({0, 4}),
    best=4,
    dollars=True,
)


async def shown(chart: Heatmap, *, solid: bool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(heatmap, "has_shades", lambda app: solid)
    async with Stage(chart).run_test(size=(50, 12)) as pilot:
        chart.show(HEAT)
        await pilot.pause()
        chart.here = (2, 1)
        assert all(strip.cell_length == 50 for strip in drawn(chart))
        return text_of(chart)


async def test_axes_marks_and_the_crosshair_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = await shown(Heatmap(), solid=True, monkeypatch=monkeypatch)
    assert [line[:LABEL].strip() for line in lines[1:5]] == ["80k", "40k", "20k", "10k"]
    assert lines[0].startswith("cost  sent  peak")
    assert "[" in lines[2]
    assert "]" in lines[2]
    assert "★" in lines[3]
    assert "•" in lines[4]
    assert lines[5].split() == ["keep", "0", "5", "20"]
    assert "$1.00" in lines[6]
    assert "$12.00" in lines[6]


async def test_without_colours_shades_are_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = await shown(Heatmap(), solid=False, monkeypatch=monkeypatch)
    patterns = "·░▒▓█"
    cheap, dear = lines[4][-60:].strip(), lines[1]
    assert patterns[0] in cheap
    assert patterns[4] in dear
    assert "★" in lines[3]
    assert "[" in lines[2]


def test_shades_go_by_the_logarithm_where_the_range_is_wide() -> None:
    assert HEAT.share("cost", 0) == 0
    assert HEAT.share("cost", 11) == 1
    assert HEAT.share("sent", 6) == pytest.approx(6 / 11)
    assert HEAT.share("peak", 3) == 0
    assert HEAT.share("lost", 11) is None


async def test_keys_and_the_mouse_move_the_crosshair() -> None:
    chart = Heatmap()
    stage = Stage(chart)
    async with stage.run_test(size=(50, 12)) as pilot:
        chart.show(HEAT)
        await pilot.pause()
        chart.focus()
        await pilot.press("up", "right", "right", "right")
        assert chart.here == (1, 2)
        await pilot.press("j", "j", "h")
        assert chart.here == (0, 1)
        wide = chart._wide
        await pilot.mouse_down(chart, offset=(LABEL + 2 * wide, 1))
        assert chart.here == (3, 2)
        await pilot.hover(chart, offset=(LABEL, 3))
        assert chart.here == (1, 0)
        await pilot.mouse_up(chart, offset=(LABEL, 3))
        await pilot.hover(chart, offset=(LABEL, 1))
        assert chart.here == (1, 0)
        said = [(event.budget, event.amount) for event in stage.said(Heatmap.Picked)]
    assert said[:3] == [(1, 0), (1, 1), (1, 2)]
    assert said[-1] == (1, 0)


async def test_setting_the_crosshair_from_outside_says_nothing() -> None:
    chart = Heatmap()
    stage = Stage(chart)
    async with stage.run_test(size=(50, 12)) as pilot:
        chart.show(HEAT)
        chart.here = (3, 1)
        await pilot.pause()
        assert not stage.said(Heatmap.Picked)


async def test_metrics_go_round_and_a_click_on_a_name_shows_it() -> None:
    chart = Heatmap()
    async with Stage(chart).run_test(size=(50, 12)) as pilot:
        chart.show(HEAT)
        await pilot.pause()
        chart.focus()
        for metric in (*list(METRICS)[1:], "cost"):
            await pilot.press("m")
            assert chart.metric == metric
        await pilot.press("M")
        assert chart.metric == "lost"
        await pilot.click(chart, offset=(7, 0))
        assert chart.metric == "sent"


async def test_the_advice_is_asked_for_with_a_key() -> None:
    chart = Heatmap()
    stage = Stage(chart)
    async with stage.run_test(size=(50, 12)) as pilot:
        chart.show(HEAT)
        await pilot.pause()
        chart.focus()
        await pilot.press("R")
        assert len(stage.said(Heatmap.Adopted)) == 1


@pytest.mark.parametrize("size", [(9, 4), (20, 8), (45, 12), (160, 40)])
async def test_every_size_is_drawn_whole(size: tuple[int, int]) -> None:
    chart = Heatmap()
    async with Stage(chart, css="Heatmap { height: 1fr; }").run_test(size=size) as pilot:
        chart.show(HEAT)
        await pilot.pause()
        chart.focus()
        await pilot.press("up", "m")
        assert all(strip.cell_length == size[0] for strip in drawn(chart))


def test_the_values_at_a_cell_in_words() -> None:
    facts = facts_at(HEAT, (3, 1), "Because.")
    assert facts[0].text == "budget 80,000, keep 5 messages"
    assert facts[1].text == (
        "$11.00 · 59M sent · peak 5k · 2 compactions · 90 lost of what was needed later"
    ).replace("59M", HEAT.said("sent", HEAT.values["sent"][10]))
    assert facts[2].text == "R takes Because."
    assert facts_at(HEAT, (1, 1), "Because.")[2].text.startswith("This is the advised")
