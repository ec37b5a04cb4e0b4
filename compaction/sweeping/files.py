"""The session files of a sweep: paths, folders, globs and fsspec URLs."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from compaction.errors import PolicyError

#: Endings of files in a folder that may be sessions.
_ENDINGS = frozenset(
    {
        ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".md", ".txt", ".eval", ".traj", ".af",
        ".gz", ".zip", ".db", ".sqlite", ".vscdb",
    }
)  # fmt: skip


def files_of(patterns: Sequence[str]) -> list[str]:
    """The files that paths, folders (with all below), globs and URLs name, each once, in order.

    Raises PolicyError for a pattern that names nothing.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        if "://" in pattern:
            names: list[str] = _remote(pattern)
        elif Path(pattern).is_dir():
            names = [
                str(path)
                for path in sorted(Path(pattern).rglob("*"))
                if path.is_file() and path.suffix.lower() in _ENDINGS
            ]
        elif Path(pattern).exists():
            names = [pattern]
        else:
            names = sorted(
                name
                for name in glob.glob(pattern, recursive=True)  # noqa: PTH207 - it may be absolute
                if Path(name).is_file()
            )
        if not names and pattern == "-":
            raise PolicyError("A sweep reads files and no standard input: save it to a file first.")
        if not names and "://" not in pattern and Path(pattern).is_dir():
            raise PolicyError(f"{pattern}: no file in this folder may be a session.")
        if not names:
            raise PolicyError(f"{pattern}: there is no such file, and no file it stands for.")
        found.update(dict.fromkeys(names))
    return list(found)


def _remote(url: str) -> list[str]:
    fsspec = _fsspec()
    protocol = url.partition("://")[0]
    try:
        system, path = fsspec.core.url_to_fs(url)
        names = system.glob(path) if any(sign in path for sign in "*?[") else [path]
        if len(names) == 1 and system.isdir(names[0]):
            names = [name for name in system.find(names[0]) if Path(name).suffix in _ENDINGS]
    except (OSError, ValueError, ImportError) as error:
        raise PolicyError(f"{url} cannot be listed: {error}.") from None
    return [name if "://" in name else f"{protocol}://{name}" for name in sorted(names)]


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise PolicyError(
            "URLs need the package fsspec: install compaction-workbench[cluster]."
        ) from None
    return fsspec


def read(name: str) -> bytes:
    """The bytes behind a name, which may be a URL. Raises PolicyError."""
    if "://" not in name:
        return Path(name).read_bytes()
    fsspec = _fsspec()
    try:
        with fsspec.open(name, "rb") as file:
            data: bytes = file.read()
    except (OSError, ValueError, ImportError) as error:
        raise PolicyError(f"{name} cannot be read: {error}.") from None
    return data


def key_of(name: str) -> str:
    """What a file is told by in a journal: its name, size and time of change."""
    text = name
    if "://" not in name:
        try:
            status = Path(name).stat()
            text = f"{Path(name).absolute()}\0{status.st_size}\0{status.st_mtime_ns}"
        except OSError:
            text = name
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
