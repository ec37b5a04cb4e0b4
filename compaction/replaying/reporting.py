"""A replay as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.replaying import Replay


def as_json(run: Replay) -> dict[str, object]:
    """The object that `replay --json` prints."""
    session, policy, prices = run.session, run.policy, run.prices
    return {
        "session": {
            "format": session.format,
            "messages": len(session.messages),
            "calls": len(run.line),
            "model": session.model,
            "history": session.history,
        },
        "policy": {
            "name": policy.name,
            "budget": run.budget,
            "keep_recent": policy.keep_recent,
            "unit": policy.recent.unit,
        },
        "tokenizer": run.line.counts.named,
        "peak": {"tokens": run.peak, "call": run.peak_call},
        "totals": asdict(run.totals),
        "baseline": {"peak": run.baseline_peak, **asdict(run.baseline)},
        "money": {
            "model": prices.model if prices else None,
            "source": prices.source if prices else None,
            "policy": _dollars(run.money),
            "baseline": _dollars(run.baseline_money),
        },
        "compactions": [
            {
                "call": each.call,
                "message": each.at,
                "before": each.before,
                "after": each.after,
                "summarized": [each.start, each.cut],
                "kept": list(each.stay),
                "cleared": list(each.cleared),
                "replaced": each.replaced,
                "summary": each.summary,
                "pays_back_after": run.pays_back(each),
            }
            for each in run.compactions
        ],
        "declined": [
            {
                "calls": [each.call, each.until],
                "message": each.at,
                "before": each.before,
                "reason": each.why,
            }
            for each in run.declined
        ],
        "recorded": [
            {
                "message": each.at,
                "call": each.call,
                "trigger": each.trigger,
                "before": each.before,
                "after": each.after,
                "nearest_call": each.nearest.call if each.nearest else None,
                "calls_apart": each.apart,
                "same_place": each.same_place,
            }
            for each in run.recorded
        ],
        "contexts": list(run.contexts()),
        "findings": [finding.as_json() for finding in run.findings],
    }


def _dollars(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 6)
