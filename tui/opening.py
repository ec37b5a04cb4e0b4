"""What the workbench is to open with, as a command line (or a script) asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compaction.formats.base import Dialect, History
    from compaction.policy import Policy
    from compaction.summary import Summarizer


@dataclass(frozen=True, slots=True)
class Opening:
    """What to open and under which settings.

    `source` is a path, the bytes of a piped session, or None for the picker; `name` is how to
    call it on the screen. `policy` is None where nothing was asked for, so that the remembered
    one applies. `summarizer` None means the one the policy names; `summary_text` is a summary
    given in its place. `dialect` None means that of the session's format. `demo` starts with the
    guided tour.
    """

    source: str | bytes | None = None
    name: str = ""
    read_as: str | None = None
    history: History = "live"
    conversation: str | None = None
    policy: Policy | None = None
    summarizer: Summarizer | None = None
    summary_text: str | None = None
    dialect: Dialect | None = None
    demo: bool = False
