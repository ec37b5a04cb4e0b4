"""The collector is away while lasting values are made, and back afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tui.collecting import lasting


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()
    assert gc.isenabled()


def test_no_pass_inside_and_what_was_made_is_passed_over() -> None:
    gc.collect()
    before = gc.get_freeze_count()
    with lasting():
        assert not gc.isenabled()
        made = [[number] for number in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(made)


def test_one_inside_another_ends_with_the_outer_one() -> None:
    with lasting():
        with lasting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_brings_the_collector_back() -> None:
    with pytest.raises(ValueError, match="why"), lasting():
        raise ValueError("why")
    assert gc.isenabled()
