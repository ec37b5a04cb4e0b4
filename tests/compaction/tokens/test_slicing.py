"""Slices: nothing is lost, none is long, and cuts at lines change no count."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.tokens import slicing
from compaction.tokens.ranks import o200k_base
from compaction.tokens.slicing import repaired, slices

#: What stands around line breaks in the pattern of the encoding, and ordinary text.
PIECES = st.sampled_from(
    [
        "\n",
        "\r\n",
        " ",
        "\t",
        "/",
        "//",
        "'s",
        "a",
        "B",
        "é",
        "中",
        "7",
        "1234",
        "!",
        "...",
        "\u3000",
    ]
)


def _tokens(text: str) -> int:
    return len(o200k_base().encode(text, disallowed_special=()))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicing, "SLICE", 12)
    monkeypatch.setattr(slicing, "LOOK_BACK", 8)


def _exact(cut: str, rest: str) -> bool:
    return cut.endswith("\n") and not rest[0].isspace() and rest[0] != "/"


@given(st.lists(PIECES, max_size=40).map("".join))
def test_slices_are_the_text_and_exact_cuts_keep_its_count(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "SLICE", 12)
        patch.setattr(slicing, "LOOK_BACK", 8)
        made = list(slices(text))
    assert "".join(made) == text
    assert all(0 < len(piece) <= 12 for piece in made) or text == ""
    if all(_exact(cut, rest) for cut, rest in pairwise(made)):
        assert sum(map(_tokens, made)) == _tokens(text)


@pytest.mark.usefixtures("short")
def test_the_cut_is_after_the_last_line_that_allows_it() -> None:
    assert list(slices("abcdefg\nhijklmnop")) == ["abcdefg\n", "hijklmnop"]
    # Neither before white space nor before a slash: there the pattern goes on.
    assert list(slices("abcdefg\n hijklmnop")) == ["abcdefg\n hij", "klmnop"]
    assert list(slices("abcdefg\n/hijklmnop")) == ["abcdefg\n/hij", "klmnop"]


def test_a_short_text_is_given_as_it_is() -> None:
    text = "\ud800" + "a" * 100
    assert next(slices(text)) is text


def test_surrogates_are_repaired() -> None:
    assert repaired("a\ud83d\ude00b\ud800c") == "a😀b\ufffdc"
    plain = "plain 中"
    assert repaired(plain) is plain
    assert "".join(slices("\ud800" + "b" * slicing.SLICE)) == "\ufffd" + "b" * slicing.SLICE
