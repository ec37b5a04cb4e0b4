"""Long texts in slices, so that no text is slow, large or fatal to a tokenizer.

A cut right after a line break and before a character that is neither white space nor "/" gives
the very count of the whole for o200k_base: no piece of its pattern goes on over such a place.
Where there is none near the end of a slice the cut is anywhere, which costs less than one token
on average.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Characters of a slice at most. A run of a million spaces would overflow the tokenizer.
SLICE = 64 * 1024

#: How far back from the end of a slice an exact cut is looked for.
LOOK_BACK = 8 * 1024

_SURROGATE = re.compile("[\ud800-\udfff]")


def slices(text: str) -> Iterator[str]:
    """`text` in slices of at most SLICE characters, lone surrogates repaired if there are several.

    A text of one slice is given as it is.
    """
    if len(text) <= SLICE:
        yield text
        return
    text = repaired(text)
    start = 0
    while len(text) - start > SLICE:
        end = _cut(text, start + SLICE)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, limit: int) -> int:
    """Where to cut at or before `limit`, which lies inside of `text`."""
    end, floor = limit, limit - LOOK_BACK
    while (found := text.rfind("\n", floor, end)) >= 0:
        following = text[found + 1]
        if following != "/" and not following.isspace():
            return found + 1
        end = found
    return limit


def repaired(text: str) -> str:
    """`text` as it can be encoded: surrogate pairs joined, lone surrogates as U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
