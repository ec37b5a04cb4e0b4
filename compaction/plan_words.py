"""What a plan says: its notes and findings, in sentences with the numbers that matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from compaction.cuts import effective_amount
from compaction.findings import Finding
from compaction.policy import Policy
from compaction.policy_blocks import INSTRUCTION_ROLES, Trigger
from compaction.policy_limits import impossible

if TYPE_CHECKING:
    from compaction.planning import Planner


#: Kept messages whose groups are looked at, so that a plan is quick whatever is kept.
_LOOKED_AT = 100

_CLIPS = "The policy (fit: clip-largest) shortens the largest recent tool results."


class Sizes(NamedTuple):
    """The tokens of every part of a list cut at `cut`; `summary` is an estimate.

    `changed` are those of `recent` that passes change, as they are then.
    """

    head_end: int
    cut: int
    overhead: int
    head: int
    summarized: int
    kept: int
    recent: int
    summary: int
    changed: int = 0

    @property
    def fixed(self) -> int:
        """What stays whatever is recent: overhead, head and what is pinned."""
        return self.overhead + self.head + self.kept

    @property
    def after(self) -> int:
        """The compacted list with its overhead."""
        return self.fixed + self.recent + self.summary


def _parts(sizes: Sizes) -> str:
    """The parts that are there, such as "head 3,040, recent 12, summary ~40"."""
    named = (
        ("overhead", sizes.overhead, ""),
        ("head", sizes.head, ""),
        ("pinned", sizes.kept, ""),
        ("cleared", sizes.changed, ""),
        ("recent", sizes.recent - sizes.changed, ""),
        ("summary", sizes.summary, "about "),
    )
    return ", ".join(f"{name} {about}{size:,}" for name, size, about in named if size)


def _largest(planner: Planner, sizes: Sizes) -> str:
    """The largest single thing among what stays: "message #0 (system) alone takes 3,040"."""
    n = planner.groups.n
    tokens = planner.counts.tokens
    found = [
        index
        for index in (
            planner.peaks.largest(0, sizes.head_end),
            planner.peaks.largest(sizes.cut, n),
        )
        if index is not None
    ]
    biggest = max(found, key=lambda index: tokens[index], default=None)
    if biggest is None or sizes.overhead >= max(tokens[biggest], sizes.summary):
        if not sizes.overhead:
            return ""
        told = planner.counts.calibration is None
        what = "the tool definitions" if told else "the system prompt and the tools"
        return f"{what} alone take {sizes.overhead:,}"
    # Worth saying only where max_tokens is what bounds it.
    if sizes.summary > tokens[biggest] and sizes.summary * 4 < sizes.summarized:
        return f"the summary alone may take {sizes.summary:,}; a lower max_tokens makes it smaller"
    if sizes.changed:
        # The largest by its size in the file may be one of those that are changed.
        return ""
    role = planner.session.messages[biggest].role
    return f"message #{biggest} ({role}) alone takes {tokens[biggest]:,}"


def unreachable(planner: Planner, least: Sizes, trigger: Trigger, budget: int) -> str:
    """Why no keep_recent brings the list under `budget`, "" if one does.

    `least` is the smallest list there can be.
    """
    if not trigger.passed(least.after, budget):
        return ""
    largest = _largest(planner, least)
    return (
        f"a budget of {budget:,} cannot be reached: at least {least.after:,} tokens stay "
        f"({_parts(least)})" + (f"; {largest}" if largest else "")
    )


def over_after(
    planner: Planner, sizes: Sizes, trigger: Trigger, budget: int, *, compacts: bool
) -> str:
    """That the list is still over `budget` as planned, and what is largest in it; "" if not."""
    if not trigger.passed(sizes.after, budget):
        return ""
    largest = _largest(planner, sizes)
    past = sizes.after - budget
    how = f"still about {past:,} tokens over the budget of {budget:,} after compaction"
    if not compacts:
        how = f"nothing is compacted, and the list is {past:,} tokens over the budget of {budget:,}"
    return f"{how} ({_parts(sizes)})" + (f"; {largest}" if largest else "")


def nothing_old(
    planner: Planner, policy: Policy, sizes: Sizes, wanted: int, budget: int
) -> str:
    """Why nothing is old, with what there is instead; `wanted` is the cut asked for."""
    body = planner.groups.n - sizes.head_end
    if body <= 0:
        return f"nothing to summarize: the head is the whole list ({sizes.head:,} tokens)"
    if sizes.cut > sizes.head_end:
        return "nothing to summarize: every message before the recent part is pinned"
    many = "the message" if body == 1 else f"the {body:,} messages"
    held = f"{many} after the head ({sizes.recent:,} tokens)"
    if wanted > sizes.head_end:
        return f"nothing to summarize: {held} cannot be separated or always stay"
    if policy.recent.unit == "fit":
        over = policy.trigger.passed(sizes.after, budget)
        how = ("always stays" if body == 1 else "always stay") if over else "fit the budget"
        how = "fits the budget" if body == 1 and not over else how
        return f"nothing to summarize: {held} {how}"
    return (
        f"nothing to summarize: keep_recent {_amount(policy.recent.amount)} covers {held}; a "
        "lower one makes some of them old"
    )


def snap_note(planner: Planner, policy: Policy, wanted: int, cut: int, latest: int) -> str:
    """Why keep_recent gives another amount than it asks for; "" when it does not."""
    if policy.recent.unit == "fit" or cut == wanted:
        return ""
    amount = policy.recent.amount
    given = effective_amount(policy.recent, cut, planner.groups, planner.counts.prefix)
    asked = f"asked {_amount(amount)}, keeps {_amount(given)}"
    if cut > wanted:
        if "shrink-recent" in policy.fit_steps:
            return f"{asked}: no more fits the budget"
        return f"{asked}: the cut moved on to {_thing_at(planner, policy, cut)}"
    if cut == latest and wanted > latest:
        if policy.safety.unit == "turn" and not policy.safety.split_newest:
            return f"{asked}: the newest turn always stays"
        return f"{asked}: the newest message and an unanswered user message always stay"
    return f"{asked}: the cut moved back to {_thing_at(planner, policy, cut)}"


def _amount(amount: float | None) -> str:
    if amount is None:
        return "what fits"
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:.4g}"


def _thing_at(planner: Planner, policy: Policy, index: int) -> str:
    if index >= planner.groups.n:
        return "the end"
    entry = planner.session.messages[index]
    if policy.safety.unit == "turn" and entry.typed:
        return f"the turn at #{index}"
    if entry.calls:
        return f"the call at #{index}"
    return f"the reasoning at #{index}" if entry.bound else f"#{index}"


def plan_findings(
    planner: Planner,
    policy: Policy,
    *,
    kept: Sequence[int],
    compacts: bool,
    head_end: int,
    cut: int,
    budget: int,
    unreachable: str,
    over_after: str,
) -> tuple[Finding, ...]:
    """What a person should know about the plan: what cannot fit, and where the policy is weak."""
    found: list[Finding] = []
    clips = "clip-largest" in policy.fit_steps
    if unreachable:
        found.append(
            Finding(
                "warning",
                "budget-unreachable",
                _sentence(unreachable),
                remedy=_CLIPS if clips else "Raise the budget, or shorten what is largest.",
            )
        )
    elif over_after:
        found.append(
            Finding(
                "warning",
                "over-after-compaction" if compacts else "over-budget",
                _sentence(over_after),
                remedy=_CLIPS
                if clips
                else "Lower keep_recent, raise the budget, or set fit to clip-largest.",
            )
        )
    if contradiction := impossible(policy, budget):
        found.append(
            Finding(
                "warning",
                "settings-impossible",
                _sentence(contradiction.rstrip(".")),
                remedy="Keep less, raise the budget, or set fit to shrink-recent.",
            )
        )
    past = [pin for pin in policy.head.pins if pin >= planner.groups.n]
    if past:
        found.append(
            Finding(
                "warning",
                "pin-out-of-range",
                f"The policy pins #{past[0]}, but the session has {planner.groups.n:,} messages.",
                remedy="Remove the pin.",
            )
        )
    found.extend(_weaknesses(policy))
    if compacts:
        found.extend(_instructions_lost(planner, policy, head_end, cut, kept))
        if policy.safety.unit == "off":
            found.extend(_splits(planner, head_end, cut, kept))
    return tuple(found)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _weaknesses(policy: Policy) -> list[Finding]:
    """Where the policy switches a rule of the engine off."""
    found: list[Finding] = []
    if policy.summary.role in INSTRUCTION_ROLES and policy.summary.middle == "summarize":
        found.append(
            Finding(
                "warning",
                "summary-promoted",
                f"Policy {policy.name} promotes its summary to an instruction: it is a "
                f"{policy.summary.role} message, and what it quotes is read as one.",
                remedy="Set summary.role to user.",
            )
        )
    if policy.summary.accept != "smaller" and policy.summary.middle == "summarize":
        taken = "of any size" if policy.summary.accept == "usable" else "of any size, even empty"
        found.append(
            Finding(
                "info",
                "summary-unchecked",
                f"Policy {policy.name} takes a summary {taken}.",
                remedy="Set summary.accept to smaller.",
            )
        )
    return found


def _instructions_lost(
    planner: Planner, policy: Policy, head_end: int, cut: int, kept: Sequence[int]
) -> list[Finding]:
    """The first message, when it is an instruction and is summarized."""
    messages = planner.session.messages
    if head_end or cut == 0 or not messages or messages[0].role not in INSTRUCTION_ROLES:
        return []
    if kept and kept[0] == 0:
        return []
    dropped = policy.summary.middle == "drop"
    gone = "dropped" if dropped else "summarized"
    return [
        Finding(
            "warning",
            "instructions-summarized",
            f"The instructions (#0, {messages[0].role}) are {gone} like any message.",
            message=0,
            remedy="Set head to system.",
        )
    ]


def _splits(planner: Planner, head_end: int, cut: int, kept: Sequence[int]) -> list[Finding]:
    """The groups that the plan separates."""
    groups = planner.groups
    numbers: dict[int, None] = {}
    for edge in (head_end, cut):
        if edge < groups.n and not groups.is_safe(edge):
            numbers[groups.number_of(edge)] = None
    pins = set(kept)
    for index in kept[:_LOOKED_AT]:
        group = groups.group_of(index)
        if any(head_end <= each < cut and each not in pins for each in group):
            numbers[groups.number_of(index)] = None
    return [
        Finding(
            "warning",
            "group-split",
            f"Messages #{group.start} to #{group.stop - 1} belong together (a call and its "
            "results), and the plan separates them; a provider may refuse the list.",
            message=group.start,
            remedy="Set safety to group.",
        )
        for group in (groups.group(number) for number in sorted(numbers))
    ]
