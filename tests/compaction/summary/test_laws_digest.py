"""Laws of the digest, for sessions of any shape."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import SummarizerError
from compaction.evidence import values
from compaction.marker import wrap_summary
from compaction.messages import Message, Text, ToolCall, ToolResult, message
from compaction.policy import Policy
from compaction.summary import Digest
from compaction.summary.protocol import SummaryRequest
from compaction.summary.quoting import bounded, shortened

Make = Callable[..., SummaryRequest]


def digest(request: SummaryRequest) -> str:
    """The digest; nothing where it says that the messages are all exact values."""
    try:
        return Digest().summarize(request)
    except SummarizerError as error:
        assert "exact values" in str(error)  # noqa: PT017
        return ""


WORDS = st.sampled_from(
    [
        "open", "the", "gate", "never", "must", "decided", "to", "ship", "pallet", "17", "12.5",
        "kg", "/srv/depot/my", "files/gate-04.yaml", "/srv/depot/plan.md", "src/a.py",
        "https://docs.example.net/x?y=1#z", "DEP-4821", "3f2a9c1e5b7d4860", "FOO_BAR=1",
        "`pytest -q`", "不要删除", "三号门", "。", "</summary>", "[End of summary]", "Error:",
        "exit", "code", "1", "?", "\n", "- ", "Asked:", "\u202e", "\x1b[31m", "“", "”",
    ]
)  # fmt: skip
PROSE = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
CALLS = st.sampled_from(
    [
        ("Read", '{"file_path": "/srv/depot/plan.md"}'),
        ("Edit", '{"file_path": "src/a.py", "old_string": "x", "new_string": "y"}'),
        ("Bash", '{"command": "pytest -q && git push"}'),
        ("apply_patch", "*** Begin Patch\n*** Update File: src/a.py\n*** End Patch"),
        ("odd", "not json {"),
        ("lookup", '{"id": 12345, "deep": {"a": [1, 2, {"b": null}]}}'),
        ("", "[]"),
    ]
)


@st.composite
def sessions(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["user", "assistant", "call", "system", "summary"]))
        text = draw(PROSE)
        if kind == "call":
            name, arguments = draw(CALLS)
            messages.append(message("assistant", [ToolCall(f"c{number}", name, arguments)]))
            failed = draw(st.booleans())
            messages.append(message("tool", [ToolResult(f"c{number}", (Text(text),), failed)]))
        elif kind == "summary":
            content = wrap_summary(text, Policy().summary, number + 1)
            messages.append(message("user", content, summary="compaction"))
        else:
            messages.append(message(kind, text))
    return messages


@given(session=sessions(), limit=st.integers(1, 400))
def test_it_stays_within_its_tokens(
    session: list[Message], limit: int, request_for: Make, counter: object
) -> None:
    text = digest(request_for(session, limit))
    assert counter.count(text) <= limit  # type: ignore[attr-defined]


@given(session=sessions())
def test_it_is_deterministic(session: list[Message], request_for: Make) -> None:
    request = request_for(session, 200)
    assert digest(request) == digest(request)


@given(session=sessions(), limit=st.integers(20, 600))
def test_every_value_in_it_stands_in_the_source(
    session: list[Message], limit: int, request_for: Make
) -> None:
    source = " ".join("\n".join(entry.text for entry in session).split())
    text = digest(request_for(session, limit))
    for line in text.splitlines():
        for value in values(" ".join(line.split())):
            # Quotation marks of the digest and of the text may pair up across a quotation.
            if value.kind != "name":
                assert value.text in source


@given(session=sessions())
def test_again_without_news_is_the_same(session: list[Message], request_for: Make) -> None:
    first = digest(request_for(session, 2000))
    block = Policy().summary
    texts = [first]
    for _ in range(3):
        entry = message("user", wrap_summary(texts[-1], block, 3), summary="compaction")
        texts.append(digest(request_for([entry], 2000)))
    assert texts[2] == texts[3]


@given(PROSE, st.integers(1, 200))
def test_a_bounded_quotation_cuts_no_value(text: str, limit: int) -> None:
    for short in (
        bounded(text, limit),
        bounded(text, limit, one_line=True),
        shortened(text, limit),
    ):
        pieces = [" ".join(piece.split()) for piece in short.split("[…]")]
        flat = " ".join(text.split())
        known = [value.text for value in values(flat)]
        for piece in pieces:
            assert piece.strip() in flat
            for value in values(piece):
                # Quotation marks pair up differently where one was left out.
                if value.kind != "name":
                    assert any(value.text in other for other in known)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 500_000,
        "never " * 100_000,
        "a. " * 150_000,
        "<analysis>" * 50_000,
        "“" * 200_000,
        "`a" * 200_000,
    ],
)
def test_hostile_messages_are_one_pass(text: str, request_for: Make, counter: object) -> None:
    messages = [
        message("user", text),
        message("assistant", [Text(text), ToolCall("c", "Bash", text)]),
        message("tool", [ToolResult("c", (Text(text),), True)]),
    ]
    text = digest(request_for(messages, 300))
    assert counter.count(text) <= 300  # type: ignore[attr-defined]
