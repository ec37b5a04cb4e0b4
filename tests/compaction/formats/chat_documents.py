"""Random chat files as their authors never wrote them: odd spacing, numbers and escapes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from compaction.formats.base import ReadOptions
from compaction.messages import Message, Session, Source

SPACE = st.sampled_from(["", "", "", " ", "\n", "\n   ", "\t", "\r\n"])
NUMBER = st.sampled_from(
    ["0", "-0", "1.10", "1e5", "1.0E+05", "-12.50", "18446744073709551617", "1e999", "7" * 40]
)
CHARACTER = st.sampled_from([*'aZ é😀"\\/\n\t{}[],:', "\u2028", "\ud800", "\x7f"])


def encoded(character: str, escape: bool) -> str:
    """One character inside a JSON string, escaped where it must be or may be."""
    if escape or character < " " or "\ud800" <= character <= "\udfff":
        return json.dumps(character)[1:-1]
    return {'"': '\\"', "\\": "\\\\", "/": "\\/"}.get(character, character)


STRING = st.lists(st.tuples(CHARACTER, st.booleans()), min_size=1, max_size=8).map(
    lambda chosen: '"' + "".join(encoded(*one) for one in chosen) + '"'
)
SCALAR = st.one_of(STRING, NUMBER, st.sampled_from(["true", "false", "null"]))


@st.composite
def array(draw: st.DrawFn, elements: Sequence[str]) -> str:
    """An array of texts, with any spacing."""
    inner = ",".join(draw(SPACE) + element + draw(SPACE) for element in elements)
    return "[" + (inner or draw(SPACE)) + "]"


@st.composite
def members(draw: st.DrawFn, pairs: Sequence[tuple[str, str]]) -> str:
    """An object of texts by key, with any spacing, in the order given."""
    inner = ",".join(
        f'{draw(SPACE)}"{key}"{draw(SPACE)}:{draw(SPACE)}{value}{draw(SPACE)}'
        for key, value in pairs
    )
    return "{" + inner + "}"


@st.composite
def extras(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Members that no API knows."""
    names = draw(st.lists(st.sampled_from(["x_a", "x_b", "x_c"]), max_size=2))
    return [(name, draw(st.one_of(SCALAR, array([draw(SCALAR)])))) for name in names]


@st.composite
def chat_message(draw: st.DrawFn) -> str:
    """A chat message of any role, with content of any kind."""
    role = draw(st.sampled_from(["system", "user", "assistant", "tool", "human", "critic"]))
    block = draw(members([("type", '"text"'), ("text", draw(STRING))]))
    odd = draw(members([("type", '"x_new"'), ("n", draw(NUMBER))]))
    content = draw(st.one_of(STRING, st.just("null"), array([block]), array([block, odd])))
    pairs = [("role", f'"{role}"'), ("content", content), *draw(extras())]
    if role == "assistant" and draw(st.booleans()):
        function = draw(members([("name", draw(STRING)), ("arguments", draw(STRING))]))
        call = draw(members([("id", draw(STRING)), ("type", '"function"'), ("function", function)]))
        pairs.append(("tool_calls", draw(array([call]))))
    if role == "tool":
        pairs.append(("tool_call_id", draw(STRING)))
    return draw(members(draw(st.permutations(pairs))))


@st.composite
def anthropic_message(draw: st.DrawFn) -> str:
    """An Anthropic message with blocks of several kinds."""
    role = draw(st.sampled_from(["user", "assistant"]))
    arguments = draw(members([("n", draw(NUMBER)), ("s", draw(STRING))]))
    blocks = {
        "text": [("text", draw(STRING))],
        "thinking": [("thinking", draw(STRING)), ("signature", draw(STRING))],
        "redacted_thinking": [("data", draw(STRING))],
        "tool_use": [("id", draw(STRING)), ("name", draw(STRING)), ("input", arguments)],
        "tool_result": [("tool_use_id", draw(STRING)), ("content", draw(STRING))],
        "x_new": [("n", draw(NUMBER))],
    }
    kinds = draw(st.lists(st.sampled_from(sorted(blocks)), min_size=1, max_size=3))
    texts = [
        draw(members([("type", f'"{kind}"'), *blocks[kind], *draw(extras())])) for kind in kinds
    ]
    content = draw(st.one_of(STRING, array(texts)))
    return draw(members([("role", f'"{role}"'), ("content", content), *draw(extras())]))


@st.composite
def response_item(draw: st.DrawFn) -> str:
    """A Responses item."""
    block = draw(members([("type", '"output_text"'), ("text", draw(STRING))]))
    items = {
        "message": [("role", '"assistant"'), ("content", draw(array([block])))],
        "reasoning": [("summary", "[]"), ("encrypted_content", draw(STRING))],
        "function_call": [
            ("call_id", draw(STRING)),
            ("name", draw(STRING)),
            ("arguments", draw(STRING)),
        ],
        "function_call_output": [("call_id", draw(STRING)), ("output", draw(STRING))],
        "web_search_call": [("id", draw(STRING))],
    }
    kind = draw(st.sampled_from(sorted(items)))
    return draw(members([("type", f'"{kind}"'), *items[kind], *draw(extras())]))


@st.composite
def request(draw: st.DrawFn, key: str, element: st.SearchStrategy[str]) -> tuple[str, str, str]:
    """A request in three pieces: what is before its list, the list, and what is after."""
    listed = draw(array(draw(st.lists(element, min_size=1, max_size=7))))
    before = f'{draw(SPACE)}{{"model"{draw(SPACE)}: "m",{draw(SPACE)}"{key}"{draw(SPACE)}:'
    after = f',{draw(SPACE)}"temperature": {draw(NUMBER)}{draw(SPACE)}}}{draw(SPACE)}'
    return before, listed, after


def read(form: Any, text: str | bytes, **options: Any) -> Session:
    """The session in a text."""
    data = text if isinstance(text, bytes) else text.encode()
    session: Session = form.read(Source(data, "chat"), ReadOptions(**options))
    return session


def written(form: Any, messages: Sequence[Message], session: Session) -> bytes:
    """What a format writes."""
    return b"".join(form.write(messages, session).chunks)


def raw(session: Session) -> list[bytes]:
    """The bytes of every message."""
    return [session.source.raw(message.spans[0]) for message in session.messages]
