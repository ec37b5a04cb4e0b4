"""Files of agent libraries with odd values in odd places are read and written, or refused."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import test_autogen
import test_langchain
import test_langsmith
import test_otel
import test_pydantic_ai
import test_vercel_ai
from agent_files import same, saved

from compaction.errors import SessionError
from compaction.formats import load

_ODD: tuple[Any, ...] = (
    None, 0, -1, 1.5, True, "", "x", "[", "{}", "[1]", "\ud800", [], {}, [[]], [None], [{}],
    {"a": 1}, {"type": []}, {"type": "text", "text": {}}, [{"type": "text"}],
)  # fmt: skip

_DOCUMENTS: tuple[tuple[str, Any], ...] = (
    ("vercel-ai", test_vercel_ai.TALK),
    ("vercel-ai", test_vercel_ai.MODEL),
    ("pydantic-ai", test_pydantic_ai.TALK),
    ("langchain", test_langchain.talk("dict")),
    ("langchain", test_langchain.talk("dumps")),
    ("langchain", test_langchain.talk("flat")),
    ("autogen", test_autogen.CONTEXT),
    ("autogen", test_autogen.THREAD),
    ("autogen", test_autogen.AG2),
    ("otel", test_otel.otlp(*test_otel.TRACE)),
    ("otel", test_otel.sdk(test_otel.span("call", 1, test_otel.OPENINFERENCE))),
    ("otel", test_otel.sdk(test_otel.span("call", 1, test_otel.TRACELOOP))),
    ("otel", test_otel.sdk(test_otel.span("call", 1, test_otel.VERCEL))),
    ("langsmith", test_langsmith.TREE),
)
_READ_ONLY = ("otel", "langsmith")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield from places(value[key], (*path, key))


def broken(document: Any, chance: random.Random) -> Any:
    """A copy with one to three values replaced or taken out."""
    made = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 2, 3))):
        *way, last = chance.choice(list(places(made)) or [("", "")])
        holder = made
        for step in way:
            holder = holder[step] if step != "" else holder
        if not isinstance(holder, (dict, list)) or last == "":
            continue
        if chance.random() < 0.2:
            del holder[last]
        else:
            holder[last] = copy.deepcopy(chance.choice(_ODD))
    return made


@pytest.mark.parametrize("number", range(len(_DOCUMENTS)))
def test_odd_values_at_any_place(number: int) -> None:
    form, document = _DOCUMENTS[number]
    chance = random.Random(number)
    opened = 0
    for _ in range(80):
        data = json.dumps(broken(document, chance)).encode()
        try:
            session = load(data, format=form)
        except SessionError:
            continue
        opened += 1
        load(data, format=form, history="full")
        saved(session, form="openai-chat")
        saved(session, form="anthropic")
        if form in _READ_ONLY or len(session) < 3:
            continue
        assert saved(session) == data
        start = chance.randrange(1, len(session))
        new = [session.messages[0], *session.messages[start:]]
        again = load(saved(session, new), format=form)
        # A result without its call, and instructions without a request, have no place of their own.
        apart = bool(new[1].results) or not any(one.role in ("user", "tool") for one in new)
        assert apart or same(again.messages, new)
    assert opened > 30
