from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.widgets.looks import REGIONS, block_bar, cut, fit, plain, right, short

from .samples import HOSTILE


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (3_102, "3.1k"),
        (187_204, "187.2k"),
        (999_949, "999.9k"),
        (999_950, "1M"),
        (1_234_567, "1.23M"),
        (-87_200, "-87.2k"),
    ],
)
def test_numbers_are_short(number: int, text: str) -> None:
    assert short(number) == text


@given(st.text(max_size=80), st.integers(0, 40))
def test_a_fitted_text_has_exactly_its_width(text: str, width: int) -> None:
    assert cell_len(fit(plain(text), width)) == width
    assert cell_len(right(plain(text), width)) == width


def test_a_wide_character_is_never_cut_in_half() -> None:
    assert cut("日本語", 4) == "日…"
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 6) == "日本語"


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    line = plain(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)
    assert not set(line) & set("\u202e\u2066\u200f\u200d\ufe0f")


def test_a_bar_counts_eighths() -> None:
    assert block_bar(0) == ""
    assert block_bar(4) == "▌"
    assert block_bar(19) == "██▍"
    assert block_bar(16) == "██"


def test_every_region_is_told_without_colour() -> None:
    assert len({look.letter for look in REGIONS.values()}) == len(REGIONS)
