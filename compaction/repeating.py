"""What stands in a session more than once: the same file read again, the same output."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

from compaction.messages import ToolResult

#: Characters from which on an output is worth naming when it comes again.
_WORTH = 200


@dataclass(frozen=True, slots=True)
class Repeat:
    """One thing that stands in several messages.

    `what`: "file" is the same part of a file read again, `name` its path; "output" the same output
    again, `name` the tool. `messages` are the indexes, ascending. `wasted` are the tokens of all
    but the newest: it alone says all that is still true.
    """

    what: Literal["file", "output"]
    name: str
    messages: tuple[int, ...]
    wasted: int

    def as_json(self) -> dict[str, object]:
        """The repeat as the command line prints it."""
        return {
            "what": self.what,
            "name": self.name,
            "messages": list(self.messages),
            "wasted": self.wasted,
        }


class Read(NamedTuple):
    """A call that looks at a file: its path, and the arguments as sent, which say what part."""

    path: str
    arguments: str


class Repeats:
    """Collects the results of a session, in its order."""

    def __init__(self) -> None:
        #: By what was read, or by hash of the output: the places, and the tokens at each.
        self._reads: dict[Read, list[tuple[int, int]]] = defaultdict(list)
        self._outputs: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
        self._tools: dict[bytes, str] = {}
        self._keys: dict[Read, set[bytes]] = defaultdict(set)

    def add(
        self, index: int, result: ToolResult, tokens: int, tool: str, read: Read | None
    ) -> None:
        """Take in one result; `read` says which file it shows, None for no file."""
        if result.is_error or result.cleared:
            return
        text = result.text
        if len(text) < _WORTH:
            return
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._outputs[key].append((index, tokens))
        self._tools.setdefault(key, tool)
        if read:
            self._reads[read].append((index, tokens))
            self._keys[read].add(key)

    def found(self) -> tuple[Repeat, ...]:
        """All that stands more than once, the most wasteful first; nothing is named twice."""
        again = [read for read, places in self._reads.items() if len(places) > 1]
        told = {key for read in again for key in self._keys[read]}
        out = [Repeat("file", read.path, *_wasted(self._reads[read])) for read in again]
        out += [
            Repeat("output", self._tools[key], *_wasted(places))
            for key, places in self._outputs.items()
            if len(places) > 1 and key not in told
        ]
        return tuple(sorted(out, key=lambda repeat: (-repeat.wasted, repeat.messages)))


def _wasted(places: list[tuple[int, int]]) -> tuple[tuple[int, ...], int]:
    indexes = tuple(dict.fromkeys(index for index, _ in places))
    return indexes, sum(tokens for _, tokens in places[:-1])
