"""How large the summaries of a replay are: a given size, or what the digest really makes."""

from __future__ import annotations

from dataclasses import replace

from compaction.errors import PolicyError
from compaction.messages import IsCancelled, message
from compaction.policy import Policy
from compaction.replaying.timeline import Timeline
from compaction.replaying.walking import SummarySize


def fixed_size(tokens: int) -> SummarySize:
    """Every summary has that many tokens."""

    def size(replaced: int, start: int, end: int) -> int:
        del replaced, start, end
        return tokens

    return size


def recorded_sizes(line: Timeline) -> SummarySize:
    """The summaries have the sizes of those that the tool itself recorded, one after another.

    Behind the last one its size goes on. Raises PolicyError where the session records none.
    """
    texts = [each.summary for each in line.session.compactions if each.summary]
    if not texts:
        raise PolicyError(
            "the session records no summary of its tool's own, so that their size is not known; "
            "use expected, digest, or a number of tokens."
        )
    left = line.counts.counter.count_many(texts)

    def size(replaced: int, start: int, end: int) -> int:
        del replaced, start, end
        return left.pop(0) if len(left) > 1 else left[0]

    return size


class DigestSizes:
    """Each summary is the digest of what it replaces, the digest before it merged in.

    `texts` are the digests that were made.
    """

    def __init__(
        self, line: Timeline, policy: Policy, cancelled: IsCancelled | None = None
    ) -> None:
        self._line = line
        self._block = policy.summary
        self._cancelled = cancelled
        self.texts: list[str] = []

    def __call__(self, replaced: int, start: int, end: int) -> int:
        """The tokens of the next digest. Raises Cancelled."""
        from compaction.marker import wrap_summary
        from compaction.summary import Digest, SummaryRequest
        from compaction.tokens import count_message

        block, counting = self._block, self._line.counts.counter
        limit = block.max_tokens
        if block.accept == "smaller":
            # As where it is really made: smaller than what it replaces, with its frame.
            empty = message(block.role, wrap_summary("", block, end), summary="compaction")
            limit = max(1, min(limit, replaced - count_message(empty, counting) - 1))
        request = SummaryRequest(
            self._line.session.messages[start:end],
            limit,
            counting,
            previous=tuple(self.texts[-1:]),
        )
        if self._cancelled is not None:
            request = replace(request, cancelled=self._cancelled)
        text = Digest().summarize(request)
        self.texts.append(text)
        said = message(block.role, wrap_summary(text, block, end), summary="compaction")
        return count_message(said, counting)
