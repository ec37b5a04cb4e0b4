"""How large the summaries of a replay are: a given size, or what the digest really makes."""

from __future__ import annotations

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


def digest_sizes(
    line: Timeline, policy: Policy, cancelled: IsCancelled | None = None
) -> SummarySize:
    """Each summary is the digest of what it replaces, the digest before it merged in."""
    from compaction.marker import wrap_summary
    from compaction.summary import Digest, SummaryRequest
    from compaction.tokens import count_message

    digest, counting = Digest(), line.counts.counter
    block = policy.summary
    earlier: list[str] = []

    def size(replaced: int, start: int, end: int) -> int:
        del replaced
        messages = line.session.messages[start:end]
        request = SummaryRequest(messages, block.max_tokens, counting, previous=tuple(earlier[-1:]))
        if cancelled is not None:
            request = SummaryRequest(
                messages,
                block.max_tokens,
                counting,
                previous=tuple(earlier[-1:]),
                cancelled=cancelled,
            )
        text = digest.summarize(request)
        earlier.append(text)
        said = message(block.role, wrap_summary(text, block, end), summary="compaction")
        return count_message(said, counting)

    return size
