"""ChatGPT exports with another branch: kept nodes as they are but for their neighbours."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats.chatgpt_tree import STRUCTURAL, Knot, Tree, conversations, tree_of
from compaction.formats.converting import as_responses
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import Document, open_document
from compaction.formats.exact import decode_at
from compaction.formats.json_style import style_of
from compaction.formats.jsonspans import Member, Node
from compaction.formats.sketching import stands_in
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Which conversation of its file a session is, and where its messages start, in order."""

    index: int
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _New:
    """A node that is to be made."""

    id: str
    message: Mapping[str, Any] | None


# ------------------------------------------------------------------------------- other branch


def rewritten(
    messages: Sequence[Message], session: Session, place: Place, notes: Notes
) -> tuple[bytes, tuple[Finding, ...]]:
    """The file of a session with `messages` as the one branch of its conversation."""
    document = open_document(session.source, STRUCTURAL)
    tree = tree_of(document, conversations(document)[place.index])
    branch = _branch(messages, session, document, tree, notes)
    found: tuple[Finding, ...] = ()
    if tree.others:
        count = len(tree.others)
        found = (
            Finding(
                "info",
                "other-branches",
                f"{count:,} message{'' if count == 1 else 's'} of other branches "
                f"{'is' if count == 1 else 'are'} left out of the new file.",
            ),
        )
    if document.roots[0].closers:
        # What follows the conversation is broken; it is written by itself.
        data = exact.dump_bytes([_as_value(tree, branch)], exact.PRETTY)
        return data + b"\n", found
    conversation = tree.node
    text = _with_branch(document.text, tree, branch)
    before, after = document.text[: conversation.start], document.text[conversation.end :]
    mark = session.source.data[: document.offsets.at(0)]
    return mark + (before + text + after).encode("utf-8", "replace"), found


def _branch(
    messages: Sequence[Message], session: Session, document: Document, tree: Tree, notes: Notes
) -> list[Knot | _New]:
    """The new branch: nodes of the old one that stay, what leads to them, and new nodes."""
    places: dict[int, int] = {}
    leading: list[int] = []
    before: dict[int, list[int]] = {}
    waiting: list[int] = []
    for number, knot in enumerate(tree.branch):
        if knot.message is None or not knot.live:
            waiting.append(number)
            continue
        places[document.span(knot.message).start] = number
        if not before:
            leading, waiting = waiting, []
        before[number] = waiting
        waiting = []
    out: list[Knot | _New] = [tree.branch[number] for number in leading]
    time: float | None = next((_seconds(one.time) for one in messages if one.time), None)
    for index, one in enumerate(messages):
        start = one.spans[0].start if stands_in(one, session.source) else -1
        time = _seconds(one.time) or time
        if start in places:
            number = places[start]
            out += [tree.branch[hidden] for hidden in before[number]]
            out.append(tree.branch[number])
            continue
        for record in _records(one, notes.at(index)):
            out.append(_made(record, out[-1].id if out else "", time))
    # What stands behind the last message stays with it.
    if places and messages and _ends(messages[-1], session, places):
        out += [tree.branch[number] for number in waiting]
    return out


def _ends(message: Message, session: Session, places: Mapping[int, int]) -> bool:
    start = message.spans[0].start if stands_in(message, session.source) else -1
    return places.get(start) == max(places.values())


def _with_branch(text: str, tree: Tree, branch: Sequence[Knot | _New]) -> str:
    """The text of a conversation whose mapping is `branch` and nothing else."""
    conversation, mapping = tree.node, tree.mapping
    edits = [(mapping.start, mapping.end, _mapping(text, mapping, branch))]
    current = conversation.get("current_node")
    if current is not None and branch and current.value != branch[-1].id:
        edits.append((current.start, current.end, exact.dumps(branch[-1].id)))
    return _edited(text, conversation, edits)


def _mapping(text: str, mapping: Node, branch: Sequence[Knot | _New]) -> str:
    members = mapping.members or ()
    layout = _Layout(text, mapping, members)
    keys = {member.key: text[member.start : member.node.start] for member in members}
    entries: list[str] = []
    for index, one in enumerate(branch):
        parent = branch[index - 1].id if index else None
        children = [branch[index + 1].id] if index + 1 < len(branch) else []
        if isinstance(one, Knot):
            lead = keys.get(one.id) or exact.dumps(one.id) + layout.colon
            entries.append(lead + _linked(text, one.node, parent, children, layout))
        else:
            value = {"id": one.id, "message": one.message, "parent": parent, "children": children}
            entries.append(exact.dumps(one.id) + layout.colon + layout.value(value))
    if not entries:
        return "{}"
    return "{" + layout.lead + layout.gap.join(entries) + layout.tail + "}"


