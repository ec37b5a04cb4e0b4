"""The largest value in a range is the one a plain search finds."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from compaction import peaks
from compaction.peaks import Peaks


@given(
    st.lists(st.integers(0, 9), max_size=40),
    st.integers(-3, 45),
    st.integers(-3, 45),
    st.integers(1, 9),
)
def test_the_first_largest_of_every_range(
    values: list[int], start: int, stop: int, block: int
) -> None:
    before, peaks._BLOCK = peaks._BLOCK, block
    try:
        found = Peaks(array("q", values)).largest(start, stop)
    finally:
        peaks._BLOCK = before
    inside = range(max(0, start), min(stop, len(values)))
    assert found == max(inside, key=lambda index: values[index], default=None)
