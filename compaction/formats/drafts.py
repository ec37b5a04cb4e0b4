"""Messages while they are read: made cheaply, set field by field, then turned into messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from compaction.marker import is_own_summary
from compaction.messages import PREVIEW_CHARS, Body, Message, Span, Usage

#: The kinds of a message that has no part, and of one of a single kind.
NO_KINDS: frozenset[str] = frozenset()
_KINDS: dict[frozenset[str], frozenset[str]] = {}

#: What the framed summaries of this program hold near their start, when not at it.
_TAG = "<conversation_summary>"

#: How far into a text its start goes.
NEAR = 400

_new = object.__new__


class Draft:
    """A message while it is read: the fields of one, which can still be set.

    Setting them so and turning the whole into a Message takes a tenth of the time that making
    an immutable value does, which counts where a file has hundreds of thousands of them.
    """

    __slots__ = Message.__slots__

    role: str
    body: Body
    preview: str
    chars: int
    calls: tuple[str, ...]
    results: tuple[str, ...]
    kinds: frozenset[str]
    tool: str
    name: str
    id: str
    time: str
    model: str
    usage: Usage | None
    summary: str
    injected: bool
    bound: bool
    spans: tuple[Span, ...]
    pointer: str

    @property
    def typed(self) -> bool:
        """Whether a person typed it, as `Message.typed`."""
        return self.role == "user" and not self.injected and not self.summary and not self.results


def draft(role: str, body: Body, span: Span, id: str = "", time: str = "") -> Draft:  # noqa: A002
    """A message of nothing yet. A function, as a class calls its `__init__` more slowly."""
    made: Draft = _new(Draft)
    made.role = role
    made.body = body
    made.preview = ""
    made.chars = 0
    made.calls = ()
    made.results = ()
    made.kinds = NO_KINDS
    made.tool = ""
    made.name = ""
    made.id = id
    made.time = time
    made.model = ""
    made.usage = None
    made.summary = ""
    made.injected = False
    made.bound = False
    made.spans = (span,)
    made.pointer = ""
    return made


def settled(drafts: Sequence[Draft]) -> tuple[Message, ...]:
    """The drafts as the messages they become, in place: nobody may set a field from here on."""
    for one in drafts:
        # Both have the same slots, so that one becomes the other without a copy.
        one.__class__ = Message  # type: ignore[assignment]
    return cast("tuple[Message, ...]", tuple(drafts))


def with_kind(kinds: frozenset[str], kind: str) -> frozenset[str]:
    """`kinds` and `kind`; one object for all messages of the same kinds."""
    found = kinds | {kind}
    return _KINDS.setdefault(found, found)


def start_of(text: str) -> str:
    """How a text that is the first of a message shows in the preview."""
    start = text[:PREVIEW_CHARS].strip()
    if len(start) == PREVIEW_CHARS or len(text) <= PREVIEW_CHARS:
        return start
    return text[: PREVIEW_CHARS * 4].strip()[:PREVIEW_CHARS]


def has_tag(text: str) -> bool:
    """Whether the tag of a summary of this program stands near the start of `text`."""
    return text.find(_TAG, 0, NEAR) >= 0


def own_summary(text: str) -> bool:
    """As `is_own_summary`, at once for all that cannot open like one."""
    first = text[:1]
    # Most texts have no bracket near their start, and one character is found much faster.
    may_be = first in "[{S" or first.isspace() or (text.find("<", 0, NEAR) >= 0 and has_tag(text))
    return may_be and is_own_summary(text)
