"""Work that was left, and work that waits for it."""

from __future__ import annotations

from threading import Event, Lock, Thread

import pytest

from tui.threads import leavable


def test_work_that_was_left_ends_before_the_next_begins() -> None:
    turn, going_on, begun = Lock(), Event(), Event()
    order: list[str] = []

    def first() -> None:
        begun.set()
        going_on.wait(10)
        order.append("first")

    leavable(first, begun.is_set, turn)
    second = Thread(target=leavable, args=(lambda: order.append("second"), lambda: False, turn))
    second.start()
    assert not order
    going_on.set()
    second.join(10)
    assert order == ["first", "second"]


def test_work_nobody_waits_for_any_more_does_not_begin() -> None:
    turn = Lock()
    done: list[str] = []
    with turn:
        leavable(lambda: done.append("late"), lambda: True, turn)
    assert turn.acquire(timeout=10)
    assert not done


def test_what_it_raises_is_raised_and_gives_the_turn_back() -> None:
    turn = Lock()

    def wrong() -> None:
        raise ValueError("why")

    with pytest.raises(ValueError, match="why"):
        leavable(wrong, lambda: False, turn)
    assert turn.acquire(timeout=10)
