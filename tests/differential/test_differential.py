"""Presets against their originals: every difference is a known one, told in the preset."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec

import pytest

from tests.differential.cases import cases
from tests.differential.comparing import compare
from tests.differential.originals import ORIGINALS


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_preset_keeps_what_its_original_keeps(name: str) -> None:
    original = ORIGINALS[name]
    if find_spec(original.module) is None:
        group = "differential-light" if original.light else "differential"
        pytest.skip(f"{original.package} is not installed (dependency group {group})")
    made = cases(60, tools=original.tools, system=original.system)
    tally = compare(made, original.run, original.policy, original.explain, original.budgets)
    assert not tally.unexplained, (
        f"{original.package} {version(original.package)}: {len(tally.unexplained)} of "
        f"{tally.total} differ, the first: {tally.unexplained[0]}"
    )
    assert tally.acted
    assert tally.same >= tally.total / 3
