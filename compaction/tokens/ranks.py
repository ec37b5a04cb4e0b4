"""The o200k_base encoding, from the ranks that are shipped beside this module.

The ranks are held in a compact form: how many, the length of every token as one byte, the tokens
one after another; the rank of a token is its place. Nothing is downloaded, no file is written and
no environment variable is read: tiktoken's own loader does all three, so it is not used.
"""

from __future__ import annotations

import gzip
import pkgutil
import struct
from collections.abc import Mapping
from itertools import accumulate, pairwise
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

NAME = "o200k_base"

#: The file of the ranks, beside this module; its licence stands in NOTICE.
RESOURCE = "o200k_base.ranks.gz"

# How text is cut into pieces before the ranks merge them, as tiktoken 0.14 has it.
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PATTERN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)

SPECIAL_TOKENS: Mapping[str, int] = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}

_COUNT = struct.Struct("<I")


def pack(ranks: Mapping[bytes, int]) -> bytes:
    """Ranks in the compact form, gzipped; the same bytes each time.

    Raises ValueError when the ranks are not 0, 1, 2, … or a token is longer than 255 bytes.
    """
    tokens = sorted(ranks, key=ranks.__getitem__)
    if [ranks[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError("the ranks are not contiguous from 0")
    lengths = bytes(len(token) for token in tokens)
    return gzip.compress(_COUNT.pack(len(tokens)) + lengths + b"".join(tokens), 9, mtime=0)


def unpack(packed: bytes) -> dict[bytes, int]:
    """The ranks in `packed`, as `pack` made it."""
    data = gzip.decompress(packed)
    (count,) = _COUNT.unpack_from(data)
    body = _COUNT.size + count
    ends = accumulate(data[_COUNT.size : body], initial=body)
    return {data[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}


def load_ranks() -> dict[bytes, int]:
    """The ranks of o200k_base: 199,998 tokens."""
    packed = pkgutil.get_data(__name__, RESOURCE)
    assert packed is not None, "the loader of the package gives no data"
    return unpack(packed)


_lock = Lock()
_encoding: Encoding | None = None


def o200k_base() -> Encoding:
    """The encoding, made once in a process (about 0.2 s and 90 MB). Safe from any thread."""
    global _encoding  # noqa: PLW0603
    if _encoding is None:
        with _lock:
            if _encoding is None:
                from tiktoken import Encoding

                _encoding = Encoding(
                    NAME,
                    pat_str=PATTERN,
                    mergeable_ranks=load_ranks(),
                    special_tokens=dict(SPECIAL_TOKENS),
                )
    return _encoding
