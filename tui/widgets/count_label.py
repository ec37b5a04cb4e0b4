"""How good token counts are, in words of several lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.widgets.looks import grouped, short

if TYPE_CHECKING:
    from compaction.tokens import Counts


def count_labels(counts: Counts, reported: int | None) -> tuple[str, ...]:
    """Wordings, the longest first; `reported` is what the provider counted for the last answer."""
    full = counts.label
    made = counts.calibration
    if made is not None and counts.exact:
        off = ""
        if made.plain_error is not None:
            side = "low" if made.plain_error < 0 else "high"
            off = f", plain {abs(made.plain_error) * 100:.0f} % {side}"
        brief = [f"calibrated on {made.responses:,}{off}", f"calibrated{off}", "calibrated"]
    elif counts.exact and counts.model:
        brief = [f"{counts.tokenizer}, estimate", "estimate"]
    else:
        brief = [full.partition(",")[2].strip() or full]
    told = [full, *brief]
    if reported is None:
        return tuple(told)
    long, less = f"provider read {grouped(reported)}", f"provider {short(reported)}"
    # How good the numbers are comes first; the number of the provider is in the title as well.
    return (f"{full} · {long}", full, *(each for one in brief for each in (f"{one} · {less}", one)))
