"""Files and folders that hold a session inside: archives, databases, trees of small files.

Each is turned into the one document its tool would export, as the bytes of a `Source` that keeps
the name and path of the container. The formats read documents only.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from compaction.messages import Source

#: First bytes of a container, and module and function that give what is inside: a Source, or
#: None when it holds no session that is known. Tried in this order.
_OPENERS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "compressed", "gunzipped"),
    (b"SQLite format 3\0", "sqlite_files", "opened"),
    (b"PK\x03\x04", "inspect_archive", "opened"),
    (b"PK\x03\x04", "exported_archives", "opened"),
    (b'"{', "quoted", "unquoted"),
    (b'"[', "quoted", "unquoted"),
)

#: Module and function that gather the session of a folder; None when it is none of theirs.
_GATHERERS: tuple[tuple[str, str], ...] = (
    ("openhands_folder", "gathered"),
    ("opencode_folder", "gathered"),
    ("exported_archives", "gathered"),
)


def unpacked(source: Source) -> Source:
    """What is in a container; `source` itself when it is none, or none that is known."""
    for magic, module, function in _OPENERS:
        if source.data.startswith(magic):
            opener: Callable[[Source], Source | None] = _found(module, function)
            inside = opener(source)
            if inside is not None:
                return inside
    return source


def gathered(folder: Path) -> Source | None:
    """The session that the files of a folder make together; None when they make none."""
    for module, function in _GATHERERS:
        gatherer: Callable[[Path], Source | None] = _found(module, function)
        inside = gatherer(folder)
        if inside is not None:
            return inside
    return None


def _found(module: str, function: str) -> Callable[..., Source | None]:
    opener: Callable[..., Source | None] = getattr(
        import_module(f"compaction.formats.{module}"), function
    )
    return opener
