from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from compaction.planning import plan as planned
from compaction.policy import Policy, SummaryBlock
from compaction.policy_passes import ClearToolResults
from compaction.tokens import count
from tui.widgets.budget_bar import BudgetBars, figures

from .samples import FakePlan, conversation, counts_of
from .stage import Stage, drawn, text_of

# head 3k, middle 150k (one pinned of 10k), recent 34k: 187k before.
COUNTS = counts_of(array("q", [3_000, *[10_000] * 15, *[1_700] * 20]))
PLAN = FakePlan(COUNTS, 1, 16, 100_000, kept=(4,), summary_estimate=1_200)


async def lines(plan: object, width: int = 120, made: int | None = None) -> list[str]:
    """The bars of a plan as text."""
    bars = BudgetBars()
    stage = Stage(bars)
    async with stage.run_test(size=(width, 6)):
        bars.show(plan, made)  # type: ignore[arg-type]
        assert all(strip.cell_length == width for strip in drawn(bars))
        return text_of(bars)


def test_the_figures_add_up() -> None:
    shown = figures(PLAN)
    assert shown.total_before == 187_000
    assert shown.total_after == 3_000 + 1_200 + 10_000 + 34_000
    assert shown.estimated
    assert figures(PLAN, 900).total_after == 47_900
    assert not figures(PLAN, 900).estimated


async def test_before_and_after_say_what_they_mean() -> None:
    before, after, legend = await lines(PLAN)
    assert before.startswith("before  ")
    assert "187k" in before
    assert "over by 87k" in before
    assert "~48.2k" in after
    assert "saves ~74 %" in after
    assert "51.8k free" in after
    assert "budget 100k" in after
    assert "▌H head 1 3k" in legend
    assert "░S summarized 14 140k → ~1.2k" in legend
    assert "◆K pinned 1 10k" in legend
    assert "▌R recent 20 34k" in legend


async def test_the_real_summary_is_no_estimate() -> None:
    _, after, legend = await lines(PLAN, made=900)
    assert "~" not in after
    assert "~" not in legend
    assert "47.9k" in after


async def test_bars_share_one_scale() -> None:
    before, after, _ = await lines(PLAN)
    full = sum(before.count(char) for char in "█▏▎▍▌▋▊▉┃")
    used = sum(after.count(char) for char in "█▎▍▌▋▊▉")
    assert abs(used / full - 48.2 / 187) < 0.03


async def test_a_plan_that_does_not_reach_the_budget_is_seen_and_said() -> None:
    before, after, _ = await lines(replace(PLAN, budget=20_000))
    assert "over by 28.2k" in after
    assert "▒" in after
    assert "▒" not in before


async def test_under_budget_nothing_happens() -> None:
    plan = replace(PLAN, budget=200_000, compacts=False, kept=(), reason="under budget")
    before, after, legend = await lines(plan)
    assert "13k free" in before
    assert "nothing to do" in after
    assert "under budget" in legend
    assert "summarized" not in legend


async def test_overhead_counts_and_is_named() -> None:
    counts = counts_of(COUNTS.tokens, overhead=5_000)
    before, _, legend = await lines(replace(PLAN, counts=counts))
    assert "192k" in before
    assert "overhead 5k" in legend


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 200])
async def test_every_width_has_both_totals(width: int) -> None:
    before, after, legend = await lines(PLAN, width)
    assert "187k" in before
    assert "48.2k" in after
    assert "H" in legend


async def test_nothing_to_show_is_blank() -> None:
    bars = BudgetBars()
    stage = Stage(bars)
    async with stage.run_test(size=(60, 5)):
        assert "".join(text_of(bars)).strip() == ""


async def test_with_more_room_the_bars_are_thicker() -> None:
    bars = BudgetBars()
    stage = Stage(bars, css="BudgetBars { height: 5; }")
    async with stage.run_test(size=(100, 8)):
        bars.show(PLAN)
        lines = text_of(bars)
    assert [line[:6].strip() for line in lines[:4]] == ["before", "", "after", ""]
    assert "H head" in lines[4]
    assert "over by" not in lines[1]


#: The results but the newest three are cleared; the middle is kept, summarized or dropped.
CLEARED = [
    Policy(
        budget=200,
        keep_recent=4,
        before=(ClearToolResults(),),
        summary=SummaryBlock(middle=middle, max_tokens=30),  # type: ignore[arg-type]
    )
    for middle in ("keep", "summarize", "drop")
]


@pytest.mark.parametrize("policy", CLEARED)
async def test_what_is_cleared_in_place_has_its_part_of_both_bars(policy: Policy) -> None:
    session, _, _ = conversation(30)
    plan = planned(session, policy, counts=count(session, "chars/4"))
    cleared = plan.messages_in("cleared")
    assert (cleared > 0) == (policy.summary.middle == "keep")
    shown = figures(plan)
    assert shown.total_before == plan.tokens_before
    assert shown.total_after == plan.tokens_after_estimate
    assert shown.estimated == (policy.summary.middle == "summarize")
    _, after, legend = await lines(plan, 160)
    assert (f"·C cleared {cleared} " in legend) == bool(cleared)
    assert ("dropped" in legend) == (policy.summary.middle == "drop")
    assert ("░S" in legend) == (policy.summary.middle != "keep")
    if cleared:
        part = next(piece.tokens for piece in shown.before if piece.region == "cleared")
        assert part == sum(plan.counts.tokens[index] for index in plan.cleared)
        assert f"cleared {cleared} {part:,} → {plan.tokens_cleared:,}" in legend
        assert "~" not in after
