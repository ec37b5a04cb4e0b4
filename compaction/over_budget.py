"""Why a session is as large as it is, in one sentence."""

from __future__ import annotations

from compaction.inspecting import Inspection
from compaction.messages import Session
from compaction.tokens import Counts

#: Shares of the whole from which on a cause is worth naming.
_TOOL, _MESSAGE, _REPEATED, _OVERHEAD, _KIND = 0.2, 0.15, 0.05, 0.3, 0.5


def why_over(session: Session, counts: Counts, found: Inspection, budget: int | None = None) -> str:
    """What takes the tokens of a session, and by how much it is over `budget` (None: none known).

    Names at most three causes, the largest first, each with its numbers.
    """
    total = counts.total
    if not total:
        return "The session is empty."
    if budget is None:
        start = f"The session has {total:,} tokens"
    elif total > budget:
        start = f"The session has {total:,} tokens, {total - budget:,} over the budget"
    else:
        start = f"The session has {total:,} tokens, {budget - total:,} under the budget"
    causes = sorted(_causes(session, counts, found), reverse=True)[:3]
    if not causes:
        return f"{start}; nothing in it stands out."
    return f"{start}: " + "; ".join(text for _, text in causes) + "."


def _causes(session: Session, counts: Counts, found: Inspection) -> list[tuple[int, str]]:
    total = counts.total
    causes: list[tuple[int, str]] = []

    def add(tokens: int, least: float, text: str) -> None:
        if tokens >= least * total:
            causes.append((tokens, f"{text} ({tokens:,}, {tokens / total * 100:.0f} %)"))

    add(counts.overhead, _OVERHEAD, "system prompt, tools and what else the file does not hold")
    for tool in found.tools:
        calls = "1 call" if tool.count == 1 else f"{tool.count:,} calls"
        add(tool.tokens, _TOOL, f"{tool.name}, {calls} with results")
    if not found.tools and len(found.kinds) > 1:
        add(found.kinds[0].tokens, _KIND, found.kinds[0].name)
    if found.largest:
        index = found.largest[0]
        message = session.messages[index]
        what = f"{message.role}, {message.tool}" if message.tool else message.role
        add(counts.tokens[index], _MESSAGE, f"message #{index} alone ({what})")
    for what, one, many in (
        ("file", "file is read", "files are read"),
        ("output", "output comes", "outputs come"),
    ):
        again = [each for each in found.repeats if each.what == what]
        named = f"1 {one}" if len(again) == 1 else f"{len(again):,} {many}"
        add(sum(each.wasted for each in again), _REPEATED, f"{named} more than once")
    return causes
