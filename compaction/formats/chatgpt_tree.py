"""Conversations of a ChatGPT export as trees: where they stand, and the branch last seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compaction.formats.chatgpt_content import why_not_sent
from compaction.formats.documents import Document
from compaction.formats.jsonspans import Node, scan

#: Where a conversation stands that a page, a proxy or a browser extension saved.
_WRAPPERS: tuple[tuple[str, ...], ...] = (
    (),
    ("conversation",),
    ("data",),
    ("raw_provider_payload",),
    ("serverResponse", "data"),
    ("props", "pageProps", "serverResponse", "data"),
)

#: Keys that are looked into on the way to a conversation.
STRUCTURAL = frozenset(key for path in _WRAPPERS for key in path) | {"conversations"}


@dataclass(frozen=True, slots=True)
class Knot:
    """A node of a tree: its id, its place in the text, and its message, None where it has none."""

    id: str
    node: Node
    message: Node | None
    reason: str

    @property
    def record(self) -> Mapping[str, Any]:
        """The message; {} where there is none."""
        value = self.message.value if self.message is not None else None
        return value if isinstance(value, Mapping) else {}

    @property
    def live(self) -> bool:
        return self.message is not None and not self.reason


@dataclass(frozen=True, slots=True)
class Tree:
    """One conversation: its text looked into, and the branch last seen, from its root."""

    node: Node
    branch: tuple[Knot, ...]
    #: Messages of all other branches.
    others: tuple[Node, ...]

    @property
    def mapping(self) -> Node:
        """The nodes of all branches."""
        found = self.node.get("mapping")
        assert found is not None
        return found


def is_conversation(value: object) -> bool:
    """Whether a JSON value is a conversation: a mapping of nodes that know their neighbours."""
    mapping = value.get("mapping") if isinstance(value, Mapping) else None
    if not isinstance(mapping, Mapping) or not isinstance(value, Mapping):
        return False
    if not mapping:
        return "current_node" in value
    nodes = [node for _, node in zip(range(20), mapping.values(), strict=False)]
    return any(
        isinstance(node, Mapping) and "message" in node and ("children" in node or "parent" in node)
        for node in nodes
    )


def holds(value: object) -> bool:
    """Whether a JSON value is an export, or what holds one conversation."""
    if isinstance(value, list):
        return any(is_conversation(one) for one in value[:20])
    if not isinstance(value, Mapping):
        return False
    listed = value.get("conversations")
    if isinstance(listed, list) and any(is_conversation(one) for one in listed[:20]):
        return True
    return any(is_conversation(_inside(value, path)) for path in _WRAPPERS)


def _inside(value: object, path: tuple[str, ...]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def conversations(document: Document) -> list[Node]:
    """The conversations in a document, in their order."""
    return [node for root in document.roots for node in _conversations(root)]


def _conversations(root: Node) -> Iterator[Node]:
    listed = root if isinstance(root.value, list) else root.get("conversations")
    if listed is not None and listed.items is not None:
        yield from (item for item in listed.items if is_conversation(item.value))
        return
    for path in _WRAPPERS:
        node = root.get(*path)
        if node is not None and is_conversation(node.value):
            yield node
            return


def branch_of(conversation: Mapping[str, Any]) -> list[str]:
    """The ids of the nodes from the root to the one last seen; else to the newest end."""
    mapping = conversation["mapping"]
    at = conversation.get("current_node")
    if not isinstance(at, str) or at not in mapping:
        at = _newest(mapping)
    path: dict[str, None] = {}
    while isinstance(at, str) and at in mapping and at not in path:
        path[at] = None
        node = mapping[at]
        at = node.get("parent") if isinstance(node, Mapping) else None
    return list(reversed(path))


def _newest(mapping: Mapping[str, Any]) -> str | None:
    """The id of the end of a branch whose message is the newest."""
    best: tuple[float, int, str] | None = None
    for number, (name, node) in enumerate(mapping.items()):
        if not isinstance(node, Mapping) or node.get("children"):
            continue
        message = node.get("message")
        time = message.get("create_time") if isinstance(message, Mapping) else None
        told = float(time) if isinstance(time, (int, float)) else 0.0
        if best is None or (told, number) > best[:2]:
            best = (told, number, name)
    return best[2] if best else None


def length_of(conversation: Mapping[str, Any]) -> int:
    """How many messages the branch last seen has."""
    mapping = conversation["mapping"]
    nodes = (mapping[name] for name in branch_of(conversation))
    return sum(isinstance(n, Mapping) and isinstance(n.get("message"), Mapping) for n in nodes)


def tree_of(document: Document, conversation: Node) -> Tree:
    """A conversation looked into."""
    text = document.text
    node = scan(text, ("mapping",), conversation.start)
    mapping = node.get("mapping")
    members = {one.key: one.node for one in (mapping.members if mapping is not None else ()) or ()}
    path = branch_of(node.value) if members else []
    branch = tuple(_knot(text, name, members[name]) for name in path)
    aside = (_knot(text, name, members[name]) for name in members.keys() - set(path))
    others = tuple(knot.message for knot in aside if knot.message is not None)
    return Tree(node, branch, others)


def _knot(text: str, name: str, node: Node) -> Knot:
    inner = scan(text, (), node.start)
    message = inner.get("message")
    if message is None or not isinstance(message.value, Mapping):
        return Knot(name, inner, None, "")
    return Knot(name, inner, message, why_not_sent(message.value))
