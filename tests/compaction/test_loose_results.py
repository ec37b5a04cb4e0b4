"""Results whose call is nowhere: told, summarized or noted, and never sent as they are."""

from __future__ import annotations

import json
from typing import Any

from compaction import Digest, Policy, Session, check, compact, load, plan
from compaction.compacting import Compacted
from compaction.export import render_bytes
from compaction.policy_blocks import Safety

STORY = " The tide was late, and the harbour master wrote it down again." * 4


def chat(*recent: dict[str, Any]) -> Session:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(4):
        messages.append({"role": "user", "content": f"Berth {number}?{STORY}"})
        messages.append({"role": "assistant", "content": f"Free.{STORY}"})
    request = {"model": "gpt-4.1", "messages": [*messages, *recent]}
    return load(json.dumps(request).encode())


def call(*ids: str) -> dict[str, Any]:
    function = {"name": "crane", "arguments": "{}"}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def compacted(session: Session, recent: int, **blocks: Any) -> Compacted:
    made = compact(plan(session, Policy(budget=300, keep_recent=recent, **blocks)), Digest())
    assert made.made
    return made


def codes(session: Session) -> list[str]:
    return [one.code for one in check(session.messages, "openai-chat") if one.level == "error"]


def test_a_result_without_its_call_is_summarized_wherever_it_stands() -> None:
    session = chat(
        user("Both cranes."), call("a"), result("gone", "crane 9 is locked"), result("a", "up")
    )
    assert codes(session) == ["orphan-result"]
    made = compacted(session, 4)
    assert made.summary is not None
    assert "crane 9 is locked" in made.summary.text
    again = load(render_bytes(made)[0])
    assert codes(again) == []
    assert [one.results for one in again.messages if one.results] == [("a",)]
    # Everything else of the recent part is as it was, and the sums are right.
    assert made.messages[-3:] == (*session.messages[-4:-2], session.messages[-1])
    assert made.tokens_after == plan(again, Policy()).tokens_before
    fate = made.account[len(session) - 2]
    assert (fate.region, fate.into) == ("summarized", 1)
    assert "without its call" in fate.reason


def test_the_input_is_told_to_have_had_it() -> None:
    session = chat(user("Go."), result("gone", "locked"), user("And?"))
    found = [one for one in compacted(session, 3).findings if one.code == "orphan-result"]
    assert [(one.message, one.text.startswith("Before compaction")) for one in found] == [
        (10, True)
    ]


def test_beside_words_of_a_person_it_becomes_a_note() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "toolu_0", "content": "crane 9 is locked"},
        {"type": "text", "text": "Is that so?"},
    ]
    old = [one.record for one in chat().messages]
    session = load(
        json.dumps({"system": "Be brief.", "messages": [*old[1:], user(blocks)]}).encode()  # type: ignore[arg-type]
    )
    made = compacted(session, 1)
    last = made.messages[-1]
    assert last.results == ()
    assert last.text == "[Result without its call: crane 9 is locked]\nIs that so?"
    assert made.tokens_after == plan(load(render_bytes(made)[0]), Policy()).tokens_before


def test_a_list_that_is_left_alone_keeps_it() -> None:
    session = chat(user("Go."), result("gone", "locked"))
    made = compact(plan(session, Policy(budget=100_000)), Digest())
    assert made.messages is session.messages
    assert render_bytes(made)[0] == session.source.data


def test_a_policy_with_safety_off_keeps_it() -> None:
    session = chat(user("Go."), result("gone", "locked"), user("And?"))
    made = compacted(session, 2, safety=Safety("off"))
    assert made.messages[-2] is session.messages[-2]


def test_a_second_answer_is_told_when_both_are_old() -> None:
    session = chat(
        user("Ask customs."),
        call("c"),
        result("c", "pending"),
        {"role": "assistant", "content": "Waiting." + STORY},
        result("c", "duty is paid"),
        {"role": "assistant", "content": "Good." + STORY},
        user("Thanks."),
    )
    made = compacted(session, 1)
    assert made.summary is not None
    assert "duty is paid" in made.summary.text
