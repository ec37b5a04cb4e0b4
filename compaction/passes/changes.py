"""What a sequence of passes changes in a session, and what that frees.

The work that grows with the session is done once for a sequence; what it frees between two places
is then a subtraction. Messages are changed when somebody asks for them.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from compaction.groups import Groups
from compaction.messages import Message
from compaction.passes.changing import changed
from compaction.passes.finding import FINDERS, Scene
from compaction.policy_passes import (
    ClearThinking,
    ClearToolResults,
    ClipToolResults,
    DedupeReads,
    DropMedia,
    Pass,
)
from compaction.tokens import count_message

if TYPE_CHECKING:
    from compaction.tokens import Counts

#: Of a message, the numbers of its results, calls or other parts that a pass takes.
Hits = Mapping[int, frozenset[int]]

_DID: Mapping[type, str] = {
    ClearToolResults: "its tool output is cleared",
    ClearThinking: "its thinking is cleared",
    ClipToolResults: "its tool output is clipped",
    DropMedia: "its media are dropped",
    DedupeReads: "its output is shown again later",
}


class Changes:
    """A session after some passes, one after the other, were let loose on all of it.

    `indexes` are the messages they change, ascending; `tokens` the counts of all messages as
    changed, `freed` the prefix sums of what that saves, `sizes` those (over `indexes`) of what the
    changed messages had before.
    """

    __slots__ = ("_counts", "_groups", "_messages", "_steps", "freed", "indexes", "sizes", "tokens")

    def __init__(self, messages: Sequence[Message], counts: Counts, groups: Groups) -> None:
        self._messages = messages
        self._counts = counts
        self._groups = groups
        self._steps: tuple[tuple[Pass, Hits], ...] = ()
        self.tokens = counts.tokens
        self.freed = array("q", bytes(8 * (len(messages) + 1)))
        self.indexes = array("q")
        self.sizes = array("q", (0,))

    def after(self, each: Pass) -> Changes:
        """These changes and then those of one more pass; only what saves tokens is changed."""
        made = Changes(self._messages, self._counts, self._groups)
        counter, tokens = self._counts.counter, array("q", self.tokens)
        scene = Scene(self._messages, self.tokens, self._groups)
        hits: dict[int, frozenset[int]] = {}
        for index, parts in FINDERS[type(each)](scene, each):
            before = self.message(index)
            now = changed(before, each, parts, counter)
            if now is not before and (smaller := count_message(now, counter)) < tokens[index]:
                tokens[index] = smaller
                hits[index] = parts
        made._steps = (*self._steps, (each, hits))
        made.tokens = tokens
        saved = (before - now for before, now in zip(self._counts.tokens, tokens, strict=True))
        made.freed = array("q", accumulate(saved, initial=0))
        made.indexes = array("q", sorted({*self.indexes, *hits}))
        had = (self._counts.tokens[index] for index in made.indexes)
        made.sizes = array("q", accumulate(had, initial=0))
        return made

    def __len__(self) -> int:
        return len(self._messages)

    def message(self, index: int) -> Message:
        """The message as changed; the very message of the session where nothing changed it."""
        entry = self._messages[index]
        for each, hits in self._steps:
            parts = hits.get(index)
            if parts is not None:
                entry = changed(entry, each, parts, self._counts.counter)
        return entry

    def why(self, index: int) -> str:
        """What was done to a changed message, in words."""
        return " and ".join(_DID[type(each)] for each, hits in self._steps if index in hits)
