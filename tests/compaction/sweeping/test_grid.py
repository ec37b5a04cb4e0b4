"""Many settings walked together come to what each comes to alone."""

from __future__ import annotations

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compaction.needing import Need, Needs, forgotten
from compaction.policy import Head, Policy, Recent, Safety, SummaryBlock, Trigger
from compaction.replaying import replayed
from compaction.replaying.timeline import Timeline
from compaction.sweeping.dominance import Dominance
from compaction.sweeping.grid import Grid, walks_as_grid
from tests.compaction.test_replaying import timelines


@st.composite
def needs(draw: st.DrawFn, length: int) -> Needs:
    """Uses of earlier messages by later ones, anywhere."""
    pairs = draw(
        st.lists(st.tuples(st.integers(0, length - 1), st.integers(0, length)), max_size=20)
    )
    found = sorted((of, at) for of, at in pairs if of < at)
    listed = [
        Need("v", "id", of, at, draw(st.sampled_from(["argument", "answer", "fetched"])), at)
        for of, at in found
    ]
    return Needs(
        tuple(listed), array("q", (n.of for n in listed)), array("q", (n.at for n in listed))
    )


@given(timelines(), st.data())
def test_the_grid_comes_to_what_each_setting_comes_to(line: Timeline, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(["messages", "groups", "turns", "tokens"]))
    policy = Policy(
        trigger=Trigger(1_000, data.draw(st.sampled_from(["over", "reach"]))),
        head=data.draw(
            st.sampled_from([Head(), Head("none"), Head("first", 3), Head("tokens", tokens=400)])
        ),
        recent=Recent(unit, 1),
        safety=Safety(data.draw(st.sampled_from(["group", "turn"]))),
        summary=SummaryBlock(max_tokens=data.draw(st.sampled_from([50, 200]))),
    )
    assert walks_as_grid(policy)
    wanted = data.draw(needs(len(line.session)))
    size = 300 if unit == "tokens" else 1
    settings = data.draw(
        st.lists(st.tuples(st.integers(50, 5_000), st.integers(0, 9)), min_size=1, max_size=8)
    )
    swept = Grid(line, policy, wanted).walk(
        np.array([budget for budget, _ in settings]),
        np.array([amount * size for _, amount in settings]),
    )
    for place, (budget, amount) in enumerate(settings):
        run = replayed(line, policy.replace(budget=budget, keep_recent=amount * size))
        gone = forgotten(wanted, run.walked)
        assert swept.sent[place] == run.totals.sent
        assert swept.cached[place] == run.totals.cached
        assert swept.peak[place] == run.peak
        assert swept.compactions[place] == len(run.compactions)
        assert swept.late[place] == sum(each.until - each.call for each in run.declined)
        assert swept.summary_input[place] == run.totals.summary_input
        assert swept.summary_output[place] == run.totals.summary_output
        assert swept.lost[place] == gone.score
        assert swept.refetched[place] == gone.refetched


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(-5, 9)), max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 70)), min_size=1),
)
def test_sums_over_a_quarter_of_the_plane(
    points: list[tuple[int, int]], asked: list[tuple[int, int, int]]
) -> None:
    queries = [(min(a, b, len(points)), min(max(a, b), len(points)), y) for a, b, y in asked]
    start, end, limit = (np.array(column) for column in zip(*queries, strict=True))
    rows = [(weight, 1) for _, weight in points]
    got = Dominance([y for y, _ in points], rows or np.zeros((0, 2))).sums(start, end, limit)
    for place, (first, last, least) in enumerate(queries):
        meant = [weight for y, weight in points[first:last] if y >= least]
        assert list(got[place]) == [sum(meant), len(meant)]
