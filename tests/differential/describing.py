"""What is said of an original: where it is, how it is run, and which differences are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from compaction.policy import Policy
from tests.differential.cases import Case
from tests.differential.comparing import Explain, Outcome, quarters

UNANSWERED = "a request without an answer stays whole here"


@dataclass(frozen=True)
class Original:
    """One original: the package it is in, how it is run, and how it is said as a policy."""

    package: str
    what: str
    run: Callable[[Case, int], Outcome]
    policy: Callable[[Case, int], Policy]
    explain: Explain
    budgets: Callable[[Case], Iterable[int]] = quarters
    tools: bool = True
    system: bool = True
    light: bool = False


def installed(original: Original) -> str:
    """The version of the package that is installed; "" for none."""
    try:
        return version(original.package)
    except PackageNotFoundError:
        return ""


def never(case: Case, mine: Outcome, theirs: Outcome) -> str:
    del case, mine, theirs
    return ""


def open_request(case: Case, mine: Outcome, theirs: Outcome) -> str:
    """The messages from the first without an answer on are all that is kept beyond theirs."""
    extra = set(mine.kept) - set(theirs.kept)
    if not extra or set(theirs.kept) - set(mine.kept):
        return ""
    last = max((i for i, e in enumerate(case.entries) if e.role == "assistant"), default=-1)
    return UNANSWERED if min(extra) > last else ""
