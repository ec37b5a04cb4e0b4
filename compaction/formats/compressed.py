"""Compressed files, unpacked in memory within a limit."""

from __future__ import annotations

import zlib

from compaction.errors import SessionError
from compaction.messages import Source

#: Bytes a compressed file may unpack to at most, and times its own size.
LIMIT = 2 << 30
RATIO = 400


def gunzipped(source: Source) -> Source:
    """The content of a gzip file; what there is of one that breaks off.

    Raises SessionError for one that is damaged from the start or unpacks to too much.
    """
    from compaction.formats.recognising import called

    limit = min(LIMIT, max(1 << 20, len(source.data) * RATIO))
    out = bytearray()
    data = source.data
    while data[:2] == b"\x1f\x8b":
        unpacker = zlib.decompressobj(wbits=31)
        try:
            out += unpacker.decompress(data, limit + 1 - len(out))
        except zlib.error as error:
            if not out:
                raise SessionError(f"{called(source)} is damaged gzip: {error}.") from None
            break
        if len(out) > limit:
            raise SessionError(f"{called(source)} unpacks to more than {limit:,} bytes.")
        data = unpacker.unused_data
    if not out:
        raise SessionError(f"{called(source)} is a gzip file with nothing in it.")
    return Source(bytes(out), source.name, source.path)
