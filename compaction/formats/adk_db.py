"""The databases of Google's Agent Development Kit, as the sessions that its API gives.

Older ones hold what an event did as a pickle, which is code: it is never opened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from compaction.formats import exact
from compaction.formats.sqlite_files import Database, document
from compaction.messages import Source


def exported(database: Database, source: Source) -> Source | None:
    """The sessions that have events, the one that went on last in front."""
    if not database.has("sessions", "app_name", "user_id", "id", "update_time"):
        return None
    whole = database.has("events", "session_id", "app_name", "user_id", "event_data")
    if not whole and not database.has("events", "session_id", "author", "content"):
        return None
    events: defaultdict[tuple[object, ...], list[Any]] = defaultdict(list)
    for row in database.rows("events", "ORDER BY timestamp, rowid"):
        event = _json(row["event_data"]) if whole else _event(row)
        if isinstance(event, dict):
            events[row["app_name"], row["user_id"], row["session_id"]].append(event)
    sessions = [
        {
            "id": row["id"],
            "appName": row["app_name"],
            "userId": row["user_id"],
            "state": _json(row.get("state")) or {},
            "events": events[row["app_name"], row["user_id"], row["id"]],
            "lastUpdateTime": _seconds(row["update_time"]),
        }
        for row in database.rows("sessions")
        if (row["app_name"], row["user_id"], row["id"]) in events
    ]
    if not sessions:
        return None
    sessions.sort(key=lambda one: str(one["lastUpdateTime"]), reverse=True)
    return document(sessions if len(sessions) > 1 else sessions[0], source)


def _event(row: Mapping[str, object]) -> dict[str, Any]:
    """An event whose members have columns of their own."""
    made: dict[str, Any] = {
        key: row.get(key) for key in ("id", "invocation_id", "author", "branch") if row.get(key)
    }
    made["timestamp"] = _seconds(row.get("timestamp"))
    for key in ("content", "usage_metadata", "input_transcription", "output_transcription"):
        if (value := _json(row.get(key))) is not None:
            made[key] = value
    return {**made, "partial": True} if row.get("partial") else made


def _json(value: object) -> Any:
    if not isinstance(value, str):
        return None
    try:
        return exact.loads(value)
    except exact.ExactError:
        return None


def _seconds(value: object) -> object:
    """A time as the API gives it: SQLAlchemy keeps times as text, in UTC."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0