class _Layout:
    """How the members of a mapping are laid out."""

    def __init__(self, text: str, mapping: Node, members: Sequence[Member]) -> None:
        self.lead = self.tail = ""
        self.colon, self.gap = ": ", ", "
        self._style = exact.SPACED
        if not members:
            return
        first, last = members[0], members[-1]
        self.lead = text[mapping.start + 1 : first.start]
        self.tail = text[last.node.end : mapping.end - 1]
        self.colon = text[decode_at(text, first.start)[1] : first.node.start]
        raw = text[first.node.start : first.node.end].encode("utf-8", "replace")
        self._style = replace(style_of(raw), ascii=text.isascii() and "\\u" in text)
        if len(members) > 1:
            self.gap = text[first.node.end : members[1].start]
        else:
            self.gap = "," + self.lead if "\n" in self.lead else self._style.comma

    def value(self, value: object) -> str:
        """A new value, indented as its neighbours are."""
        margin = self.lead[self.lead.rfind("\n") + 1 :] if "\n" in self.lead else ""
        return exact.dumps(value, self._style).replace("\n", "\n" + margin)

    def ids(self, value: object) -> str:
        """A small value on one line."""
        return exact.dumps(value, replace(self._style, indent=""))


def _linked(text: str, node: Node, parent: str | None, children: list[str], layout: _Layout) -> str:
    """The text of a node between these neighbours."""
    edits: list[tuple[int, int, str]] = []
    for key, new in (("parent", parent), ("children", children)):
        held = node.get(key)
        if held is not None and held.value != new:
            edits.append((held.start, held.end, layout.ids(new)))
    return _edited(text, node, edits)


def _edited(text: str, node: Node, edits: Sequence[tuple[int, int, str]]) -> str:
    out: list[str] = []
    position = node.start
    for start, end, new in sorted(edits):
        out += [text[position:start], new]
        position = end
    return "".join((*out, text[position : node.end]))


def _as_value(tree: Tree, branch: Sequence[Knot | _New]) -> dict[str, Any]:
    """A conversation with `branch` as values."""
    nodes: dict[str, Any] = {}
    for index, one in enumerate(branch):
        message = one.record or None if isinstance(one, Knot) else one.message
        nodes[one.id] = {
            "id": one.id,
            "message": message,
            "parent": branch[index - 1].id if index else None,
            "children": [branch[index + 1].id] if index + 1 < len(branch) else [],
        }
    last = branch[-1].id if branch else None
    return {**tree.node.value, "mapping": nodes, "current_node": last}


# --------------------------------------------------------------------------------- new nodes


def _made(record: dict[str, Any], before: str, time: float | None) -> _New:
    said = exact.dumps([before, record]).encode("utf-8", "replace").decode()
    name = str(uuid.uuid5(uuid.NAMESPACE_OID, said))
    return _New(name, {"id": name, **record, "create_time": time})


def _records(message: Message, notes: Notes) -> list[dict[str, Any]]:
    """One message as messages of the export: its results, what it says, and each of its calls."""
    out: list[dict[str, Any]] = []
    said: list[str] = []
    calls: list[ToolCall] = []
    for part in message.parts:
        match part:
            case ToolResult(name=name):
                out.append(_record("tool", _parts([part.text]), name=name or "tool"))
            case ToolCall():
                calls.append(part)
            case Text(text=text):
                said.append(text)
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Media(kind=kind):
                notes.tell("media", f"{part.mime or kind} content")
                said.append(part.label)
            case Opaque(kind=kind, text=text):
                notes.tell("opaque", f"a block of type {kind}")
                said.append(text)
    if said:
        out.append(_record(message.role, _parts(said), name=message.name))
    for call in calls:
        code = {"content_type": "code", "language": "unknown", "text": call.arguments}
        out.append(_record("assistant", code, recipient=call.name or "tool"))
    return out


def _parts(said: list[str]) -> dict[str, Any]:
    return {"content_type": "text", "parts": said}


def _record(
    role: str, content: dict[str, Any], *, name: str = "", recipient: str = "all"
) -> dict[str, Any]:
    return {
        "author": {"role": role, "name": name or None, "metadata": {}},
        "create_time": None,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {},
        "recipient": recipient,
        "channel": None,
    }


def _seconds(time: str) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp() if time else None
    except (ValueError, OverflowError):
        return None


def document_of(messages: Sequence[Message], session: Session, notes: Notes) -> tuple[bytes, bytes]:
    """An export of one conversation, made of a session from elsewhere."""
    nodes: list[_New] = [_New("client-created-root", None)]
    for index, one in enumerate(as_responses(messages, session, notes)):
        for record in _records(one, notes.at(index)):
            nodes.append(_made(record, nodes[-1].id, _seconds(one.time)))
    times = [time for one in messages if (time := _seconds(one.time)) is not None]
    mapping = {
        one.id: {
            "id": one.id,
            "message": one.message,
            "parent": nodes[index - 1].id if index else None,
            "children": [nodes[index + 1].id] if index + 1 < len(nodes) else [],
        }
        for index, one in enumerate(nodes)
    }
    name = str(uuid.uuid5(uuid.NAMESPACE_OID, nodes[-1].id))
    conversation: dict[str, Any] = {
        "title": session.title,
        "create_time": times[0] if times else None,
        "update_time": times[-1] if times else None,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": nodes[-1].id,
        "default_model_slug": session.model or None,
        "conversation_id": name,
        "id": name,
    }
    return exact.dump_bytes([conversation], exact.PRETTY), b"\n"
