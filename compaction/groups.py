"""Which messages cannot be separated, and where a list may therefore be cut.

A tool call and all its results are one group, a parallel batch is whole, and reasoning that is
bound to the item after it shares its group. Everything found is held in arrays: a session of
100,000 messages costs a few megabytes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from compaction.messages import Message, ToolCall, ToolResult

Rail = Literal["", "first", "middle", "last"]

#: (index of a message, id of a call); the id is "" where the format has none.
Place = tuple[int, str]


class Links(Mapping[Place, int]):
    """From (index of the calling message, call id) to the index of the first answer.

    Calls without an id share the key with the id ""; it leads to the first answer among them.
    `answers(i)` has all answers to message `i`, later ones included.
    """

    __slots__ = ("_calls", "_messages", "_order", "_results", "_slots")

    def __init__(
        self, messages: Sequence[Message], calls: array[int], slots: array[int], results: array[int]
    ) -> None:
        self._messages = messages
        order = sorted(range(len(calls)), key=lambda at: (calls[at], slots[at], results[at]))
        self._calls = array("q", (calls[at] for at in order))
        self._slots = array("q", (slots[at] for at in order))
        self._results = array("q", (results[at] for at in order))

    def __getitem__(self, place: Place) -> int:
        index, call_id = place
        for at in self._rows(index):
            if self._messages[index].calls[self._slots[at]] == call_id:
                return self._results[at]
        raise KeyError(place)

    def __iter__(self) -> Iterator[Place]:
        current, seen = -1, set[str]()
        for index, slot in zip(self._calls, self._slots, strict=True):
            if index != current:
                current, seen = index, set()
            call_id = self._messages[index].calls[slot]
            if call_id not in seen:
                seen.add(call_id)
                yield index, call_id

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def answers(self, index: int) -> tuple[int, ...]:
        """The messages that answer the calls of message `index`, ascending, each once."""
        return tuple(sorted({self._results[at] for at in self._rows(index)}))

    def _rows(self, index: int) -> range:
        return range(bisect_left(self._calls, index), bisect_right(self._calls, index))


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of one list of messages.

    `starts` is the first index of every group, ascending: group k is
    [starts[k], starts[k + 1]), the last one ends at `n`. These and `n` are the safe cuts.
    `turns` is the index of every message a person typed. `unanswered` is the first user message
    after the last assistant message, `n` when there is none; in a list without any assistant,
    which shows nothing of what was answered, the last user message. `summaries` are the messages
    that are summaries of this program's own. `open_calls` have no result, `orphans` are results
    without a call, `duplicates` calls whose id an earlier call had, `extra_results` results to
    a call that had one already (they belong to its group all the same). `turn_cuts` are the safe
    cuts before a turn, `split_cuts` those and the ones within the newest turn.
    """

    n: int
    starts: array[int]
    turns: array[int]
    unanswered: int
    summaries: array[int]
    links: Links
    open_calls: tuple[Place, ...] = ()
    orphans: tuple[Place, ...] = ()
    duplicates: tuple[Place, ...] = ()
    extra_results: tuple[Place, ...] = ()
    turn_cuts: array[int] = field(init=False)
    split_cuts: array[int] = field(init=False)

    def __post_init__(self) -> None:
        safe = (turn for turn in self.turns if self.snap_back(turn) == turn)
        object.__setattr__(self, "turn_cuts", array("q", safe))
        newest = self.turn_cuts[-1] if self.turn_cuts else -1
        within = self.starts[bisect_right(self.starts, newest) :]
        object.__setattr__(self, "split_cuts", self.turn_cuts + within)

    def number_of(self, i: int) -> int:
        """The number of the group that message `i` is in."""
        return bisect_right(self.starts, i) - 1

    def group_of(self, i: int) -> range:
        """The messages of the group that message `i` is in."""
        if not 0 <= i < self.n:
            raise IndexError(f"there is no message #{i} among {self.n}")
        return self.group(self.number_of(i))

    def group(self, k: int) -> range:
        """The messages of group number `k`."""
        end = self.starts[k + 1] if k + 1 < len(self.starts) else self.n
        return range(self.starts[k], end)

    def snap_back(self, i: int) -> int:
        """The largest safe cut that is not after `i`."""
        if i >= self.n:
            return self.n
        return self.starts[self.number_of(i)] if i > 0 else 0

    def snap_forward(self, i: int) -> int:
        """The smallest safe cut that is not before `i`."""
        at = bisect_left(self.starts, i)
        return self.starts[at] if at < len(self.starts) else self.n

    def is_safe(self, i: int) -> bool:
        """Whether a cut before message `i` separates no group."""
        return self.snap_back(i) == i

    def rail(self, i: int) -> Rail:
        """Where `i` stands in its group; "" when it is alone."""
        group = self.group_of(i)
        if len(group) == 1:
            return ""
        if i == group.start:
            return "first"
        return "last" if i == group.stop - 1 else "middle"


