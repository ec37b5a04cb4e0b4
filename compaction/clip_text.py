"""Shortening what is long from its middle, with a marker where something is missing.

Only texts of tool results are shortened; calls, their arguments and everything else stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compaction.messages import Message, Part, Text, ToolResult, changed
from compaction.tokens import Counter, count_message

#: How much of what is kept of a text is its beginning.
_BEGINNING = 2 / 3
_ATTEMPTS = 12


def clip_message(message: Message, tokens: int, counter: Counter) -> Message:
    """`message` with the texts of its tool results shortened to about `tokens` in all.

    It is at most that where its tool results allow it; the very same message comes back when it
    has no more tokens than that already, or nothing to clip.
    """
    parts = message.parts
    size = count_message(message, counter)
    chars = sum(len(text.text) for text in _texts(parts))
    if size <= tokens or not chars:
        return message
    share = max(0.0, 1 - (size - tokens) / size)
    for _ in range(_ATTEMPTS):
        shorter = tuple(_clipped(part, share) for part in parts)
        candidate = changed(message, shorter)
        if count_message(candidate, counter) <= tokens:
            return candidate
        share *= 0.8
    return candidate


def _texts(parts: tuple[Part, ...]) -> Iterator[Text]:
    for part in parts:
        if isinstance(part, ToolResult):
            yield from (inner for inner in part.content if isinstance(inner, Text))


def _clipped(part: Part, share: float) -> Part:
    if not isinstance(part, ToolResult):
        return part
    content = tuple(
        Text(clip_text(inner.text, int(len(inner.text) * share)))
        if isinstance(inner, Text)
        else inner
        for inner in part.content
    )
    return replace(part, content=content)


def clip_text(text: str, chars: int) -> str:
    """`text` with its middle replaced by a marker, so that about `chars` characters are kept.

    It comes back as it is where the marker would save nothing.
    """
    chars = max(0, chars)
    missing = len(text) - chars
    marker = f"\n[… {missing:,} characters clipped to fit the context …]\n"
    if missing <= len(marker):
        return text
    start = int(chars * _BEGINNING)
    end = chars - start
    return text[:start] + marker + (text[-end:] if end else "")
