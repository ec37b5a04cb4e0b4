"""Sweeps: rows that are replays, the front, and a setting that is recommended for a reason."""

from __future__ import annotations

import pytest

from compaction.errors import Cancelled, PolicyError
from compaction.messages import Message, Session, message
from compaction.needing import forgotten, needs_of
from compaction.policy import Policy, Recent, preset
from compaction.pricing import Prices
from compaction.replaying import replay
from compaction.sweeping import Row, Sweep, settings_of, sweep
from compaction.sweeping.results import front_of, recommended
from compaction.sweeping.settings import budgets_for
from tests.compaction.planning_strategies import calls, results, session_of, system

PRICES = Prices("m", 1.0, 0.1, 1.25, 5.0, "a test")


def session(turns: int = 12) -> Session:
    messages: list[Message] = [system()]
    for turn in range(turns):
        ids = [f"c{turn}"]
        messages += [
            message("user", f"Weigh crate {turn} at gate-{turn % 3} again. " * 12),
            calls(*ids),
            results(*ids, text=""),
            message("assistant", f"Crate {turn} weighs {turn}.5 kg; gate-{turn % 3} is open."),
        ]
    return session_of(messages)


def test_every_row_is_a_replay() -> None:
    talk = session()
    found = sweep([talk], budgets=[600, 1_200], keep_recents=[2, 6], prices=PRICES)
    assert found.axes == ("budget", "keep_recent")
    assert found.values == ((600, 2), (600, 6), (1_200, 2), (1_200, 6))
    needs = None
    for row in found.rows:
        run = replay(talk, found.policies[row.setting], prices=PRICES)
        needs = needs or needs_of(talk, run.line.counts)
        assert (row.sent, row.cached, row.peak) == (
            run.totals.sent, run.totals.cached, run.peak,
        )  # fmt: skip
        assert row.compactions == len(run.compactions) > 0
        assert row.money == pytest.approx(run.money)
        assert row.lost == forgotten(needs, run.walked).score
        assert row.fits == (row.peak <= run.budget)
    [whole] = found.baselines
    assert whole.compactions == 0
    assert whole.sent > max(row.sent for row in found.rows)


def test_other_axes_and_policies_that_need_more_than_a_grid() -> None:
    talk = session()
    found = sweep(
        [talk],
        policy=Policy(budget=700, recent=Recent("fit")),
        axes={"budget": [700], "summary.max_tokens": [50, 300]},
    )
    assert found.values == ((700, 50), (700, 300))
    small, large = found.rows
    assert small.summary_output < large.summary_output
    run = replay(talk, found.policies[1])
    assert large.sent == run.totals.sent


def test_what_cannot_be_an_axis_says_so() -> None:
    with pytest.raises(PolicyError, match=r"did you mean summary"):
        settings_of(Policy(), {"sumary.max_tokens": [1]})
    with pytest.raises(PolicyError, match=r"did you mean max_tokens"):
        settings_of(Policy(), {"summary.max_token": [1]})
    with pytest.raises(PolicyError, match="no value"):
        settings_of(Policy(), {"budget": []})


def test_it_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        sweep([session()], budgets=[500], keep_recents=[1, 2], cancelled=lambda: True)


def test_budgets_that_suit_a_session() -> None:
    assert budgets_for(100) == (8_000,)
    assert budgets_for(50_000)[-2:] == (48_000, 64_000)


def row(setting: int, money: float, lost: int, **more: int) -> Row:
    values = {"late": 0, "soon": 0, "compactions": 1, "peak": 10, **more}
    return Row(
        "s", setting, 5, 100, 50, 50, 10, 0, 0, money,
        values["compactions"], values["peak"], values["late"], values["soon"], lost, 0, True,
    )  # fmt: skip


def swept(*rows: Row) -> Sweep:
    count = len(rows)
    return Sweep(
        ("budget",),
        tuple((1_000 * (number + 1),) for number in range(count)),
        tuple(preset("default").replace(budget=1_000 * (n + 1)) for n in range(count)),
        rows,
        (row(-1, 10.0, 0),),
    )