def find_groups(messages: Sequence[Message]) -> Groups:
    """The groups of `messages`, in one pass.

    A result belongs to the nearest call of its id before it: within the turn to the nearest
    that is not answered yet, else to the nearest of all. Where a format has no ids, calls and
    results pair by name, and by order where there is no name, within the turn.
    """
    pairing = _Pairing()
    reach = array("q", range(len(messages)))
    turns, summaries = array("q"), array("q")
    unanswered = len(messages)
    last_user, one_sided = unanswered, True
    for index, message in enumerate(messages):
        if message.typed:
            turns.append(index)
            pairing.turn += 1
            pairing.unnamed.clear()
        if message.summary == "compaction":
            summaries.append(index)
        if message.role == "assistant":
            unanswered = len(messages)
            one_sided = False
        elif message.role == "user":
            last_user = index
            unanswered = min(unanswered, index)
        if message.results:
            for call in pairing.answer(index, message):
                reach[call] = max(reach[call], index)
        if message.calls:
            pairing.call(index, message)
        if message.bound and index + 1 < len(messages):
            reach[index] = max(reach[index], index + 1)
    return Groups(
        n=len(messages),
        starts=_starts(reach),
        turns=turns,
        unanswered=last_user if one_sided else unanswered,
        summaries=summaries,
        links=Links(messages, pairing.call_at, pairing.call_slot, pairing.result_at),
        open_calls=pairing.open_calls(messages),
        orphans=tuple(pairing.orphans),
        duplicates=tuple(pairing.duplicates),
        extra_results=tuple(pairing.extra),
    )


def _starts(reach: array[int]) -> array[int]:
    """The first index of every group, when message i is tied to all up to reach[i]."""
    starts = array("q")
    end = -1
    for index, far in enumerate(reach):
        if index > end:
            starts.append(index)
        if far > end:
            end = far
    return starts


class _Call:
    """A call while its results are looked for."""

    __slots__ = ("answered", "index", "name", "slot", "turn")

    def __init__(self, index: int, slot: int, turn: int, name: str = "") -> None:
        self.index = index
        self.slot = slot
        self.turn = turn
        self.name = name
        self.answered = False


class _Pairing:
    """Calls and results matched as the messages go by."""

    def __init__(self) -> None:
        self.turn = 0
        self.call_at, self.call_slot, self.result_at = array("q"), array("q"), array("q")
        self.orphans: list[Place] = []
        self.duplicates: list[Place] = []
        self.extra: list[Place] = []
        self.unnamed: list[_Call] = []
        # The newest call of every id, and below it those of the same turn still open.
        self._calls: dict[str, list[_Call]] = {}
        self._open: dict[tuple[int, int], None] = {}

    def call(self, index: int, message: Message) -> None:
        names = _call_names(message) if "" in message.calls else ()
        for slot, call_id in enumerate(message.calls):
            self._open[(index, slot)] = None
            if not call_id:
                name = names[slot] if slot < len(names) else ""
                self.unnamed.append(_Call(index, slot, self.turn, name))
                continue
            call = _Call(index, slot, self.turn)
            earlier = self._calls.get(call_id)
            if earlier is None:
                self._calls[call_id] = [call]
                continue
            self.duplicates.append((index, call_id))
            # Only calls of this turn that are still open can be answered behind a newer one.
            earlier[:] = [each for each in earlier if not each.answered and each.turn == self.turn]
            earlier.append(call)

    def answer(self, index: int, message: Message) -> Iterator[int]:
        """The messages whose calls `message` answers, one for every result with a call."""
        names = _result_names(message) if "" in message.results else ()
        for slot, call_id in enumerate(message.results):
            name = names[slot] if slot < len(names) else ""
            call = self._by_id(call_id) if call_id else self._by_name(name)
            if call is None:
                self.orphans.append((index, call_id))
                continue
            if call.answered:
                self.extra.append((index, call_id))
            call.answered = True
            self._open.pop((call.index, call.slot), None)
            self.call_at.append(call.index)
            self.call_slot.append(call.slot)
            self.result_at.append(index)
            yield call.index

    def _by_id(self, call_id: str) -> _Call | None:
        calls = self._calls.get(call_id)
        if not calls:
            return None
        while len(calls) > 1 and calls[-1].answered and calls[-2].turn == self.turn:
            calls.pop()
        return calls[-1]

    def _by_name(self, name: str) -> _Call | None:
        for at, call in enumerate(self.unnamed):
            if not name or not call.name or call.name == name:
                return self.unnamed.pop(at)
        return None

    def open_calls(self, messages: Sequence[Message]) -> tuple[Place, ...]:
        return tuple((index, messages[index].calls[slot]) for index, slot in sorted(self._open))


def _call_names(message: Message) -> tuple[str, ...]:
    return tuple(part.name for part in message.parts if isinstance(part, ToolCall))


def _result_names(message: Message) -> tuple[str, ...]:
    return tuple(part.name for part in message.parts if isinstance(part, ToolResult))
