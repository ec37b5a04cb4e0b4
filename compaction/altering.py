"""The messages that a plan changes in place, made, with what that frees and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from compaction.clip_text import clip_text
from compaction.messages import Message, Text, changed
from compaction.planning import Plan
from compaction.tokens import Counter, count_message

_ATTEMPTS = 12


class Altered(NamedTuple):
    """By index in the session: the message as changed, and why; the tokens freed in all."""

    messages: Mapping[int, Message]
    why: Mapping[int, str]
    freed: int


def altered_messages(plan: Plan) -> Altered:
    """What `plan` changes in place, carried out."""
    messages: dict[int, Message] = {}
    why: dict[int, str] = {}
    freed = plan.tokens_freed
    changes = plan.eased.changes if plan.eased is not None else None
    short = plan.truncated
    for index in plan.cleared:
        if short is not None and index == short[0]:
            had, counter = plan.session.messages[index], plan.counts.counter
            messages[index] = _truncated(had, short[1], counter)
            why[index] = f"kept in part: only {short[1]:,} tokens of it fit among the user messages"
            freed += short[1] - count_message(messages[index], counter)
        elif changes is not None:
            messages[index] = changes.message(index)
            why[index] = f"kept in its place; {changes.why(index)}"
    return Altered(messages, why, freed)


def _truncated(message: Message, tokens: int, counter: Counter) -> Message:
    """`message` with its texts cut in their middle to about `tokens` in all."""
    parts = message.parts
    share = min(1.0, tokens / max(1, count_message(message, counter)))
    shorter = message
    for _ in range(_ATTEMPTS):
        cut = tuple(
            Text(clip_text(part.text, int(len(part.text) * share)))
            if isinstance(part, Text)
            else part
            for part in parts
        )
        shorter = changed(message, cut)
        if count_message(shorter, counter) <= tokens:
            break
        share *= 0.8
    return shorter
