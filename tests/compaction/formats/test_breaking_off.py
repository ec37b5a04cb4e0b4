"""Documents that break off: what stands whole in them is read, and written with an end."""

from __future__ import annotations

import json

import pytest
from runs import opened, same, saved

TURNS = [{"role": "user", "content": str(n)} for n in range(4)]
AFTER = {"tools": [{"type": "function", "function": {"name": "x"}}], "n": 1}
WHOLE = json.dumps({"model": "m", "messages": TURNS, **AFTER})


@pytest.mark.parametrize("end", range(WHOLE.index(', {"role": "user", "content": "3"'), len(WHOLE)))
def test_what_is_written_of_it_is_whole(end: int) -> None:
    session = opened(WHOLE[:end].encode(), format="openai-chat")
    few = session.messages[1:]
    assert [one.text for one in few] == ["1", "2", "3"][: len(few)]
    document = json.loads(saved(session, few))
    assert document["messages"] == TURNS[1 : 1 + len(few)]
    assert document["model"] == "m"
    assert same(opened(saved(session, few), format="openai-chat").messages, few)


def test_members_that_stand_whole_behind_the_messages_are_kept() -> None:
    session = opened(WHOLE[: WHOLE.index(', "n"') + 6].encode())
    assert json.loads(saved(session, session.messages[:1]))["tools"] == AFTER["tools"]


def test_of_several_conversations_the_others_are_kept() -> None:
    text = json.dumps([{"id": name, "messages": TURNS} for name in "abc"])
    session = opened(text[:-30].encode(), conversation="a")
    document = json.loads(saved(session, session.messages[:1]))
    assert [one["messages"] for one in document] == [TURNS[:1], TURNS]
