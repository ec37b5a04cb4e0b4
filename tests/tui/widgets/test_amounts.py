from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.amounts import nice_at_most, parse_amount, roundest_between


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128k", 128_000),
        ("1.2M", 1_200_000),
        ("50%", 93_602),
        ("100,000", 100_000),
        ("100_000", 100_000),
        (" 12 345 ", 12_345),
        (".5k", 500),
        ("0", 0),
        ("32K", 32_000),
    ],
)
def test_amounts_as_people_type_them(text: str, value: int) -> None:
    assert parse_amount(text, 187_204) == value


@pytest.mark.parametrize("text", ["", "k", "12q", "-5", "1e5", "5k%", "١٢", "[/red]"])
def test_what_is_no_amount_is_said_so(text: str) -> None:
    with pytest.raises(ValueError, match="no amount"):
        parse_amount(text, 100)


def test_a_part_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="percentage"):
        parse_amount("50%")


@pytest.mark.parametrize(
    ("size", "nice"), [(0.2, 1), (1, 1), (3.7, 2), (5, 5), (9.9, 5), (10, 10), (3_740, 2_000)]
)
def test_steps_are_one_two_or_five(size: float, nice: int) -> None:
    assert nice_at_most(size) == nice


@given(st.integers(0, 10**7), st.integers(1, 10**6), st.floats(0, 1))
def test_the_roundest_value_is_inside(low: int, span: int, part: float) -> None:
    high = low + span
    assert low <= roundest_between(low, high, low + part * span) <= high


def test_the_roundest_value_is_round() -> None:
    assert roundest_between(96_200, 103_900, 99_700) == 100_000
    assert roundest_between(31_400, 33_100, 32_200) == 32_000
