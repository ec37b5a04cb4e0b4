"""What a sweep found: a row a session and setting, sums a setting, the front, and the advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from compaction.policy import Policy

#: How much more a recommended setting may cost than the cheapest, as a share of all that can be
#: saved.
_SLACK = 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over one session.

    Tokens as in `replaying.Totals`; `money` in dollars, None where prices are not known. `late`
    are calls over the trigger at which nothing could be compacted, `soon` compactions right after
    another. `lost` is the score of what was needed later and was gone, `refetched` the tokens of
    calls made again for it. `fits`: no call read more than the budget.
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
    lost: int
    refetched: int
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
    lost: int
    refetched: int
    fits: int

    @property
    def cost(self) -> float:
        """What the setting costs: money where it is known, else tokens, cached ones at a tenth."""
        if self.money is not None:
            return self.money
        return self.written + (self.sent - self.written) / 10


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
    replayed on one of them, and why. `baselines` are the rows without
    any compaction, one a session.
    """

    axes: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    policies: tuple[Policy, ...]
    rows: tuple[Row, ...]
    baselines: tuple[Row, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[int, str], ...] = ()

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
        """The setting to use; None where nothing was swept."""
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
        lost=sum(row.lost for row in rows),
        refetched=sum(row.refetched for row in rows),
        fits=sum(row.fits for row in rows),
    )


def front_of(totals: Sequence[Total]) -> list[Total]:
    """The Pareto front of cost against loss; of equal settings the first."""
    out: list[Total] = []
    for total in sorted(totals, key=lambda each: (each.cost, each.lost, each.setting)):
        if not out or total.lost < out[-1].lost:
            out.append(total)
    return out


def recommended(found: Sweep) -> Recommendation | None:
    """The setting on the front that loses least for what it costs, among those that keep still.

    Settings that stay over their trigger or compact again at once are left aside while there are
    others. Of the front the one is taken that is nearest to the best of both, each measured over
    the range it has there.
    """
    totals = found.totals()
    if not totals:
        return None
    calm = [each for each in totals if not each.late and not each.soon]
    fewest = min(each.late + each.soon for each in totals)
    usable = calm or [each for each in totals if each.late + each.soon == fewest]
    front = front_of(usable)
    cheapest, safest = front[0], front[-1]
    costs, losses = safest.cost - cheapest.cost, cheapest.lost - safest.lost

    def distance(total: Total) -> float:
        dear = (total.cost - cheapest.cost) / costs if costs else 0.0
        lossy = (total.lost - safest.lost) / losses if losses else 0.0
        return max(0.0, dear - _SLACK) + lossy

    best = min(front, key=distance)
    return Recommendation(best.setting, found.policies[best.setting], _why(found, best, front))


def _why(found: Sweep, best: Total, front: Sequence[Total]) -> str:
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
    parts = [f"{named}: {what}, {share} than without compaction."]
    if best is not safest:
        parts.append(
            f"It forgets {best.lost:,} points of what was needed later; the setting that forgets "
            f"least ({safest.lost:,}) costs {(safest.cost / best.cost - 1) * 100:.0f} % more."
            if best.cost
            else f"It forgets {best.lost:,} points of what was needed later."
        )
    elif best.lost:
        parts.append(f"No cheaper setting forgets less than its {best.lost:,}.")
    else:
        parts.append("Nothing that was needed later is gone.")
    if best is not cheapest and cheapest.lost > best.lost:
        parts.append(f"The cheapest setting forgets {cheapest.lost:,}.")
    if best.late:
        parts.append(f"At {best.late:,} calls nothing could be compacted although it should.")
    return " ".join(parts)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
