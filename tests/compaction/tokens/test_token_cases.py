"""Public bug reports about counting, as small inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction.formats import load
from compaction.tokens import Counts, count, estimate

CASES = [f"TOK-{number:02}" for number in (1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 17, 19, 20)]


def counts_of(folder: Path, case: str) -> Counts:
    return count(load(next(folder.glob(f"{case}.*"))))


@pytest.mark.parametrize("case", CASES)
def test_every_message_has_a_number(shared_cases: Path, case: str) -> None:
    counts = counts_of(shared_cases, case)
    assert counts.exact
    assert all(tokens > 0 for tokens in counts.tokens)


@pytest.mark.parametrize(
    ("case", "index", "least", "most"),
    [
        ("TOK-05", 2, 1_000, 2_000),
        ("TOK-08", 1, 1_000, 3_000),
        ("TOK-13", 1, 1_200, 2_000),
    ],
)
def test_a_message_is_of_a_size(
    shared_cases: Path, case: str, index: int, least: int, most: int
) -> None:
    assert least <= counts_of(shared_cases, case).tokens[index] < most


def test_tools_are_counted_apart(shared_cases: Path) -> None:
    counts = counts_of(shared_cases, "TOK-07")
    assert counts.overhead > 1_000
    assert counts.total == sum(counts.tokens) + counts.overhead


def test_an_estimate_of_japanese_is_near(shared_cases: Path) -> None:
    session = load(shared_cases / "TOK-13.json")
    for guess, exact in zip(estimate(session).tokens, count(session).tokens, strict=True):
        assert guess == pytest.approx(exact, rel=0.35, abs=3)


def test_an_unknown_model_is_counted_and_said_to_be_estimated(shared_cases: Path) -> None:
    label = counts_of(shared_cases, "TOK-14").label
    assert label == "o200k_base, an estimate for vendor-x/unknown-model-99"
