"""Calls and their results: what has no partner, stands apart, comes twice, or shares an id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compaction.findings import Finding, Level
from compaction.messages import Message
from compaction.validity.listing import View, finding, listed
from compaction.validity.rules import Closing


@dataclass(slots=True)
class _Batch:
    """The calls of one turn, and how far they are answered.

    `in_place` counts the results where the API wants them, `answered_in` are their messages.
    `closed`: no result can come in place any more. `followed`: something that is no result came.
    """

    start: int
    ids: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    in_place: int = 0
    answered_in: list[int] = field(default_factory=list)
    closed: bool = False
    followed: bool = False


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    batch: _Batch


def pairing(view: View) -> Iterator[Finding]:
    """Findings about calls, results and ids, in no order."""
    run = _Run(view)
    for index, message in enumerate(view.messages):
        run.take(index, message)
    run.finish()
    yield from run.findings


class _Run:
    """One pass over a list. `waiting` are the calls without a result, by id, oldest first."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._rules = view.rules
        self._closes = _closing(view)
        self._joins = view.rules.joins_turns or view.origin == "items"
        self._waiting: dict[str, list[_Call]] = {}
        self._called: dict[str, int] = {}
        self._batch: _Batch | None = None
        self._last_role = ""
        self._merged: list[int] = []
        self.findings: list[Finding] = []

    def take(self, index: int, message: Message) -> None:
        """The next message of the list."""
        for call_id in message.results:
            self._answer(index, call_id)
        if message.role == "assistant":
            self._turn(index, message)
        elif self._batch is not None:
            alone = bool(message.results) and message.role == "tool"
            if not alone:
                self._batch.followed = not message.results or self._batch.followed
            if self._closes == "answer" or (self._closes == "message" and not alone):
                self._batch.closed = True
        self._last_role = message.role

    def _turn(self, index: int, message: Message) -> None:
        batch = self._batch
        if batch is None or not (self._joins and self._last_role == "assistant"):
            if batch is not None:
                batch.closed = True
                batch.followed = True
            self._batch = batch = _Batch(index)
        for call_id in message.calls:
            self._call(index, call_id, batch)

    def _call(self, index: int, call_id: str, batch: _Batch) -> None:
        if not call_id:
            if self._rules.needs_ids:
                self._tell(
                    self._view.level("error"),
                    "missing-id",
                    index,
                    f"A tool call in #{index} has no id, so no result can name it.",
                    "Give the call and its result the same id.",
                )
        elif call_id in batch.known:
            if self._rules.duplicate:
                self._tell(
                    self._repaired(self._rules.duplicate),
                    "duplicate-id",
                    index,
                    f"Two calls of one turn (#{index}) share the id {listed([call_id])}.",
                    "Give every call of a turn its own id.",
                )
        elif call_id in self._called and self._rules.reused:
            self._tell(
                self._repaired(self._rules.reused),
                "reused-id",
                index,
                f"The id {listed([call_id])} of a call in #{index} was used before, in "
                f"#{self._called[call_id]}.",
                "Results go with the nearest call before them; new ids remove the doubt.",
            )
        batch.ids.append(call_id)
        batch.known.add(call_id)
        self._called[call_id] = index
        self._waiting.setdefault(call_id, []).append(_Call(index, call_id, batch))

    def _answer(self, index: int, call_id: str) -> None:
        calls = self._waiting.get(call_id)
        if not calls:
            self._unasked(index, call_id)
            return
        # Calls that share an id are answered in their order, those of the newest turn first.
        newest = calls[-1].batch
        place = next(at for at, call in enumerate(calls) if call.batch is newest)
        call = calls.pop(place)
        batch = call.batch
        if batch is self._batch and not batch.closed:
            batch.in_place += 1
            if batch.answered_in and batch.answered_in[-1] != index:
                self._merged.append(index)
            batch.answered_in.append(index)
        elif self._closes != "never":
            self._apart(index, call)

    def _apart(self, index: int, call: _Call) -> None:
        title = self._rules.title
        if len(call.batch.ids) > 1 and call.batch.in_place:
            self._tell(
                "error",
                "batch-split",
                index,
                f"The result in #{index} belongs to the parallel calls of #{call.index}, whose "
                f"other results stand before it and apart; {title} wants them together.",
                f"Move it next to the other results of #{call.index}.",
            )
        else:
            self._tell(
                "error",
                "result-apart",
                index,
                f"The result in #{index} does not follow its call in #{call.index}; {title} "
                "wants nothing between the two.",
                f"Move it directly after #{call.index}.",
            )

    def _unasked(self, index: int, call_id: str) -> None:
        asked = self._called.get(call_id)
        if asked is not None:
            self._tell(
                "error",
                "result-twice",
                index,
                f"The call {listed([call_id])} of #{asked} is answered already; #{index} answers "
                "it again.",
                "Keep one result a call; tell the later one as text.",
            )
        else:
            self._tell(
                "error",
                "orphan-result",
                index,
                f"The result in #{index} answers the call {listed([call_id])}, which is nowhere "
                "before it.",
                "Keep the call with it; `compaction check --fix` makes a note of the result.",
            )

    def finish(self) -> None:
        """Calls that nobody answered, and what is only told once."""
        left: dict[tuple[int, int], list[_Call]] = {}
        for calls in self._waiting.values():
            for call in calls:
                left.setdefault((call.batch.start, call.index), []).append(call)
        for (_, index), calls in left.items():
            batch = calls[0].batch
            ids = listed([call.id for call in calls])
            whole = len(batch.ids)
            of = f"{len(calls)} of {whole} parallel calls" if whole > 1 else "a call"
            if batch is self._batch and not batch.followed:
                self._tell(
                    "warning",
                    "interrupted-call",
                    index,
                    f"The list ends before {of} of #{index} got a result: {ids}.",
                    "Add the results before sending it; `compaction check --fix` adds marked ones.",
                )
            else:
                self._tell(
                    "error",
                    "unanswered-call",
                    index,
                    f"#{index} has {of} without a result: {ids}.",
                    "Keep the results with their call; `compaction check --fix` adds marked ones.",
                )
        if self._merged and self._view.origin == "claude-code":
            self._tell(
                "info",
                "results-merged",
                self._merged[0],
                f"Results of parallel calls stand on lines of their own ({len(self._merged):,} "
                "places, first #"
                f"{self._merged[0]}); they are sent as one message.",
            )

    def _repaired(self, level: Level) -> Level:
        # Only Anthropic's renderer gives new ids; a chat list keeps the ids it has.
        return self._view.level("error") if self._view.dialect == "anthropic" else level

    def _tell(self, level: Level, code: str, index: int, text: str, remedy: str = "") -> None:
        self.findings.append(finding(level, code, index, text, remedy))


def _closing(view: View) -> Closing:
    # A list of Anthropic's or Gemini's own messages is sent as it stands, so one message has to
    # answer; anything else is rendered (Claude Code does it itself), which joins the user's side.
    strict = view.dialect in ("anthropic", "gemini") and view.origin != "claude-code"
    if strict and view.native:
        return "answer"
    return view.rules.closes
