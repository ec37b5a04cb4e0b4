"""Goose's database (`sessions.db`), as what `goose session export` gives for its sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from compaction.formats.sqlite_files import Database, document, json_of
from compaction.messages import Source

#: Columns that an export repeats as they are.
_AS_THEY_ARE = (
    "working_dir",
    "user_set_name",
    "session_type",
    "created_at",
    "updated_at",
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "accumulated_total_tokens",
    "accumulated_input_tokens",
    "accumulated_output_tokens",
    "schedule_id",
    "provider_name",
)


def exported(database: Database, source: Source) -> Source | None:
    """The sessions that have messages, the one that went on last in front."""
    if not database.has("sessions", "id", "working_dir"):
        return None
    if not database.has("messages", "session_id", "role", "content_json"):
        return None
    conversations: defaultdict[object, list[dict[str, Any]]] = defaultdict(list)
    for row in database.rows("messages", "ORDER BY rowid"):
        conversations[row["session_id"]].append(_message(row))
    sessions = [
        _session(row, conversations[row["id"]])
        for row in database.rows("sessions")
        if row["id"] in conversations
    ]
    sessions.sort(key=lambda one: str(one.get("updated_at") or ""), reverse=True)
    if not sessions:
        return None
    return document(sessions if len(sessions) > 1 else sessions[0], source)


def _message(row: Mapping[str, object]) -> dict[str, Any]:
    content = json_of(row["content_json"])
    made = {
        "id": row.get("message_id"),
        "role": row["role"],
        "created": row.get("created_timestamp") or 0,
        "content": content if isinstance(content, list) else [],
    }
    metadata = json_of(row.get("metadata_json"))
    if not isinstance(metadata, dict) or "agentVisible" not in metadata:
        metadata = {"userVisible": True, "agentVisible": True}
    return {**made, "metadata": metadata}


def _session(row: Mapping[str, object], conversation: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": row["id"],
        "name": row.get("name") or row.get("description") or "",
        **{key: row[key] for key in _AS_THEY_ARE if key in row},
        "extension_data": json_of(row.get("extension_data")) or {},
    }
    for column, key in (("model_config_json", "model_config"), ("recipe_json", "recipe")):
        if (value := json_of(row.get(column))) is not None:
            made[key] = value
    if "user_set_name" in made:
        made["user_set_name"] = bool(made["user_set_name"])
    made["conversation"] = conversation
    made["message_count"] = len(conversation)
    return made