def test_the_front_holds_what_no_other_setting_beats() -> None:
    found = swept(row(0, 1.0, 50), row(1, 2.0, 20), row(2, 2.5, 30), row(3, 6.0, 0))
    assert [each.setting for each in found.front()] == [0, 1, 3]
    assert [each.setting for each in front_of(found.totals()[2:3])] == [2]


def test_the_recommended_setting_is_near_the_best_of_both() -> None:
    advice = recommended(swept(row(0, 1.0, 50), row(1, 1.4, 8), row(2, 6.0, 0)))
    assert advice is not None
    assert advice.setting == 1
    assert advice.policy.budget == 2_000
    assert "86 % less cost" in advice.why
    assert "forgets 8" in advice.why
    dearer = recommended(swept(row(0, 12.0, 50)))
    assert dearer is not None
    assert "20 % more cost than without compaction" in dearer.why
    restless = recommended(swept(row(0, 1.0, 2, soon=4), row(1, 3.0, 5)))
    assert restless is not None
    assert restless.setting == 1, "a setting that compacts again at once is left aside"
    assert recommended(swept()) is None


def test_several_sessions_are_summed() -> None:
    found = sweep([session(6), session(12)], budgets=[600], keep_recents=[2], prices=PRICES)
    [total] = found.totals()
    assert total.sessions == 2
    assert total.sent == sum(each.sent for each in found.rows)
    assert total.peak == max(each.peak for each in found.rows)


def test_combinations_that_cannot_be_are_left_out() -> None:
    axes = {"budget": [400, 2_000], "trigger.target": [300, 900]}
    found = settings_of(Policy(), axes)
    assert [each.values for each in found] == [(400, 300), (2_000, 300), (2_000, 900)]
    with pytest.raises(PolicyError, match="above the budget of 400"):
        settings_of(Policy(), {"budget": [400], "trigger.target": [900]})


def test_nothing_is_said_of_what_nobody_looked_at() -> None:
    found = sweep([session()], budgets=[600, 1_200], keep_recents=[2, 6], needed_later=False)
    assert {row.lost for row in found.rows} == {row.refetched for row in found.rows} == {None}
    assert [each.lost for each in found.totals()] == [None] * 4
    assert found.recommend() is None
    [only] = found.front()
    assert only.cost == min(each.cost for each in found.totals())


def test_sessions_that_never_compact_tell_no_settings_apart() -> None:
    found = sweep([session(2)], budgets=[50_000, 90_000], keep_recents=[2, 20])
    advice = found.recommend()
    assert advice is not None
    assert found.values[advice.setting] == (90_000, 20)
    assert advice.why.startswith("No setting would have compacted anything: the largest context")
    assert "less cost" not in advice.why


def test_the_advice_tells_what_was_left_aside_and_what_makes_no_difference() -> None:
    talk = session()
    found = sweep([talk], budgets=[300, 600, 2_400], keep_recents=[2, 6])
    totals = found.totals()
    best = min(each.late + each.soon for each in totals)
    aside = sum(each.late + each.soon > best for each in totals)
    advice = found.recommend()
    assert advice is not None
    assert aside
    assert f"{aside} settings were left aside" in advice.why
    fit = sweep(
        [talk], policy=Policy(budget=700, recent=Recent("fit")),
        axes={"budget": [900], "failure": ["keep", "truncate"]},
    ).recommend()  # fmt: skip
    assert fit is not None
    assert "failure makes no difference there." in fit.why


def test_the_cost_in_tokens_counts_summaries() -> None:
    totals = sweep([session()], budgets=[600], keep_recents=[2]).totals()
    [one] = totals
    assert one.money is None
    cached = one.sent - one.written
    assert one.summary_output > 0
    assert one.cost == pytest.approx(
        one.written + (cached + one.summary_input) / 10 + one.summary_output * 5
    )
