"""Several policies over one session: what each leaves now, and what it comes to when replayed.

Runs in threads, as `tui.loading` does: nothing here touches a widget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message as Event

from compaction.errors import CompactionError
from compaction.messages import IsCancelled, Session
from compaction.policy import Policy
from compaction.sweeping import Row, swept_line
from compaction.sweeping.settings import Setting
from tui.replaying import Past, past_of, with_needs

if TYPE_CHECKING:
    from compaction.findings import Finding
    from compaction.groups import Groups
    from compaction.tokens import Counts

Post = Callable[[Event], object]


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What policies are compared on; `past` is a session that is ready for replays, if any is."""

    session: Session
    counts: Counts
    groups: Groups
    policy: Policy
    past: Past | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One policy. `row` is what it came to, None with the `reason` where it cannot be replayed.

    `head`, `summary`, `recent` (what is kept in the middle among it) are the tokens it leaves of
    the session as it is now.
    """

    policy: Policy
    budget: int
    head: int = 0
    summary: int = 0
    recent: int = 0
    compacts: bool = False
    row: Row | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def after(self) -> int:
        """All tokens it leaves."""
        return self.head + self.summary + self.recent


@dataclass
class Comparison(Event):
    """All policies are compared; `reason` says why not."""

    ticket: int
    columns: tuple[Compared, ...]
    past: Past | None
    reason: str = ""


def compare(
    ground: Ground,
    policies: Sequence[Policy],
    ticket: int,
    post: Post,
    stopped: IsCancelled,
) -> None:
    """Compare `policies`, all by the counts that the screen shows."""
    try:
        past = past_of(
            ground.past, ground.session, ground.counts, ground.groups, ground.policy, stopped
        )
        if past.needs is None:
            past = with_needs(past, stopped)
        made = compared(ground, past, policies, stopped)
    except CompactionError as error:
        if not stopped():
            post(Comparison(ticket, (), None, str(error)))
        return
    if not stopped():
        post(Comparison(ticket, made, past))


def compared(
    ground: Ground, past: Past, policies: Sequence[Policy], stopped: IsCancelled
) -> tuple[Compared, ...]:
    """Each policy, in order."""
    from compaction.planning import Planner

    planner = Planner(ground.session, ground.counts, ground.groups)
    rows: dict[int, Row] = {}
    refused: dict[int, str] = {}
    if len(past.line):
        settings = [Setting((policy.name,), policy) for policy in policies]
        swept = swept_line(
            past.line, past.needs, settings, prices=past.prices, cancelled=stopped
        )
        rows = {row.setting: row for row in swept.rows}
        refused = dict(swept.refused)
    out: list[Compared] = []
    for number, policy in enumerate(policies):
        try:
            plan = planner.plan(policy)
        except CompactionError as error:
            out.append(Compared(policy, policy.budget or 0, reason=str(error)))
            continue
        head = plan.overhead + plan.tokens_head
        out.append(
            Compared(
                policy,
                plan.budget,
                head=head,
                summary=plan.summary_estimate,
                recent=plan.tokens_recent + plan.tokens_kept + plan.tokens_cleared,
                compacts=plan.compacts,
                row=rows.get(number),
                findings=plan.findings,
                reason=refused.get(number, ""),
            )
        )
    return tuple(out)
