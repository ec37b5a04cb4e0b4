"""Filters as typed, what they leave, and the search over full texts."""

from __future__ import annotations

from array import array

import pytest

from compaction.findings import Finding
from compaction.messages import Media, Session, Source, Text, ToolCall, ToolResult, message
from compaction.planning import Planner
from compaction.policy import Head, Policy
from compaction.tokens import Counts
from tui.filtering import (
    FilterError,
    apply,
    needs_bodies,
    next_hit,
    parse,
    search,
    within,
)

MESSAGES = (
    message("system", "Be brief."),
    message("user", "Where is the Needle?"),
    message("assistant", [Text("Looking."), ToolCall("c", "Bash", '{"command": "ls"}')]),
    message("tool", [ToolResult("c", (Text("x" * 4_000 + " needle [a.b]"),), name="Bash")]),
    message("assistant", "In the haystack."),
    message("user", [Text("A picture."), Media("image", "image/png", 10)]),
    message("assistant", "Summary of it all.", summary="compaction"),
)
SESSION = Session(Source(b""), "openai-chat", MESSAGES)
COUNTS = Counts("o200k_base", array("q", [10, 20, 30, 5_000, 40, 50, 60]))
FINDINGS = (
    Finding("error", "orphan-result", "A result without a call.", message=3),
    Finding("info", "odd-role", "An odd role.", message=5),
    Finding("warning", "over-budget", "The whole is too large."),
)


def left(*texts: str) -> list[int]:
    policy = Policy(budget=100, keep_recent=2, head=Head(pins=(1,)))
    plan = Planner(SESSION, COUNTS).plan(policy)
    filters = [each for text in texts if (each := parse(text)) is not None]
    rows = apply(SESSION, COUNTS, plan, FINDINGS, filters)
    assert rows.typecode == "l"
    return list(rows)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6]),
        ("role:user", [1, 5]),
        ("role:user,tool", [1, 3, 5]),
        ("ROLE:User", [1, 5]),
        ("-role:user", [0, 2, 3, 4, 6]),
        ("region:head", [0]),
        ("region:pinned", [1]),
        ("region:summarized", [2, 3, 4]),
        ("region:sum,rec", [2, 3, 4, 5, 6]),
        ("tool:bash", [2, 3]),
        ("kind:media", [5]),
        ("kind:call,summary", [2, 6]),
        ("size:>50", [3, 6]),
        ("size:>=50", [3, 5, 6]),
        ("size:50", [3, 5, 6]),
        ("size:<20", [0]),
        ("size:<=20", [0, 1]),
        ("size:=20", [1]),
        ("size:20-40", [1, 2, 4]),
        ("tokens:>2k", [3]),
        ("finding", [3, 5]),
        ("finding:error", [3]),
        ("finding:role", [5]),
        ('"finding"', []),
        ("needle", [1, 3]),
        ('"the needle"', [1]),
        ("-needle role:user", [5]),
        ("[a.b]", [3]),
        ("a.x", []),
        ("needle region:summarized", [3]),
        ("https://x", []),
    ],
)
def test_a_filter_leaves_what_it_says(text: str, rows: list[int]) -> None:
    assert left(text) == rows


def test_filters_stack() -> None:
    assert left("needle", "size:>1k") == [3]
    assert left("role:user", "region:recent") == [5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rol:user", "did you mean role:"),
        ("role:", "role: needs a value"),
        ("size:", "size:>5k"),
        ("size:big", "is no size"),
        ("size:>1-", "is no size"),
        ("region:middle", "there are head, summarized"),
        ("kind:t", "there is no kind “t”"),
        ("role:,", "needs a value"),
    ],
)
def test_what_says_nothing_is_told(text: str, words: str) -> None:
    with pytest.raises(FilterError, match=r".") as caught:
        parse(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["", "   ", '""'])
def test_nothing_typed_is_no_filter(text: str) -> None:
    assert parse(text) is None


def test_only_texts_need_bodies() -> None:
    plain, text = parse("role:user size:>1k finding"), parse("role:user word")
    assert plain is not None
    assert text is not None
    assert not needs_bodies([plain])
    assert needs_bodies([plain, text])


# --------------------------------------------------------------------------------------- search


def test_search_reads_whole_texts_and_ignores_letter_case() -> None:
    assert list(search(SESSION, "NEEDLE")) == [1, 3]
    assert list(search(SESSION, "needle [A.b]")) == [3]
    assert list(search(SESSION, "")) == []
    assert list(search(SESSION, "needle", start=2)) == [3]


def test_a_search_can_be_stopped_and_tells_how_far_it_is() -> None:
    many = Session(Source(b""), "openai-chat", (message("user", "needle"),) * 300)
    told: list[tuple[int, int]] = []
    hits = search(many, "needle", found=lambda hits, at: told.append((len(hits), at)))
    assert len(hits) == 300
    assert told
    assert all(count == at for count, at in told)
    stop_after = iter([False, True])
    stopped = search(many, "needle", cancelled=lambda: next(stop_after))
    assert 0 < len(stopped) < 300


def test_a_filter_can_be_stopped() -> None:
    plan = Planner(SESSION, COUNTS).plan(Policy())
    assert list(apply(SESSION, COUNTS, plan, (), [], cancelled=lambda: True)) == []


def test_the_next_hit_goes_on_from_the_other_end() -> None:
    hits = [2, 5, 9]
    assert [next_hit(hits, at, 1) for at in (0, 2, 5, 9)] == [0, 1, 2, 0]
    assert [next_hit(hits, at, -1) for at in (0, 2, 3, 9)] == [2, 2, 0, 1]
    assert next_hit([], 3, 1) is None


def test_hits_among_the_rows_that_are_shown() -> None:
    assert list(within([1, 3, 5], [3, 4, 5])) == [3, 5]
    assert list(within([1, 3], None)) == [1, 3]
