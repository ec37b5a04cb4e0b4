"""A summary that was joined with the words of a person in one message."""

from __future__ import annotations

import json

from compaction import Digest, Policy, compact, from_messages, load, plan
from compaction.export import render_bytes
from compaction.marker import LABEL, beside, counted, wrap_summary
from compaction.policy import SummaryBlock
from compaction.summary.earlier import earlier_summary, said_beside

STORY = " The tide was late, and the harbour master wrote it down again." * 8


def framed(text: str, wrap: str = "text") -> str:
    return wrap_summary(text, SummaryBlock(wrap=wrap), 9)  # type: ignore[arg-type]


def test_what_stands_behind_the_end_of_a_summary() -> None:
    assert LABEL.startswith("[Summary of {count}")
    for wrap in ("text", "xml"):
        text = framed("Berth 4 was booked.", wrap)
        assert counted(9) in text
        assert beside(text) == ""
        assert beside(f"{text}\n\nAnd berth 5?") == "And berth 5?"
    assert beside("And berth 5?") == ""


def test_both_are_told_apart_in_one_text_and_in_two_blocks() -> None:
    text = framed("Berth 4 was booked.")
    joined = from_messages([{"role": "user", "content": f"{text}\n\nAnd berth 5?"}]).messages[0]
    blocks = [{"type": "text", "text": text}, {"type": "text", "text": "And berth 5?"}]
    beside_it = from_messages([{"role": "user", "content": blocks}]).messages[0]
    for one in (joined, beside_it):
        assert one.summary == "compaction"
        assert earlier_summary(one) == "Berth 4 was booked."
        assert said_beside(one) == "And berth 5?"


def test_the_request_survives_the_next_compaction() -> None:
    chat = [{"role": "system", "content": "Be brief."}]
    for number in range(6):
        chat.append({"role": "user", "content": f"Book berth {number} for MV-10{number}." + STORY})
        chat.append({"role": "assistant", "content": f"Booked berth {number}." + STORY})
    session = from_messages(chat)
    first = compact(plan(session, Policy(budget=800, keep_recent=4)), Digest())
    # Anthropic gets the summary and the request behind it as one message of the user.
    data, _ = render_bytes(first, "anthropic")
    assert [one["role"] for one in json.loads(data)["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    again = load(data)
    second = compact(plan(again, Policy(budget=300, keep_recent=1)), Digest())
    assert second.summary is not None
    assert "MV-104" in second.summary.text
    assert second.summary.text.count("Summary of") == 0
