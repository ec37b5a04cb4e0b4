"""The map of settings of the session on the screen: every budget by every amount, swept once.

Runs in threads, as `tui.loading` does: nothing here touches a widget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import TYPE_CHECKING

from textual.message import Message as Event

from compaction.errors import CompactionError, PolicyError
from compaction.messages import IsCancelled, Session
from compaction.policy import Policy
from compaction.sweeping import Sweep, swept_line
from compaction.sweeping.settings import Setting
from tui.replaying import Past, past_of, with_needs
from tui.widgets.heat_data import Heat

if TYPE_CHECKING:
    from compaction.groups import Groups
    from compaction.tokens import Counts

Post = Callable[[Event], object]

#: Budgets and amounts that are tried, at most.
BUDGETS, AMOUNTS = 12, 11


@dataclass(frozen=True, slots=True, eq=False)
class SweptMap:
    """One family of policies over one session; `advice` is the setting to use, and why."""

    past: Past
    family: Policy
    heat: Heat
    advice: Policy | None
    why: str


@dataclass
class Sweeping(Event):
    """So many settings of all are replayed."""

    ticket: int
    done: int
    total: int


@dataclass
class Mapped(Event):
    """A map is there; `reason` says why not."""

    ticket: int
    map: SweptMap | None
    reason: str = ""


def family_of(policy: Policy) -> Policy:
    """The policy with its budget and its amount put aside: what all cells of a map share."""
    try:
        same = policy.replace(budget=1)
        if policy.recent.unit != "fit":
            same = same.replace(keep_recent=0.5 if policy.recent.unit == "fraction" else 1)
    except PolicyError:
        return policy
    return same


def sweep(
    past: Past | None,
    shown: Session,
    counts: Counts,
    groups: Groups,
    policy: Policy,
    ticket: int,
    post: Post,
    stopped: IsCancelled,
) -> None:
    """Sweep the family of `policy`."""
    try:
        past = past_of(past, shown, counts, groups, policy, stopped)
        if past.needs is None:
            past = with_needs(past, stopped)
        if not len(past.line):
            raise PolicyError("The session holds no answer of a model: there is nothing to sweep.")

        def far(done: int, total: int) -> None:
            if not stopped():
                post(Sweeping(ticket, done, total))

        made = swept_map(past, policy, stopped, far)
    except CompactionError as error:
        if not stopped():
            post(Mapped(ticket, None, str(error)))
        return
    if not stopped():
        post(Mapped(ticket, made))


def swept_map(
    past: Past,
    policy: Policy,
    stopped: IsCancelled | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SweptMap:
    """Every setting of the family of `policy` over a session that is ready."""
    budgets, amounts = axes_of(past, policy)
    settings: list[Setting] = []
    cells: list[int | None] = []
    for budget in budgets:
        for amount in amounts:
            try:
                made = policy.replace(budget=budget)
                if amount is not None:
                    made = made.replace(keep_recent=amount)
            except PolicyError:
                cells.append(None)
                continue
            cells.append(len(settings))
            settings.append(Setting((budget, amount), made))
    if not settings:
        raise PolicyError("No other budget is possible under this policy.")
    swept = swept_line(
        past.line, past.needs, settings, prices=past.prices, progress=progress, cancelled=stopped
    )
    found = Sweep(
        ("budget", "keep recent"),
        tuple(each.values for each in settings),
        tuple(each.policy for each in settings),
        swept.rows,
        (swept.baseline,),
    )
    totals = {each.setting: each for each in found.totals()}
    cell_of = {number: cell for cell, number in enumerate(cells) if number is not None}
    names = ("cost", "sent", "peak", "compactions", "lost")
    values = {
        name: tuple(
            None if number is None or number not in totals else getattr(totals[number], name)
            for number in cells
        )
        for name in names
    }
    best = found.recommend()
    # Equal settings are marked alike.
    front = {(each.cost, each.lost) for each in found.front()}
    # Where nothing is ever compacted there is nothing to take.
    taken = best if any(each.compactions or each.late for each in totals.values()) else None
    heat = Heat(
        budgets=tuple(budgets),
        amounts=tuple(amounts),
        unit=policy.recent.unit,
        values=values,
        front=frozenset(
            cell_of[each.setting] for each in totals.values() if (each.cost, each.lost) in front
        ),
        best=cell_of[taken.setting] if taken is not None else None,
        dollars=past.prices is not None,
    )
    why = best.why.replace("keep recent None", "as much as fits") if best is not None else ""
    return SweptMap(past, family_of(policy), heat, taken.policy if taken else None, why)


def axes_of(past: Past, policy: Policy) -> tuple[list[int], list[float | None]]:
    """The budgets and the amounts of a map, ascending."""
    line = past.line
    total = line.counts.overhead + line.sent[-1]
    floor = max(200, total // 40)
    budgets = _series(floor, max(floor + 1, round(total * 1.05)), BUDGETS)
    groups, unit = line.groups, policy.recent.unit
    ends = {
        "messages": len(line.session.messages),
        "turns": len(groups.turns),
        "groups": len(groups.starts),
        "tokens": total,
    }
    amounts: list[float | None]
    if policy.summary.middle == "keep":
        # Nothing is taken out of the list, so how much of it is recent changes nothing.
        amounts = [policy.keep_recent]
    elif unit == "fit":
        amounts = [None]
    elif unit == "fraction":
        amounts = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    else:
        end = max(2, round(ends[unit] * 0.7))
        first = 1 if unit != "tokens" else max(1, total // 100)
        amounts = [0, *_series(first, end, AMOUNTS - 1)]
    return budgets, amounts


def _series(first: int, last: int, many: int) -> list[int]:
    """At most `many` numbers from `first` to `last`, by equal ratios, of two digits each."""
    step = (log(last) - log(first)) / max(1, many - 1)
    found: dict[int, None] = {}
    for place in range(many):
        value = first * 2.718281828459045 ** (step * place)
        size = 10 ** max(0, len(str(int(value))) - 2)
        found[max(1, round(value / size) * size)] = None
    return list(found)


def nearest(values: Sequence[float | None], value: float | None, *, ratio: bool) -> int:
    """The place of the value that is nearest; by ratio or by difference."""
    if value is None:
        return 0

    def apart(place: int) -> float:
        each = values[place]
        if each is None:
            return 0.0
        if ratio:
            return abs(log1p(each) - log1p(value))
        return abs(each - value)

    return min(range(len(values)), key=apart)
