"""Messages as records of Claude.ai, and the tree of a conversation hung together again."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.converting import as_responses
from compaction.formats.dialects import anthropic_like
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.jsonspans import Node, scan
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Session

#: The parent of every first message.
ROOT = "00000000-0000-4000-8000-000000000000"

#: Members that some records have, and what they hold where nothing is to be said.
_OPTIONAL: Mapping[str, object] = {
    "files_v2": [],
    "input_mode": None,
    "parent_message_uuid": ROOT,
    "sync_sources": [],
    "truncated": False,
}


class Writing:
    """New records for a conversation: ids, times and members as those around them have."""

    def __init__(self, messages: Sequence[Message], session: Session, notes: Notes) -> None:
        self._messages = messages
        self._source = session.source
        self._notes = notes
        self._places = {id(one): index for index, one in enumerate(messages)}
        self._made: dict[int, str] = {}
        like = next((one.record for one in session.messages if one.spans), None)
        self._like: Mapping[str, Any] = like if isinstance(like, Mapping) else {}

    def records(self, message: Message) -> list[dict[str, Any]]:
        """One message as a record; none where nothing of it is left."""
        at = self._places.get(id(message), 0)
        ids = Ids(verbatim=True)
        blocks = anthropic_like.render_blocks(message.parts, ids, self._notes.at(at))
        if not blocks:
            return []
        sender = "assistant" if message.role in ("assistant", "tool") else "human"
        name = self._made[at] = named(self._before(at), sender, blocks)
        record = record_of(name, sender, blocks, message.time or self._time(at))
        record |= {key: value for key, value in _OPTIONAL.items() if key in self._like}
        if isinstance(self._like.get("index"), int):
            record["index"] = self._index(at)
        return [record]

    def branch(self) -> list[str]:
        """The ids of all records, in their order."""
        out: list[str] = []
        for index, one in enumerate(self._messages):
            name = self._record_id(one) or self._made.get(index, "")
            if name and name not in out[-1:]:
                out.append(name)
        return out

    def _record_id(self, message: Message) -> str:
        record = message.record if stands_in(message, self._source) else None
        return text_of(record.get("uuid")) if isinstance(record, Mapping) else ""

    def _before(self, at: int) -> str:
        if not at:
            return ROOT
        return self._record_id(self._messages[at - 1]) or self._made.get(at - 1, ROOT)

    def _time(self, at: int) -> str:
        around = (*reversed(self._messages[:at]), *self._messages[at:])
        return next((one.time for one in around if one.time), "")

    def _index(self, at: int) -> int:
        """A number before that of the next record, or after that of the last."""
        for step, one in enumerate(self._messages[at + 1 :], 1):
            record = one.record if one.spans else None
            if isinstance(record, Mapping) and isinstance(record.get("index"), int):
                return max(0, int(record["index"]) - step)
        for step, one in enumerate(reversed(self._messages[:at]), 1):
            record = one.record if one.spans else None
            if isinstance(record, Mapping) and isinstance(record.get("index"), int):
                return int(record["index"]) + step
        return at


def named(before: str, sender: str, blocks: Sequence[Mapping[str, Any]]) -> str:
    """The id of a new record: the same for the same content at the same place."""
    said = exact.dump_bytes([before, sender, list(blocks)]).decode("utf-8", "replace")
    return str(uuid.uuid5(uuid.NAMESPACE_OID, said))


def record_of(
    name: str, sender: str, blocks: Sequence[dict[str, Any]], time: str
) -> dict[str, Any]:
    """A record as the export has it."""
    said = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    return {
        "uuid": name,
        "text": "\n\n".join(said),
        "content": list(blocks),
        "sender": sender,
        "created_at": time,
        "updated_at": time,
        "attachments": [],
        "files": [],
    }


def document_of(messages: Sequence[Message], session: Session, notes: Notes) -> tuple[bytes, bytes]:
    """An export of one conversation, made of a session from elsewhere."""
    ids = Ids(unique=True)
    turns: list[tuple[str, str, list[dict[str, Any]]]] = []
    for index, one in enumerate(as_responses(messages, session, notes)):
        notes.at(index)
        if one.role in ("system", "developer"):
            notes.tell("system", "the system prompt")
            continue
        sender = "assistant" if one.role in ("assistant", "tool") else "human"
        blocks = anthropic_like.render_blocks(one.parts, ids, notes)
        # One record holds a turn of the assistant with all of its tools.
        if turns and turns[-1][0] == sender == "assistant":
            turns[-1][2].extend(blocks)
        elif blocks:
            turns.append((sender, one.time, blocks))
    notes.tell_ids(ids.changed)
    records: list[dict[str, Any]] = []
    before = ROOT
    for sender, time, blocks in turns:
        name = named(before, sender, blocks)
        records.append({**record_of(name, sender, blocks, time), "parent_message_uuid": before})
        before = name
    times = [record["created_at"] for record in records if record["created_at"]]
    conversation = {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, before)),
        "name": session.title,
        "created_at": times[0] if times else "",
        "updated_at": times[-1] if times else "",
        "chat_messages": records,
    }
    return exact.dump_bytes([conversation], exact.PRETTY), b"\n"


def rehung(data: bytes, start: int, branch: Sequence[str]) -> bytes:
    """A file whose conversation at `start` has `branch` as the path to the message last seen.

    Records of other branches whose parent is gone hang on the first new one.
    """
    text = data[start:].decode("utf-8", "replace")
    try:
        conversation = scan(text, ("chat_messages",))
    except exact.ExactError:
        return data
    listed = conversation.get("chat_messages")
    items = [
        scan(text, (), item.start)
        for item in (listed.items if listed is not None else None) or ()
        if isinstance(item.value, Mapping)
    ]
    known = {text_of(item.value.get("uuid")) for item in items}
    parents = dict(zip(branch, (ROOT, *branch), strict=False))
    edits: list[tuple[Node, str]] = []
    for item in items:
        parent = item.get("parent_message_uuid")
        if parent is None or not isinstance(parent.value, str):
            continue
        name, new = text_of(item.value.get("uuid")), parent.value
        if name in parents:
            # The first of a branch keeps a parent that is no record: a root of another kind.
            new = parents[name] if parents[name] != ROOT or new in known else new
        elif new not in known and new != ROOT:
            new = branch[0] if branch else ROOT
        if new != parent.value:
            edits.append((parent, new))
    leaf = conversation.get("current_leaf_message_uuid")
    if leaf is not None and branch and leaf.value != branch[-1]:
        edits.append((leaf, branch[-1]))
    for node, new in sorted(edits, key=lambda edit: -edit[0].start):
        text = text[: node.start] + exact.dumps(new) + text[node.end :]
    return data[:start] + text.encode("utf-8", "replace") if edits else data
