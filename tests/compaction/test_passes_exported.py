"""Lists changed in place, written in the format they came in and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

import compaction
import sample_sessions
from compaction.messages import ToolResult
from compaction.policy import Policy, SummaryBlock
from compaction.policy_passes import ClearToolResults

NAMES = [each.name for each in sample_sessions.samples()]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_cleared_is_cleared_in_the_file(name: str, tmp_path: Path) -> None:
    session = compaction.load(sample_sessions.path(name))
    policy = Policy(
        budget=1, before=(ClearToolResults(keep=0),), summary=SummaryBlock(middle="keep")
    )
    done = compaction.compact(compaction.plan(session, policy))
    if not done.made:
        pytest.skip("it has no tool result that clearing makes smaller")
    out = tmp_path / "out"
    compaction.save(done, out)
    again = compaction.load(out)
    assert _results(again.messages) == _results(done.messages)
    # Beside what was changed, everything is there as it was.
    texts = [entry.text for entry in again.messages if not entry.results]
    assert texts == [entry.text for entry in done.messages if not entry.results]


def _results(messages: object) -> list[tuple[str, str]]:
    return [
        (part.call_id, part.text)
        for entry in messages  # type: ignore[attr-defined]
        for part in entry.parts
        if isinstance(part, ToolResult)
    ]
