"""Roles that take turns: a line of the assistant between a summary and other words of the user.

The large APIs join two messages of one side; servers with a strict chat template refuse them. A
summary is the user's, and neither it nor its neighbours may change, so for such a server a marked
line stands between. The next compaction knows the line and drops it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from compaction.findings import Finding
from compaction.marker import BRIDGE, frames
from compaction.messages import Message, message
from compaction.tokens import count_message

if TYPE_CHECKING:
    from compaction.compacting import Compacted

#: Requests, which a server takes as they are; a transcript goes through its own tool first.
REQUESTS = frozenset({"anthropic", "gemini-contents", "openai-chat"})

#: Models whose own chat template refuses two messages of one side.
_STRICT = re.compile(
    r"(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral|gemma|llama-?2)", re.I
)

#: Whose messages stand on the side of the user.
_USER_SIDE = frozenset({"user", "tool"})


def taking_turns(
    result: Compacted,
    format: str,  # noqa: A002 - the word of the command line
    wanted: bool | None = None,
) -> tuple[Sequence[Message], tuple[Finding, ...]]:
    """The messages of `result` as they are written in `format`, and what was put among them.

    `wanted` None: where the session names a model that is known to refuse two messages of one
    side. The very list where it is no request, where the policy asks for another role, or where
    the summary has a published form, which is kept to the letter.
    """
    made, messages = result.summary, result.messages
    block = result.plan.policy.summary
    if wanted is None:
        wanted = bool(_STRICT.search(result.session.model))
    if not wanted or made is None or format not in REQUESTS:
        return messages, ()
    if block.role != "user" or not frames(block.label):
        return messages, ()
    at = next((place for place, one in enumerate(messages) if one is made.message), None)
    if at is None:
        return messages, ()
    before = at > 0 and messages[at - 1].role in _USER_SIDE
    after = at + 1 < len(messages) and messages[at + 1].role in _USER_SIDE
    if not before and not after:
        return messages, ()
    bridge = message("assistant", BRIDGE, summary="compaction")
    written = [*messages[:at], *[bridge] * before, messages[at], *[bridge] * after]
    tokens = (before + after) * count_message(bridge, result.plan.counts.counter)
    sides = " and ".join(["before"] * before + ["after"] * after)
    told = Finding(
        "info",
        "export-bridge",
        f"A marked line of the assistant stands {sides} the summary, so that the roles take turns "
        f"({tokens} tokens more).",
    )
    return [*written, *messages[at + 1 :]], (told,)
