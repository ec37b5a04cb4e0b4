"""The summary that the recording tool made itself, as a reader sees it beside ours."""

from __future__ import annotations

from dataclasses import dataclass

from tui.widgets.looks import grouped, plain
from tui.widgets.text_flow import Passage


@dataclass(frozen=True, slots=True)
class Theirs:
    """The summary that the recording tool made, which stands in the session as a message.

    `holds` counts the exact values it holds of those that ours stands for, and those of them that
    ours loses; None before that is known.
    """

    text: str
    index: int
    by: str
    tokens: int
    holds: tuple[int, int] | None = None

    @property
    def label(self) -> str:
        """Whose it is, and how long."""
        return f"{plain(self.by, 40)} #{self.index} · {grouped(self.tokens)} tokens"


def beside(theirs: Theirs, ours: int | None) -> list[Passage]:
    """Both sizes in one line, ours being `ours` tokens; None where there is no summary of ours."""
    size = f"ours {grouped(ours)} tokens" if ours is not None else "ours is not made"
    return [Passage(f"{size} · theirs {grouped(theirs.tokens)} tokens", "accent"), Passage("")]


def their_passages(theirs: Theirs, kept: int, lost: int) -> list[Passage]:
    """Their text, and what it holds of the values of which ours keeps `kept` and loses `lost`."""
    passages = [
        Passage(""),
        Passage("─" * 24, "faint"),
        Passage(f"theirs: {theirs.label}", "accent"),
    ]
    if theirs.holds is not None and kept + lost:
        holds, of_lost = theirs.holds
        passages.append(
            Passage(
                f"holds {grouped(holds)} of the {grouped(kept + lost)} exact values that are "
                f"replaced, ours {grouped(kept)}; of the {grouped(lost)} that ours loses it holds "
                f"{grouped(of_lost)}",
                "muted",
            )
        )
    return [*passages, Passage(""), Passage(theirs.text or "(no text: it is sealed)")]
