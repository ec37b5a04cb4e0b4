"""What a sweep found: a row a session and setting, sums a setting, the front, and the advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from compaction.policy import Policy

#: How much more a recommended setting may cost than the cheapest, as a share of all that can be
#: saved.
_SLACK = 0.05

#: What a token counts for where prices are not known: read from the cache, written in a summary.
_CACHED, _WRITTEN = 0.1, 5.0


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over one session.

    Tokens as in `replaying.Totals`; `money` in dollars, None where prices are not known. `late`
    are calls over the trigger at which nothing could be compacted, `soon` compactions right after
    another. `lost` is the score of what was needed later and was gone, `refetched` the tokens of
    calls made again for it, both None where nobody looked. `fits`: no call read more than the
    budget.
    """

    session: str
    setting: int
    calls: int
    sent: int
    cached: int
    written: int
    output: int
    summary_input: int
    summary_output: int
    money: float | None
    compactions: int
    peak: int
    late: int
    soon: int
    lost: int | None
    refetched: int | None
    fits: bool

    def as_json(self) -> dict[str, Any]:
        """The row as one flat object."""
        out: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.money is not None:
            out["money"] = round(self.money, 6)
        return out


@dataclass(frozen=True, slots=True)
class Total:
    """One setting over all sessions: sums, and the largest peak."""

    setting: int
    sessions: int
    sent: int
    written: int
    money: float | None
    compactions: int
    peak: int
    late: int
    soon: int
    lost: int | None
    refetched: int | None
    fits: int
    summary_input: int = 0
    summary_output: int = 0

    @property
    def cost(self) -> float:
        """What the setting costs: money where it is known, else tokens.

        Tokens from the cache count a tenth, and those that summaries are written with fivefold.
        """
        if self.money is not None:
            return self.money
        cached = self.sent - self.written + self.summary_input
        return self.written + cached * _CACHED + self.summary_output * _WRITTEN


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One setting, and why: `policy` to use, and two or three sentences."""

    setting: int
    policy: Policy
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The rows of a sweep. `policies[i]` and `values[i]` are setting i; `axes` name the values.

    `skipped` are the sessions that could not be read, `refused` the settings that could not be
    replayed on one of them, and why. `baselines` are the rows without any compaction, one a
    session. `notes` are sessions of which only a part was replayed, and which.
    """

    axes: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    policies: tuple[Policy, ...]
    rows: tuple[Row, ...]
    baselines: tuple[Row, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[int, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    def totals(self) -> list[Total]:
        """A total for each setting that has rows, in the order of the settings."""
        by_setting: dict[int, list[Row]] = {}
        for row in self.rows:
            by_setting.setdefault(row.setting, []).append(row)
        return [total_of(by_setting[number]) for number in sorted(by_setting)]

    def front(self) -> list[Total]:
        """The settings that no other one beats in both cost and loss, cheapest first."""
        return front_of(self.totals())

    def recommend(self) -> Recommendation | None:
        """The setting to use; None where nothing was swept, or nobody looked for what was lost."""
        return recommended(self)


def total_of(rows: Sequence[Row]) -> Total:
    """The sums over the rows of one setting."""
    known = [row.money for row in rows if row.money is not None]
    return Total(
        setting=rows[0].setting,
        sessions=len(rows),
        sent=sum(row.sent for row in rows),
        written=sum(row.written for row in rows),
        money=sum(known) if len(known) == len(rows) else None,
        compactions=sum(row.compactions for row in rows),
        peak=max(row.peak for row in rows),
        late=sum(row.late for row in rows),
        soon=sum(row.soon for row in rows),
        lost=_sum(row.lost for row in rows),
        refetched=_sum(row.refetched for row in rows),
        fits=sum(row.fits for row in rows),
        summary_input=sum(row.summary_input for row in rows),
        summary_output=sum(row.summary_output for row in rows),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum, None where one of the values is not known."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def front_of(totals: Sequence[Total]) -> list[Total]:
    """The Pareto front of cost against loss, cheapest first.

    Of equal settings the last, which changes least where values ascend. Where nobody looked for
    what was lost, the cheapest alone.
    """
    out: list[Total] = []
    for total in sorted(totals, key=lambda each: (each.cost, each.lost or 0, -each.setting)):
        if not out or (total.lost or 0) < (out[-1].lost or 0):
            out.append(total)
    return out


def recommended(found: Sweep) -> Recommendation | None:
    """The setting on the front that loses least for what it costs, among those that keep still.

    Settings that stay over their trigger or compact again at once are left aside while there are
    others. Of the front the one is taken that is nearest to the best of both, each measured over
    the range it has there. None where nothing was swept, or nobody looked for what was lost.
    """
    totals = found.totals()
    if not totals or any(each.lost is None for each in totals):
        return None
    fewest = min(each.late + each.soon for each in totals)
    usable = [each for each in totals if each.late + each.soon == fewest]
    front = front_of(usable)
    cheapest, safest = front[0], front[-1]
    costs, losses = safest.cost - cheapest.cost, _lost(cheapest) - _lost(safest)

    def distance(total: Total) -> float:
        dear = (total.cost - cheapest.cost) / costs if costs else 0.0
        lossy = (_lost(total) - _lost(safest)) / losses if losses else 0.0
        return max(0.0, dear - _SLACK) + lossy

    best = min(front, key=distance)
    why = " ".join(_why(found, totals, usable, best, front))
    return Recommendation(best.setting, found.policies[best.setting], why)


def _lost(total: Total) -> int:
    return total.lost or 0


def _why(
    found: Sweep,
    totals: Sequence[Total],
    usable: Sequence[Total],
    best: Total,
    front: Sequence[Total],
) -> Iterator[str]:
    """What is said for the setting, and against it; a sentence each."""
    if not any(each.compactions or each.late for each in totals):
        yield (
            f"No setting would have compacted anything: the largest context is {best.peak:,} "
            "tokens, so these sessions do not tell the settings apart. The gentlest of them is "
            "given."
        )
        return
    cheapest, safest = front[0], front[-1]
    named = ", ".join(
        f"{axis} {_shown(value)}"
        for axis, value in zip(found.axes, found.values[best.setting], strict=True)
    )
    base = total_of(found.baselines).cost
    saved = 1 - best.cost / base if base else 0.0
    many = "1 compaction" if best.compactions == 1 else f"{best.compactions:,} compactions"
    what = f"{many}, no context over {best.peak:,} tokens"
    share = f"{abs(saved) * 100:.0f} % {'more' if saved < 0 else 'less'} cost"
    yield f"{named}: {what}, {share} than without compaction."
    if best is not safest:
        more = f" costs {(safest.cost / best.cost - 1) * 100:.0f} % more" if best.cost else ""
        yield (
            f"It forgets {_lost(best):,} points of what was needed later; the setting that "
            f"forgets least, {_lost(safest):,},{more or ' costs more'}."
        )
    elif best.lost:
        yield f"Of the settings weighed none forgets less than its {_lost(best):,} points."
    else:
        yield "Nothing that was needed later is gone."
    if best is not cheapest and _lost(cheapest) > _lost(best):
        yield f"The cheapest setting forgets {_lost(cheapest):,}."
    yield from _restless(totals, usable, best)
    if best.fits < best.sessions:
        over = best.sessions - best.fits
        yield f"In {over:,} of {best.sessions:,} sessions a call still reads more than the budget."
    yield from _alike(found, totals, best)


def _restless(totals: Sequence[Total], usable: Sequence[Total], best: Total) -> Iterator[str]:
    """What stays over its trigger, or compacts again at once."""
    if best.late:
        yield f"At {best.late:,} calls nothing could be compacted although it should."
    if best.soon:
        again = "compaction comes" if best.soon == 1 else "compactions come"
        yield f"{best.soon:,} {again} right after another."
    aside = len(totals) - len(usable)
    if aside:
        many = "1 setting was" if aside == 1 else f"{aside:,} settings were"
        why = "with more calls at which nothing could be compacted, or compactions at once"
        yield f"{many} left aside, {why}."


def _alike(found: Sweep, totals: Sequence[Total], best: Total) -> Iterator[str]:
    """The axes along which nothing changes from the best setting."""
    own = found.values[best.setting]
    for place, axis in enumerate(found.axes):
        near = [
            each
            for each in totals
            if all(
                value == own[at] or at == place
                for at, value in enumerate(found.values[each.setting])
            )
        ]
        same = {(each.cost, each.lost) for each in near}
        if len(near) > 1 and len(same) == 1:
            yield f"{axis} makes no difference there."


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
