"""Drafts: what is set on one is what the message has, which nobody can change any more."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from compaction.formats.drafts import draft, settled
from compaction.messages import Inline, Message, Span, Text


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
