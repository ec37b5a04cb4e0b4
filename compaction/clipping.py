"""fit: clip-largest. The largest tool results of the recent part, shortened until the list fits.

Only the texts of tool results are shortened, each from its middle and with a marker where
something is missing; calls, their arguments and everything else stay as read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from compaction.clip_text import clip_message
from compaction.findings import Finding
from compaction.tokens import count_message

if TYPE_CHECKING:
    from compaction.compacting import Compacted

#: A tool result keeps at least about so many tokens.
_LEAST = 60
#: Findings that no longer hold once clipping has made the list fit.
_ABOUT_THE_BUDGET = frozenset(
    {"over-budget", "over-after-compaction", "over-budget-after", "budget-unreachable"}
)


def clip_largest(result: Compacted) -> Compacted:
    """`result` with its largest recent tool results clipped, when it is over the budget.

    The very same object comes back when the policy does not clip, when the list fits, or when the
    summary failed. Where clipping all is not enough, `over_budget` stays true.
    """
    plan = result.plan
    if "clip-largest" not in plan.policy.fit_steps or not result.over or result.failure:
        return result
    counting = plan.counts.counter
    limit = plan.target if result.made else plan.budget
    over = result.tokens_after - limit + (plan.policy.trigger.when == "reach")
    messages, account = list(result.messages), list(result.account)
    findings: list[Finding] = []
    for index, place in _largest_first(result):
        if over <= 0:
            break
        size = plan.counts.tokens[index]
        clipped = clip_message(messages[place], max(_LEAST, size - over), counting)
        gone = size - count_message(clipped, counting)
        if gone <= 0 or clipped is messages[place]:
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
    after = limit + over - (plan.policy.trigger.when == "reach")
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
        clipped=True,
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
