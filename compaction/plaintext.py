"""Transcript text made harmless: nothing of it reaches a terminal as anything but text."""

from __future__ import annotations

import re

# Whole escape sequences: CSI, then OSC/DCS/SOS/PM/APC up to their terminator (or the end of the
# line when they have none), then two-character escapes. C1 forms are included.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_INVISIBLE = "\ufeff\u200b\u2060\u00ad\u180e\u2028\u2029"

# One translation for everything that is left: C0 as its control picture, C1 and bidi as a
# visible mark, tag characters and lone surrogates as U+FFFD.
_MARKS: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    **dict.fromkeys(map(ord, _BIDI), "\u2426"),
    **dict.fromkeys(map(ord, _INVISIBLE), ""),
    **dict.fromkeys(range(0xE0000, 0xE0080), "\ufffd"),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_LINE = {**_MARKS, 0x09: " ", 0x0A: " ", 0x0D: " "}
_BLOCK = {**_MARKS, 0x09: "    ", 0x0A: "\n", 0x0D: "\n"}
_BLOCK[0x2028] = _BLOCK[0x2029] = "\n"

_CLEAN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u02ff]*\Z")


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line, at most `limit` characters, every control made visible or a space."""
    if limit is not None:
        text = text[: limit * 4]
    if not _CLEAN.match(text):
        text = _SEQUENCES.sub("", text.replace("\r\n", "\n")).translate(_LINE)
    return text if limit is None else text[:limit]


def block(text: str) -> str:
    """`text` with its line breaks and nothing else that a terminal would act on."""
    return _SEQUENCES.sub("", text.replace("\r\n", "\n")).translate(_BLOCK)
