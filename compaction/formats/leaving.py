"""What of a file is not in the window: counted by reason, and told record by record on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from compaction.formats.base import Omitted, ReadOptions
from compaction.messages import Span


class LeftOut:
    """The records a reading leaves out. `counts` is `Session.left_out` in the making."""

    __slots__ = ("_tell", "counts")

    def __init__(self, options: ReadOptions) -> None:
        self.counts: Counter[str] = Counter()
        self._tell = options.omitted

    def add(self, reason: str, *spans: Span) -> None:
        """Leave out one record for each span."""
        self.counts[reason] += len(spans)
        if self._tell is not None:
            for span in spans:
                self._tell(Omitted(span, reason))

    def many(self, reason: str, records: Collection[tuple[Span, ...]]) -> None:
        """Leave out several messages, each with the spans of the records it came from."""
        self.counts[reason] += len(records)
        if self._tell is not None:
            for spans in records:
                for span in spans:
                    self._tell(Omitted(span, reason))
