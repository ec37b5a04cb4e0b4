"""What inspect finds: tables that add up, tools named by their calls, the largest first."""

from __future__ import annotations

import orjson
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
from compaction.over_budget import why_over
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


def _read(number: int, path: str, shown: str, **more: object) -> list[Message]:
    asked = orjson.dumps({"file_path": path, **more}).decode()
    return [
        message("assistant", [ToolCall(f"c{number}", "Read", asked)]),
        message("tool", [ToolResult(f"c{number}", (Text(shown),))]),
    ]


def test_tokens_by_file_and_what_is_read_again() -> None:
    text = "valve open, pump two at 40 percent. " * 20
    talk = session(
        *_read(1, "/plant/pumps.txt", text),
        *_read(2, "/plant/pumps.txt", text + "Changed.", offset=10),
        *_read(3, "/plant/valves.txt", "closed " * 60),
        *_read(4, "/plant/pumps.txt", text + "Now at 60."),
    )
    counts = count(talk)
    found = inspect(talk, counts)
    files = {each.name: each for each in found.files}
    assert files["/plant/pumps.txt"].count == 3
    assert files["/plant/pumps.txt"].tokens == counts.between(0, 4) + counts.between(6, 8)
    assert files["/plant/valves.txt"].tokens == counts.between(4, 6)
    (again,) = found.repeats
    assert (again.what, again.name, again.messages) == ("file", "/plant/pumps.txt", (1, 7))
    assert again.wasted == counts.tokens[1], "another part of the file is no repeat"


def test_the_same_output_of_another_call_is_told_once() -> None:
    text = "all 214 checks passed in lane nine " * 10
    talk = session(
        message("assistant", [ToolCall("a", "Bash", '{"command": "make check"}')]),
        message("tool", [ToolResult("a", (Text(text),))]),
        message("assistant", [ToolCall("b", "Bash", '{"command": "make all"}')]),
        message("tool", [ToolResult("b", (Text(text),))]),
        message("assistant", [ToolCall("c", "Bash", '{"command": "true"}')]),
        message("tool", [ToolResult("c", (Text("ok"),))]),
        message("assistant", [ToolCall("d", "Bash", '{"command": "true"}')]),
        message("tool", [ToolResult("d", (Text("ok"),))]),
    )
    (again,) = inspect(talk, count(talk)).repeats
    assert (again.what, again.name, again.messages) == ("output", "Bash", (1, 3))


def test_why_a_session_is_over_budget_names_the_causes_with_numbers() -> None:
    talk = session(
        message("user", "Look at both."),
        *_read(1, "/plant/log.txt", "reading 17 of pump four is fine. " * 400),
        message("assistant", "Fine."),
    )
    counts = count(talk)
    sentence = why_over(talk, counts, inspect(talk, counts), budget=1_000)
    assert f"{counts.total:,} tokens, {counts.total - 1_000:,} over the budget" in sentence
    assert "Read, 1 call with results" in sentence
    assert f"message #2 alone (tool) ({counts.tokens[2]:,}, " in sentence
    assert "under the budget" in why_over(talk, counts, inspect(talk, counts), budget=90_000)
    assert why_over(session(), count(session()), inspect(session(), count(session()))) == (
        "The session is empty."
    )
