"""opencode's storage folders, from before it had a database: one file for every message and part.

Every layout it had keeps them under `session`, `message` and `part`, which are looked through
whatever is between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.formats.compressed import LIMIT
from compaction.formats.opencode import LOST
from compaction.formats.opencode_db import newest_first
from compaction.messages import Source
from compaction.plaintext import one_line

#: The database in the folder of the tool's data.
_DATABASE = "opencode.db"


def gathered(folder: Path) -> Source | None:
    """The sessions of a storage folder, or of one that holds it; None when it is none.

    Raises SessionError for what cannot be read.
    """
    shown = one_line(str(folder), 300)
    try:
        database = folder / _DATABASE
        if database.is_file():
            return Source(database.read_bytes(), str(database), str(database.absolute()))
        for place in (folder, folder / "storage"):
            if (place / "session").is_dir() and (
                (place / "message").is_dir() or (place / "session" / "message").is_dir()
            ):
                made = _exports(place)
                if not made:
                    return None
                data = exact.dump_bytes(made if len(made) > 1 else made[0])
                return Source(data, str(folder), str(folder.absolute()))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SessionError(f"{shown} cannot be read: {reason}.") from None
    return None


def _exports(place: Path) -> list[dict[str, Any]]:
    """The sessions with messages, as exports."""
    infos: dict[str, dict[str, Any]] = {}
    messages: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    parts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, value in _values(place):
        steps = path.relative_to(place).parts[:-1]
        if "part" in steps:
            # The message is named by the part, or by the folder it stands in.
            owner = value.setdefault("messageID", steps[-1])
            parts[str(owner)].append(value)
        elif "message" in steps:
            messages[str(value.setdefault("sessionID", steps[-1]))].append(value)
        elif "session" in steps and isinstance(value.get("id"), str):
            infos[value["id"]] = value
    made: list[dict[str, Any]] = []
    for session, listed in messages.items():
        listed.sort(key=lambda one: (_created(one), str(one.get("id"))))
        entries = [{"info": one, "parts": parts.pop(str(one.get("id")), [])} for one in listed]
        made.append({"info": infos.get(session, {"id": session}), "messages": entries})
    for left in parts.values():
        # Some parts of a message name its session, others only the message.
        owner = next((one["sessionID"] for one in left if "sessionID" in one), None)
        for export in made:
            if export["info"].get("id") == owner:
                export.setdefault(LOST, []).extend(left)
    return newest_first(made)


def _created(info: dict[str, Any]) -> float:
    time = info.get("time")
    created = time.get("created") if isinstance(time, dict) else 0
    return created if isinstance(created, (int, float)) else 0


def _values(place: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The objects in the files of the folder, in the order of their names."""
    size = 0
    for kind in ("session", "message", "part"):
        for path in sorted((place / kind).rglob("*.json")):
            size += path.stat().st_size
            if size > LIMIT:
                raise SessionError(
                    f"{one_line(str(place), 300)} holds more than {LIMIT:,} bytes of messages."
                )
            try:
                value = orjson.loads(path.read_bytes())
            except orjson.JSONDecodeError:
                continue
            if isinstance(value, dict):
                yield path, value
