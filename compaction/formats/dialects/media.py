"""Images, sounds and documents as they stand in messages: base64, data URLs, references."""

from __future__ import annotations

import base64
import binascii
import struct

from compaction.messages import Media, MediaKind

#: Base64 characters that are decoded to find the size of a picture.
_HEADER = 64 * 1024


def kind_of(mime: str, default: MediaKind = "file") -> MediaKind:
    """The kind of media a MIME type names."""
    family = mime.partition("/")[0].lower()
    if family in ("image", "audio", "video"):
        return family  # type: ignore[return-value]
    return "document" if mime else default


def from_base64(
    data: str, mime: str = "", kind: MediaKind | None = None, *, name: str = "", detail: str = ""
) -> Media:
    """Media held as base64 text, with its decoded size, and its width and height if a picture."""
    kind = kind or kind_of(mime)
    width, height = dimensions(data) if kind == "image" else (0, 0)
    return Media(
        kind,
        mime=mime,
        size=decoded_size(data),
        name=name,
        data=data,
        width=width,
        height=height,
        detail=detail,
    )


def from_url(
    url: str, kind: MediaKind | None = None, *, mime: str = "", name: str = "", detail: str = ""
) -> Media:
    """Media behind a URL; the content of a `data:` URL is held."""
    if url[:5].lower() == "data:":
        head, _, data = url[5:].partition(",")
        written, *options = head.split(";")
        mime = written or mime
        if any(option.strip().lower() == "base64" for option in options):
            return from_base64(data, mime, kind or kind_of(mime), name=name, detail=detail)
        return Media(kind or kind_of(mime), mime=mime, size=len(data), name=name, url=url)
    return Media(kind or kind_of(mime), mime=mime, name=name, url=url, detail=detail)


def data_url(media: Media) -> str:
    """The URL of media: its own, or a `data:` URL of what is held; "" when there is neither."""
    if media.url or not media.data:
        return media.url
    return f"data:{media.mime or 'application/octet-stream'};base64,{media.data}"


def decoded_size(data: str) -> int:
    """How many bytes base64 text decodes to, from its length."""
    count = len(data) - data.count("\n") - data.count("\r") - data.count(" ")
    padding = 2 if data.endswith("==") else 1 if data.endswith("=") else 0
    if padding == 0 or count % 4 == 0:
        count -= padding
    return count * 3 // 4


def dimensions(data: str) -> tuple[int, int]:
    """Width and height in pixels from the header of a PNG, JPEG, GIF or WebP; (0, 0) if unknown."""
    start = data[:_HEADER]
    if not start.isascii():
        return 0, 0
    start = "".join(start.split())
    try:
        head = base64.b64decode(start[: len(start) // 4 * 4])
    except (binascii.Error, ValueError):
        return 0, 0
    try:
        return _dimensions(head)
    except struct.error:
        return 0, 0


def _dimensions(head: bytes) -> tuple[int, int]:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height = struct.unpack_from(">II", head, 16)
        return int(width), int(height)
    if head[:6] in (b"GIF87a", b"GIF89a"):
        width, height = struct.unpack_from("<HH", head, 6)
        return int(width), int(height)
    if head[:2] == b"\xff\xd8":
        return _jpeg(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    return 0, 0


def _jpeg(head: bytes) -> tuple[int, int]:
    # A chain of segments; the first start-of-frame (C0-CF but C4, C8, CC) has the size.
    position = 2
    while position + 4 <= len(head):
        if head[position] != 0xFF:
            return 0, 0
        mark = head[position + 1]
        if mark == 0xFF:
            position += 1
            continue
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, position + 5)
            return int(width), int(height)
        (length,) = struct.unpack_from(">H", head, position + 2)
        position += 2 + max(int(length), 2)
    return 0, 0


def _webp(head: bytes) -> tuple[int, int]:
    form = head[12:16]
    if form == b"VP8X":
        return (
            1 + int.from_bytes(head[24:27], "little"),
            1 + int.from_bytes(head[27:30], "little"),
        )
    if form == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 26)
        return int(width) & 0x3FFF, int(height) & 0x3FFF
    return 0, 0
