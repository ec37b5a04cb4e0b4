"""Kinds of faults that people reported of other tools, each with an input of its own."""

from __future__ import annotations

import json
from typing import Any

from compaction import Digest, Policy, Session, check, compact, count, from_messages, load, plan
from compaction.compacting import Compacted
from compaction.export import render_bytes
from compaction.groups import find_groups
from tests.compaction.formats.transcripts import Transcript, jsonl, texts

STORY = " The tide was late, and the harbour master wrote it down again." * 4


def told(number: int) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"Berth {number}?{STORY}"},
        {"role": "assistant", "content": f"Berth {number} is free.{STORY}"},
    ]


def compacted(session: Session, recent: int) -> Compacted:
    made = compact(plan(session, Policy(budget=200, keep_recent=recent)), Digest())
    assert made.made
    return made


def written(made: Compacted) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render_bytes(made)[0])
    return document


# ------------------------------------------------------------------------------------- pairing


def item_call(item: str, call: str) -> dict[str, Any]:
    return {"type": "function_call", "id": item, "call_id": call, "name": "lift", "arguments": "{}"}


def test_items_pair_by_call_id_although_an_item_has_that_id_too() -> None:
    items = [
        {"role": "user", "content": f"Lift both.{STORY * 3}"},
        item_call("fc_1", "call_a"),
        item_call("call_a", "call_b"),
        {"type": "function_call_output", "call_id": "call_b", "output": "second"},
        {"type": "function_call_output", "call_id": "call_a", "output": "first"},
        {"role": "assistant", "content": "Done."},
    ]
    session = load(json.dumps({"model": "gpt-5", "input": items}).encode())
    groups = find_groups(session.messages)
    assert dict(groups.links) == {(1, "call_a"): 4, (2, "call_b"): 3}
    assert written(compacted(session, 3))["input"][1:] == items[1:]


def test_two_calls_of_one_id_stay_two_with_both_results() -> None:
    def use(weight: int) -> dict[str, Any]:
        return {"type": "tool_use", "id": "lift", "name": "lift", "input": {"tons": weight}}

    def answer(text: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": "lift", "content": text}

    recent = [
        {"role": "assistant", "content": [use(3), use(5)]},
        {"role": "user", "content": [answer("3 t"), answer("5 t")]},
        {"role": "assistant", "content": "Both are up."},
    ]
    session = load(
        json.dumps({"system": "Be brief.", "messages": [*told(1), *told(2), *recent]}).encode()
    )
    assert "duplicate-id" in [one.code for one in check(session.messages, "anthropic")]
    assert written(compacted(session, 2))["messages"][1:] == recent


def test_calls_of_one_response_that_were_stored_apart_are_left_apart() -> None:
    def pair(call: str) -> list[dict[str, Any]]:
        function = {"name": "lift", "arguments": "{}"}
        calls = [{"id": call, "type": "function", "function": function}]
        said = {"role": "assistant", "content": "Both.", "tool_calls": calls, "id": "resp_1"}
        return [said, {"role": "tool", "tool_call_id": call, "content": "up"}]

    kept = [*pair("a"), *pair("b"), {"role": "user", "content": "Thanks."}]
    session = from_messages([*told(1), *told(2), *kept])
    groups = find_groups(session.messages)
    assert (groups.group_of(4), groups.group_of(6)) == (range(4, 6), range(6, 8))
    assert written(compacted(session, 5))["messages"][1:] == kept


# ----------------------------------------------------------------------------------- the head


def test_all_leading_instructions_are_the_head() -> None:
    head = [
        {"role": "system", "content": "You help a harbour."},
        {"role": "developer", "content": "Answer in short words."},
    ]
    chat = [*head, *told(1), *told(2), {"role": "user", "content": "And now?"}]
    session = load(json.dumps({"model": "gpt-4.1", "messages": chat}).encode())
    made = compacted(session, 1)
    assert list(made.plan.head) == [0, 1]
    out = written(made)["messages"]
    assert out[:2] == head
    assert [one["role"] for one in out] == ["system", "developer", "user", "user"]


def test_instructions_in_the_middle_are_summarized_like_the_rest() -> None:
    chat = [
        *told(1),
        {"role": "system", "content": "From here on, metric units." + STORY},
        *told(2),
        {"role": "user", "content": "And now?"},
    ]
    session = load(json.dumps({"model": "gpt-4.1", "messages": chat}).encode())
    made = compacted(session, 1)
    assert [one.role for one in made.messages] == ["user", "user"]
    assert made.summary is not None
    assert "metric units" in made.summary.text


def test_words_of_a_role_that_nobody_knows_are_told() -> None:
    chat = [
        *told(1),
        {"role": "critic", "content": "Crane 9 swings too wide."},
        {"role": "sensor", "content": [{"type": "reading", "wind": "18 knots"}]},
        *told(2),
    ]
    made = compacted(from_messages(chat), 1)
    assert made.summary is not None
    assert "critic: “Crane 9 swings too wide.”" in made.summary.text
    assert "18 knots" in made.summary.text


# --------------------------------------------------------------------------- bytes and numbers


def test_reasoning_beside_the_content_is_counted_and_kept() -> None:
    thought = "First the north crane, then the south one. " * 30
    recent = [
        {"role": "user", "content": "Which crane?"},
        {"role": "assistant", "content": "North.", "reasoning_content": thought},
    ]
    session = load(
        json.dumps({"model": "deepseek-reasoner", "messages": [*told(1), *recent]}).encode()
    )
    assert count(session).tokens[3] > 200
    assert session.messages[3].kinds == {"text", "thinking"}
    assert written(compacted(session, 2))["messages"][1:] == recent


def test_arguments_are_the_text_that_was_sent() -> None:
    arguments = '{"crane":1, "crane":2,  "load":1e2}'
    call = {"id": "c", "type": "function", "function": {"name": "lift", "arguments": arguments}}
    recent = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "up"},
    ]
    session = from_messages([*told(1), *told(2), *recent])
    assert written(compacted(session, 1))["messages"][-2:] == recent
    assert json.dumps(arguments).encode() in render_bytes(compacted(session, 1))[0]


