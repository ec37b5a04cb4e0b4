"""Findings in the order a person needs them, and what is told once for many places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.findings import LEVELS, Finding, by_weight, gathered, places

PLACES = st.none() | st.integers(0, 30)
FINDINGS = st.lists(
    st.builds(
        Finding,
        st.sampled_from(LEVELS),
        st.sampled_from(["empty-content", "long-id", "over-budget-after"]),
        st.sampled_from(["one", "other"]),
        PLACES,
        PLACES,
        st.sampled_from(["", "Do so."]),
    ),
    max_size=30,
)


def test_that_the_result_misses_its_budget_stands_before_all_of_its_level() -> None:
    said = [
        Finding("info", "long-id", "an id"),
        Finding("warning", "empty-content", "nothing in it", 4),
        Finding("warning", "over-budget-after", "over"),
        Finding("error", "orphan-result", "no call", 2),
        Finding("warning", "summary-failed", "no summary"),
    ]
    codes = [each.code for each in by_weight(said)]
    assert codes == [
        "orphan-result", "over-budget-after", "summary-failed", "empty-content", "long-id",
    ]  # fmt: skip


@given(FINDINGS)
def test_no_finding_is_lost_and_only_like_ones_share_an_entry(findings: list[Finding]) -> None:
    entries = gathered(findings)
    flat = [each for entry in entries for each in entry]
    assert sorted(map(id, flat)) == sorted(map(id, findings))
    heads = [entry[0] for entry in entries]
    assert heads == by_weight(heads)
    for entry in entries:
        assert len(entry) == 1 or len(entry) >= 4
        assert len({(each.level, each.code, each.remedy) for each in entry}) == 1
        assert len(entry) == 1 or all(each.place for each in entry)


def test_places_are_named_as_far_as_they_fit() -> None:
    many = [Finding("info", "x", "", message) for message in (3, 3, 14, 159)]
    assert places(many, 40) == "#3, #14, #159"
    assert places(many, 13) == "#3, #14, #159"
    assert places(many, 12) == "#3, #14, …"
    assert places(many, 1) == "#3, …"
    assert places([Finding("info", "x", "", line=9)], 1) == "line 9"
    assert places([], 9) == ""
