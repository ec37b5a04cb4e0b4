"""Exports whose members are not what they should be: read, shown and written without a fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import test_chatgpt
import test_claude_ai
import test_letta
import test_sharegpt
import test_tau
from agent_files import saved
from hypothesis import given
from hypothesis import strategies as st

from compaction import load
from compaction.errors import ExportError, SessionError
from compaction.messages import Text, ToolCall, ToolResult, message

DOCUMENTS: dict[str, object] = {
    "chatgpt": [test_chatgpt.CONVERSATION],
    "claude-ai": [test_claude_ai.CONVERSATION, test_claude_ai.TREE],
    "letta": test_letta.FILE,
    "sharegpt": [test_sharegpt.DATA],
    "tau2": test_tau.RESULTS,
    "tau-bench": test_tau.RUNS,
}
JUNK = ["null", "0", "-1.5", "true", '""', '"x"', "[]", "{}", "[null]", '{"a": 1}', '"{"', "[[]]"]
NEW = [
    message("user", "summary"),
    message("assistant", [Text("t"), ToolCall("q", "f", "{")]),
    message("tool", [ToolResult("q", (Text("r"),))]),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value, with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
@given(st.data())
def test_odd_members_are_told_or_shown(name: str, data: st.DataObject) -> None:
    document = json.loads(json.dumps(DOCUMENTS[name]))
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(document))
        if not found:
            break
        container, key = data.draw(st.sampled_from(range(len(found))).map(found.__getitem__))
        if data.draw(st.booleans()):
            container[key] = json.loads(data.draw(st.sampled_from(JUNK)))
        else:
            del container[key]
    text = json.dumps(document).encode()
    with suppress(SessionError, ExportError):
        session = load(text, format=name)
        for one in session.messages:
            assert isinstance(one.text, str)
        assert saved(session) == session.source.data
        at = data.draw(st.integers(0, len(session)))
        json.loads(saved(session, [*session.messages[: at // 2], *NEW, *session.messages[at:]]))
        saved(session, form="openai-chat")
