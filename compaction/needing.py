"""What was needed later: the cost of forgetting, measured on the rest of the recorded session.

The whole session is known, so it shows which exact values of an old message a later one uses
again, which calls fetch again what was dropped, and which standing constraints stand nowhere any
more. A use is a gap between two messages that hold the same value: a compaction that takes the
first one away before the second comes forgets it, unless its summary holds the value.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.constraints import constraints
from compaction.decision import holds
from compaction.errors import Cancelled
from compaction.evidence import occurs, window
from compaction.exact_values import values
from compaction.messages import (
    IsCancelled,
    Media,
    Message,
    Session,
    Text,
    ToolCall,
    ToolResult,
)
from compaction.replaying.walking import Compaction, Walked
from compaction.summary.tool_actions import action_of
from compaction.tokens import Counts

#: How a value comes back, and how much it weighs that it was forgotten.
WEIGHTS = {"argument": 3, "request": 2, "answer": 1, "fetched": 3, "constraint": 5}

How = Literal["argument", "request", "answer", "fetched", "constraint"]

#: Verbs of calls that only look: made again, they fetch what was there.
_LOOKS = frozenset({"read", "searched", "fetched", "ran"})

_EVERY = 256


@dataclass(frozen=True, slots=True)
class Need:
    """One value of message `of` that message `at` uses again, and how.

    For a call that is made again ("fetched") `text` is the call and `tokens` what its result
    costs; `of` is the result it repeats. For a constraint `at` is the end of the session.
    """

    text: str
    kind: str
    of: int
    at: int
    how: How
    tokens: int = 0

    @property
    def weight(self) -> int:
        """How much it weighs that it was forgotten."""
        return WEIGHTS[self.how]

    def as_json(self) -> dict[str, object]:
        """The need as the command line prints it."""
        return {
            "text": self.text,
            "kind": self.kind,
            "of": self.of,
            "at": self.at,
            "how": self.how,
            "tokens": self.tokens,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """All that later messages of a session use of earlier ones, in the order of the earlier."""

    needs: tuple[Need, ...]
    of: array[int]
    at: array[int]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What one policy forgot of what was needed. `score` is the sum of the weights."""

    needs: tuple[Need, ...]
    score: int
    refetched: int
    constraints: int

    def as_json(self) -> dict[str, object]:
        """As the command line prints it."""
        return {
            "score": self.score,
            "refetched_tokens": self.refetched,
            "constraints": self.constraints,
            "needs": [need.as_json() for need in self.needs],
        }


def needs_of(session: Session, counts: Counts, *, cancelled: IsCancelled | None = None) -> Needs:
    """Look through every message once. Takes time in proportion to the text. Raises Cancelled."""
    looking = _Looking(counts, len(session.messages))
    for index, message in enumerate(session.messages):
        if index % _EVERY == 0 and cancelled is not None and cancelled():
            raise Cancelled("Looking for what is needed later was cancelled.")
        looking.take(index, message)
    found = sorted(looking.found(), key=lambda need: (need.of, need.at))
    return Needs(
        tuple(found),
        array("q", (need.of for need in found)),
        array("q", (need.at for need in found)),
    )


def forgotten(needs: Needs, walked: Walked, summaries: Sequence[str] = ()) -> Forgotten:
    """What the compactions of a walk took away before it was needed.

    `summaries` are their texts, where they are known: what one of them holds at the time of the
    need is not forgotten.
    """
    made = walked.compactions
    if not made:
        return Forgotten((), 0, 0, 0)
    cleared = _cleared(made)
    ends = [each.cut for each in made]
    starts = [each.at for each in made]
    first = made[0].start
    lost: list[Need] = []
    for number, need in enumerate(needs.needs):
        of, at = needs.of[number], needs.at[number]
        if of < first:
            continue
        place = bisect_right(ends, of)
        # The first compaction whose summary takes the message in, and that keeps it no longer.
        while place < len(made) and holds(made[place].stay, of):
            place += 1
        place = min(place, cleared.get(of, place))
        if place == len(made) or starts[place] > at:
            continue
        if summaries and _said(need, summaries[_newest(made, at)]):
            continue
        lost.append(need)
    return Forgotten(
        tuple(lost),
        sum(need.weight for need in lost),
        sum(need.tokens for need in lost),
        sum(need.how == "constraint" for need in lost),
    )


def _cleared(made: Sequence[Compaction]) -> dict[int, int]:
    """By message, the number of the first compaction that changed it in place."""
    out: dict[int, int] = {}
    for number, each in enumerate(made):
        for index in each.cleared:
            out.setdefault(index, number)
    return out


def _newest(made: Sequence[Compaction], at: int) -> int:
    """The number of the last compaction before message `at` was there."""
    return bisect_right(made, at, key=lambda each: each.at) - 1


def _said(need: Need, summary: str) -> bool:
    if need.how == "constraint":
        return " ".join(need.text.split()) in " ".join(summary.split())
    return need.how != "fetched" and occurs(need.text, summary)


class _Looking:
    """The state of one pass: where each value, call and constraint was seen last."""

    def __init__(self, counts: Counts, length: int) -> None:
        self._counts = counts
        self._length = length
        self._last: dict[str, int] = {}
        self._answers: dict[tuple[str, str], int] = {}
        self._asked: dict[str, tuple[str, str]] = {}
        self._standing: dict[str, int] = {}
        self._needs: list[Need] = []

    def take(self, index: int, message: Message) -> None:
        """One message, in order."""
        if message.summary:
            # What a tool's own summary says again nobody used.
            return
        seen: set[str] = set()
        for text, how in _texts(message):
            for value in values(text, prose=how in ("request", "answer")):
                if value.text in seen:
                    continue
                seen.add(value.text)
                before = self._last.get(value.text)
                if how is not None and before is not None and before < index:
                    self._needs.append(Need(value.text, value.kind, before, index, how))
                self._last[value.text] = index
            if how == "request" or message.role in ("system", "developer"):
                for sentence in constraints(text, weak=False):
                    self._standing[sentence] = index
        if message.calls or message.results:
            self._calls(index, message)

    def _calls(self, index: int, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolCall):
                if action_of(part.name, part.arguments).verb in _LOOKS:
                    key = (part.name, part.arguments)
                    self._asked[part.id] = key
            elif isinstance(part, ToolResult) and part.call_id in self._asked:
                key = self._asked.pop(part.call_id)
                before = self._answers.get(key)
                if before is not None and not part.is_error:
                    tokens = self._counts.tokens[index]
                    shown = f"{key[0]} {key[1]}"[:300]
                    self._needs.append(Need(shown, "call", before, index, "fetched", tokens))
                self._answers[key] = index

    def found(self) -> Iterator[Need]:
        """All needs; constraints are needed to the end."""
        yield from self._needs
        for sentence, index in self._standing.items():
            yield Need(sentence, "constraint", index, self._length, "constraint")


def _texts(message: Message) -> Iterator[tuple[str, How | None]]:
    """The texts of a message, and how a value in it is used; None where it is only shown."""
    spoken: How | None = None
    if message.role == "assistant":
        spoken = "answer"
    elif message.typed:
        spoken = "request"
    for part in message.parts:
        match part:
            case ToolCall(arguments=arguments):
                yield window(arguments), "argument"
            case Text(text=text):
                yield text, spoken
            case ToolResult(content=content):
                for inner in content:
                    if not isinstance(inner, Media):
                        yield window(inner.text), None
            case _:
                continue
