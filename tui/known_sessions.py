"""Sessions a person may want to open: recent ones, those of known tools, the bundled samples."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path

from compaction.errors import SessionError

#: Sessions listed from one place; the newest ones.
LISTED = 300

#: Roles whose words tell a session from another where nobody typed anything.
_SPEAKERS = ("user", "assistant")

#: Bytes from the beginning of a file in which its first words are looked for.
_BEGINNING = 256 * 1024


@dataclass(frozen=True, slots=True)
class Known:
    """One session file. `modified` is seconds since 1970, `size` bytes."""

    path: str
    place: str
    name: str
    folder: str
    modified: float
    size: int
    title: str = ""


def known_sessions(recent: Sequence[str] = (), *, home: Path | None = None) -> Iterator[Known]:
    """Recent files in their order, then the newest of every known place, then the samples.

    What cannot be read is passed over; a file is listed once.
    """
    seen: set[str] = set()
    for known in _all(recent, Path.home() if home is None else home):
        real = os.path.realpath(known.path)
        if real not in seen:
            seen.add(real)
            yield known


def _all(recent: Sequence[str], home: Path) -> Iterator[Known]:
    yield from _described("recent", (Path(path) for path in recent))
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    yield from _newest("Claude Code", claude)
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    yield from _newest("Codex", codex / "sessions")
    yield from _newest("Codex", codex / "archived_sessions")
    yield from _samples()


def _newest(place: str, folder: Path) -> Iterator[Known]:
    found = _described(place, folder.rglob("*.jsonl"), beside=folder)
    yield from nlargest(LISTED, found, key=lambda known: known.modified)


def _described(
    place: str, paths: Iterable[Path], *, beside: Path | None = None
) -> Iterator[Known]:
    for path in _reachable(paths):
        try:
            status = path.stat()
        except (OSError, ValueError):
            continue
        if not path.is_file():
            continue
        folder = path.parent
        if beside is not None and folder.is_relative_to(beside):
            shown = str(folder.relative_to(beside))
        else:
            shown = str(folder)
        yield Known(str(path), place, path.name, shown, status.st_mtime, status.st_size)


def _reachable(paths: Iterable[Path]) -> Iterator[Path]:
    """`paths` up to the first folder that cannot be walked."""
    walk = iter(paths)
    while True:
        try:
            yield next(walk)
        except (StopIteration, OSError):
            return


def _samples() -> Iterator[Known]:
    import sample_sessions

    for sample in sample_sessions.samples():
        path = sample_sessions.path(sample.name)
        try:
            size = path.stat().st_size
        except OSError:
            continue
        yield Known(str(path), "bundled", path.name, sample.description, 0.0, size, sample.title)


def first_words(path: str) -> str:
    """What a person typed first in a session, from the beginning of its file.

    Where nobody typed anything there, what was said first; "" when that is unknown too.
    """
    from compaction.formats import load

    try:
        with Path(path).open("rb") as file:
            beginning = file.read(_BEGINNING)
        session = load(beginning, history="full")
    except (OSError, ValueError, SessionError):
        return ""
    typed = next((each for each in session.messages if each.typed and each.preview), None)
    said = typed or next(
        (each for each in session.messages if each.role in _SPEAKERS and each.preview), None
    )
    return session.title or (said.preview if said is not None else "")
