"""Logs of one request of an agent and what came back: the neutral format, with its response."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import roles, shortened, survives

from compaction.formats import load

#: Messages, tokens of context the response reports, and the window, by the time in the name.
LOGS = {
    "1757015025.972": (3, 4812, 200_000),
    "1757015040.416": (11, 6485, 200_000),
    "1757015046.707": (13, 6729, 200_000),
    "1757015054.055": (3, 7911, 65_536),
    "1757015062.589": (5, 8856, 65_536),
    "1757015068.723": (7, 9027, 65_536),
    "1757015076.651": (9, 9204, 65_536),
}


@pytest.mark.parametrize("time", sorted(LOGS))
def test_a_request_is_read_with_its_answer(time: str, shared_sessions: Path) -> None:
    path = next((shared_sessions / "llm-request-logs").glob(f"*-{time}.json"))
    session = load(path)
    assert session.format == "openai-chat"
    last = session.messages[-1]
    assert last.usage is not None
    assert (len(session), last.usage.context, session.window) == LOGS[time]
    assert roles(session)[:2] == ["system", "user"]
    assert (last.role, len(last.calls)) == ("assistant", 1)
    assert len(session.tools.names) == 3
    assert session.model.startswith("litellm_proxy/")
    assert survives(session) if len(session) > 3 else shortened(session)
