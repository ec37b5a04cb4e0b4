"""compact(plan, summarizer) -> Compacted: the new list of messages, and the account of the old.

Nothing here decides what to summarize (the plan does) or what the summary says (the summarizer
does). It makes the list, holds the summary to the rules, and says what happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from compaction.account import Fate, Regions, account_dropped, account_of, account_unchanged
from compaction.altering import altered_messages
from compaction.arranging import order_of
from compaction.clipping import clip_largest
from compaction.errors import SummarizerError
from compaction.findings import Finding
from compaction.loose_results import DROPPED, NOTED, TOLD, members
from compaction.marker import wrap_summary
from compaction.messages import IsCancelled, Message, Session, message
from compaction.planning import Plan
from compaction.resulting import after_findings, summary_findings, validity_findings
from compaction.secrets import mask, masked_kinds
from compaction.summary import Placeholder, Summarizer, SummaryRequest, summarizer_named
from compaction.summary.earlier import covered, earlier_summary, is_bridge
from compaction.summary.protocol import usable
from compaction.tokens import count_message

#: Tokens under which no text is worth asking a summarizer for.
_LEAST = 8
#: Stands where a digest of a few tokens has no room for any line of the messages.
_NO_ROOM = "(no room for more)"
#: A summary, and a line on either side of it where roles take turns.
_FEW = 3
#: The plan's own findings about the size after compaction: as estimated, and at the least.
_ESTIMATED, _UNREACHABLE = "over-after-compaction", "budget-unreachable"


@dataclass(frozen=True, slots=True)
class SummaryMade:
    """The summary that stands in the result.

    `text` is what the summarizer (or the person) wrote, `content` what is sent: under its label,
    in its wrapper, secrets masked. `tokens` counts the whole message. `edited`: a person wrote or
    changed it. `count` is how many messages it covers, those of earlier summaries included.
    """

    text: str
    content: str
    role: str
    tokens: int
    summarizer: str
    edited: bool
    message: Message
    count: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a plan.

    `messages` is the very tuple of the session when nothing happened. `saved` is the fraction of
    `tokens_before` that is gone; both counts hold messages and overhead, by the same counter.
    `account` has one Fate for every message of the session. `made` says whether the list is a new
    one; `failure` why it was to be but is not the one that was planned ("" otherwise).
    `over_budget`: even so it is over the budget. `clipped`: recent tool results were shortened to
    make it fit. `plan` is the plan carried out, which keeps less
    than the one asked for where the policy says `fit: shrink-recent`.
    """

    session: Session
    plan: Plan
    messages: tuple[Message, ...]
    summary: SummaryMade | None
    tokens_before: int
    tokens_after: int
    over_budget: bool
    findings: tuple[Finding, ...]
    account: tuple[Fate, ...]
    made: bool
    failure: str = ""
    clipped: bool = False

    @property
    def over(self) -> bool:
        """Whether it is over what the policy brings a list under: the budget, or its target."""
        if not self.made:
            return self.over_budget
        return self.plan.policy.trigger.passed(self.tokens_after, self.plan.target)

    @property
    def saved(self) -> float:
        """The part of the tokens that is gone, from 0.0 to 1.0; negative when it grew."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    def as_session(self) -> Session:
        """The session with the compacted list: what the next round starts from."""
        if self.messages is self.session.messages:
            return self.session
        return replace(self.session, messages=self.messages)


def compact(
    plan: Plan, summarizer: Summarizer | None = None, *, cancelled: IsCancelled | None = None
) -> Compacted:
    """Carry out `plan`, the summary made by `summarizer` (None: the one the policy names).

    A summary that failed, or that the policy does not accept, is dealt with as
    `policy.failure` says. Raises SummarizerError only where that is `raise` or where the
    policy's summarizer does not exist, and Cancelled when `cancelled` says so.
    """
    return _carried_out(plan, summarizer, cancelled)


def _carried_out(
    plan: Plan, summarizer: Summarizer | None, cancelled: IsCancelled | None
) -> Compacted:
    if not plan.compacts:
        return _fitted(_unchanged(plan, plan.reason), None, None)
    if not plan.summarizes:
        return _fitted(_in_place(plan), None, None)
    if summarizer is None:
        summarizer = summarizer_named(plan.policy.summary.summarizer)
    if not _has_news(plan):
        why = "nothing but an earlier summary stands before the recent part"
        return _fitted(_unchanged(plan, why), None, None)
    return _fitted(_attempt(plan, summarizer, cancelled), summarizer, cancelled)


def _fitted(
    result: Compacted, summarizer: Summarizer | None, cancelled: IsCancelled | None
) -> Compacted:
    """`result` brought under the budget by the steps of the policy, in their order."""
    for step in result.plan.policy.fit_steps:
        if not result.over or result.failure:
            return result
        if step == "clip-largest":
            result = clip_largest(result)
        elif summarizer is not None and step == "shrink-recent":
            result = _shrunk(result, summarizer, cancelled)
        elif summarizer is not None and step == "reject":
            result = _rejected(result)
    return result


def _shrunk(result: Compacted, summarizer: Summarizer, cancelled: IsCancelled | None) -> Compacted:
    """`result` with a smaller and smaller recent part, until it fits or nothing is left of it."""
    clips = result.clipped
    while result.over and not result.failure:
        smaller = result.plan.shrink()
        if smaller is None:
            break
        result = _attempt(smaller, summarizer, cancelled)
        if clips and result.over:
            result = clip_largest(result)
    return result


def _rejected(result: Compacted) -> Compacted:
    return _failed(
        result.plan,
        f"The compacted list has {result.tokens_after:,} tokens, still over the budget of "
        f"{result.plan.budget:,}, and the policy rejects that.",
    )


def compact_with_text(plan: Plan, text: str, summarizer: str = "edited") -> Compacted:
    """Carry out `plan` with a summary that a person wrote or changed.

    It is used as it is, whatever its size: only a blank one counts as failed.
    """
    if not plan.compacts:
        return _unchanged(plan, plan.reason)
    if not text.strip():
        return _failed(plan, f"The {summarizer} summary is empty.")
    if not plan.summarizes or plan.policy.summary.middle != "summarize":
        return compact(plan)
    result = _with_summary(plan, text, summarizer, edited=True)
    return clip_largest(result)


# ------------------------------------------------------------------------------ one attempt


def _attempt(plan: Plan, summarizer: Summarizer, cancelled: IsCancelled | None) -> Compacted:
    if plan.policy.summary.middle == "drop":
        return _without_summary(plan, "the policy makes none")
    request = _request(plan, cancelled)
    if plan.policy.summary.accept == "smaller" and request.max_tokens < _LEAST:
        return _failed(plan, _too_small(plan))
    try:
        text, cut = _text_of(summarizer, request, plan.policy.summary.accept)
    except SummarizerError as error:
        return _failed(plan, str(error))
    result = _with_summary(plan, text, summarizer.name, edited=False, cut=cut)
    made = result.summary
    if (
        plan.policy.summary.accept == "smaller"
        and made is not None
        and made.tokens >= (tokens := members(plan).tokens)
    ):
        return _failed(
            plan,
            f"The summary of {summarizer.name} has {made.tokens:,} tokens, not fewer than the "
            f"{tokens:,} of the {_many(plan)} it would replace.",
        )
    return result


def _text_of(summarizer: Summarizer, request: SummaryRequest, accept: str) -> tuple[str, bool]:
    """The text to use, and whether it may be cut off. Raises SummarizerError."""
    reply: object = summarizer.summarize(request)
    if getattr(summarizer, "verbatim", False) and isinstance(reply, str):
        return reply if accept == "any" or reply.strip() else _NO_ROOM, False
    if accept == "smaller":
        checked = usable(reply, f"The summarizer {summarizer.name}")
        return checked.text, checked.cut
    if isinstance(reply, str) and (accept == "any" or reply.strip()):
        return reply, False
    what = "nothing" if isinstance(reply, str) else f"{type(reply).__name__}, not a text"
    raise SummarizerError(f"The summarizer {summarizer.name} returned {what}.")


def _request(plan: Plan, cancelled: IsCancelled | None) -> SummaryRequest:
    block = plan.policy.summary
    every = plan.session.messages
    old = members(plan)
    messages = tuple(every[index] for index in old.indexes)
    labels = (block.label,)
    update = plan.policy.iterate == "update"
    earlier = (earlier_summary(entry, labels) for entry in messages) if update else ()
    limit = block.max_tokens
    if block.accept == "smaller":
        frame = _summary_message(plan, "")
        bare = count_message(frame, plan.counts.counter)
        limit = min(limit, old.tokens - bare - 1)
    after = plan.summarized[-1] + 1
    request = SummaryRequest(
        messages=messages,
        max_tokens=limit,
        counter=plan.counts.counter,
        previous=tuple(text for text in earlier if text),
        follows=every[after] if after < len(every) else None,
        labels=labels,
    )
    return request if cancelled is None else replace(request, cancelled=cancelled)


def _has_news(plan: Plan) -> bool:
    """Whether the summarized part holds more than one earlier summary and the lines beside it."""
    if plan.policy.iterate == "stack" or len(plan.summarized) > _FEW:
        return True
    every = plan.session.messages
    said = [every[index] for index in members(plan).indexes if not is_bridge(every[index])]
    return len(said) != 1 or earlier_summary(said[0], (plan.policy.summary.label,)) is None


def _too_small(plan: Plan) -> str:
    return (
        f"The {_many(plan)} to summarize have {members(plan).tokens:,} tokens: too few for a "
        "summary to be smaller."
    )


def _many(plan: Plan) -> str:
    count = len(members(plan).indexes)
    return f"{count:,} message{'' if count == 1 else 's'}"


# ------------------------------------------------------------------------------- the results


def _unchanged(plan: Plan, why: str) -> Compacted:
    findings = (*plan.findings, *validity_findings(plan.session, plan.session.messages))
    return Compacted(
        session=plan.session,
        plan=plan,
        messages=plan.session.messages,
        summary=None,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_before,
        over_budget=plan.policy.trigger.passed(plan.tokens_before, plan.budget),
        findings=findings,
        account=account_unchanged(_regions(plan), why),
        made=False,
    )


def _failed(plan: Plan, why: str) -> Compacted:
    """What the policy wants when there is no usable summary."""
    match plan.policy.failure:
        case "raise":
            raise SummarizerError(why)
        case "placeholder":
            text = Placeholder().summarize(_request(plan, None))
            result = _with_summary(plan, text, Placeholder.name, edited=False)
            made = result.summary
            if made is None or made.tokens >= members(plan).tokens:
                return left_alone(plan, why)
            note = "A placeholder stands where the summary was to be."
        case "truncate":
            result = _without_summary(plan, why)
            note = f"The {_many(plan)} were dropped without a summary."
        case _:
            return left_alone(plan, why)
    finding = Finding("error", "summary-failed", f"{why} {note}")
    return replace(result, failure=why, findings=(finding, *result.findings))


def left_alone(plan: Plan, why: str) -> Compacted:
    """The result where there is no usable summary and every message stays: `why`."""
    finding = Finding(
        "error",
        "summary-failed",
        f"{why} Every message was kept.",
        remedy="Try another summarizer, write the summary by hand, or keep fewer recent messages.",
    )
    result = _unchanged(plan, f"there is no usable summary. {why}")
    return replace(result, failure=why, findings=(finding, *result.findings))


def _with_summary(
    plan: Plan, text: str, summarizer: str, *, edited: bool, cut: bool = False
) -> Compacted:
    masked = mask(text)
    used = text if edited else masked.text
    made = _made(plan, used, text, summarizer, edited)
    order = order_of(plan)
    # The digest masks what it quotes by itself, so the marks are looked for, not the secrets.
    secrets = masked.kinds if edited else masked_kinds(used)
    findings = summary_findings(plan, made, secrets, frame=_frame(plan), cut=cut)
    account = account_of(members(plan).regions(plan), order, order.index(-1))
    return _result(plan, made, account, findings, order)


def _without_summary(plan: Plan, why: str) -> Compacted:
    order = [index for index in order_of(plan) if index >= 0]
    account = account_dropped(members(plan).regions(plan), order, why)
    return _result(plan, None, account, [], order)


def _in_place(plan: Plan) -> Compacted:
    """Nothing is taken out of the list; what the passes change is changed."""
    order = list(range(plan.n))
    return _result(plan, None, account_of(_regions(plan), order, None), [], order)


def _result(
    plan: Plan,
    made: SummaryMade | None,
    account: tuple[Fate, ...],
    findings: Sequence[Finding],
    order: Sequence[int],
) -> Compacted:
    altered, old = altered_messages(plan), members(plan)
    changed = {**altered.messages, **old.noted}
    why = {**altered.why, **dict.fromkeys(old.loose, TOLD if made else DROPPED)}
    why |= dict.fromkeys(old.noted, NOTED)
    every = plan.session.messages
    messages = tuple(
        made.message if made is not None and index < 0 else changed.get(index, every[index])
        for index in order
    )
    gone = old.tokens + altered.freed + old.freed
    after = plan.tokens_before - gone + (made.tokens if made else 0)
    over = plan.policy.trigger.passed(after, plan.budget)
    return Compacted(
        session=plan.session,
        plan=plan,
        messages=messages,
        summary=made,
        tokens_before=plan.tokens_before,
        tokens_after=after,
        over_budget=over,
        findings=(
            # What the plan could only estimate is known now.
            *(
                finding
                for finding in plan.findings
                if finding.code != _ESTIMATED and (over or finding.code != _UNREACHABLE)
            ),
            *findings,
            *after_findings(plan, messages, order, after, made.tokens if made else 0, over),
        ),
        account=tuple(
            replace(fate, reason=why[at]) if at in why else fate for at, fate in enumerate(account)
        ),
        made=True,
    )


# ------------------------------------------------------------------------------- the pieces


def _summary_message(plan: Plan, text: str) -> Message:
    block = plan.policy.summary
    return message(block.role, wrap_summary(text, block, _covered(plan)), summary="compaction")


@lru_cache(maxsize=1)
def _covered(plan: Plan) -> int:
    # Asked for several times while one plan is carried out; plans are told by identity.
    every = plan.session.messages
    labels = (plan.policy.summary.label,)
    return sum(covered(every[index], labels) for index in members(plan).indexes)


def _made(plan: Plan, used: str, text: str, summarizer: str, edited: bool) -> SummaryMade:
    entry = _summary_message(plan, used)
    return SummaryMade(
        text=text if edited else used,
        content=entry.text,
        role=entry.role,
        tokens=count_message(entry, plan.counts.counter),
        summarizer=summarizer,
        edited=edited,
        message=entry,
        count=_covered(plan),
    )


def _regions(plan: Plan) -> Regions:
    return Regions(plan.head, plan.summarized, plan.kept, plan.cleared, plan.recent)


def _frame(plan: Plan) -> int:
    return count_message(_summary_message(plan, ""), plan.counts.counter)
