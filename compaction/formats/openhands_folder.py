"""A conversation of the OpenHands SDK on the disk: a folder with one file for every event."""

from __future__ import annotations

import re
from pathlib import Path

import orjson

from compaction.errors import SessionError
from compaction.formats.compressed import LIMIT
from compaction.messages import Source
from compaction.plaintext import one_line

_EVENT = re.compile(r"event-(\d+)-.+\.json")


def gathered(folder: Path) -> Source | None:
    """The events of a conversation folder, or of its `events`, one a line in their order.

    What the state beside them says of the agent stands in front, as the tool itself tells it.
    None when the folder is no conversation. Raises SessionError for what cannot be read.
    """
    places = folder, folder / "events"
    found: list[tuple[int, Path]] = []
    shown = one_line(str(folder), 300)
    try:
        for place in places:
            found += [
                (int(name[1][-12:]), path)
                for path in (place.iterdir() if place.is_dir() else ())
                if (name := _EVENT.fullmatch(path.name)) and path.is_file()
            ]
        if not found:
            return None
        if sum(path.stat().st_size for _, path in found) > LIMIT:
            raise SessionError(f"{shown} holds more than {LIMIT:,} bytes of events.")
        lines = [_line(path.read_bytes()) for _, path in sorted(found)]
        state = folder if (folder / "base_state.json").is_file() else folder.parent
        told = _state(state / "base_state.json", lines[0])
    except OSError as error:
        reason = error.strerror or str(error)
        raise SessionError(f"{shown} cannot be read: {reason}.") from None
    data = b"".join((*told, *lines))
    return Source(data, str(folder), str(folder.absolute()))


def _line(data: bytes) -> bytes:
    """An event on one line; one that is no JSON stays as it is, to be told."""
    data = data.strip()
    if b"\n" in data:
        try:
            data = orjson.dumps(orjson.loads(data))
        except orjson.JSONDecodeError:
            data = data.replace(b"\n", b" ")
    return data + b"\n"


def _state(path: Path, first: bytes) -> tuple[bytes, ...]:
    """The model of the agent as an event of the state; nothing where it is not told."""
    if not path.is_file():
        return ()
    try:
        state, event = orjson.loads(path.read_bytes()), orjson.loads(first)
        model = state["agent"]["llm"]["model"]
        time = event["timestamp"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ()
    told = {
        "id": f"{state.get('id')}-state",
        "timestamp": time,
        "source": "environment",
        "key": "full_state",
        "value": {"agent": {"llm": {"model": model}}},
        "kind": "ConversationStateUpdateEvent",
    }
    return (orjson.dumps(told) + b"\n",)
