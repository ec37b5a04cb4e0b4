"""fit: clip-largest. The largest tool results of the recent part, shortened until the list fits.

Only the texts of tool results are shortened, each from its middle and with a marker where
something is missing; calls, their arguments and everything else stay as read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from compaction.findings import Finding
from compaction.messages import Inline, Message, Part, Text, ToolResult, describe
from compaction.tokens import Counter, count_message

if TYPE_CHECKING:
    from compaction.compacting import Compacted

#: A tool result keeps at least about so many tokens.
_LEAST = 60
#: How much of what is kept of a text is its beginning.
_BEGINNING = 2 / 3
_ATTEMPTS = 12
#: Findings that no longer hold once clipping has made the list fit.
_ABOUT_THE_BUDGET = frozenset(
    {"over-budget", "over-after-compaction", "over-budget-after", "budget-unreachable"}
)


def clip_largest(result: Compacted) -> Compacted:
    """`result` with its largest recent tool results clipped, when it is over the budget.

    The very same object comes back when the policy does not clip, when the list fits, or when
    the summary failed. Where clipping all is not enough, `over_budget` stays true.
    """
    plan = result.plan
    if plan.policy.fit != "clip-largest" or not result.over_budget or result.failure:
        return result
    counting = plan.counts.counter
    over = result.tokens_after - plan.budget + (plan.policy.trigger.when == "reach")
    messages, account = list(result.messages), list(result.account)
    findings: list[Finding] = []
    for index, place in _largest_first(result):
        if over <= 0:
            break
        size = plan.counts.tokens[index]
        clipped = clip_message(messages[place], max(_LEAST, size - over), counting)
        gone = size - count_message(clipped, counting)
        if gone <= 0:
            continue
        over -= gone
        messages[place] = clipped
        account[index] = replace(account[index], reason="recent: its tool output clipped")
        findings.append(
            Finding(
                "warning",
                "result-clipped",
                f"The tool result #{index} is clipped from {size:,} to {size - gone:,} tokens to "
                f"fit the budget of {plan.budget:,}.",
                message=index,
            )
        )
    if not findings:
        return result
    after = plan.budget + over - (plan.policy.trigger.when == "reach")
    over_budget = plan.policy.trigger.passed(after, plan.budget)
    told = (
        finding
        for finding in result.findings
        if over_budget or finding.code not in _ABOUT_THE_BUDGET
    )
    return replace(
        result,
        messages=tuple(messages),
        tokens_after=after,
        over_budget=over_budget,
        findings=(*told, *findings),
        account=tuple(account),
        made=True,
    )


def _largest_first(result: Compacted) -> Iterator[tuple[int, int]]:
    """(index in the session, place in the result) of the recent tool results."""
    tokens = result.plan.counts.tokens
    every = result.session.messages
    recent = (index for index in result.plan.recent if every[index].results)
    for index in sorted(recent, key=lambda index: -tokens[index]):
        place = result.account[index].into
        if place is not None:
            yield index, place


def clip_message(message: Message, tokens: int, counter: Counter) -> Message:
    """`message` with the texts of its tool results shortened to about `tokens` in all.

    It is at most that where its tool results allow it; the very same message comes back when it
    has no more tokens than that already, or nothing to clip.
    """
    parts = message.parts
    size = count_message(message, counter)
    chars = sum(len(text.text) for text in _texts(parts))
    if size <= tokens or not chars:
        return message
    share = max(0.0, 1 - (size - tokens) / size)
    for _ in range(_ATTEMPTS):
        shorter = tuple(_clipped(part, share) for part in parts)
        candidate = describe(replace(message, body=Inline(shorter), spans=()), shorter)
        if count_message(candidate, counter) <= tokens:
            return candidate
        share *= 0.8
    return candidate


def _texts(parts: tuple[Part, ...]) -> Iterator[Text]:
    for part in parts:
        if isinstance(part, ToolResult):
            yield from (inner for inner in part.content if isinstance(inner, Text))


def _clipped(part: Part, share: float) -> Part:
    if not isinstance(part, ToolResult):
        return part
    content = tuple(
        Text(clip_text(inner.text, int(len(inner.text) * share)))
        if isinstance(inner, Text)
        else inner
        for inner in part.content
    )
    return replace(part, content=content)


def clip_text(text: str, chars: int) -> str:
    """`text` with its middle replaced by a marker, so that about `chars` characters are kept.

    It comes back as it is where the marker would save nothing.
    """
    chars = max(0, chars)
    missing = len(text) - chars
    marker = f"\n[… {missing:,} characters clipped to fit the context …]\n"
    if missing <= len(marker):
        return text
    start = int(chars * _BEGINNING)
    end = chars - start
    return text[:start] + marker + (text[-end:] if end else "")
