"""Counts: totals by subtraction, labels, and counts that arrive in batches."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from compaction.tokens import Counts
from compaction.tokens.counts import Calibration

SIZES = st.lists(st.integers(0, 9_999), max_size=30)


@given(SIZES, st.data())
def test_between_is_the_sum(sizes: list[int], data: st.DataObject) -> None:
    counts = Counts("o200k_base", array("q", sizes), overhead=7)
    start = data.draw(st.integers(0, len(sizes)))
    end = data.draw(st.integers(0, len(sizes)))
    assert counts.between(start, end) == sum(sizes[start:end])
    assert counts.total == sum(sizes) + 7
    assert len(counts) == len(sizes) == counts.done


@given(SIZES.filter(bool), st.data())
def test_batches_make_estimates_exact(sizes: list[int], data: st.DataObject) -> None:
    counts = Counts("o200k_base", array("q", [1] * len(sizes)), exact=False)
    start = 0
    while start < len(sizes):
        assert (counts.exact, counts.done, counts.label) == (False, start, "estimated")
        end = data.draw(st.integers(start + 1, len(sizes)))
        counts = counts.with_counted(start, array("q", sizes[start:end]), "fast")
        assert list(counts.tokens) == sizes[:end] + [1] * (len(sizes) - end)
        start = end
    assert (counts.exact, counts.done, counts.label) == (True, len(sizes), "fast, exact")
    assert counts.total == sum(sizes)


def test_labels_say_how_good_the_numbers_are() -> None:
    tokens = array("q", [1])
    assert Counts("o200k_base", tokens).label == "o200k_base, exact"
    assert Counts("chars/4", tokens).label == "chars/4, an estimate"
    foreign = Counts("o200k_base", tokens, model="claude-opus-4-1")
    assert foreign.label == "o200k_base, an estimate for claude-opus-4-1"


def test_how_the_numbers_were_made_is_named() -> None:
    sizes = array("q", [3, 4])
    plain = Counts("o200k_base", sizes)
    assert (plain.named, plain.sure) == ("o200k_base", True)
    assert not Counts("o200k_base", sizes, model="claude-sonnet-4-5").sure
    assert not Counts("chars/4", sizes).sure
    assert not Counts("o200k_base", sizes, exact=False).sure
    made = Counts("o200k_base", sizes, calibration=Calibration(5, 1.2, 0.0, 5, None, None, 9))
    assert (made.named, made.sure) == ("calibrated", False)
