"""What there is to say about a compacted list and its summary: what is refused, lost, over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from compaction.findings import Finding
from compaction.formats.base import Dialect
from compaction.marker import neutralise
from compaction.messages import Message, Session
from compaction.planning import Plan

if TYPE_CHECKING:
    from compaction.compacting import SummaryMade

#: How far over its `max_tokens` a summary may be before it is worth a word.
_SLACK = 1.1

#: A message as findings name it; ids of calls may have a number sign inside.
_NUMBER = re.compile(r"(?<!\w)#(\d+)\b")

_CHECKED: WeakKeyDictionary[Session, tuple[Finding, ...]] = WeakKeyDictionary()


def dialect_of(session: Session) -> Dialect:
    """The API whose rules the lists of this session follow."""
    from compaction.errors import SessionError
    from compaction.formats import format_named

    try:
        return format_named(session.format).dialect
    except SessionError:
        return "openai-chat"


def validity_findings(session: Session, messages: Sequence[Message]) -> tuple[Finding, ...]:
    """What the session's own API would refuse in `messages`; indexes are those of `messages`."""
    from compaction.validity import check

    if messages is not session.messages:
        return check(messages, dialect_of(session))
    found = _CHECKED.get(session)
    if found is None:
        found = _CHECKED[session] = check(messages, dialect_of(session))
    return found


def summary_findings(
    plan: Plan, made: SummaryMade, secrets: Sequence[str], *, frame: int, cut: bool
) -> list[Finding]:
    """The findings about a summary as it is used.

    `secrets` are the kinds of secrets in it, `frame` the tokens of its message without a text,
    `cut` whether the reply ended inside an open tag.
    """
    findings: list[Finding] = []
    if secrets:
        kinds = ", ".join(dict.fromkeys(secrets))
        what = "looks like a secret" if len(secrets) == 1 else "look like secrets"
        done = "left as written" if made.edited else "masked"
        findings.append(
            Finding(
                "warning",
                "secret-in-summary",
                f"{len(secrets)} place{'' if len(secrets) == 1 else 's'} of the summary {what} "
                f"({kinds}): {done}.",
                remedy="Kept messages are exported as they are; look there too before sharing.",
            )
        )
    if cut:
        findings.append(
            Finding(
                "warning",
                "summary-cut",
                f"The reply of {made.summarizer} ends inside an open tag: its summary may be cut "
                "off.",
                remedy="Read the summary; make it again or edit it.",
            )
        )
    if made.role in {"system", "developer"}:
        findings.append(
            Finding(
                "warning",
                "summary-promoted",
                f"Policy {plan.policy.name} sends the summary as a {made.role} message: text of "
                "users and tools becomes an instruction.",
                remedy="Set summary.role to user.",
            )
        )
    limit = plan.policy.summary.max_tokens
    if made.tokens > limit * _SLACK + frame:
        findings.append(
            Finding(
                "warning" if made.edited else "info",
                "summary-long",
                f"The summary has {made.tokens:,} tokens; the policy asks for {limit:,}.",
            )
        )
    if not made.edited and made.message.text and neutralise(made.text) != made.text:
        findings.append(
            Finding(
                "info",
                "summary-neutralised",
                "The summary quotes tags that could close its frame; they are shown as ‹tag›.",
            )
        )
    return findings


def after_findings(
    plan: Plan,
    messages: Sequence[Message],
    order: Sequence[int],
    tokens: int,
    summary_tokens: int,
    over: bool,
) -> list[Finding]:
    """The findings about a result. Indexes are those of the session, where the person looks."""
    findings = _of_validity(plan.session, messages, order)
    findings += _of_roles(messages, order)
    if over:
        findings.append(_of_budget(plan, tokens, summary_tokens))
    return findings


def _of_validity(
    session: Session, messages: Sequence[Message], order: Sequence[int]
) -> list[Finding]:
    before = validity_findings(session, session.messages)
    known = {(finding.code, finding.message) for finding in before}
    findings: list[Finding] = []
    still: set[tuple[str, int | None]] = set()
    for finding in validity_findings(session, messages):
        at = finding.message
        source = order[at] if at is not None and at < len(order) else None
        where = source if source is not None and source >= 0 else None
        key = (finding.code, where)
        still.add(key)
        text = _renumbered(finding.text, order)
        if key not in known:
            text = f"In the result: {text}"
        findings.append(replace(finding, message=where, text=text))
    findings += (
        replace(finding, level="info", text=f"Before compaction: {finding.text}")
        for finding in before
        if finding.level != "info" and (finding.code, finding.message) not in still
    )
    return findings


def _renumbered(text: str, order: Sequence[int]) -> str:
    """A text about the result that names its messages as the session does."""

    def named(found: re.Match[str]) -> str:
        at = int(found[1])
        if at >= len(order):
            return found[0]
        return f"#{order[at]}" if order[at] >= 0 else "the summary"

    return _NUMBER.sub(named, text)


def _of_roles(messages: Sequence[Message], order: Sequence[int]) -> list[Finding]:
    """Whether the summary stands beside a message of its own role, where strict servers refuse."""
    findings: list[Finding] = []
    at = next((place for place, source in enumerate(order) if source < 0), None)
    if at is None:
        return findings
    role = messages[at].role
    neighbours = [
        place
        for place in (at - 1, at + 1)
        if 0 <= place < len(messages) and messages[place].role == role and role != "system"
    ]
    if neighbours:
        sides = " and ".join("before" if place > at else "after" for place in neighbours)
        findings.append(
            Finding(
                "info",
                "summary-role-collides",
                f"The summary is a {role} message directly {sides} another: the large APIs join "
                "them, servers with a strict chat template refuse them.",
                order[neighbours[-1]],
                remedy="For such a server, `export --alternate` puts a marked line between them.",
            )
        )
    if role == "user" and at and messages[at - 1].role == "tool":
        findings.append(
            Finding(
                "info",
                "summary-after-tool",
                "The summary stands directly after a tool result; some servers refuse a user "
                "message there.",
                order[at - 1],
            )
        )
    return findings


def _of_budget(plan: Plan, tokens: int, summary_tokens: int) -> Finding:
    counts = plan.counts.tokens
    staying = [*plan.head, *plan.kept, *plan.cleared, *plan.recent]
    biggest = max(staying, key=lambda index: counts[index], default=None)
    named = (
        ("head", plan.tokens_head),
        ("summary", summary_tokens),
        ("pinned", plan.tokens_kept),
        ("recent", plan.tokens_recent),
        ("cleared in place", plan.tokens_cleared),
        ("tools and overhead", plan.overhead),
    )
    parts = [f"{name} {size:,}" for name, size in named if size]
    text = (
        f"The result has {tokens:,} tokens, {max(0, tokens - plan.budget):,} over the budget of "
        f"{plan.budget:,}: {', '.join(parts)}."
    )
    if biggest is not None:
        text += f" The largest message that stays is #{biggest} with {counts[biggest]:,}."
    return Finding(
        "warning",
        "over-budget-after",
        text,
        biggest,
        remedy="Keep fewer recent messages, raise the budget, or unpin messages.",
    )
