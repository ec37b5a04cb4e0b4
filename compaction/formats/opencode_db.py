"""opencode's database (`opencode.db`), as what `opencode export` gives for its sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from compaction.formats.sqlite_files import Database, document, json_of
from compaction.messages import Source

#: Columns of a session under the names they have in an export.
_COLUMNS: Mapping[str, str] = {
    "id": "id",
    "slug": "slug",
    "project_id": "projectID",
    "workspace_id": "workspaceID",
    "parent_id": "parentID",
    "directory": "directory",
    "path": "path",
    "title": "title",
    "version": "version",
}
_TIMES: Mapping[str, str] = {
    "time_created": "created",
    "time_updated": "updated",
    "time_compacting": "compacting",
    "time_archived": "archived",
}


def exported(database: Database, source: Source) -> Source | None:
    """The sessions that have messages: the one that went on last in front, those of sub-agents
    behind all others.
    """
    if not (
        database.has("session", "id", "title")
        and database.has("message", "id", "session_id", "data")
        and database.has("part", "id", "message_id", "data")
    ):
        return None
    parts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in database.rows("part", "ORDER BY id"):
        parts[str(row["message_id"])].append(_held(row, "message_id"))
    messages: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    timed = "time_created" in database.tables["message"]
    for row in database.rows("message", f"ORDER BY {'time_created, id' if timed else 'id'}"):
        made = {"info": _held(row), "parts": parts[str(row["id"])]}
        messages[str(row["session_id"])].append(made)
    exports: list[dict[str, Any]] = [
        {"info": _session(row), "messages": messages[str(row["id"])]}
        for row in database.rows("session")
        if str(row["id"]) in messages
    ]
    if not exports:
        return None
    exports = newest_first(exports)
    return document(exports if len(exports) > 1 else exports[0], source)


def newest_first(exports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Exports by when they went on last, those of sub-agents behind all others."""

    def key(one: Mapping[str, Any]) -> tuple[bool, float]:
        info = one["info"]
        time = info.get("time")
        updated = time.get("updated") if isinstance(time, Mapping) else 0
        return bool(info.get("parentID")), -updated if isinstance(updated, (int, float)) else 0

    return sorted(exports, key=key)


def _held(row: Mapping[str, object], owner: str = "") -> dict[str, Any]:
    """What a row holds, with its ids in front, where an export has them."""
    made: dict[str, Any] = {"id": row["id"], "sessionID": row.get("session_id")}
    if owner:
        made["messageID"] = row[owner]
    value = json_of(row["data"])
    return {**made, **(value if isinstance(value, dict) else {})}


def _session(row: Mapping[str, object]) -> dict[str, Any]:
    info = {name: row[key] for key, name in _COLUMNS.items() if row.get(key) is not None}
    changed = {
        name: row[f"summary_{name}"]
        for name in ("additions", "deletions", "files")
        if row.get(f"summary_{name}") is not None
    }
    if changed:
        info["summary"] = changed
    if isinstance(share := row.get("share_url"), str):
        info["share"] = {"url": share}
    for name in ("revert", "permission"):
        if (value := json_of(row.get(name))) is not None:
            info[name] = value
    info["time"] = {name: row[key] for key, name in _TIMES.items() if row.get(key) is not None}
    return info
