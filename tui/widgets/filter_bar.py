"""The filter line: what is typed, and how many messages it leaves."""

from __future__ import annotations

from tui.widgets.looks import grouped
from tui.widgets.search_bar import EntryBar


class FilterBar(EntryBar):
    """Narrows the list; it stays in sight while it does."""

    SIGN = "filter"
    HINT = "role:tool region:summarized tool:bash tokens:>2k text"

    def say_left(self, left: int, total: int) -> None:
        """`41 of 412 messages`."""
        self.say(f"{grouped(left)} of {grouped(total)} messages")

    def say_wrong(self, why: str) -> None:
        """What is wrong with the filter as it stands."""
        self.say(why, wrong=True)
