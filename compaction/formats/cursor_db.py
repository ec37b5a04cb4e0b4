"""Cursor's databases: the chats of the command line (`store.db`) and of the app (`state.vscdb`).

Each conversation becomes an object with `id`, `title`, `model` and `messages`; what a message
holds is as the database has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compaction.formats.sqlite_files import Database, document, json_of
from compaction.messages import Source

#: The key that says what a document made here is, and of which kind.
MARK = "cursor_chat"

#: The key of messages that the newest state of a conversation does not name.
SUPERSEDED = "superseded"

_DATA = "composerData:"
_BUBBLE = "bubbleId:"


def composers(database: Database, source: Source) -> Source | None:
    """The conversations of the app, the one that went on last in front."""
    if not database.has("cursorDiskKV", "key", "value"):
        return None
    heads: dict[str, dict[str, Any]] = {}
    for row in database.rows("cursorDiskKV", "WHERE key >= ? AND key < ?", _DATA, _DATA[:-1] + ";"):
        value = _json(row["value"])
        if isinstance(value, dict):
            heads[str(row["key"]).removeprefix(_DATA)] = value
    bubbles: dict[str, dict[str, Any]] = {}
    for row in database.rows(
        "cursorDiskKV", "WHERE key >= ? AND key < ? ORDER BY rowid", _BUBBLE, _BUBBLE[:-1] + ";"
    ):
        _, _, rest = str(row["key"]).partition(":")
        composer, _, bubble = rest.partition(":")
        value = _json(row["value"])
        if isinstance(value, dict):
            bubbles.setdefault(composer, {})[bubble] = value
    made = [
        one
        for composer in dict.fromkeys((*heads, *bubbles))
        if (one := _composer(composer, heads.get(composer, {}), bubbles.get(composer, {})))
    ]
    made.sort(key=lambda one: -one["updated"])
    if not made:
        return None
    return document(made if len(made) > 1 else made[0], source)


def _composer(
    composer: str, head: Mapping[str, Any], bubbles: Mapping[str, Any]
) -> dict[str, Any] | None:
    inside = head.get("conversation")
    messages: list[Any] = [one for one in _listed(inside) if isinstance(one, dict)]
    if not messages:
        order = [
            str(one["bubbleId"])
            for one in _listed(head.get("fullConversationHeadersOnly"))
            if isinstance(one, dict) and "bubbleId" in one
        ]
        # Bubbles that no header names are of an earlier state of the conversation.
        messages = [bubbles[one] for one in order if one in bubbles] or list(bubbles.values())
    if not messages:
        return None
    _put_summary(head.get("latestConversationSummary"), messages)
    config = head.get("modelConfig")
    model = config.get("modelName") if isinstance(config, dict) else None
    updated = head.get("lastUpdatedAt") or head.get("createdAt")
    return {
        MARK: "composer",
        "id": composer,
        "title": head.get("name"),
        "model": model if model != "default" else None,
        "updated": updated if isinstance(updated, (int, float)) else 0,
        "messages": messages,
    }


def _put_summary(held: object, messages: list[Any]) -> None:
    """Put the summary that the app sends in place of earlier bubbles before the first it sends."""
    inner = held.get("summary") if isinstance(held, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("summary"), str):
        return
    first = inner.get("clientShouldStartSendingFromInclusiveBubbleId")
    last = inner.get("truncationLastBubbleIdInclusive")
    for index, message in enumerate(messages):
        bubble = message.get("bubbleId")
        if bubble is not None and bubble in (first, last):
            at = index + (bubble != first)
            messages.insert(at, {"summary": inner["summary"]})
            return


def stored_chat(database: Database, source: Source) -> Source | None:
    """The conversation of the command line: the blobs that the newest state names, in its order."""
    if not (database.has("blobs", "id", "data") and database.has("meta", "key", "value")):
        return None
    about: dict[str, Any] = {}
    for row in database.rows("meta"):
        value = _json(row["value"])
        if isinstance(value, dict):
            about.update(value)
    messages: dict[str, dict[str, Any]] = {}
    states: dict[str, bytes] = {}
    for row in database.rows("blobs", "ORDER BY rowid"):
        held = row["data"]
        value = _json(held)
        if isinstance(value, dict) and isinstance(value.get("role"), str):
            messages[str(row["id"])] = value
        elif isinstance(held, bytes):
            states[str(row["id"])] = held
    if not about and not messages:
        return None
    root = states.get(str(about.get("latestRootBlobId")), b"")
    sent = {one: messages[one] for one in _named(root) if one in messages}
    listed = [*sent.values()] or [*messages.values()]
    if sent:
        listed += [{**one, SUPERSEDED: True} for key, one in messages.items() if key not in sent]
    made = {
        MARK: "store",
        "id": about.get("agentId"),
        "title": about.get("name"),
        "model": about.get("lastUsedModel"),
        "messages": listed,
    }
    return document(made, source)


def _named(state: bytes) -> Iterator[str]:
    """The ids in field 1 of a protobuf message, which are the blobs of the prompt."""
    at = 0
    while at < len(state):
        tag, at = _varint(state, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(state, at)
        elif kind == 2:
            size, at = _varint(state, at)
            if tag >> 3 == 1:
                raw = state[at : at + size]
                yield raw.hex() if size == 32 else raw.decode("ascii", "replace")
            at += size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7
    # Cut off, or no number: nothing that follows can be told apart.
    return value, len(data)


def _json(held: object) -> object:
    """The JSON in a cell, which may be text, bytes, or the hexadecimal digits of either."""
    if isinstance(held, bytes):
        held = held.decode("utf-8", "replace")
    if not isinstance(held, str):
        return None
    if held[:2] == "7b":
        try:
            held = bytes.fromhex(held).decode("utf-8", "replace")
        except ValueError:
            return None
    return json_of(held)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
