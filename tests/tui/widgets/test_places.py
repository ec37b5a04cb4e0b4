from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.places import Places


@st.composite
def places(draw: st.DrawFn) -> Places:
    n = draw(st.integers(0, 30))
    chosen = draw(st.none() | st.sets(st.integers(0, max(0, n - 1)), max_size=n))
    rows = None if chosen is None else array("l", sorted(one for one in chosen if one < n))
    return Places(n, rows, draw(st.none() | st.integers(0, n)))


@given(places())
def test_lines_are_the_items_in_order_and_the_boundary(one: Places) -> None:
    items = [one.item_at(line) for line in range(one.lines)]
    assert [item for item in items if item is not None] == list(range(one.items))
    assert [one.line_of(item) for item in range(one.items)] == [
        line for line, item in enumerate(items) if item is not None
    ]
    assert items.count(None) == (one.cut is not None)


@given(places())
def test_the_boundary_parts_the_messages_at_the_cut(one: Places) -> None:
    if one.cut is not None and one.boundary is not None:
        above = [one.message(item) for item in range(one.items) if one.line_of(item) < one.boundary]
        below = [one.message(item) for item in range(one.items) if one.line_of(item) > one.boundary]
        assert all(message < one.cut for message in above)
        assert all(message >= one.cut for message in below)


@given(places(), st.integers(0, 40))
def test_the_nearest_item_is_the_nearest(one: Places, message: int) -> None:
    if one.items:
        found = abs(one.message(one.nearest(message)) - message)
        assert found == min(abs(one.message(item) - message) for item in range(one.items))


def test_lines_that_are_not_there_are_no_item() -> None:
    one = Places(3, None, 3)
    assert one.boundary == 3
    assert one.item_at(3) is None
    assert one.item_at(4) is None
    assert one.item_at(-1) is None
    assert one.item_from(3) == 2
    assert one.item_until(3) == 2
