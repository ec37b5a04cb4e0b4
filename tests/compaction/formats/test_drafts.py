"""Drafts: what is set on one is what the message has, which nobody can change any more."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from compaction.formats.drafts import draft, own_summary, settled, start_of
from compaction.marker import is_own_summary
from compaction.messages import Inline, Message, Span, Text, preview_of


def test_a_settled_draft_is_a_message_with_every_field() -> None:
    begun = draft("user", Inline((Text("hi"),)), Span(0, 2, 1), "id", "now")
    begun.preview = "hi"
    (made,) = settled([begun])
    assert type(made) is Message
    assert made.typed
    assert made.text == "hi"
    same = Message("user", made.body, "hi", id="id", time="now", spans=(Span(0, 2, 1),))
    for each in fields(Message):
        assert getattr(made, each.name) == getattr(same, each.name)
    assert replace(made, role="tool").role == "tool"


def test_a_settled_draft_cannot_be_changed() -> None:
    (made,) = settled([draft("user", Inline(()), Span(0, 2, 1))])
    with pytest.raises(FrozenInstanceError):
        made.role = "tool"  # type: ignore[misc]


@pytest.mark.parametrize("blank", ["", " ", " \n" * 90, " " * 201, "\t" * 900])
@pytest.mark.parametrize("text", ["", "word", "word " * 39 + "x", "word " * 40, "a" * 900])
def test_the_start_of_a_text_is_that_of_a_preview(blank: str, text: str) -> None:
    for each in (blank + text, text + blank, text + blank + text):
        assert start_of(each) == preview_of((Text(each),))


@pytest.mark.parametrize(
    "text", ["", "Sum", "plain", "\x0b[Summary of 3 earlier messages: a]\n\nx", "{", "x" * 500]
)
def test_own_summaries_are_told_as_the_marker_tells_them(text: str) -> None:
    for each in (text, f"{text}<conversation_summary>\nx\n</conversation_summary>"):
        assert own_summary(each) == is_own_summary(each)
