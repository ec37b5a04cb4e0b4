"""Counting with toktok-rs, several times faster than tiktoken; an optional extra.

Its counts are those of tiktoken but for texts with U+017F (the long s), which tiktoken takes for
the "s" of a contraction. o200k_base counts such texts with tiktoken; cl100k_base, whose ranks are
not shipped, may be one token off for every apostrophe that a long s follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from compaction.errors import PolicyError
from compaction.tokens.counters import CHAT_FRAMING, TiktokenCounter
from compaction.tokens.slicing import SLICE, repaired, slices

EXTRA = "compaction-workbench[fast]"

_LONG_S = "\u017f"

#: Characters in one call from which its threads pay.
_MANY = 512 * 1024


class ToktokCounter:
    """o200k_base ("fast") or cl100k_base by toktok-rs. Raises PolicyError where it is missing."""

    exact = True
    framing = CHAT_FRAMING

    def __init__(self, name: str) -> None:
        self.name = name
        self.encoding = "o200k_base" if name == "fast" else name
        self._batch = _batch_count(name)
        self._exact = TiktokenCounter()

    def count(self, text: str) -> int:
        """The tokens of one text."""
        return self.count_many((text,))[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The tokens of every text, in order."""
        if max(map(len, texts), default=0) > SLICE:
            pieces = [list(slices(text)) for text in texts]
            counts = self._counted([piece for each in pieces for piece in each])
            ends = accumulate(map(len, pieces), initial=0)
            return [sum(counts[start:end]) for start, end in pairwise(ends)]
        return self._counted(list(texts))

    def _counted(self, texts: list[str]) -> list[int]:
        threads = 0 if sum(map(len, texts)) >= _MANY else 1
        try:
            counts = self._batch(texts, self.encoding, threads)
        except UnicodeEncodeError:
            counts = self._batch([repaired(text) for text in texts], self.encoding, threads)
        if self.encoding == self._exact.encoding:
            for index, text in enumerate(texts):
                if _LONG_S in text:
                    counts[index] = self._exact.count(text)
        return counts


def _batch_count(name: str) -> Callable[[list[str], str, int], list[int]]:
    try:
        from toktok import batch_count
    except ImportError:
        raise PolicyError(
            f"the tokenizer {name} needs the package toktok-rs: pip install '{EXTRA}'."
        ) from None
    counting: Callable[[list[str], str, int], list[int]] = batch_count
    return counting
