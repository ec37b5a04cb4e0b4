"""Work behind the screen: loading, counting, summarizing, searching. Runs in threads.

Nothing here touches a widget. Each function posts frozen events; the screen owns the state.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message as Event

from compaction.errors import CompactionError, SummarizerError
from compaction.messages import IsCancelled, Progress, Session
from tui.collecting import lasting

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.evidence import Evidence
    from compaction.groups import Groups
    from compaction.planning import Plan
    from compaction.policy import Policy
    from compaction.summary import Summarizer
    from compaction.tokens import Counts
    from tui.carried import Carried
    from tui.opening import Opening
    from tui.session_facts import SessionFacts
    from tui.whole_file import WholeFile
    from tui.widgets.result_view import ResultRow

Post = Callable[[Event], object]


@dataclass
class LoadProgress(Event):
    """How far reading is."""

    ticket: int
    progress: Progress

    def can_replace(self, message: Event) -> bool:
        """Only the newest number matters."""
        return isinstance(message, LoadProgress)


@dataclass
class Loaded(Event):
    """A session was read, its sizes estimated and its groups found."""

    ticket: int
    session: Session
    counts: Counts
    groups: Groups
    facts: SessionFacts


@dataclass
class LoadFailed(Event):
    """A session cannot be read."""

    ticket: int
    reason: str


@dataclass
class Counted(Event):
    """More messages are counted."""

    ticket: int
    counts: Counts

    def can_replace(self, message: Event) -> bool:
        """Later counts hold the earlier ones."""
        return isinstance(message, Counted) and message.ticket == self.ticket


@dataclass
class CountFailed(Event):
    """Counting is not possible; the estimates stay."""

    ticket: int
    reason: str


@dataclass
class Summarized(Event):
    """A plan was carried out, or could not be (`reason`)."""

    ticket: int
    plan: Plan
    result: Compacted | None
    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    rows: tuple[ResultRow, ...] = ()
    reason: str = ""
    #: Exact values the tool's own summary holds, and how many of those ours loses.
    theirs: tuple[int, int] | None = None
    became: Carried | None = None


@dataclass
class Outside(Event):
    """The records of the file that are not in the window, and where they stand."""

    ticket: int
    session: Session
    whole: WholeFile | None
    reason: str = ""


@dataclass
class Hits(Event):
    """The messages that hold a text."""

    ticket: int
    needle: str
    indexes: tuple[int, ...]


@dataclass
class Narrowed(Event):
    """The messages that filters leave; `tried` when they are only being typed."""

    ticket: int
    rows: array[int]
    tried: bool


#: Bytes from which on a file takes so long that its tokenizer is made ready meanwhile.
_LARGE = 4 * 1024 * 1024


def load(opening: Opening, ticket: int, post: Post, stopped: IsCancelled) -> None:
    """Read the session of `opening`; where `stopped` says so, what was read is the session."""
    from compaction.formats import load as load_session
    from compaction.groups import find_groups
    from compaction.tokens import estimate
    from tui.session_facts import facts_of

    def tell(progress: Progress) -> None:
        post(LoadProgress(ticket, progress))

    source = opening.source
    if source is None:
        return
    try:
        with lasting():
            session = load_session(
                source,
                format=opening.read_as,
                history=opening.history,
                conversation=opening.conversation,
                progress=tell,
                cancelled=stopped,
            )
    except CompactionError as error:
        post(LoadFailed(ticket, str(error)))
        return
    except MemoryError:
        post(LoadFailed(ticket, f"{opening.name}: there is not enough memory to read it."))
        return
    with lasting():
        groups = find_groups(session.messages)
        loaded = Loaded(ticket, session, estimate(session), groups, facts_of(session))
    post(loaded)


def make_ready(opening: Opening, tokenizer: str) -> None:
    """Make the `tokenizer` of a large file while nothing but its progress is on the screen.

    tiktoken holds the interpreter for a tenth of a second then, and no key is answered.
    """
    from compaction.tokens import counter

    source = opening.source
    if source is None:
        return
    try:
        large = (len(source) if isinstance(source, bytes) else Path(source).stat().st_size) > _LARGE
        if large:
            counter(tokenizer).count("a")
    except (OSError, ValueError, CompactionError):
        # Whoever reads or counts says why that is not possible.
        return


def count(
    session: Session,
    policy: Policy,
    estimated: Counts,
    cache: Path | None,
    ticket: int,
    post: Post,
    stopped: IsCancelled,
) -> None:
    """Count the messages of `session`, telling of every batch."""
    from compaction.planning import counts_for
    from compaction.tokens import (
        DEFAULT,
        CountCache,
        Counts,
        calibrate,
        count_steps,
        foreign_model,
        tools_tokens,
    )

    calibrated = policy.tokens == "calibrated"
    tokenizer = DEFAULT if calibrated else policy.tokens
    try:
        if tokenizer == "chars/4":
            post(Counted(ticket, counts_for(session, policy)))
            return
        kept = CountCache(cache) if cache is not None else None
        overhead = tools_tokens(session, tokenizer)
        model = foreign_model(session, tokenizer)
        counts = Counts(
            estimated.tokenizer, estimated.tokens, overhead=overhead, exact=False, model=model
        )
        if not session.messages:
            post(Counted(ticket, Counts(tokenizer, estimated.tokens, overhead=overhead)))
        for start, tokens in count_steps(session, tokenizer, cache=kept, cancelled=stopped):
            counts = counts.with_counted(start, tokens, tokenizer)
            if calibrated and counts.exact:
                counts = calibrate(session, counts) or counts
            post(Counted(ticket, counts))
            if stopped():
                return
    except CompactionError as error:
        if not stopped():
            post(CountFailed(ticket, str(error)))


def summarize(
    plan: Plan,
    summarizer: Summarizer | None,
    text: str | None,
    ticket: int,
    post: Post,
    stopped: IsCancelled,
    theirs: int | None = None,
) -> None:
    """Carry out `plan`: with the summarizer, or with the `text` a person wrote.

    `theirs` is the message with the tool's own summary, to be held against ours.
    """
    from compaction.compacting import compact, compact_with_text, left_alone
    from compaction.evidence import occurs, survival
    from tui.carried import carried
    from tui.resulting import result_rows

    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    rows: tuple[ResultRow, ...] = ()
    holds: tuple[int, int] | None = None
    try:
        # The account of a result has a value for every message.
        with lasting():
            if text is not None and plan.compacts:
                result = compact_with_text(plan, text)
            else:
                result = compact(plan, summarizer, cancelled=stopped)
            if result.summary is not None and not stopped():
                replaced = [plan.session.messages[index] for index in result.plan.summarized]
                indexes, summary = list(result.plan.summarized), result.summary.content
                found = survival(replaced, summary, indexes, cancelled=stopped)
                kept, lost = _texts(found.kept), _texts(found.lost)
                if theirs is not None:
                    said = plan.session.messages[theirs].text
                    of_kept, of_lost = (
                        sum(occurs(value, said) for value in values) for values in (kept, lost)
                    )
                    holds = (of_kept + of_lost, of_lost)
            became = carried(result)
            if result.made:
                rows = result_rows(result, became)
    except SummarizerError as error:
        # Where the policy wants an error, the screen shows what that leaves: everything.
        if not stopped():
            alone = left_alone(plan, str(error))
            post(Summarized(ticket, plan, alone, became=carried(alone)))
        return
    except CompactionError as error:
        if not stopped():
            post(Summarized(ticket, plan, None, reason=str(error)))
        return
    if not stopped():
        post(Summarized(ticket, plan, result, kept, lost, rows, theirs=holds, became=became))


def find_outside(session: Session, ticket: int, post: Post, stopped: IsCancelled) -> None:
    """Find the records of the file that are not in the window."""
    from tui.whole_file import whole_file

    try:
        with lasting():
            found = whole_file(session)
    except CompactionError as error:
        if not stopped():
            post(Outside(ticket, session, None, str(error)))
        return
    if not stopped():
        post(Outside(ticket, session, found))


def _texts(found: tuple[Evidence, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.text for item in found))


def search(session: Session, needle: str, ticket: int, post: Post, stopped: IsCancelled) -> None:
    """Find `needle` in every message, whatever its case."""
    from tui.filtering import search as find

    indexes = find(session, needle, cancelled=stopped)
    if not stopped():
        post(Hits(ticket, needle, tuple(indexes)))
