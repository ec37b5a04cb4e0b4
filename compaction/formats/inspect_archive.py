"""Inspect's .eval archives: the log they make together, as the tool would dump it in JSON."""

from __future__ import annotations

import re
import zipfile

from compaction.errors import SessionError
from compaction.formats.archives import check_size, unzipped
from compaction.messages import Source

_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d+)\.json", re.DOTALL)

#: The head of a log; of one whose run has not ended there is only the second.
_HEADER, _START = "header.json", "_journal/start.json"

#: Method number of zstd in an archive, which newer logs use.
_ZSTD = 93


def opened(source: Source) -> Source | None:
    """The log in an archive; None when it is none of Inspect's.

    Raises SessionError for one that cannot be unpacked here or is too large.
    """

    def join(archive: zipfile.ZipFile) -> bytes | None:
        members = {info.filename: info for info in archive.infolist()}
        head = next((name for name in (_HEADER, _START) if name in members), None)
        if head is None:
            return None
        _check(list(members.values()), source)
        samples = sorted((name for name in members if _SAMPLE.fullmatch(name)), key=_order)
        return _joined(archive, head, samples, members)

    return unzipped(source, _START.encode(), join)


def _check(members: list[zipfile.ZipInfo], source: Source) -> None:
    from compaction.formats.recognising import called

    if any(info.compress_type == _ZSTD for info in members):
        raise SessionError(
            f"{called(source)} is an Inspect log compressed with zstd, which cannot be unpacked "
            "here; make it JSON with `inspect log convert --to json`."
        )
    check_size(source, members)


def _order(name: str) -> tuple[int, str, str]:
    """Epoch by epoch, in each by id, numbers as numbers."""
    found = _SAMPLE.fullmatch(name)
    assert found is not None
    number = found[1] if found[1].isdigit() else ""
    return int(found[2][-9:]), number.zfill(20), found[1]


def _joined(
    archive: zipfile.ZipFile, head: str, samples: list[str], members: dict[str, zipfile.ZipInfo]
) -> bytes:
    """One document of the header's members, the samples and the reductions."""
    lead = archive.read(head).rstrip()
    if not lead.startswith(b"{") or not lead.endswith(b"}"):
        raise SessionError(f"The archive holds no Inspect log: its {head} is no JSON object.")
    parts = [lead[:-1].rstrip()]
    if head == _START:
        parts.append(b',\n"status":"started"')
    held = b",\n".join(archive.read(name).strip() for name in samples)
    parts += [b',\n"samples":[\n', held, b"\n]"]
    if "reductions.json" in members:
        parts += [b',\n"reductions":', archive.read("reductions.json").strip()]
    return b"".join((*parts, b"\n}\n"))
