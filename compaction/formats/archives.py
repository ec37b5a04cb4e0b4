"""ZIP archives, unpacked in memory within a limit."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence

from compaction.errors import SessionError
from compaction.formats.compressed import LIMIT, RATIO
from compaction.messages import Source


def unzipped(
    source: Source, sign: bytes, join: Callable[[zipfile.ZipFile], bytes | None]
) -> Source | None:
    """What `join` makes of the members of an archive; None when it makes nothing of them.

    A damaged archive is taken for one of this kind where `sign` stands at its beginning. Raises
    SessionError for one that cannot be unpacked.
    """
    from compaction.formats.recognising import called

    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            data = join(archive)
    except zipfile.BadZipFile as error:
        if sign not in source.data[:4096]:
            return None
        raise SessionError(f"{called(source)} is a damaged ZIP archive: {error}.") from None
    except (NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise SessionError(f"{called(source)} cannot be unpacked: {error}.") from None
    return None if data is None else Source(data, source.name, source.path)


def check_size(source: Source, members: Sequence[zipfile.ZipInfo]) -> None:
    """Raise SessionError for members of an archive that unpack to too much."""
    from compaction.formats.recognising import called

    limit = min(LIMIT, max(1 << 26, len(source.data) * RATIO))
    if sum(info.file_size for info in members) > limit:
        raise SessionError(f"{called(source)} unpacks to more than {limit:,} bytes.")
