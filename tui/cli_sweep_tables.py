"""Sweeps and comparisons as tables for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tui.cli_output import Cell, Column, Printer, count
from tui.widgets.amounts import dollars

if TYPE_CHECKING:
    from compaction.sweeping import Sweep, Total
    from compaction.sweeping.many import Standing

#: Rows of the front that are shown.
_FRONT = 16


def tell_standing(standing: Standing) -> None:
    """How far a sweep is, on one line that is written over."""
    left = "" if standing.left is None else f" · {_time(standing.left)} left"
    end = "\n" if standing.done == standing.total else ""
    sys.stderr.write(f"\r\x1b[K{standing.done:,} of {standing.total:,} sessions{left}{end}")
    sys.stderr.flush()


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"


def print_sweep(found: Sweep, metric: str) -> None:
    """The grid of one metric, the front, and the setting to use."""
    printer = Printer.standard()
    totals = found.totals()
    if not totals:
        printer.line("No session could be replayed.")
        return
    sessions = count(len(found.baselines), "session")
    printer.line(
        Cell(sessions, "1"), f" · {count(len(found.policies), 'setting')} · {_unit(totals[0])}"
    )
    if found.axes[:2] == ("budget", "keep_recent") and len(found.axes) == 2:
        printer.heading(f"{_TITLES[metric]}, by budget (down) and keep recent (across)")
        _print_grid(printer, found, totals, metric)
    front = found.front()
    looked = totals[0].lost is not None
    printer.heading(
        "What no other setting beats in both cost and loss"
        if looked
        else "The cheapest setting (what is lost was not looked at)"
    )
    printer.table(
        [*(Column(axis, right=True) for axis in found.axes), *_COLUMNS],
        [[*map(_shown, found.values[each.setting]), *_cells(each)] for each in front[:_FRONT]],
    )
    if len(front) > _FRONT:
        printer.line(f"  and {len(front) - _FRONT:,} more (--json tells all)")
    printer.line(_LEGEND)
    advice = found.recommend()
    if advice is not None:
        printer.heading("Recommended")
        printer.line(advice.why)


def print_comparison(found: Sweep, tokenizer: str) -> None:
    """One row a policy, cheapest first; `tokenizer` is what all were counted with."""
    printer = Printer.standard()
    totals = sorted(found.totals(), key=lambda each: (each.cost, each.lost or 0))
    if totals:
        front = {each.setting for each in found.front()}
        printer.line(
            Cell(count(len(found.baselines), "session"), "1"),
            f" · {count(len(totals), 'policy', 'policies')} · counted with {tokenizer}"
            f" · {_unit(totals[0])}",
        )
        printer.line()
        printer.table(
            [Column(), Column("policy"), *_COLUMNS],
            [
                [
                    Cell("★" if each.setting in front else "", "33"),
                    Cell(found.policies[each.setting].name, "1"),
                    *_cells(each),
                ]
                for each in totals
            ],
        )
        printer.line("★ no other policy beats it in both cost and loss")
        printer.line(_LEGEND)
    told: dict[str, str] = {}
    for setting, why in found.refused:
        told.setdefault(found.policies[setting].name, why)
    if told:
        printer.heading("Could not be replayed")
        printer.table([Column(), Column(wrap=True)], [[name, why] for name, why in told.items()])


_TITLES = {
    "cost": "Cost",
    "sent": "Tokens sent",
    "peak": "Largest context",
    "compactions": "Compactions",
    "lost": "Needed later and gone",
}

_LEGEND = (
    "lost: points for what was needed later and had left the window; late: calls over the "
    "trigger that could not compact; soon: compactions right after another"
)

_COLUMNS = (
    Column("cost", right=True),
    Column("sent", right=True),
    Column("largest", right=True),
    Column("times", right=True),
    Column("lost", right=True),
    Column("refetched", right=True),
    Column("late", right=True),
    Column("soon", right=True),
)


def _cells(total: Total) -> list[str]:
    return [
        _cost(total),
        f"{total.sent:,}",
        f"{total.peak:,}",
        f"{total.compactions:,}",
        _looked(total.lost),
        _looked(total.refetched),
        f"{total.late:,}",
        f"{total.soon:,}",
    ]


def _looked(value: int | None) -> str:
    return "—" if value is None else f"{value:,}"


def _unit(total: Total) -> str:
    if total.money is not None:
        return "cost in dollars by list price, summaries written by the same model"
    return "cost in tokens: from the cache a tenth, written in summaries fivefold"


def _cost(total: Total) -> str:
    return dollars(total.money) if total.money is not None else f"{total.cost:,.0f}"


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _print_grid(printer: Printer, found: Sweep, totals: list[Total], metric: str) -> None:
    by_place = {found.values[each.setting]: each for each in totals}
    budgets = sorted({budget for budget, _ in by_place})
    amounts = sorted({amount for _, amount in by_place})
    front = {each.setting for each in found.front()}
    advice = found.recommend()
    rows: list[list[str | Cell]] = []
    for budget in budgets:
        row: list[str | Cell] = [Cell(_shown(budget), "1")]
        for amount in amounts:
            total = by_place.get((budget, amount))
            if total is None:
                row.append("")
                continue
            text = _cost(total) if metric == "cost" else _looked(getattr(total, metric))
            mark = "★" if advice is not None and total.setting == advice.setting else ""
            colour = "1;32" if mark else "33" if total.setting in front else ""
            colour = "2" if (total.late or total.soon) and not colour else colour
            row.append(Cell(f"{mark}{text}", colour))
        rows.append(row)
    printer.table(
        [Column(right=True), *(Column(_shown(amount), right=True) for amount in amounts)], rows
    )
