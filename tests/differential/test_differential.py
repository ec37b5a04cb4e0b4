"""Presets against their originals: every difference is a known one, told in the preset."""

from __future__ import annotations

import pytest

from tests.differential.cases import cases
from tests.differential.comparing import compare
from tests.differential.describing import installed
from tests.differential.originals import ORIGINALS


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_preset_keeps_what_its_original_keeps(name: str) -> None:
    original = ORIGINALS[name]
    if not installed(original):
        group = "differential-light" if original.light else "differential"
        pytest.skip(f"{original.package} is not installed (dependency group {group})")
    made = cases(60, tools=original.tools, system=original.system)
    tally = compare(made, original.run, original.policy, original.explain, original.budgets)
    assert not tally.unexplained, (
        f"{original.package} {installed(original)}: {len(tally.unexplained)} of "
        f"{tally.total} differ, the first: {tally.unexplained[0]}"
    )
    assert tally.acted
    assert tally.same >= tally.total / 3
