"""The rows of a result: one for every message of it, which is work for a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.widgets.result_view import ResultRow

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from tui.carried import Carried


def result_rows(result: Compacted, became: Carried) -> tuple[ResultRow, ...]:
    """Every message of `result`, with its region, its tokens and where it came from."""
    sources = {
        fate.into: index
        for index, fate in enumerate(result.account)
        if fate.region != "summarized" and fate.into is not None
    }
    rows = []
    for place, message in enumerate(result.messages):
        source = sources.get(place)
        if source is None:
            made = result.summary
            rows.append(ResultRow(message, "summarized", made.tokens if made else 0, None))
        else:
            tokens = became.after.get(source, became.counts.tokens[source])
            rows.append(ResultRow(message, became.region(source), tokens, source))
    return tuple(rows)
