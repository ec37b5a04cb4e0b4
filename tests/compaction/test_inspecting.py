"""What inspect finds: tables that add up, tools named by their calls, the largest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.inspecting import UNKNOWN_TOOL, inspect, split
from compaction.messages import (
    Media,
    Message,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.tokens import count


def session(*messages: Message) -> Session:
    return Session(Source(b""), "openai-chat", tuple(messages))


def test_tokens_by_role_kind_and_tool() -> None:
    talk = session(
        message("system", "Be brief."),
        message("user", "Read both files, please."),
        message(
            "assistant",
            [
                Thinking("Two files, so two calls."),
                Text("Reading."),
                ToolCall("a", "read", '{"path": "one"}'),
                ToolCall("b", "search", '{"word": "two"}'),
            ],
        ),
        message("tool", [ToolResult("a", (Text("line one " * 50),))]),
        message("tool", [ToolResult("b", (Text("found"),))]),
        message("tool", [ToolResult("lost", (Text("nobody asked"),))]),
        message("user", [Text("And this?"), Media("image", "image/png", size=2048)]),
    )
    counts = count(talk)
    found = inspect(talk, counts, largest=2)
    whole = sum(counts.tokens)
    assert sum(each.tokens for each in found.roles) == whole
    assert sum(each.tokens for each in found.kinds) == whole
    assert {each.name: each.count for each in found.roles} == {
        "system": 1,
        "user": 2,
        "assistant": 1,
        "tool": 3,
    }
    kinds = {each.name: each.count for each in found.kinds}
    assert kinds == {"text": 4, "thinking": 1, "tool call": 1, "tool result": 3, "media": 1}
    tools = {each.name: each for each in found.tools}
    assert set(tools) == {"read", "search", UNKNOWN_TOOL}
    assert tools["read"].count == 1
    assert tools["read"].tokens > counts.tokens[3]
    assert tools[UNKNOWN_TOOL].count == 0
    assert tools[UNKNOWN_TOOL].tokens == counts.tokens[5]
    order = sorted(range(7), key=lambda index: -counts.tokens[index])
    assert found.largest == tuple(order[:2])


def test_an_empty_session() -> None:
    found = inspect(session(), count(session()))
    assert (found.roles, found.kinds, found.tools, found.largest) == ((), (), (), ())


@given(st.integers(0, 10**6), st.lists(st.integers(1, 1000), min_size=1, max_size=20))
def test_a_split_adds_up_and_keeps_the_proportions(total: int, weights: list[int]) -> None:
    shares = split(total, weights)
    assert sum(shares) == total
    whole = sum(weights)
    for given_, weight in zip(shares, weights, strict=True):
        assert abs(given_ - total * weight / whole) <= 1
