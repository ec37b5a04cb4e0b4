"""The account of a compaction: for every message of the session, where it went and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Region = Literal["head", "summarized", "kept", "cleared", "recent"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one message.

    `into` is the index, in the compacted list, of the message that it is now or that stands for
    it; None when nothing does.
    """

    region: Region
    reason: str
    into: int | None


@dataclass(frozen=True, slots=True)
class Regions:
    """Message indexes by region, each in order; together they are all of the session's."""

    head: Sequence[int]
    summarized: Sequence[int]
    kept: Sequence[int]
    cleared: Sequence[int]
    recent: Sequence[int]


_REASONS: dict[Region, str] = {
    "head": "kept first, as the policy says",
    "summarized": "replaced by the summary",
    "kept": "pinned: kept verbatim",
    "cleared": "kept in its place, changed",
    "recent": "recent: kept verbatim",
}


def account_of(regions: Regions, order: Sequence[int], summary_at: int | None) -> tuple[Fate, ...]:
    """The fates after a compaction.

    `order` lists the source index of every message of the result, with -1 for the summary, which
    stands at `summary_at`.
    """
    places = {source: at for at, source in enumerate(order) if source >= 0}
    fates: dict[int, Fate] = {}
    for region, indexes in _by_region(regions):
        reason = _REASONS[region]
        for index in indexes:
            into = summary_at if region == "summarized" else places[index]
            fates[index] = Fate(region, reason, into)
    return tuple(fates[index] for index in range(len(fates)))


def account_dropped(regions: Regions, order: Sequence[int], why: str) -> tuple[Fate, ...]:
    """The fates when the summarized messages were dropped and nothing stands for them."""
    fates = account_of(regions, order, None)
    reason = f"dropped without a summary: {why}"
    return tuple(
        Fate("summarized", reason, None) if fate.region == "summarized" else fate for fate in fates
    )


def account_unchanged(regions: Regions, why: str) -> tuple[Fate, ...]:
    """The fates when every message stays where it is; `why` nothing was compacted."""
    fates: dict[int, Fate] = {}
    for region, indexes in _by_region(regions):
        where: Region = "kept" if region in {"summarized", "cleared"} else region
        reason = f"unchanged: {why}" if region != "head" else _REASONS["head"]
        for index in indexes:
            fates[index] = Fate(where, reason, index)
    return tuple(fates[index] for index in range(len(fates)))


def _by_region(regions: Regions) -> tuple[tuple[Region, Sequence[int]], ...]:
    return (
        ("head", regions.head),
        ("summarized", regions.summarized),
        ("kept", regions.kept),
        ("cleared", regions.cleared),
        ("recent", regions.recent),
    )
