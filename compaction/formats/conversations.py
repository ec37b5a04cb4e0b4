"""The conversations in a file: where each stands, and which of several is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats.chatshape import File, Shape
from compaction.formats.documents import where
from compaction.formats.jsonspans import Node
from compaction.marker import is_own_summary
from compaction.messages import Conversation, Text, preview_of

#: Keys under which records say what they are called.
_NAMES = ("custom_id", "id", "conversation_id", "task_id")


#: Messages at the beginning of a request among which a summary stands.
_NEAR = 8


@dataclass(slots=True)
class Found:
    """One conversation in the file: its object, its list, and what stands around it."""

    root: Node
    holder: Node
    listing: Node | None = None
    answer: Node | None = None
    answer_cut: tuple[int, int] | None = None
    response: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> list[object]:
        """All that may be messages, as values."""
        held: list[object] = []
        if self.listing is not None:
            held += (
                [i.value for i in self.listing.items]
                if self.listing.items is not None
                else [self.listing.value]
            )
        if self.answer is not None:
            held += [i.value for i in self.answer.items or (self.answer,)]
        return held


class Finder:
    """Finds conversations in `file`; `problems` and `conversations` tell about the choice."""

    def __init__(self, file: File, shape: Shape, asked: str | None) -> None:
        self._file = file
        self._shape = shape
        self._asked = asked
        self.problems: list[Finding] = []
        self.conversations: tuple[Conversation, ...] = ()

    def locate(self, root: Node) -> Found | None:
        """The list of messages in an object, and what came back for it."""
        if not isinstance(root.value, dict):
            return None
        if root.members is None:
            root = self._file.deeper(root)
        found: Found | None = None
        for path in self._shape.lists:
            node = root.get(*path)
            if node is not None and self._is_list(node):
                holder = root.get(*path[:-1])
                found = Found(root, holder or root, node)
                break
        for path in self._shape.answers:
            node = root.get(*path)
            if node is None or not self._is_answer(node):
                continue
            found = found or Found(root, root)
            found.answer = node
            outer = root.get(path[0]) if len(path) > 1 else root
            # A recorded response may have its body in a member of its own.
            body = root.get(*path[:2]) if len(path) > 2 else None
            if body is not None and isinstance(body.value, dict):
                outer = body
            found.response = outer.value if outer and isinstance(outer.value, dict) else {}
            member = root.member(str(path[0]))
            found.answer_cut = self._file.cut(root, member) if member else None
            break
        return found

    def grouped(self, root: Node) -> list[Found]:
        """The conversations in the first list of such that a document has."""
        for path in self._shape.groups:
            node = root.get(*path)
            items = node.items if node is not None else None
            found = [one for item in items or () if (one := self.locate(item))]
            if found:
                return found
        return []

    def _is_list(self, node: Node) -> bool:
        if isinstance(node.value, str):
            return self._shape.single
        return node.items is not None and (
            not node.items or any(self._shape.is_message(item.value) for item in node.items)
        )

    def _is_answer(self, node: Node) -> bool:
        if node.items is not None:
            return any(self._shape.is_message(item.value) for item in node.items)
        return self._shape.is_message(node.value)

    def choose(self, found: list[Found]) -> Found:
        """One of several conversations: the one asked for, the last of a growing log, the first."""
        if not found:
            raise nothing(self._file, self._shape)
        asked = self._asked
        if len(found) == 1 and asked is None:
            return found[0]
        self.conversations = tuple(_conversations(found, self._shape))
        if asked is not None:
            for number, conversation in enumerate(self.conversations, 1):
                if asked in (conversation.id, str(number)):
                    return found[number - 1]
            raise SessionError(
                f"{where(self._file.source)} has no conversation {asked!r}: "
                f"it has {len(found):,}, numbered from 1."
            )
        if self._grows(found[0], found[-1]) or self._compacted(found):
            self._tell(
                "info",
                "growing-log",
                f"The file logs {len(found):,} requests of one conversation; the last is shown.",
            )
            return found[-1]
        self._tell(
            "warning",
            "several-conversations",
            f"The file holds {len(found):,} conversations; the first is shown, the others stay "
            "as they are.",
        )
        return found[0]

    def _grows(self, one: Found, other: Found) -> bool:
        """Whether `other` is the request `one` some messages later."""
        first, last = one.values, other.values
        # The last message of a request may be marked in another way in the next one.
        stem = first[:-1] if any(self._role(value) == "user" for value in first[:-1]) else first
        longer = self._shape.growing and len(last) > len(first) > 1
        return longer and last[: len(stem)] == stem

    def _compacted(self, found: list[Found]) -> bool:
        """Whether the last request of a growing log holds a summary of this program's own."""
        if not self._shape.growing or not any(map(self._is_ours, found[-1].values[:_NEAR])):
            return False
        return len(found) == 2 or self._grows(found[0], found[-2])

    def _is_ours(self, value: object) -> bool:
        parts = self._shape.parse(value)[:1] if isinstance(value, Mapping) else ()
        return any(isinstance(part, Text) and is_own_summary(part.text) for part in parts)

    def _role(self, value: object) -> str:
        return self._shape.role(value, ()) if isinstance(value, Mapping) else "user"

    def _tell(self, level: Literal["warning", "info"], code: str, text: str) -> None:
        self.problems.append(Finding(level, code, text))


def nothing(file: File, shape: Shape) -> SessionError:
    """The error for a file in which no message is."""
    return SessionError(f"{where(file.source)} holds no messages of the format {shape.format}.")


def _conversations(found: Sequence[Found], shape: Shape) -> Iterator[Conversation]:
    seen: set[str] = set()
    for number, one in enumerate(found, 1):
        record = one.root.value
        stated = next((record[key] for key in _NAMES if key in record), None)
        stated = (shape.called(record) if isinstance(record, Mapping) else "") or stated
        name = str(stated) if isinstance(stated, (str, int)) else str(number)
        if name in seen:
            name = str(number)
        seen.add(name)
        values = one.values
        title = next((t for key in ("title", "name") if isinstance(t := record.get(key), str)), "")
        yield Conversation(name, title or _title(values, shape), len(values))


def _title(values: Sequence[object], shape: Shape) -> str:
    for value in values:
        if isinstance(value, str):
            return value[:80]
        if isinstance(value, Mapping):
            parts = shape.parse(value)
            if shape.role(value, parts) == "user":
                return preview_of(parts)[:80]
    return ""
