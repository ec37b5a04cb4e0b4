"""Results without their call among the recent messages: no API takes them as they are.

Where a list is compacted they are summarized with what is old, wherever they stand; where one
shares its message with something else, it stays there as a note. A policy with safety off, and a
list that is left as it is, keep them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from compaction.account import Regions
from compaction.messages import Inline, Media, Message, Part, Text, ToolResult, describe
from compaction.planning import Plan
from compaction.tokens import count_message

#: Why a recent message is summarized all the same.
TOLD = "a result without its call: told in the summary"
DROPPED = "a result without its call: dropped, as no API takes it"
#: What became of one that shares its message with something else.
NOTED = "recent; its result without a call is a note"


@dataclass(frozen=True, slots=True)
class Members:
    """What the summary of a plan stands for.

    `indexes` are all of it, `loose` those of them that stand among the recent messages, `tokens`
    their size. `noted` are recent messages in which a result becomes a note, as they are then.
    """

    indexes: tuple[int, ...]
    loose: frozenset[int]
    tokens: int
    noted: Mapping[int, Message] = field(default_factory=dict)
    freed: int = 0

    def regions(self, plan: Plan) -> Regions:
        """The regions of `plan`, with what is loose among the summarized."""
        recent = [index for index in plan.recent if index not in self.loose]
        return Regions(plan.head, self.indexes, plan.kept, plan.cleared, recent)


@lru_cache(maxsize=1)
def members(plan: Plan) -> Members:
    """What is summarized under `plan`."""
    # Asked for several times while one plan is carried out; plans are told by identity.
    old = tuple(plan.summarized)
    orphans: dict[int, set[str]] = {}
    if plan.policy.safety.unit != "off" and plan.summarizes:
        for index, call_id in plan.groups.orphans:
            if plan.region(index) == "recent":
                orphans.setdefault(index, set()).add(call_id)
    loose: list[int] = []
    noted: dict[int, Message] = {}
    freed = 0
    for index, gone in orphans.items():
        message = plan.session.messages[index]
        if message.kinds == {"tool result"} and set(message.results) <= gone:
            loose.append(index)
        else:
            noted[index] = _noted(message, gone)
            freed += plan.counts.tokens[index]
            freed -= count_message(noted[index], plan.counts.counter)
    tokens = plan.tokens_summarized + sum(plan.counts.tokens[index] for index in loose)
    return Members((*old, *loose), frozenset(loose), tokens, noted, freed)


def note_of(result: ToolResult) -> str:
    """A result without its call, as words."""
    name = f" of {result.name}" if result.name else ""
    return f"[Result{name} without its call: {result.text}]"


def _noted(message: Message, gone: set[str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult) and part.call_id in gone:
            parts.append(Text(note_of(part)))
            parts += [one for one in part.content if isinstance(one, Media)]
        else:
            parts.append(part)
    # Results stand before anything else where an API wants them.
    parts.sort(key=lambda part: not isinstance(part, ToolResult))
    return describe(replace(message, body=Inline(parts), spans=(), pointer=""), parts)
