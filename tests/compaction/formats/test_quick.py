"""What is read quickly is what the exact reader reads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats import exact, quick
from compaction.formats.claude_code_body import LinesBody
from compaction.messages import Part, Source, Span, Text, ToolResult

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_the_values_are_those_of_the_exact_reader(value: object) -> None:
    raw = json.dumps(value).encode()
    assert exact.dumps(quick.loads(raw)) == exact.dumps(exact.loads(raw))


@pytest.mark.parametrize(
    "text",
    ["1.10", '{"a": [1e5]}', "[-0]", '{"a": -0, "b": 0}', "9" * 30, "[0]", '"\\ud800"', "[NaN]"],
)
def test_numbers_keep_their_spelling(text: str) -> None:
    assert exact.dumps(quick.loads(text.encode())) == exact.dumps(exact.loads(text))


def said(raw: bytes) -> tuple[Part, ...]:
    return LinesBody(Source(raw), (Span(0, len(raw), 1),), frozenset()).parts()


@pytest.mark.parametrize(
    "shown",
    [
        {"stdout": "out"},
        "text",
        {"message": {"content": "other"}},
        {"n": [1.5, -0.0]},
        '","toolUseResult":',
    ],
)
def test_what_the_screen_showed_is_no_content(shown: object) -> None:
    result = {"type": "tool_result", "tool_use_id": "c", "content": ',"toolUseResult":{}'}
    record = {"message": {"content": [result]}, "toolUseResult": shown, "cwd": "/srv"}
    raw = json.dumps(record, separators=(",", ":")).encode()
    assert said(raw) == (ToolResult("c", (Text(',"toolUseResult":{}'),)),)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"message":{"role":"user","toolUseResult":1,"content":"two"}}',
        b'{"message":{"content":"one"},"toolUseResult":1,"message":{"content":"two"}}',
        b'{"cwd":"one","toolUseResult":1,"attachment":{"prompt":"two"}}',
    ],
)
def test_what_stands_behind_it_counts(raw: bytes) -> None:
    assert said(raw) == (Text("two"),)
