"""A list of messages while it is mended, and what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from compaction.findings import Finding
from compaction.groups import Groups, find_groups
from compaction.messages import Message, Part
from compaction.messages import changed as with_parts


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the index of the message as read (None for an added one), and what was done."""

    message: int | None
    code: str
    text: str

    def as_json(self) -> dict[str, object]:
        """The change as the command line prints it."""
        return {"message": self.message, "code": self.code, "text": self.text}


@dataclass(slots=True)
class Entry:
    """A message, and the index it was read at."""

    message: Message
    origin: int | None


@dataclass(slots=True)
class Work:
    """The list while it is mended; indexes are those of the last `settle`."""

    messages: Sequence[Message]
    entries: list[Entry] = field(init=False)
    changes: list[Change] = field(default_factory=list)
    #: By index: what stands there instead (nothing, or several).
    _instead: dict[int, list[Entry]] = field(default_factory=dict)
    _groups: Groups | None = None
    _asked: dict[int, dict[str, int]] | None = None
    renamed: bool = False

    def __post_init__(self) -> None:
        self.entries = [Entry(one, index) for index, one in enumerate(self.messages)]

    def asked(self, index: int) -> dict[str, int]:
        """The calls that the message at `index` answers: their ids, and where they are."""
        if self._asked is None:
            self._asked = {}
            for (at, call_id), found in self.groups.links.items():
                self._asked.setdefault(found, {})[call_id] = at
        return self._asked.get(index, {})

    @property
    def groups(self) -> Groups:
        """The groups of the list as it was settled."""
        if self._groups is None:
            self._groups = find_groups([entry.message for entry in self.entries])
        return self._groups

    def at(self, index: int) -> list[Entry]:
        """What stands at an index by now."""
        return self._instead.setdefault(index, [self.entries[index]])

    def entry(self, finding: Finding) -> Entry | None:
        """The message a finding is about; None when it has gone elsewhere in this round."""
        held = self.at(finding.message) if finding.message is not None else []
        return held[0] if held else None

    def tell(self, finding: Finding, text: str, index: int | None = None) -> None:
        """Note what was done about a finding."""
        place = finding.message if index is None else index
        origin = self.entries[place].origin if place is not None else None
        self.changes.append(Change(origin, finding.code, text))

    def settle(self) -> None:
        """Take in the changes of a round."""
        out: list[Entry] = []
        for index, entry in enumerate(self.entries):
            out += self._instead.get(index, [entry])
        self.entries, self._instead, self._groups = out, {}, None
        self._asked, self.renamed = None, False


def changed(entry: Message, parts: Sequence[Part], role: str = "") -> Message:
    """A message with other parts, and another role where one is given."""
    return replace(with_parts(entry, parts), role=role or entry.role, pointer="")


#: Mends what a finding is about; False when it cannot.
Mender = Callable[[Work, Finding], bool]
