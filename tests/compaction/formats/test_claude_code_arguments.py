"""Arguments of calls in Claude Code transcripts: every number as it is spelled in the file."""

from __future__ import annotations

import json

import pytest

from compaction.formats import load
from compaction.messages import ToolCall


@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        '{"path":"a.py","lines":[1,20]}',
        '{"n":0,"text":"-0"}',
        '{"n":-0}',
        '{"a":{"b":[1.10,1e5]}}',
        '{"n":123456789012345678901234567890}',
        '{"t":"\\\\ud800"}'.replace("\\\\", "\\"),
    ],
)
@pytest.mark.parametrize("more", ["", ',"toolUseResult":{"n":1.50}'])
def test_arguments_are_spelled_as_in_the_file(arguments: str, more: str) -> None:
    block = f'{{"type":"tool_use","id":"toolu_1","name":"f","input":{arguments}}}'
    user = {"type": "user", "uuid": "u0", "parentUuid": None, "sessionId": "s"}
    first = json.dumps({**user, "message": {"role": "user", "content": "Go."}})
    second = (
        '{"type":"assistant","uuid":"u1","parentUuid":"u0","sessionId":"s","message":'
        f'{{"id":"msg_1","role":"assistant","content":[{block}]}}{more}}}'
    )
    session = load(f"{first}\n{second}\n".encode())
    [call] = session.messages[1].parts
    assert isinstance(call, ToolCall)
    assert call.arguments == arguments
