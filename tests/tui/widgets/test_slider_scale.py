from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.slider_scale import Scale

scales = st.builds(
    lambda low, span, kind: Scale(low, low + span, kind),
    st.integers(0, 10_000),
    st.integers(0, 2_000_000),
    st.sampled_from(["linear", "log"]),
)


@given(scales, st.integers(2, 200))
def test_both_ends_are_reached_and_cells_ascend(scale: Scale, width: int) -> None:
    values = [scale.pick(cell, width) for cell in range(width)]
    assert values[0] == scale.minimum
    assert values[-1] == scale.maximum
    assert values == sorted(values)


@given(scales, st.integers(0, 2_010_000), st.sampled_from([1, 10, -1, -10]))
def test_a_step_moves_the_right_way_and_stays_inside(
    scale: Scale, value: int, steps: int
) -> None:
    value = scale.clamp(value)
    moved = scale.stepped(value, steps)
    assert scale.minimum <= moved <= scale.maximum
    if steps > 0:
        assert moved > value or value == scale.maximum
    else:
        assert moved < value or value == scale.minimum


@given(scales, st.floats(0, 1))
def test_a_place_and_its_value_agree(scale: Scale, part: float) -> None:
    if scale.maximum > scale.minimum:
        assert abs(scale.fraction(scale.value_at(part)) - part) < 1e-6


@given(scales, st.integers(0, 60))
def test_steps_from_one_end_reach_the_other(scale: Scale, start: int) -> None:
    value = scale.clamp(start)
    for _ in range(5_000):
        if value == scale.maximum:
            break
        value = scale.stepped(value, 10)
    assert value == scale.maximum


def test_steps_suit_the_range() -> None:
    budget = Scale(1_000, 1_000_000, "log")
    assert budget.stepped(100_000, 1) == 102_000
    assert budget.stepped(100_000, -1) == 99_000
    assert budget.stepped(100_000, 10) == 120_000
    assert budget.stepped(187_204, 1) == 188_000
    recent = Scale(0, 412)
    assert recent.stepped(20, 1) == 21
    assert recent.stepped(20, -10) == 10
    assert recent.stepped(412, 1) == 412


def test_a_cell_gives_its_roundest_value() -> None:
    scale = Scale(0, 187_204)
    assert scale.pick(scale.cell(100_000, 60), 60) == 100_000
