"""Counting sessions: every message by the same rules, in batches, and to be stopped."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import Cancelled, PolicyError
from compaction.formats import load
from compaction.messages import (
    Media,
    Message,
    Progress,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Tools,
    message,
)
from compaction.tokens import (
    CountCache,
    count,
    count_message,
    count_steps,
    counter,
    foreign_model,
    tools_tokens,
)

TEXTS = st.sampled_from(
    ["", "Hi", "Weigh it.", "倉庫の北門", "x" * 3_000, "<|endoftext|>", "\ud800"]
)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A message of any kind."""
    match draw(st.integers(0, 4)):
        case 0:
            return message("user", draw(TEXTS), name=draw(st.sampled_from(["", "anna"])))
        case 1:
            return message("assistant", [Thinking(draw(TEXTS)), ToolCall("c", "f", draw(TEXTS))])
        case 2:
            return message("tool", [ToolResult("c", (Text(draw(TEXTS)), Media("image")))])
        case 3:
            return message("user", [Text(draw(TEXTS)), Media("image", width=9, height=9)])
    return message("assistant", [])


def session_of(listed: list[Message], tools: str = "", model: str = "") -> Session:
    return Session(
        Source(b""), "openai-chat", tuple(listed), model=model, tools=Tools(("f",), tools)
    )


@given(st.lists(messages(), max_size=12), st.sampled_from(["", '{"name": "f"}']))
def test_a_session_costs_its_messages_and_its_tools(listed: list[Message], tools: str) -> None:
    counts = count(session_of(listed, tools))
    assert list(counts.tokens) == [count_message(one, counter()) for one in listed]
    assert counts.overhead == counter().count(tools)
    assert counts.total == sum(counts.tokens) + counts.overhead
    assert counts.exact


@given(st.lists(messages(), max_size=12))
def test_chars_4_adds_up_to_a_quarter_of_all_characters(listed: list[Message]) -> None:
    counts = count(session_of(listed), "chars/4")
    plain = [one for one in listed if not {"media", "tool result"} & one.kinds]
    if len(plain) == len(listed):
        assert counts.total == sum(one.chars for one in listed) // 4
    for tokens, one in zip(counts.tokens, listed, strict=True):
        assert 0 <= tokens - count_message(one, counter("chars/4")) <= 1


@given(st.lists(messages(), max_size=12), st.sampled_from([0.0, 0.1]))
def test_steps_follow_each_other_without_a_gap(listed: list[Message], every: float) -> None:
    session = session_of(listed)
    merged = array("q")
    for start, batch in count_steps(session, every=every):
        assert start == len(merged)
        assert batch
        merged.extend(batch)
    assert merged == count(session).tokens


def test_the_same_session_is_counted_once() -> None:
    session = session_of([message("user", "Hi")])
    assert count(session) is count(session)
    assert count(session, "chars/4") is not count(session)


def test_progress_is_told_up_to_the_end() -> None:
    session = session_of([message("user", "word " * 60_000) for _ in range(6)])
    told: list[Progress] = []
    count(session, progress=told.append, every=0)
    assert [one.done for one in told] == [1, 2, 3, 4, 5, 6]
    assert {(one.total, one.unit) for one in told} == {(6, "messages")}


def test_counting_stops_when_it_is_told_to() -> None:
    session = session_of([message("user", "word " * 60_000) for _ in range(6)])
    answers = iter([False, True])
    with pytest.raises(Cancelled):
        count(session, cancelled=lambda: next(answers))
    assert count(session).done == 6


def test_a_stopped_count_keeps_what_it_had(tmp_path: Path) -> None:
    data = b"".join(b'{"role": "user", "content": "%s"}\n' % (b"word " * 60_000) for _ in range(3))
    cache = CountCache(tmp_path / "counts")
    steps = count_steps(load(data), cache=cache, every=0)
    next(steps)
    steps.close()
    # The three messages are the same but for their place, which is no part of their content.
    assert len(CountCache(tmp_path / "counts")) >= 1


def test_an_empty_session_has_no_steps_and_no_tokens() -> None:
    session = session_of([])
    assert list(count_steps(session)) == []
    assert (count(session).total, count(session).exact) == (0, True)


def test_the_model_is_named_where_its_tokenizer_is_another() -> None:
    for model, foreign in {
        "": "",
        "gpt-5": "",
        "openai/gpt-4.1": "",
        "o3-mini": "",
        "claude-opus-4-1": "claude-opus-4-1",
        "vendor-x/unknown-model-99": "vendor-x/unknown-model-99",
    }.items():
        session = session_of([message("user", "Hi")], model=model)
        assert foreign_model(session) == foreign
        assert (foreign in count(session).label) is bool(foreign) or not foreign
    assert foreign_model(session, "chars/4") == ""


def test_tools_cost_their_text() -> None:
    assert tools_tokens(session_of([], "Hello, world!")) == 4
    assert tools_tokens(session_of([])) == 0


def test_an_unknown_tokenizer_is_an_error_for_people() -> None:
    with pytest.raises(PolicyError):
        count(session_of([]), "p50k")
