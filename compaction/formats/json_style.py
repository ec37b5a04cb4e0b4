"""How JSON is laid out, so that what is new in it looks like the rest."""

from __future__ import annotations

import re

from compaction.formats import exact

_PRETTY = re.compile(rb"[{\[]\r?\n([ \t]+)")
_KEY = re.compile(rb'"[^"\\]*"(\s*:[ \t]*)["{\[\d\-tfn]')
_MEMBERS = re.compile(rb'(?:"|\d|e|l|\]|\})(, ?)"[^"\\]*"\s*:')


def style_of(raw: bytes) -> exact.Style:
    """How the JSON in `raw` is laid out: its indent, its separators, whether it is pure ASCII.

    Of an element that is indented itself, the indent is the step to its members.
    """
    pretty = _PRETTY.search(raw)
    colon = _KEY.search(raw)
    comma = _MEMBERS.search(raw)
    indent = ""
    if pretty:
        indent = pretty[1].decode()
        closing = re.search(rb"\n([ \t]*)[}\]]\s*\Z", raw)
        if closing and indent.startswith(closing[1].decode()):
            indent = indent[len(closing[1]) :] or indent
    return exact.Style(
        indent,
        "," if indent else (comma[1].decode() if comma else _comma_beside(colon)),
        colon[1].decode() if colon else ":",
        ascii=raw.isascii() and b"\\u" in raw,
    )


def _comma_beside(colon: re.Match[bytes] | None) -> str:
    return ", " if colon and colon[1].endswith(b" ") else ","
