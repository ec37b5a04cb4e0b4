"""What is fixed for one session and one policy before the cut is chosen; how the cut is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compaction.cuts import Kept, first_fitting, latest_cut, safe_cuts, snapped, wanted_cut
from compaction.passes import Eased
from compaction.plan_words import Sizes
from compaction.policy import Pass, Policy

if TYPE_CHECKING:
    from compaction.planning import Planner
    from compaction.tokens import Counts

#: Tokens that a message costs beside its content.
_MESSAGE_TOKENS = 4
#: Characters that a token of a label has at the most, about.
_LONGEST_TOKEN = 8
#: What a summary takes of the part it replaces, while that is small: one token for so many.
_SUMMARY_SHARE = 4


def summary_estimate(policy: Policy, tokens: int) -> int:
    """About how many tokens the summary message of `tokens` tokens will have.

    Its label at four characters a token, and a quarter of what it replaces, at most the
    `max_tokens` of the policy. 0 when there is nothing to replace, or no summary is made.
    """
    if tokens <= 0 or policy.summary.middle != "summarize":
        return 0
    frame = _MESSAGE_TOKENS + len(policy.summary.label) // 4
    return frame + min(policy.summary.max_tokens, tokens // _SUMMARY_SHARE)


class Outline:
    """One policy over one session: head, kept messages and the cuts that are allowed.

    `applied` are the passes that change something under it, and `eased` what they free.
    """

    def __init__(self, planner: Planner, policy: Policy, applied: tuple[Pass, ...] = ()) -> None:
        groups, counts = planner.groups, planner.counts
        self.planner = planner
        self.policy = policy
        self.budget = policy.trigger.tokens(planner.session.window)
        self.target = policy.trigger.target_tokens(planner.session.window)
        self.head_end = planner.head_end(policy)
        self.latest = latest_cut(groups, policy.safety, self.head_end)
        self.cuts = safe_cuts(groups, policy.safety)
        self.kept = self._kept()
        self.eased: Eased | None = None
        self.counts: Eased | Counts = counts
        if applied:
            self.eased = self.counts = self._eased(applied)
            self.kept = self._kept(applied)
        self.wanted = max(self.head_end, wanted_cut(policy.recent, groups, self.counts.prefix))

    def _kept(self, applied: tuple[Pass, ...] = ()) -> Kept:
        policy, planner = self.policy, self.planner
        ungrouped = policy.safety.unit == "off"
        return Kept(
            policy.head,
            policy.safety,
            self.head_end,
            planner.groups,
            planner.counts,
            planner.alone(ungrouped=ungrouped, applied=applied) if policy.head.users else None,
            planner.groups.summaries if policy.iterate == "stack" else (),
        )

    def _eased(self, applied: tuple[Pass, ...]) -> Eased:
        planner = self.planner
        return Eased(
            planner.changes(applied), planner.counts, self.head_end, self.latest, self.kept.fixed
        )

    def eased_by_passes(self) -> Outline:
        """This outline after the passes of the policy, but those that free too little."""
        applied: tuple[Pass, ...] = ()
        freed = 0
        for each in self.policy.before:
            now = self._eased((*applied, each)).total
            if now - freed >= max(1, each.at_least):
                applied, freed = (*applied, each), now
        return Outline(self.planner, self.policy, applied) if applied else self

    def first_cut(self) -> int:
        """The cut the policy asks for, made safe, and moved on where the list must fit."""
        policy = self.policy
        if policy.recent.unit == "fit":
            return first_fitting(self.cuts, self.head_end, self.latest, self._fits)
        cut = snapped(self.wanted, self.cuts, policy.safety, self.head_end, self.latest)
        if policy.fit_steps[:1] == ("shrink-recent",):
            return first_fitting(self.cuts, cut, self.latest, self._fits)
        return cut

    def _fits(self, cut: int) -> bool:
        """Whether the list cut there keeps the target.

        The summary counts as estimated, but for "fit" with shrink-recent, which begins with
        what fits without one and gives way when the real summary is known.
        """
        sizes = self.sizes(cut)
        gives_way = self.policy.recent.unit == "fit" and "shrink-recent" in self.policy.fit_steps
        summary = 0 if gives_way else sizes.summary
        after = sizes.fixed + sizes.recent + summary
        return not self.policy.trigger.passed(after, self.target)

    def least(self) -> Sizes:
        """The smallest list: at the latest cut, or as it is where a summary saves nothing.

        Of the summary no more is sure than that it is a message with its label.
        """
        sizes = self.sizes(self.latest)
        label = len(self.policy.summary.label) // _LONGEST_TOKEN
        sizes = sizes._replace(summary=min(sizes.summary, _MESSAGE_TOKENS + label))
        saves = sizes.summarized > sizes.summary and self.policy.summary.middle != "keep"
        return sizes if saves else self.sizes(self.head_end)

    def gives_way(self, cut: int) -> bool:
        """Whether the recent part still shrinks when the real summary is too large."""
        return "shrink-recent" in self.policy.fit_steps and cut < self.latest

    def altered(self, kept: Sequence[int]) -> tuple[int, ...]:
        """Those of `kept` that a pass changes."""
        eased = self.eased
        return () if eased is None else tuple(index for index in kept if eased.holds(index))

    def verbatim(self, cut: int, altered: Sequence[int]) -> int:
        """The tokens of what is kept as it is when the list is cut there."""
        if cut == self.head_end:
            return 0
        truncated, tokens = self.kept.truncated(cut), self.counts.tokens
        kept = self.kept.tokens(cut) - sum(tokens[index] for index in altered)
        return kept - (truncated[1] if truncated is not None else 0)

    def sizes(self, cut: int) -> Sizes:
        """The tokens of every part when the list is cut there, after the passes.

        What is summarized counts as it is: a summarizer is given what no pass has changed.
        """
        prefix, raw = self.counts.prefix, self.planner.counts.prefix
        kept = self.kept.tokens(cut)
        summarized = raw[cut] - raw[self.head_end] - kept
        return Sizes(
            head_end=self.head_end,
            cut=cut,
            overhead=self.counts.overhead,
            head=prefix[self.head_end],
            summarized=summarized,
            kept=kept,
            recent=prefix[len(prefix) - 1] - prefix[cut],
            summary=summary_estimate(self.policy, summarized),
            changed=self._changed(cut),
        )

    def _changed(self, cut: int) -> int:
        """The tokens of recent messages that passes change, as they are then."""
        eased, n = self.eased, self.planner.groups.n
        if eased is None:
            return 0
        return eased.had(cut, n) - (eased.freed(n) - eased.freed(cut))
