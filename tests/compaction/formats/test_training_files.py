"""Training and batch files of chat messages: what is one conversation, and which answer counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import same, saved

from compaction import load
from compaction.messages import Session, message

SYSTEM = {"role": "system", "content": "s"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def texts(session: Session) -> list[str]:
    return [one.text for one in session.messages]


GOOD, BAD = [answer("good")], [answer("bad")]
PAIRS: list[dict[str, Any]] = [
    {
        "input": {"messages": [user("1")]},
        "preferred_output": GOOD,
        "non_preferred_output": BAD,
    },
    {"prompt": [user("1")], "chosen": GOOD, "rejected": BAD},
    {"chosen": [user("1"), *GOOD], "rejected": [user("1"), *BAD]},
    {"messages": [user("1")], "chosen": GOOD[0], "rejected": BAD[0]},
]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_answer_that_counts_is_read_and_the_other_stays(pair: dict[str, Any]) -> None:
    data = lines(pair, pair)
    session = load(data)
    assert session.format == "openai-chat"
    assert texts(session) == ["1", "good"]
    assert "rejected-answer" in [found.code for found in session.problems]
    assert saved(session) == data
    new = [session.messages[0], message("user", "2"), session.messages[1]]
    out = saved(session, new)
    assert same(load(out).messages, new)
    assert out.splitlines()[1] == data.splitlines()[1]
    assert b"bad" in out.splitlines()[0]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"prompt": [user("1")], "completion": [answer("2")]}, ["1", "2"]),
        ({"prompt": [user("1")], "completion": "2"}, ["1"]),
        ({"dialogue": [user("1"), answer("2")]}, ["1", "2"]),
        ({"messages": [user("1"), {**answer("2"), "weight": 0}], "answer": "x"}, ["1", "2"]),
    ],
)
def test_records_of_training_files(record: dict[str, Any], said: list[str]) -> None:
    assert texts(load(lines(record, record))) == said
    assert texts(load(json.dumps([record, record]).encode())) == said


def test_conversations_under_one_system_prompt_are_no_growing_log() -> None:
    records = [
        {"messages": [SYSTEM, user("1")]},
        {"messages": [SYSTEM, user("2"), answer("b"), user("3")]},
    ]
    session = load(lines(*records))
    assert texts(session) == ["s", "1"]
    assert [found.code for found in session.problems] == ["several-conversations"]
    log = [
        {"messages": [SYSTEM, user("1")]},
        {"messages": [SYSTEM, user("1"), answer("a"), user("2")]},
    ]
    assert texts(load(lines(*log))) == ["s", "1", "a", "2"]


def test_requests_of_a_batch_have_the_names_they_were_given() -> None:
    batch = [
        {"custom_id": f"r-{n}", "method": "POST", "url": "/v1", "body": {"messages": [user(n)]}}
        for n in ("one", "two")
    ]
    session = load(lines(*batch))
    assert [(one.id, one.title) for one in session.conversations] == [
        ("r-one", "one"),
        ("r-two", "two"),
    ]
    assert texts(load(lines(*batch), conversation="r-two")) == ["two"]


def test_tools_held_as_text_are_read() -> None:
    tools = json.dumps([{"type": "function", "function": {"name": "weigh"}}])
    assert load(lines({"messages": [user("1")], "tools": tools})).tools.names == ("weigh",)
    assert load(lines({"messages": [user("1")], "tools": "[broken"})).tools.names == ()
