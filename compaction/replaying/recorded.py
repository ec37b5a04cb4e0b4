"""The compactions a tool really made, beside those of a replay: same place, same loss?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

from compaction.decision import holds
from compaction.messages import Session
from compaction.replaying.timeline import Timeline
from compaction.replaying.walking import Compaction, Walked

#: Messages behind the place of a compaction among which its summary stands.
_BEHIND = 3

#: Calls within which two compactions are at the same place.
NEAR = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """One real compaction: `at` is the first message after it, `call` the first call after it.

    `before` and `after` are the tool's own tokens. `nearest` is the compaction of the replay that
    is closest, and `apart` how many calls later (or, negative, earlier) it comes; None without one.
    """

    at: int
    call: int
    trigger: str
    before: int | None
    after: int | None
    nearest: Compaction | None
    apart: int | None

    @property
    def same_place(self) -> bool:
        """Whether the policy would have compacted there too, give or take a few calls."""
        return self.apart is not None and abs(self.apart) <= NEAR


def uncompacted(session: Session) -> Session:
    """The whole recorded history of `session`, as if its tool had never compacted it.

    Reads its source again where only what is live was loaded. The tool's own summaries are not
    among the messages; `compactions` say where they stood.
    """
    left_out = session.left_out.get("before the last compaction", 0)
    if session.history == "live" and (session.compactions or left_out):
        from compaction.formats import load

        session = load(
            session.source,
            format=session.format,
            history="full",
            conversation=session.conversation or None,
        )
    if not session.compactions:
        return session
    gone = [
        index
        for index, message in enumerate(session.messages)
        if message.summary and message.summary != "compaction"
    ]
    messages = tuple(m for index, m in enumerate(session.messages) if not holds(gone, index))
    moved = (
        replace(
            each,
            at=each.at - bisect_left(gone, each.at),
            summary=_text(session, gone, each.at),
        )
        for each in session.compactions
    )
    return replace(session, messages=messages, compactions=tuple(moved))


def _text(session: Session, gone: list[int], at: int) -> str:
    """The summary that stands at, or right behind, the place of a compaction."""
    place = bisect_left(gone, at)
    if place < len(gone) and gone[place] <= at + _BEHIND:
        return session.messages[gone[place]].text
    return ""


def recorded_walk(line: Timeline) -> tuple[Walked, tuple[str, ...]]:
    """The real compactions as a walk, and the texts of their summaries.

    All before a compaction counts as summarized by it: what the tool carried over is not known.
    """
    made: list[Compaction] = []
    texts: list[str] = []
    prefix = line.counts.prefix
    for each in line.session.compactions:
        call = bisect_left(line.starts, each.at)
        if call >= len(line) or (made and each.at <= made[-1].cut):
            continue
        start = made[-1].cut if made else 0
        before = prefix[each.at] - prefix[start]
        made.append(Compaction(call, each.at, start, each.at, (), before, 0, before, 0, 0))
        texts.append(each.summary)
    return Walked(tuple(made), (), ()), tuple(texts)


def recorded(line: Timeline, walked: Walked) -> tuple[Recorded, ...]:
    """The real compactions of the session of a timeline, each with the nearest of the walk."""
    out: list[Recorded] = []
    made = walked.compactions
    for each in line.session.compactions:
        call = bisect_left(line.starts, each.at)
        nearest = min(made, key=lambda one: abs(one.call - call), default=None)
        out.append(
            Recorded(
                at=each.at,
                call=call,
                trigger=each.trigger,
                before=each.before,
                after=each.after,
                nearest=nearest,
                apart=nearest.call - call if nearest is not None else None,
            )
        )
    return tuple(out)
