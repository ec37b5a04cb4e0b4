"""Laws of the four formats around Gemini's contents: nothing of a file makes them fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from chat_documents import STRING, array, extras, members, raw, read, request, written
from hypothesis import given
from hypothesis import strategies as st
from test_adk import EVENTS, SUMMARY
from test_adk import doc as adk_document
from test_gemini_cli import HEAD, MESSAGES, PACKED
from test_gemini_cli import document as cli_document
from test_gemini_cli import log as cli_log
from test_gemini_contents import doc as contents_document
from test_qwen_code import LINES
from test_qwen_code import PACKED as QWEN_PACKED
from test_qwen_code import data as qwen_lines

from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats.adk import Adk
from compaction.formats.base import Sample
from compaction.formats.gemini_cli import GeminiCli
from compaction.formats.gemini_contents import GeminiContents
from compaction.formats.qwen_code import QwenCode
from compaction.messages import message

GEMINI = GeminiContents()
SUMMARY_MESSAGE = message("user", "What was said.", summary="compaction")

# ------------------------------------------------------------------------------------- bytes


@st.composite
def content(draw: st.DrawFn) -> str:
    """A content with parts of several kinds, spelled as nobody spells them."""
    role = draw(st.sampled_from(['"user"', '"model"', '"function"']))
    arguments = draw(members([("n", draw(st.sampled_from(["1.10", "-0", "1e5"])))]))
    inner = draw(members([("name", draw(STRING)), ("args", arguments)]))
    answer = draw(members([("name", draw(STRING)), ("response", arguments)]))
    part = st.sampled_from(
        [
            [("text", draw(STRING)), ("thought", "true")],
            [("text", draw(STRING)), ("thoughtSignature", draw(STRING))],
            [("functionCall", inner)],
            [("functionResponse", answer)],
            [("executableCode", arguments)],
            [("text", draw(STRING))],
        ]
    )
    parts = [
        draw(members([*draw(part), *draw(extras())]))
        for _ in range(draw(st.integers(min_value=1, max_value=3)))
    ]
    return draw(members([("role", role), ("parts", draw(array(parts))), *draw(extras())]))


@given(request("contents", content()), st.data())
def test_dropping_messages_leaves_every_other_byte(
    pieces: tuple[str, str, str], data: st.DataObject
) -> None:
    before, _, after = pieces
    text = "".join(pieces)
    session = read(GEMINI, text)
    assert written(GEMINI, session.messages, session) == text.encode()
    kept = sorted(data.draw(st.sets(st.integers(0, len(session) - 1))))
    new = [session.messages[i] for i in kept]
    if data.draw(st.booleans()):
        new.insert(data.draw(st.integers(0, len(new))), SUMMARY_MESSAGE)
    out = written(GEMINI, new, session)
    assert out.startswith(before.encode())
    assert out.endswith(after.encode())
    again = read(GEMINI, out) if new else None
    assert (
        [b for b, m in zip(raw(again), new, strict=True) if m is not SUMMARY_MESSAGE]
        == [raw(session)[i] for i in kept]
        if again
        else not new
    )


# ----------------------------------------------------------------------------- odd documents

ODD = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(
            [0, -1, 1.5, 10**400, "", "a", "user", "gemini", "model", "<state_snapshot>"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                [
                    *("parts", "text", "role", "type", "id", "content", "name", "args", "response"),
                    *("functionCall", "functionResponse", "thought", "thoughtSignature"),
                    *("inlineData", "messages", "actions", "compaction"),
                ]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)

Path = tuple[Any, ...]


def places(value: object, path: Path = ()) -> Iterator[Path]:
    """The paths to every value in a document."""
    yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places(one, (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from places(one, (*path, index))


def changed(value: Any, path: Path, new: object) -> Any:
    """A document with another value in one place."""
    if not path:
        return new
    if isinstance(value, dict):
        return {k: changed(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    return [changed(v, path[1:], new) if i == path[0] else v for i, v in enumerate(value)]


def lines(data: bytes) -> list[Any]:
    """The records of a log."""
    return [json.loads(line) for line in data.splitlines()]


FILES: list[tuple[Any, Any, bool]] = [
    (GEMINI, json.loads(contents_document()), False),
    (GeminiCli(), json.loads(cli_document()), False),
    (GeminiCli(), lines(cli_log(HEAD, *MESSAGES)), True),
    (GeminiCli(), lines(PACKED), True),
    (QwenCode(), lines(qwen_lines(*LINES)), True),
    (QwenCode(), lines(qwen_lines(*QWEN_PACKED)), True),
    (Adk(), json.loads(adk_document([*EVENTS, SUMMARY])), False),
]


@pytest.mark.parametrize("number", range(len(FILES)))
@given(data=st.data())
def test_no_odd_value_makes_them_fail(number: int, data: st.DataObject) -> None:
    form, value, in_lines = FILES[number]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([*places(value)]))
        value = changed(value, path, data.draw(ODD))
    form.recognise(Sample(b"", value, (value,) if isinstance(value, dict) else ()))
    if in_lines and isinstance(value, list):
        form.recognise(Sample(b"", None, tuple(value)))
        text = "\n".join(json.dumps(one) for one in value)
    else:
        text = json.dumps(value)
    for history in ("live", "full"):
        try:
            session = read(form, text, history=history)
        except SessionError:
            return
        assert all(isinstance(one.parts, tuple) for one in session.messages)
        assert written(form, session.messages, session)
        assert written(form, [SUMMARY_MESSAGE, *session.messages[1:]], session)
        for other in ("openai-chat", "gemini-contents", "gemini-cli", "qwen-code", "adk"):
            if session.format != other:
                render_bytes(session, other)
