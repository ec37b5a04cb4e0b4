"""plan(session, policy) -> Plan: what stays, what is summarized, and why.

A Planner is made once for a session and its counts; after that every plan is a handful of
bisections, whatever the length of the session. A Plan holds boundaries, never a value a message.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from compaction.cuts import (
    Alone,
    Kept,
    effective_amount,
    first_fitting,
    latest_cut,
    next_cut,
    safe_cuts,
    snapped,
    wanted_cut,
)
from compaction.decision import Plan, Region, holds
from compaction.groups import Groups, find_groups
from compaction.messages import Session
from compaction.peaks import Peaks
from compaction.plan_words import (
    Sizes,
    nothing_old,
    over_after,
    plan_findings,
    snap_note,
    unreachable,
)
from compaction.policy import Policy

if TYPE_CHECKING:
    from compaction.tokens import Counts

__all__ = ["Plan", "Planner", "Region", "counts_for", "plan", "summary_estimate"]

#: Formats whose records are the chat dicts that are sent.
_CHAT_DICTS = frozenset({"openai-chat", "anthropic", "yaml"})

#: Tokens that a message costs beside its content.
_MESSAGE_TOKENS = 4
#: What a summary takes of the part it replaces, while that is small: one token for so many.
_SUMMARY_SHARE = 4


def summary_estimate(policy: Policy, tokens: int) -> int:
    """About how many tokens the summary message of `tokens` tokens will have.

    Its label at four characters a token, and a quarter of what it replaces, at most the
    `max_tokens` of the policy. 0 when there is nothing to replace.
    """
    if tokens <= 0:
        return 0
    frame = _MESSAGE_TOKENS + len(policy.summary.label) // 4
    return frame + min(policy.summary.max_tokens, tokens // _SUMMARY_SHARE)


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
        self._alone: dict[bool, Alone] = {}

    @property
    def peaks(self) -> Peaks:
        """The largest message of any range; built when it is first asked for."""
        if self._peaks is None:
            self._peaks = Peaks(self.counts.tokens)
        return self._peaks

    def plan(self, policy: Policy) -> Plan:
        """The decision under `policy`. Raises PolicyError when it needs an unknown window."""
        outline = _Outline(self, policy)
        return self._decide(outline, outline.first_cut())

    def shrunk(self, plan: Plan) -> Plan | None:
        """`plan` with its recent part smaller by one safe cut; None when there is none."""
        outline = _Outline(self, plan.policy)
        cut = next_cut(outline.cuts, plan.cut, outline.latest)
        return None if cut is None else self._decide(outline, cut)

    def head_end(self, policy: Policy) -> int:
        """The end of the head; it separates no group unless safety is off."""
        head, groups, messages = policy.head, self.groups, self.session.messages
        if head.kind == "first":
            end = min(head.first, groups.n)
        elif head.kind == "none":
            end = 0
        else:
            end = self._leading_in(head.roles)
            end = min(end, 1) if head.kind == "system" else end
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

    def alone(self, *, ungrouped: bool) -> Alone:
        """The typed messages that no group holds; built when they are first asked for."""
        if ungrouped not in self._alone:
            self._alone[ungrouped] = Alone(self.groups, self.counts, ungrouped=ungrouped)
        return self._alone[ungrouped]

    def _decide(self, outline: _Outline, cut: int) -> Plan:
        policy, groups, trigger = outline.policy, self.groups, outline.policy.trigger
        total = self.counts.prefix[groups.n] + self.counts.overhead
        budget = outline.budget
        over = trigger.passed(total, budget)
        fires = trigger.fires(total, groups.n, len(groups.turns), budget)
        sizes = outline.sizes(cut)
        kept = outline.kept.before(cut)
        members = cut - outline.head_end - len(kept)
        if not fires:
            why_not = f"under budget: {total:,} of {budget:,} tokens"
            if trigger.any or trigger.all:
                why_not = "the trigger of the policy does not hold"
        else:
            why_not = self._why_not(outline, kept, members, sizes)
        compacts = not why_not
        impossible = unreachable(self, outline.least(), trigger, budget) if over else ""
        effective_cut = cut if compacts else outline.head_end
        return Plan(
            session=self.session,
            counts=self.counts,
            groups=groups,
            policy=policy,
            n=groups.n,
            head_end=outline.head_end,
            cut=effective_cut,
            kept=kept if compacts else (),
            compacts=compacts,
            reason=why_not or _why(total, budget, members, sizes.summarized, over=over),
            budget=budget,
            over_budget=over,
            tokens_kept=sizes.kept if compacts else 0,
            summary_estimate=sizes.summary if compacts else 0,
            requested=policy.keep_recent,
            effective=effective_amount(policy.recent, effective_cut, groups, self.counts.prefix),
            snap_note=snap_note(self, policy, outline.wanted, cut, outline.latest)
            if compacts
            else "",
            unreachable=impossible,
            findings=plan_findings(
                self,
                policy,
                kept=kept,
                compacts=compacts,
                head_end=outline.head_end,
                cut=cut,
                unreachable=impossible,
                over_after=""
                if not over or (compacts and outline.gives_way(cut))
                else over_after(
                    self,
                    sizes if compacts else outline.sizes(outline.head_end),
                    trigger,
                    budget,
                    compacts=compacts,
                ),
            ),
            planner=self,
        )

    def _why_not(self, outline: _Outline, kept: tuple[int, ...], members: int, sizes: Sizes) -> str:
        """Why a list that is to be compacted is not; "" when it is."""
        policy, groups = outline.policy, self.groups
        if members <= 0:
            return nothing_old(self, policy, sizes, outline.wanted)
        if policy.iterate == "update" and members == 1:
            only = outline.head_end
            for index in kept:
                only += index == only
            if holds(groups.summaries, only):
                return f"nothing new to summarize: all that is old is the summary #{only}"
        if policy.summary.accept == "smaller" and sizes.summarized <= sizes.summary:
            return (
                f"a summary would not be smaller: the old part has {sizes.summarized:,} tokens, a "
                f"summary about {sizes.summary:,}"
            )
        return ""


def _why(total: int, budget: int, members: int, tokens: int, *, over: bool) -> str:
    cause = "the trigger of the policy holds"
    if over:
        past = total - budget
        cause = (
            f"over budget by {past:,} tokens" if past else f"the budget of {budget:,} is reached"
        )
    many = "1 message" if members == 1 else f"{members:,} messages"
    verb = "becomes" if members == 1 else "become"
    return f"{cause}: {many} with {tokens:,} tokens {verb} one summary"


class _Outline:
    """What is fixed for one session and one policy before the cut is chosen."""

    def __init__(self, planner: Planner, policy: Policy) -> None:
        groups, counts = planner.groups, planner.counts
        self.policy = policy
        self.budget = policy.trigger.tokens(planner.session.window)
        self.head_end = planner.head_end(policy)
        self.latest = latest_cut(groups, policy.safety, self.head_end)
        self.cuts = safe_cuts(groups, policy.safety)
        self.wanted = max(self.head_end, wanted_cut(policy.recent, groups, counts.prefix))
        ungrouped = policy.safety.unit == "off"
        self.kept = Kept(
            policy.head,
            policy.safety,
            self.head_end,
            groups,
            counts,
            planner.alone(ungrouped=ungrouped) if policy.head.users else None,
        )
        self._counts = counts

    def first_cut(self) -> int:
        """The cut the policy asks for, made safe, and moved on where the list must fit."""
        policy = self.policy
        if policy.recent.unit == "fit":
            return first_fitting(self.cuts, self.head_end, self.latest, self._fits)
        cut = snapped(self.wanted, self.cuts, policy.safety, self.head_end, self.latest)
        if policy.fit == "shrink-recent":
            return first_fitting(self.cuts, cut, self.latest, self._fits)
        return cut

    def _fits(self, cut: int) -> bool:
        """Whether the list cut there keeps the budget.

        The summary counts as estimated, but for "fit" with shrink-recent, which begins with
        what fits without one and gives way when the real summary is known.
        """
        sizes = self.sizes(cut)
        unit, fit = self.policy.recent.unit, self.policy.fit
        summary = 0 if unit == "fit" and fit == "shrink-recent" else sizes.summary
        after = sizes.fixed + sizes.recent + summary
        return not self.policy.trigger.passed(after, self.budget)

    def least(self) -> Sizes:
        """The smallest list: at the latest cut, or as it is where a summary saves nothing."""
        sizes = self.sizes(self.latest)
        return sizes if sizes.summarized > sizes.summary else self.sizes(self.head_end)

    def gives_way(self, cut: int) -> bool:
        """Whether the recent part still shrinks when the real summary is too large."""
        return self.policy.fit == "shrink-recent" and cut < self.latest

    def sizes(self, cut: int) -> Sizes:
        """The tokens of every part when the list is cut there."""
        prefix = self._counts.prefix
        kept = self.kept.tokens(cut)
        summarized = prefix[cut] - prefix[self.head_end] - kept
        return Sizes(
            head_end=self.head_end,
            cut=cut,
            overhead=self._counts.overhead,
            head=prefix[self.head_end],
            summarized=summarized,
            kept=kept,
            recent=prefix[len(prefix) - 1] - prefix[cut],
            summary=summary_estimate(self.policy, summarized),
        )


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
