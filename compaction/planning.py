"""plan(session, policy) -> Plan: what stays, what is summarized, and why.

A Planner is made once for a session and its counts; after that every plan is a handful of
bisections, whatever the length of the session. A Plan holds boundaries, never a value a message.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from compaction.cuts import Alone, effective_amount, next_cut
from compaction.decision import Plan, Region, holds
from compaction.groups import Groups, find_groups
from compaction.marker import BRIDGE
from compaction.messages import Session
from compaction.outline import Outline, summary_estimate
from compaction.passes import Changes
from compaction.peaks import Peaks
from compaction.plan_words import (
    Sizes,
    nothing_old,
    over_after,
    plan_findings,
    snap_note,
    unreachable,
)
from compaction.policy import Pass, Policy

if TYPE_CHECKING:
    from compaction.tokens import Counts

__all__ = ["Plan", "Planner", "Region", "counts_for", "plan", "summary_estimate"]

#: A summary, and a line on either side of it where roles take turns.
_FEW = 3

#: Formats whose records are the chat dicts that are sent.
_CHAT_DICTS = frozenset({"openai-chat", "anthropic", "yaml"})


class Planner:
    """Plans for one session and its counts, each in O(log n) after what is built here.

    `groups` are found when they are not given. A new Planner for new counts over the same
    groups costs nothing that grows with the session.
    """

    def __init__(self, session: Session, counts: Counts, groups: Groups | None = None) -> None:
        self.session = session
        self.counts = counts
        self.groups = find_groups(session.messages) if groups is None else groups
        self._peaks: Peaks | None = None
        self._leading: dict[tuple[str, ...], int] = {}
        self._alone: dict[tuple[bool, tuple[Pass, ...]], Alone] = {}
        self._changes: dict[tuple[Pass, ...], Changes] = {}

    @property
    def peaks(self) -> Peaks:
        """The largest message of any range; built when it is first asked for."""
        if self._peaks is None:
            self._peaks = Peaks(self.counts.tokens)
        return self._peaks

    def plan(self, policy: Policy) -> Plan:
        """The decision under `policy`. Raises PolicyError when it needs an unknown window."""
        return self._decide(Outline(self, policy))

    def shrunk(self, plan: Plan) -> Plan | None:
        """`plan` with its recent part smaller by one safe cut; None when there is none."""
        outline = Outline(self, plan.policy)
        cut = next_cut(outline.cuts, plan.cut, outline.latest) if plan.summarizes else None
        return None if cut is None else self._decide(outline, cut)

    def head_end(self, policy: Policy) -> int:
        """The end of the head; it separates no group unless safety is off."""
        head, groups, messages = policy.head, self.groups, self.session.messages
        if head.kind == "first":
            end = min(head.first, groups.n)
        elif head.kind == "tokens":
            end = bisect_right(self.counts.prefix, head.tokens) - 1
        elif head.kind == "none":
            end = 0
        else:
            end = self._leading_in(head.roles)
            end = min(end, 1) if head.kind == "system" else end
        if groups.summaries:
            # What this program summarized before is no instruction, whatever its role.
            end = min(end, groups.summaries[0])
        protected = policy.safety.unit != "off"
        if protected and not groups.is_safe(end):
            keep_more = policy.safety.snap == "keep-more"
            end = groups.snap_forward(end) if keep_more else groups.snap_back(end)
        if head.first_user and end < len(messages) and groups.turns and groups.turns[0] == end:
            end = groups.group_of(end).stop if protected else end + 1
        return end

    def _leading_in(self, roles: tuple[str, ...]) -> int:
        if roles not in self._leading:
            messages = self.session.messages
            outside = (at for at, entry in enumerate(messages) if entry.role not in roles)
            self._leading[roles] = next(outside, len(messages))
        return self._leading[roles]

    def alone(self, *, ungrouped: bool, applied: tuple[Pass, ...] = ()) -> Alone:
        """The typed messages that no group holds; built when they are first asked for."""
        known = (ungrouped, applied)
        if known not in self._alone:
            tokens = self.changes(applied).tokens if applied else self.counts.tokens
            self._alone[known] = Alone(self.groups, tokens, ungrouped=ungrouped)
        return self._alone[known]

    def changes(self, applied: tuple[Pass, ...]) -> Changes:
        """What these passes change of the whole session; worked out when first asked for."""
        found = self._changes.get(applied)
        if found is None:
            if applied:
                found = self.changes(applied[:-1]).after(applied[-1])
            else:
                found = Changes(self.session.messages, self.counts, self.groups)
            self._changes[applied] = found
        return found

    def _fires(self, policy: Policy, tokens: int, budget: int) -> bool:
        groups = self.groups
        sizes = (tokens, groups.n, len(groups.turns), budget, len(groups.starts))
        return policy.trigger.fires(*sizes)

    def _decide(self, outline: Outline, cut: int | None = None) -> Plan:
        """The decision; `cut` is given where a plan is carried on with a smaller recent part."""
        policy, groups, trigger = outline.policy, self.groups, outline.policy.trigger
        total = self.counts.prefix[groups.n] + self.counts.overhead
        budget = outline.budget
        over = trigger.passed(total, budget)
        fires = self._fires(policy, total, budget)
        if fires:
            outline = outline.eased_by_passes()
        cut = outline.first_cut() if cut is None else cut
        eased = outline.eased
        freed = eased.total if eased is not None else 0
        sizes = outline.sizes(cut)
        kept = outline.kept.before(cut)
        truncated = outline.kept.truncated(cut)
        members = cut - outline.head_end - len(kept) - (truncated is not None)
        # What is cut off a message that is kept in part is not summarized.
        cut_off = self.counts.tokens[truncated[0]] - truncated[1] if truncated is not None else 0
        why_not = ""
        if not fires:
            why_not = f"under budget: {total:,} of {budget:,} tokens"
            if trigger.any or trigger.all:
                why_not = "the trigger of the policy does not hold"
        elif policy.summary.middle == "keep":
            why_not = "the policy changes messages in place, and there is nothing to change"
        elif not freed or self._fires(policy, total - freed, budget):
            why_not = self._why_not(outline, kept, members, sizes)
        else:
            why_not = f"{total - freed:,} tokens are left"
        summarizes = not why_not
        compacts = summarizes or freed > 0
        if not summarizes:
            cut, kept, truncated = outline.head_end, (), None
            sizes = outline.sizes(cut)
        impossible = unreachable(self, outline.least(), trigger, budget) if over else ""
        if eased is not None and truncated is not None:
            eased = eased.without(truncated[0])
        altered = outline.altered(kept)
        if eased is not None and summarizes:
            # What is changed and summarized all the same frees nothing by the change.
            stay = sum(self.counts.tokens[at] - eased.tokens[at] for at in altered)
            freed = eased.freed(groups.n) - eased.freed(cut) + stay
        return Plan(
            session=self.session,
            counts=self.counts,
            groups=groups,
            policy=policy,
            n=groups.n,
            head_end=outline.head_end,
            cut=cut,
            kept=tuple(index for index in kept if index not in altered),
            compacts=compacts,
            reason=_reason(
                policy,
                over=over,
                past=total - budget,
                budget=budget,
                freed=freed,
                members=members,
                tokens=sizes.summarized - cut_off,
                why_not=why_not,
            ),
            budget=budget,
            over_budget=over,
            tokens_kept=outline.verbatim(cut, altered),
            summary_estimate=sizes.summary if summarizes else 0,
            requested=policy.keep_recent,
            effective=effective_amount(policy.recent, cut, groups, self.counts.prefix),
            snap_note=snap_note(self, policy, outline.wanted, cut, outline.latest)
            if summarizes
            else "",
            unreachable=impossible,
            findings=plan_findings(
                self,
                policy,
                kept=kept,
                compacts=summarizes,
                head_end=outline.head_end,
                cut=cut,
                budget=budget,
                unreachable=impossible,
                over_after=""
                if not over or (summarizes and outline.gives_way(cut))
                else over_after(self, sizes, trigger, budget, compacts=compacts),
            ),
            planner=self,
            summarizes=summarizes,
            target=outline.target,
            eased=eased,
            altered=altered,
            truncated=truncated,
        )

    def _why_not(self, outline: Outline, kept: tuple[int, ...], members: int, sizes: Sizes) -> str:
        """Why a list that is to be compacted is not; "" when it is."""
        policy = outline.policy
        if members <= 0:
            return nothing_old(self, policy, sizes, outline.wanted, outline.budget)
        if policy.iterate != "stack" and members <= _FEW:
            only = self._only_summary(outline.head_end, sizes.cut, kept)
            if only is not None:
                return f"nothing new to summarize: all that is old is the summary #{only}"
        if policy.summary.accept == "smaller" and sizes.summarized <= sizes.summary:
            return (
                f"a summary would not be smaller: the old part has {sizes.summarized:,} tokens, a "
                f"summary about {sizes.summary:,}"
            )
        return ""

    def _only_summary(self, start: int, stop: int, kept: tuple[int, ...]) -> int | None:
        """The one thing in [start, stop) that is not kept, where it is a summary of ours."""
        every, only = self.session.messages, -1
        for at in range(start, stop):
            if holds(kept, at) or every[at].preview.strip() == BRIDGE:
                continue
            if only >= 0:
                return None
            only = at
        return only if only >= 0 and holds(self.groups.summaries, only) else None


def _reason(
    policy: Policy,
    *,
    over: bool,
    past: int,
    budget: int,
    freed: int,
    members: int,
    tokens: int,
    why_not: str,
) -> str:
    """Why the list is compacted and how, or why it is not."""
    if why_not and not freed:
        return why_not
    cause = "the trigger of the policy holds"
    if over:
        cause = (
            f"over budget by {past:,} tokens" if past else f"the budget of {budget:,} is reached"
        )
    many = "1 message" if members == 1 else f"{members:,} messages"
    verb = "becomes" if members == 1 else "become"
    held = f"{many} with {tokens:,} tokens"
    what = f"{held} {verb} one summary"
    if policy.summary.summarizer == "none":
        left = "is" if members == 1 else "are"
        what = f"{held} {left} left out, and one sentence says so"
    if policy.summary.middle == "drop":
        what = f"{held} {'is' if members == 1 else 'are'} dropped without a summary"
    if not freed:
        return f"{cause}: {what}"
    cleared = f"{cause}: clearing in place frees {freed:,} tokens"
    if policy.summary.middle == "keep":
        return cleared
    return f"{cleared}; {why_not}" if why_not else f"{cleared}, and {what}"


def counts_for(session: Session, policy: Policy) -> Counts:
    """The counts that `policy` decides by: made with its tokenizer, cached for the session.

    `calibrated` are the numbers of the provider where the session reports any, plain ones where
    it does not. chars/4 of a session of chat dicts is the published estimate, a quarter of the
    characters of all contents: a message has its share of that, so that every total is exact.
    """
    from compaction.tokens import count

    if policy.tokens == "calibrated":
        from compaction.tokens import calibrate

        plain = count(session)
        return calibrate(session, plain) or plain
    if policy.tokens != "chars/4" or session.format not in _CHAT_DICTS:
        return count(session, policy.tokens)
    from compaction.recipes import CHARS_PER_TOKEN, content_chars
    from compaction.tokens import Counts, tools_tokens

    shares, chars = array("q"), 0
    for entry in session.messages:
        record = entry.record
        before = chars // CHARS_PER_TOKEN
        if isinstance(record, dict) and "content" in record:
            chars += content_chars(record)
        else:
            chars += entry.chars
        shares.append(chars // CHARS_PER_TOKEN - before)
    return Counts("chars/4", shares, overhead=tools_tokens(session, "chars/4"))


def plan(session: Session, policy: Policy, *, counts: Counts | None = None) -> Plan:
    """The decision for `session` under `policy`, by `counts_for` when no counts are given.

    For many plans of one session, make one Planner. Raises PolicyError.
    """
    return Planner(session, counts_for(session, policy) if counts is None else counts).plan(policy)
