"""Data exports of chat products: a ZIP, or its folder, with `conversations.json` in it.

Large exports are split into `conversations-000.json` and so on; together they are one list.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from compaction.errors import SessionError
from compaction.formats.archives import check_size, unzipped
from compaction.messages import Source

_WHOLE = "conversations.json"
_PART = re.compile(r"conversations-\d+\.json")


def opened(source: Source) -> Source | None:
    """The conversations in an archive; None when it is no export.

    Raises SessionError for one that cannot be unpacked or is too large.
    """

    def join(archive: zipfile.ZipFile) -> bytes | None:
        members = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        names = _chosen(list(members))
        if not names:
            return None
        check_size(source, [members[name] for name in names])
        return _joined([archive.read(name) for name in names])

    return unzipped(source, b"conversations", join)


def gathered(folder: Path) -> Source | None:
    """The conversations in the folder of an export; None when it is none."""
    try:
        files = {path.name: path for path in folder.iterdir() if path.is_file()}
        names = _chosen(list(files))
        if not names:
            return None
        return Source(_joined([files[n].read_bytes() for n in names]), str(folder), str(folder))
    except OSError as error:
        raise SessionError(f"{folder} cannot be read: {error.strerror or error}.") from None


def _chosen(names: Sequence[str]) -> list[str]:
    """The files with conversations, those of one folder, in their order."""
    paths = sorted((PurePosixPath(name) for name in names), key=lambda path: len(path.parts))
    for path in paths:
        if path.name == _WHOLE:
            return [str(path)]
        if _PART.fullmatch(path.name):
            return sorted(
                str(other)
                for other in paths
                if other.parent == path.parent and _PART.fullmatch(other.name)
            )
    return []


def _joined(parts: Sequence[bytes]) -> bytes:
    """Lists as one list; a single file as it is."""
    if len(parts) == 1:
        return parts[0]
    inner: list[bytes] = []
    for part in parts:
        held = part.removeprefix(b"\xef\xbb\xbf").strip()
        if held[:1] != b"[" or held[-1:] != b"]":
            raise SessionError("One of the files with conversations in the export is no list.")
        if held[1:-1].strip():
            inner.append(held[1:-1].strip())
    return b"[" + b",\n".join(inner) + b"]"