def test_blocks_of_instructions_count_like_one_text() -> None:
    blocks = [{"type": "text", "text": "Be brief. "}, {"type": "text", "text": "Be kind."}]
    one, two = (
        count(load(json.dumps({"model": "m", "messages": [head, *told(1)]}).encode()))
        for head in (
            {"role": "system", "content": "Be brief. Be kind."},
            {"role": "system", "content": blocks},
        )
    )
    assert abs(one.tokens[0] - two.tokens[0]) <= 1


# ---------------------------------------------------------------------------------- transcripts


def test_records_between_two_messages_do_not_part_them() -> None:
    made = Transcript()
    made.user("Run it.")
    made.line("progress", data={"type": "bash_progress"})
    made.line("attachment", attachment={"type": "todo"})
    made.line("assistant", message={"role": "assistant", "content": "It ran."})
    made.user("Good.")
    session = load(jsonl(made.records))
    assert texts(session.messages) == ["Run it.", "It ran.", "Good."]


def test_parents_that_are_gone_leave_the_order_of_the_lines() -> None:
    made = Transcript()
    made.user("One.")
    made.line("assistant", message={"role": "assistant", "content": "Two."})
    made.last = "gone"
    made.user("Three.")
    session = load(jsonl(made.records))
    assert texts(session.messages) == ["One.", "Two.", "Three."]
    assert "broken-links" in [one.code for one in session.problems]


def test_the_line_with_the_most_output_says_the_usage() -> None:
    made = Transcript()
    made.user("Go.")
    for number, output in enumerate((3, 90, 12)):
        usage = {"input_tokens": 5, "output_tokens": output}
        block = {"type": "text", "text": f"part {number}"}
        made.line(
            "assistant",
            message={"id": "m", "role": "assistant", "content": [block], "usage": usage},
        )
    found = load(jsonl(made.records)).messages[-1].usage
    assert found is not None
    assert found.output == 90
