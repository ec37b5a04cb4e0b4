"""Laws of validity: what is whole gives no error, and each kind of damage is told where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compaction.compacting import compact
from compaction.findings import Finding
from compaction.formats.base import DIALECTS, Dialect
from compaction.messages import (
    Message,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.planning import plan
from compaction.policy import Head, Policy, Recent, Safety, SummaryBlock
from compaction.summary import Digest, FromCallable
from compaction.validity import check
from tests.examples import RULE

EVERY = st.sampled_from(DIALECTS)
#: The dialects in which results have their place directly behind their call.
STRICT: st.SearchStrategy[Dialect] = st.sampled_from(["openai-chat", "anthropic", "gemini"])
FILLER = "Lane four was measured again before noon, and the scanner was reset. " * 4


def _answer(call: str) -> Message:
    return message("tool", [ToolResult(call, (Text("12 kg"),))])


@st.composite
def whole(draw: st.DrawFn) -> list[Message]:
    """Lists every API takes: turns of a question, answered batches of calls, and an answer."""
    out = [message("system", "Depot helper.")] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 6))):
        out.append(message("user", draw(st.sampled_from(["Weigh it.", FILLER]))))
        for step in range(draw(st.integers(0, 2))):
            ids = [f"c{turn}_{step}_{n}" for n in range(draw(st.integers(1, 3)))]
            out.append(message("assistant", [ToolCall(one, "weigh", '{"p": 1}') for one in ids]))
            out += map(_answer, draw(st.permutations(ids)))
        out.append(message("assistant", draw(st.sampled_from(["Done.", FILLER]))))
    return out


def _errors(messages: list[Message] | tuple[Message, ...], dialect: Dialect) -> list[Finding]:
    return [found for found in check(messages, dialect) if found.level == "error"]


def _places(messages: list[Message], dialect: Dialect) -> set[tuple[str, int | None]]:
    return {(found.code, found.message) for found in _errors(messages, dialect)}


def _pick(draw: st.DataObject, messages: list[Message], of: str) -> int:
    places = [at for at, one in enumerate(messages) if getattr(one, of)]
    assume(places)
    return draw.draw(st.sampled_from(places))


@RULE
@given(messages=whole(), dialect=EVERY)
def test_a_whole_list_has_no_error(messages: list[Message], dialect: Dialect) -> None:
    assert _errors(messages, dialect) == []


@RULE
@given(messages=whole(), dialect=EVERY, data=st.data())
def test_a_dropped_result_is_told_at_its_call(
    messages: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    at = _pick(data, messages, "results")
    [call] = messages[at].results
    owner = next(place for place, one in enumerate(messages) if call in one.calls)
    del messages[at]
    found = [one for one in check(messages, dialect) if one.level != "info"]
    behind = {one.role for one in messages[owner + 1 :]}
    # Where the model's messages are joined, a call in its last turn is open, not passed over.
    open_yet = dialect != "openai-chat" and behind == {"assistant"}
    expected = ("warning", "interrupted-call") if open_yet else ("error", "unanswered-call")
    assert [(one.level, one.code) for one in found] == [expected]
    assert found[0].message == owner


@RULE
@given(messages=whole(), dialect=EVERY, data=st.data())
def test_a_dropped_call_is_told_at_each_result(
    messages: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    at = _pick(data, messages, "calls")
    count = len(messages[at].calls)
    del messages[at]
    assert _places(messages, dialect) >= {("orphan-result", at + n) for n in range(count)}


@RULE
@given(messages=whole(), dialect=EVERY, data=st.data())
def test_a_doubled_result_is_told_at_the_second(
    messages: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    at = _pick(data, messages, "results")
    messages.insert(at + 1, messages[at])
    assert _places(messages, dialect) == {("result-twice", at + 1)}


@RULE
@given(messages=whole(), dialect=STRICT, data=st.data())
def test_a_result_behind_the_answer_is_told(
    messages: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    at = _pick(data, messages, "results")
    owner = max(place for place in range(at) if messages[place].calls)
    single = len(messages[owner].calls) == 1
    # Where the model's messages are joined, a lone result behind them still follows its turn.
    assume(dialect == "openai-chat" or not single)
    moved = messages.pop(at)
    last = next(n for n in range(owner + 1, len(messages)) if not messages[n].results)
    # Behind what the model says next; where it calls again, the batch of that call is cut too.
    messages.insert(last + 1, moved)
    code = "result-apart" if single else "batch-split"
    assert (code, last + 1) in _places(messages, dialect)


@RULE
@given(messages=whole(), dialect=EVERY, data=st.data())
def test_a_result_before_its_call_is_an_orphan(
    messages: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    owner = _pick(data, messages, "calls")
    messages[owner], messages[owner + 1] = messages[owner + 1], messages[owner]
    assert ("orphan-result", owner) in _places(messages, dialect)


@RULE
@given(messages=whole(), data=st.data())
def test_a_list_cut_after_a_call_is_only_interrupted(
    messages: list[Message], data: st.DataObject
) -> None:
    at = _pick(data, messages, "calls")
    cut = messages[: at + 1]
    assert _errors(cut, "openai-chat") == []
    [found] = check(cut, "openai-chat")
    assert (found.level, found.code, found.message) == ("warning", "interrupted-call", at)


@RULE
@given(messages=whole(), dialect=EVERY, data=st.data())
def test_findings_come_in_order_and_name_their_place(
    messages: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    for _ in range(data.draw(st.integers(0, 4))):
        del messages[data.draw(st.integers(0, len(messages) - 1))]
        assume(messages)
    found = check(messages, dialect)
    places = [-1 if one.message is None else one.message for one in found]
    assert places == sorted(places)
    for one in found:
        assert one.message is None or f"#{one.message}" in one.text
        assert one.text.endswith((".", "}"))
    assert check(messages, dialect) == found


@RULE
@given(
    messages=whole(),
    dialect=EVERY,
    budget=st.sampled_from([0, 50, 200, 500]),
    recent=st.integers(0, 20),
    unit=st.sampled_from(["messages", "turns", "groups"]),
    pins=st.lists(st.integers(0, 20), max_size=3),
    safety=st.sampled_from(["group", "turn"]),
)
def test_compacting_in_groups_brings_no_error(
    messages: list[Message],
    dialect: Dialect,
    budget: int,
    recent: int,
    unit: str,
    pins: list[int],
    safety: str,
) -> None:
    session = Session(Source(b"", "made"), "openai-chat", tuple(messages))
    policy = Policy(
        budget=budget,
        recent=Recent(unit, recent),  # type: ignore[arg-type]
        head=Head(pins=tuple(pins)),
        safety=Safety(safety),  # type: ignore[arg-type]
        summary=SummaryBlock(place="after-head"),
        tokens="chars/4",
    )
    fixed = FromCallable(lambda messages: "Docks are open.", "fixed")
    for summarizer in (fixed, Digest()):
        assert _errors(compact(plan(session, policy), summarizer).messages, dialect) == []


@RULE
@given(reasons=st.lists(st.booleans(), min_size=1, max_size=6), data=st.data())
def test_reasoning_and_its_item_stay_together(reasons: list[bool], data: st.DataObject) -> None:
    messages: list[Message] = []
    for reasoned in reasons:
        messages.append(message("user", "And now?"))
        if reasoned:
            messages.append(replace(message("assistant", [Thinking("hm")]), bound=True))
        messages.append(message("assistant", "So."))
    assert _errors(messages, "openai-responses") == []
    at = _pick(data, messages, "bound")
    del messages[at + 1]
    assert _places(messages, "openai-responses") == {("reasoning-alone", at)}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dicts_are_judged_as_messages_are(dialect: Dialect) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}
    dicts: list[Mapping[str, Any]] = [
        {"role": "user", "content": "Weigh it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "b", "content": "12 kg"},
        {"role": "assistant", "content": "12 kg."},
    ]
    codes = {(one.code, one.message) for one in check(dicts, dialect) if one.level == "error"}
    assert codes == {("orphan-result", 2), ("unanswered-call", 1)}


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_results_of_a_batch_in_one_message_are_whole(dialect: Dialect) -> None:
    uses = [{"type": "tool_use", "id": one, "name": "weigh", "input": {}} for one in "ab"]
    answers = [{"type": "tool_result", "tool_use_id": one, "content": "1 kg"} for one in "ab"]
    dicts: list[Mapping[str, Any]] = [
        {"role": "user", "content": "Weigh both."},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": answers},
        {"role": "assistant", "content": "2 kg."},
        {"role": "user", "content": "Thanks."},
    ]
    assert not [one for one in check(dicts, dialect) if one.level != "info"]
