"""Reasoning items of the Responses API: never without the item after them, nor the other way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compaction.findings import Finding
from compaction.messages import Message
from compaction.validity.listing import View, finding, first_record

#: How ids of items begin that were made together with reasoning.
_MADE = ("fc_", "msg_", "ctc_")


def reasoning(view: View) -> Iterator[Finding]:
    """Findings about reasoning items; nothing for other APIs, which are not sent them."""
    if view.dialect != "openai-responses":
        return
    messages = view.messages
    some = False
    for index, message in enumerate(messages):
        if not message.bound:
            continue
        some = True
        after = messages[index + 1] if index + 1 < len(messages) else None
        if after is None or after.role != "assistant":
            yield finding(
                "error",
                "reasoning-alone",
                index,
                f"The reasoning in #{index} is not followed by the item it led to.",
                "Keep the next item with it, or leave the reasoning out.",
            )
    if some and view.native:
        yield from _left(messages)


def _left(messages: tuple[Message, ...]) -> Iterator[Finding]:
    """Items with an id whose turn has no reasoning, in a list where other turns have it.

    Told once, at level info: a list does not show whether the model reasoned there at all.
    """
    reasoned = False
    places: list[int] = []
    for index, message in enumerate(messages):
        if message.role != "assistant":
            reasoned = False
        elif message.bound:
            reasoned = True
        elif not reasoned and _id(message).startswith(_MADE):
            places.append(index)
    if places:
        first = places[0]
        count = f"{len(places):,} items, first #{first}, have" if places[1:] else f"#{first} has"
        yield finding(
            "info",
            "reasoning-missing",
            first,
            f"{count} an id but no reasoning before it; OpenAI refuses that where the model "
            "reasoned.",
            "Keep the reasoning item with the item it led to, or leave the id out.",
        )


def _id(message: Message) -> str:
    record = first_record(message)
    payload = record.get("payload")
    found = (payload if isinstance(payload, Mapping) else record).get("id")
    return found if isinstance(found, str) else ""
