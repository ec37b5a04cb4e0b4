"""Messages handed over in memory: read where they can be, refused in a sentence where not."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from compaction import Digest, Policy, SessionError, check, compact, from_messages, plan
from compaction.export import render_bytes
from compaction.formats.base import DIALECTS

USER: dict[str, Any] = {"role": "user", "content": "Which berth is free?"}

READ: list[Any] = [
    None,
    7,
    "words",
    [],
    {},
    {"role": None},
    {"role": 1, "content": 2},
    {"role": ("user",), "content": "x"},
    {"role": "user"},
    {"role": "user", "content": {"berth": 1}},
    {"role": "user", "content": [None, 1, "a", {}]},
    {"role": "user", "content": float("nan")},
    {"role": "user", "content": "half \ud83d"},
    {"role": "assistant", "tool_calls": 5},
    {"role": "assistant", "tool_calls": [None, "x", {"function": None}, {"id": 5, "function": 1}]},
    {"role": "tool", "tool_call_id": 7, "content": 3.5},
    {"type": "function_call", "call_id": None},
    {"role": "model", "parts": [{"functionCall": None}, None]},
    {3: "three"},
]

REFUSED: list[Any] = [b"bytes", datetime.now(UTC), Decimal("1.5"), {1, 2}, object()]


@pytest.mark.parametrize("odd", READ, ids=repr)
def test_any_json_value_is_read_planned_and_written(odd: Any) -> None:
    session = from_messages([odd, USER])
    result = compact(plan(session, Policy(budget=1, keep_recent=0)), Digest())
    assert render_bytes(result)[0]


@pytest.mark.parametrize("odd", REFUSED, ids=lambda value: type(value).__name__)
def test_what_json_cannot_hold_is_said(odd: Any) -> None:
    with pytest.raises(SessionError, match="no plain JSON values"):
        from_messages([{"role": "user", "content": odd}])


def test_a_list_inside_itself_is_said() -> None:
    content: list[Any] = []
    content.append(content)
    with pytest.raises(SessionError, match="Circular"):
        from_messages([{"role": "user", "content": content}])


@pytest.mark.parametrize("given", [None, 5, "words", USER], ids=repr)
def test_what_is_no_list_of_messages_is_said(given: Any) -> None:
    with pytest.raises(SessionError, match="must be a list"):
        from_messages(given)
    with pytest.raises(SessionError, match="A list of messages"):
        check(given)


def test_definitions_of_tools_are_a_list() -> None:
    with pytest.raises(SessionError, match="tools is int"):
        from_messages([USER], tools=5)  # type: ignore[arg-type]
    with pytest.raises(SessionError, match="tools is int"):
        check([USER], tools=5)  # type: ignore[arg-type]


def test_any_iterable_and_a_session_are_lists() -> None:
    session = from_messages(one for one in [USER])  # type: ignore[arg-type]
    assert [one.text for one in session.messages] == ["Which berth is free?"]
    assert check(session) == check(session.messages)  # type: ignore[arg-type]
    assert check(iter([USER])) == check([USER])  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_entry_that_is_no_message_is_named(dialect: Any) -> None:
    for odd in (None, 7, "words", b"bytes", []):
        with pytest.raises(SessionError, match="#1 of the list is"):
            check([USER, odd], dialect)
    for odd in READ:
        if isinstance(odd, dict):
            check([USER, odd], dialect)


def test_an_integer_of_five_thousand_digits_keeps_them() -> None:
    number = 10**4999 + 7
    call = {"type": "tool_use", "id": "toolu_1", "name": "weigh", "input": {"grams": number}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    session = from_messages(
        [
            USER,
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    )
    digits = b"1" + b"0" * 4998 + b"7"
    assert b'"grams":' + digits in render_bytes(session)[0].replace(b" ", b"")
