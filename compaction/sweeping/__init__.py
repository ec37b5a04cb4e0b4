"""sweep(sessions, …) -> Sweep: many settings replayed over one or many sessions.

Budgets and amounts of an ordinary policy are walked together as a grid; any other setting is
replayed by itself. Calls no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from compaction.errors import Cancelled, PolicyError
from compaction.groups import find_groups
from compaction.messages import IsCancelled, Session
from compaction.policy import Policy, preset
from compaction.pricing import Prices, prices_of
from compaction.sweeping.results import Recommendation, Row, Sweep, Total
from compaction.sweeping.settings import KEEP_RECENTS, Setting, budgets_for, settings_of

if TYPE_CHECKING:
    from compaction.needing import Needs
    from compaction.replaying.timeline import Timeline

__all__ = [
    "Recommendation",
    "Row",
    "Setting",
    "Sweep",
    "Total",
    "settings_of",
    "sweep",
    "swept_line",
]

#: Told how many settings of how many are done.
OnSettings = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Swept:
    """The rows of one session, and its row without any compaction.

    `refused` are settings that cannot be replayed on it, and why: a window it does not state.
    `note` says which part of the file it is, where that is not all.
    """

    rows: tuple[Row, ...]
    baseline: Row
    refused: tuple[tuple[int, str], ...] = ()
    note: str = ""


def sweep(
    sessions: Iterable[Session],
    *,
    policy: Policy | None = None,
    budgets: Sequence[int] | None = None,
    keep_recents: Sequence[float] | None = None,
    axes: Mapping[str, Sequence[Any]] | None = None,
    prices: Prices | None = None,
    needed_later: bool = True,
    progress: OnSettings | None = None,
    cancelled: IsCancelled | None = None,
) -> Sweep:
    """Every combination of settings over every session.

    `axes` name further settings of the policy and their values (`summary.max_tokens`); without
    `budgets` and `keep_recents` some that suit the sessions are tried. Real compactions in the
    files are undone: the whole recorded history is replayed. `needed_later=False` leaves out what
    was forgotten, which takes a look through all text. Raises PolicyError, Cancelled.
    """
    from compaction.replaying import uncompacted

    base = policy or preset("default")
    whole = [uncompacted(session) for session in sessions]
    chosen = dict(axes or {})
    if budgets is None and "budget" not in chosen:
        budgets = budgets_for(max((_peak(session, base) for session in whole), default=0))
    every = axes_of(base, budgets, keep_recents, chosen)
    settings = settings_of(base, every)
    done = [
        swept_session(
            session,
            settings,
            prices=prices,
            needed_later=needed_later,
            progress=progress,
            cancelled=cancelled,
        )
        for session in whole
    ]
    return Sweep(
        axes=tuple(every),
        values=tuple(each.values for each in settings),
        policies=tuple(each.policy for each in settings),
        rows=tuple(row for each in done for row in each.rows),
        baselines=tuple(each.baseline for each in done),
        refused=tuple(one for each in done for one in each.refused),
    )


def axes_of(
    policy: Policy,
    budgets: Sequence[int] | None,
    keep_recents: Sequence[float] | None,
    axes: Mapping[str, Sequence[Any]],
) -> dict[str, Sequence[Any]]:
    """The axes of a sweep, budget and keep_recent first."""
    every: dict[str, Sequence[Any]] = {}
    if "budget" not in axes and budgets is not None:
        every["budget"] = budgets
    if "keep_recent" not in axes and policy.recent.unit != "fit":
        if keep_recents is None:
            keep_recents = _amounts(policy)
        every["keep_recent"] = keep_recents
    return {**every, **axes}


def _amounts(policy: Policy) -> Sequence[float]:
    match policy.recent.unit:
        case "fraction":
            return (0.1, 0.2, 0.3, 0.5, 0.7)
        case "tokens":
            return (2_000, 5_000, 10_000, 20_000, 40_000)
        case "turns":
            return (1, 2, 3, 5, 8)
        case _:
            return KEEP_RECENTS


def _peak(session: Session, policy: Policy) -> int:
    from compaction.planning import counts_for

    return counts_for(session, policy).total


def swept_session(
    session: Session,
    settings: Sequence[Setting],
    *,
    prices: Prices | None = None,
    needed_later: bool = True,
    progress: OnSettings | None = None,
    cancelled: IsCancelled | None = None,
    name: str = "",
) -> Swept:
    """Every setting over one session (its whole history). Raises PolicyError, Cancelled."""
    return _Sweeping(session, prices, needed_later, progress, cancelled, name).run(settings)


def swept_line(
    line: Timeline,
    needs: Needs | None,
    settings: Sequence[Setting],
    *,
    prices: Prices | None = None,
    progress: OnSettings | None = None,
    cancelled: IsCancelled | None = None,
) -> Swept:
    """Every setting over a timeline that is known, all by its counts.

    `needs` are what its session needs later, None to leave that out. Raises Cancelled.
    """
    sweeping = _Sweeping(
        line.session, prices, needs is not None, progress, cancelled, "", (line, needs)
    )
    return sweeping.run(settings)


class _Sweeping:
    """One session, and what is made once for each way of counting its tokens."""

    def __init__(
        self,
        session: Session,
        prices: Prices | None,
        needed_later: bool,
        progress: OnSettings | None,
        cancelled: IsCancelled | None,
        name: str,
        known: tuple[Timeline, Needs | None] | None = None,
    ) -> None:
        self._known = known
        self._session = session
        self._prices = prices or prices_of(session.model)
        self._needed_later = needed_later
        self._progress = progress
        self._cancelled = cancelled
        self._name = name or session.source.name
        self._groups = known[0].groups if known else find_groups(session.messages)
        self._done = 0

    def run(self, settings: Sequence[Setting]) -> Swept:
        rows: dict[int, Row] = {}
        refused: list[tuple[int, str]] = []
        baseline: Row | None = None
        for family in _families(settings).values():
            line, needs = self._line(settings[family[0]].policy)
            baseline = baseline or self._baseline(line)
            try:
                self._family(line, needs, settings, family, rows)
            except PolicyError as error:
                refused += [(number, str(error)) for number in family if number not in rows]
            self._done += len(family)
            if self._progress is not None:
                self._progress(self._done, len(settings))
        assert baseline is not None
        ordered = tuple(rows[number] for number in sorted(rows))
        return Swept(ordered, baseline, tuple(refused))

    def _line(self, policy: Policy) -> tuple[Any, Any]:
        if self._known is not None:
            return self._known
        from compaction.needing import needs_of
        from compaction.planning import counts_for
        from compaction.replaying.timeline import timeline

        line = timeline(self._session, counts_for(self._session, policy), self._groups)
        if not self._needed_later:
            return line, None
        return line, needs_of(self._session, line.counts, cancelled=self._cancelled)

    def _baseline(self, line: Any) -> Row:
        from compaction.replaying.costs import peak, totals
        from compaction.replaying.walking import Stretch, Walked

        whole = (Stretch(0, len(line), line.counts.overhead),) if len(line) else ()
        walked = Walked((), (), whole)
        return self._row(-1, totals(line, walked), peak(line, walked)[0])

    def _row(self, setting: int, spent: Any, most: int, **more: Any) -> Row:
        from compaction.replaying.costs import money_of

        looked = 0 if self._needed_later else None
        values = {
            "compactions": 0, "late": 0, "soon": 0, "lost": looked, "refetched": looked,
            "fits": False, **more,
        }  # fmt: skip
        return Row(
            session=self._name,
            setting=setting,
            calls=spent.calls,
            sent=spent.sent,
            cached=spent.cached,
            written=spent.written,
            output=spent.output,
            summary_input=spent.summary_input,
            summary_output=spent.summary_output,
            money=money_of(self._prices, spent),
            peak=most,
            **values,
        )

    def _heed(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled("The sweep was stopped.")

    def _family(
        self,
        line: Any,
        needs: Any,
        settings: Sequence[Setting],
        family: Sequence[int],
        rows: dict[int, Row],
    ) -> None:
        from compaction.sweeping.grid import walks_as_grid

        if len(family) > 1 and walks_as_grid(settings[family[0]].policy):
            self._grid(line, needs, settings, family, rows)
        else:
            for place, number in enumerate(family):
                self._heed()
                if self._progress is not None:
                    self._progress(self._done + place, len(settings))
                self._alone(line, needs, settings[number].policy, number, rows)

    def _grid(
        self,
        line: Any,
        needs: Any,
        settings: Sequence[Setting],
        family: Sequence[int],
        rows: dict[int, Row],
    ) -> None:
        import numpy as np

        from compaction.replaying.costs import Totals, asks_model
        from compaction.sweeping.grid import Grid

        policies = [settings[number].policy for number in family]
        budgets = [each.trigger.tokens(self._session.window) for each in policies]
        amounts = [int(each.recent.amount) for each in policies]
        grid = Grid(line, policies[0], needs)
        swept = grid.walk(np.asarray(budgets), np.asarray(amounts), self._heed)
        output, asks = line.outputs[-1], asks_model(policies[0])
        for place, number in enumerate(family):
            sent, cached = int(swept.sent[place]), int(swept.cached[place])
            spent = Totals(
                len(line), sent, cached, sent - cached, output,
                asks * int(swept.summary_input[place]), asks * int(swept.summary_output[place]),
            )  # fmt: skip
            looked = needs is not None
            rows[number] = self._row(
                number,
                spent,
                int(swept.peak[place]),
                compactions=int(swept.compactions[place]),
                late=int(swept.late[place]),
                soon=int(swept.soon[place]),
                lost=int(swept.lost[place]) if looked else None,
                refetched=int(swept.refetched[place]) if looked else None,
                fits=int(swept.peak[place]) <= budgets[place],
            )

    def _alone(
        self, line: Any, needs: Any, policy: Policy, number: int, rows: dict[int, Row]
    ) -> None:
        from itertools import pairwise

        from compaction.needing import forgotten
        from compaction.replaying import replayed
        from compaction.replaying.thrash import SOON

        run = replayed(line, policy, prices=self._prices, cancelled=self._cancelled)
        gone = forgotten(needs, run.walked) if needs is not None else None
        rows[number] = self._row(
            number,
            run.totals,
            run.peak,
            compactions=len(run.compactions),
            late=sum(each.until - each.call for each in run.declined),
            soon=sum(two.call - one.call <= SOON for one, two in pairwise(run.compactions)),
            lost=gone.score if gone is not None else None,
            refetched=gone.refetched if gone is not None else None,
            fits=run.peak <= run.budget,
        )


def _families(settings: Sequence[Setting]) -> dict[object, list[int]]:
    """The numbers of the settings that differ in budget and amount only, by what they share."""
    out: dict[object, list[int]] = {}
    for number, setting in enumerate(settings):
        out.setdefault(_shared(setting.policy), []).append(number)
    return out


def _shared(policy: Policy) -> object:
    """A policy without its budget and the amount of its recent part."""
    trigger, recent = policy.trigger, policy.recent
    when = tuple(getattr(trigger, each.name) for each in fields(trigger) if each.name != "budget")
    kept = recent if recent.unit in ("fit", "fraction") else recent.unit
    rest = (
        getattr(policy, each.name)
        for each in fields(policy)
        if each.name not in ("trigger", "recent", "source", "notes", "version")
    )
    return (when, kept, *rest)
