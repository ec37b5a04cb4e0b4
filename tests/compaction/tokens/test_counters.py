"""Counters: the counts of tiktoken, also for texts that tiktoken itself refuses."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import PolicyError
from compaction.tokens import NAMES, counter
from compaction.tokens.counters import TiktokenCounter
from compaction.tokens.ranks import o200k_base


def both() -> list[str]:
    """o200k_base by every package that is installed."""
    try:
        counter("fast")
    except PolicyError:
        return ["o200k_base"]
    return ["o200k_base", "fast"]


@pytest.mark.parametrize("name", both())
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("Hello, world!", 4),
        ("<|endoftext|>", 7),
        ("\ud800abc", 2),
        ("\ud83d\ude00", 1),
        ("倉庫の北門は正午まで閉まっています。", 14),
        ("it'\u017f", 3),
    ],
)
def test_counts_of_known_texts(name: str, text: str, tokens: int) -> None:
    assert counter(name).count(text) == tokens
    assert counter(name).count_many([text, "Hello, world!"]) == [tokens, 4]


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_every_text_counts_as_tiktoken_encodes_it(text: str) -> None:
    repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    exact = len(o200k_base().encode(repaired, disallowed_special=()))
    for name in both():
        assert counter(name).count(text) == exact


@given(st.lists(st.sampled_from(["'ſ", "'S", "ſ", "'", "it", " ", "ld", "'LL"]), max_size=12))
def test_the_long_s_counts_alike(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert {counter(name).count(text) for name in both()} == {TiktokenCounter().count(text)}


@pytest.mark.parametrize("name", both())
@pytest.mark.parametrize(
    ("piece", "times", "least", "most"),
    [
        (" ", 1_000_000, 7_000, 9_000),
        ("\u00a0\t", 600_000, 1, 1_300_000),
        ("a", 400_000, 40_000, 60_000),
        ("^", 1_000_000, 1, 130_000),
        ("\n", 1_000_000, 1, 70_000),
        ("=-", 200_000, 1, 210_000),
        ("中", 300_000, 290_000, 310_000),
        ("x y z ", 3_300_000, 9_800_000, 10_000_000),
    ],
)
def test_long_runs_are_counted(name: str, piece: str, times: int, least: int, most: int) -> None:
    assert least <= counter(name).count(piece * times) <= most


def test_a_text_of_slices_counts_as_the_whole_where_it_has_lines() -> None:
    text = "".join(f"line {n}: the scanner was reset, lane {n % 9} too\n" for n in range(20_000))
    exact = len(o200k_base().encode(text, disallowed_special=()))
    assert [counter(name).count(text) for name in both()] == [exact] * len(both())


def test_chars_4_is_a_quarter_of_the_characters() -> None:
    counting = counter("chars/4")
    assert counting.count_many(["", "abc", "abcd", "中" * 9]) == [0, 0, 1, 2]
    assert not counting.exact


def test_a_counter_is_made_once() -> None:
    assert all(counter(name) is counter(name) for name in both())


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(PolicyError, match="did you mean o200k_base"):
        counter("o200k-base")
    with pytest.raises(PolicyError, match="known are o200k_base, fast"):
        counter("zzz")


@pytest.mark.parametrize("name", ["fast", "cl100k_base"])
def test_what_to_install_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from compaction.tokens import counters

    monkeypatch.setattr(counters, "_counters", {})
    monkeypatch.setitem(sys.modules, "toktok", None)
    with pytest.raises(PolicyError, match=r"compaction-workbench\[fast\]"):
        counter(name)
    assert counter().count("a") == 1


def test_cl100k_base_counts_its_own_tokens() -> None:
    if "fast" not in both():
        pytest.skip("the package toktok-rs is not installed")
    counting = counter("cl100k_base")
    assert (counting.name, counting.encoding) == ("cl100k_base", "cl100k_base")
    assert counting.count("Hello, world!") == 4
    japanese = "倉庫の北門は正午まで閉まっています。"
    assert counting.count(japanese) > counter("fast").count(japanese)
    assert counter("fast").encoding == "o200k_base"


def test_every_name_is_a_counter_or_says_why_not() -> None:
    for name in NAMES:
        try:
            made = counter(name).name
        except PolicyError as error:
            made = name if "pip install" in str(error) else str(error)
        assert made == name
