"""Reading a Claude Code transcript: what is in the window, and why the rest is not.

The file is read in its order, never along `parentUuid`: hooks and progress lines break that
chain, and walking it loses tool results in most real sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from compaction.errors import SessionError
from compaction.formats.base import ReadOptions
from compaction.formats.claude_code import BOOKKEEPING, NAME, TITLE, Transcript
from compaction.formats.claude_code_lines import (
    Response,
    assistant_entry,
    extend,
    in_order,
    queued_entry,
    user_entry,
    with_bodies,
)
from compaction.formats.drafts import Draft
from compaction.formats.jsonl import Faults, records
from compaction.formats.leaving import LeftOut
from compaction.formats.recognising import called
from compaction.messages import RecordedCompaction, Session, Source, Span

_BEFORE = "before the last compaction"
_TWICE = "written twice"
_ASIDE = "side conversations"
_ABANDONED = "abandoned attempts"
_SCREEN = "shown on the screen only"
_NO_MESSAGE = "lines without a message"


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no line of it is of a transcript."""
    faults = Faults()
    reading = _Reading(source, options, faults)
    take = reading.take
    for value, span in records(source, options, faults):
        take(value, span)
    return reading.finish()


@dataclass(slots=True)
class _Reading:
    """The state while lines are taken in their order.

    `entries` are the messages so far: those of side conversations until there is one of the
    main conversation, which then takes their place.
    """

    source: Source
    options: ReadOptions
    faults: Faults
    entries: list[Draft] = field(default_factory=list)
    #: The message of each response id.
    responses: dict[str, Response] = field(default_factory=dict)
    #: Where each line of the file starts, by its id.
    starts: dict[str, int] = field(default_factory=dict)
    unmet: set[str] = field(default_factory=set)
    #: By the line it answers, the place of the newest typed line among the entries.
    typed: dict[str, int] = field(default_factory=dict)
    #: Carried over the last boundary, to stand behind the summary that is still to come.
    carried: list[Draft] = field(default_factory=list)
    clearings: list[tuple[Span, frozenset[str]]] = field(default_factory=list)
    left_out: LeftOut = field(init=False)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    titles: list[Span] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    title: str = ""
    named: bool = False
    summaries: list[tuple[str, str]] = field(default_factory=list)
    model: str = ""
    session_id: str = ""
    duplicates: int = 0
    main: bool = False
    ours: bool = False

    def __post_init__(self) -> None:
        self.left_out = LeftOut(self.options)

    @property
    def full(self) -> bool:
        return self.options.history == "full"

    # ------------------------------------------------------------------------------ lines

    def take(self, value: Mapping[str, Any], span: Span) -> None:
        """One record of the file."""
        kind = value.get("type")
        if not isinstance(kind, str):
            self.left_out.add("records of no known type", span)
            return
        uuid = value.get("uuid")
        if type(uuid) is str:
            starts = self.starts
            if uuid in starts:
                self._twice(span)
                return
            starts[uuid] = span[0]
            parent = value.get("parentUuid")
            if type(parent) is str and parent not in starts:
                self.unmet.add(parent)
        if kind == "assistant":
            self._assistant(value, span)
        elif kind == "user":
            self._user(value, span)
        elif kind == "attachment":
            self.ours = True
            self._add(queued_entry(value, span), value, span, "attachments rendered when sent")
        elif kind == "system":
            self._system(value, span)
        else:
            self._bookkeeping(kind, value, span)

    def _twice(self, span: Span) -> None:
        self.duplicates += 1
        self.left_out.add(_TWICE, span)

    def _assistant(self, value: Mapping[str, Any], span: Span) -> None:
        held = value.get("message")
        if not isinstance(held, dict):
            self.left_out.add(_NO_MESSAGE, span)
            return
        model = held.get("model")
        if model == "<synthetic>" or value.get("isApiErrorMessage") is True:
            self.ours = True
            self.left_out.add("error notices", span)
            return
        known = held.get("id")
        if type(known) is str and (begun := self.responses.get(known)) is not None:
            if not extend(begun, held, span):
                self._twice(span)
            return
        entry, response = assistant_entry(value, held, span)
        if not entry.kinds:
            # A line of nothing but an empty block; the next line of the response may say more.
            self.left_out.add("empty lines", span)
        elif self._place(entry, value.get("isSidechain") is True):
            if response is not None:
                self.responses[entry.id] = response
            if entry.model:
                self.model = entry.model

    def _user(self, value: Mapping[str, Any], span: Span) -> None:
        session_id = value.get("sessionId")
        if type(session_id) is str and session_id not in self.sessions:
            self.session_id = self.session_id or session_id
            self.sessions.add(session_id)
        if (
            value.get("isVisibleInTranscriptOnly") is True
            and value.get("isCompactSummary") is not True
        ):
            self.left_out.add(_SCREEN, span)
            return
        entry = user_entry(value, span)
        if entry is None:
            self.left_out.add(_NO_MESSAGE, span)
            return
        side = value.get("isSidechain") is True
        if side and self.main:
            self.left_out.add(_ASIDE, span)
            return
        parent = value.get("parentUuid")
        if type(parent) is str and not (entry.injected or entry.summary or entry.results):
            if parent in self.typed and self._repeats(entry, parent):
                self._twice(span)
                return
            if self._place(entry, side):
                self.typed[parent] = len(self.entries) - 1
            return
        if entry.summary and value.get("isCompactSummary") is True:
            self._summary(entry, side)
            return
        self._place(entry, side)

    def _summary(self, entry: Draft, side: bool) -> None:
        if not self.compactions and self.entries:
            # Older versions write the summary without a boundary line before it.
            self._boundary({}, None)
        if self._place(entry, side):
            self.entries += self.carried
            self.carried = []

    def _add(
        self, entry: Draft | None, value: Mapping[str, Any], span: Span, otherwise: str
    ) -> None:
        if entry is None:
            self.left_out.add(otherwise, span)
        else:
            self._place(entry, value.get("isSidechain") is True)

    def _place(self, entry: Draft, side: bool) -> bool:
        """Put a message at the end; False when it is not of this conversation."""
        if side:
            if self.main:
                self.left_out.many(_ASIDE, (entry.spans,))
                return False
        elif not self.main:
            self._begin()
        self.entries.append(entry)
        return True

    def _begin(self) -> None:
        """The first line of the main conversation: what was read until now was aside."""
        self.main = True
        if not self.entries:
            return
        self.left_out.many(_ASIDE, [entry.spans for entry in self.entries])
        self.entries = []
        self.responses = {}
        self.typed = {}
        self.carried = []
        self.compactions = []
        self.model = ""

    def _repeats(self, entry: Draft, parent: str) -> bool:
        """Whether a typed line repeats its sibling; an earlier attempt at it is abandoned."""
        at = self.typed[parent]
        if self.entries[at].time == entry.time:
            return True
        if not self.full:
            gone = self.entries[at:]
            self.left_out.many(_ABANDONED, [entry.spans for entry in gone])
            for each in gone:
                response = self.responses.get(each.id)
                if response is not None and response.entry is each:
                    del self.responses[each.id]
            del self.entries[at:]
            self.typed = {key: place for key, place in self.typed.items() if place < at}
        return False

    def _bookkeeping(self, kind: str, value: Mapping[str, Any], span: Span) -> None:
        known = BOOKKEEPING.get(kind)
        if known is not None:
            self.ours = True
        self.left_out.add(known or f"records of type {kind[:40]!r}", span)
        for key, chosen in (("customTitle", True), ("aiTitle", False)):
            title = value.get(key)
            if isinstance(title, str) and title and (chosen or not self.named):
                self.title, self.named = title, self.named or chosen
                self.titles.append(span)
        if kind == "summary":
            self.summaries.append((str(value.get("leafUuid")), str(value.get("summary") or "")))

    # ------------------------------------------------------------------------- compactions

    def _system(self, value: Mapping[str, Any], span: Span) -> None:
        self.ours = True
        subtype = value.get("subtype")
        side = value.get("isSidechain") is True
        if side and self.main:
            self.left_out.add(_ASIDE, span)
        elif subtype == "compact_boundary":
            if not side and not self.main:
                self._begin()
            self._boundary(value, span)
        elif subtype == "microcompact_boundary":
            meta = value.get("microcompactMetadata")
            ids = meta.get("compactedToolIds") if isinstance(meta, dict) else None
            held = ids if isinstance(ids, list) else ()
            self.clearings.append((span, frozenset(one for one in held if isinstance(one, str))))
            self.left_out.add("marks of cleared outputs", span)
        else:
            self.left_out.add(_SCREEN, span)

    def _boundary(self, value: Mapping[str, Any], span: Span | None) -> None:
        meta = value.get("compactMetadata")
        meta = meta if isinstance(meta, dict) else {}
        before, after = meta.get("preTokens"), meta.get("postTokens")
        if not self.full:
            carried = self._preserved(meta)
            kept = {id(entry) for entry in carried}
            gone = [entry.spans for entry in self.entries if id(entry) not in kept]
            self.left_out.many(_BEFORE, gone)
            self.responses = {
                key: begun for key, begun in self.responses.items() if id(begun.entry) in kept
            }
            self.typed = {}
            self.compactions = []
            # Carried messages stand before the summary where the boundary itself anchors them.
            segment = meta.get("preservedSegment")
            anchor = segment.get("anchorUuid") if isinstance(segment, dict) else None
            first = isinstance(anchor, str) and anchor == value.get("uuid")
            self.entries, self.carried = (carried, []) if first else ([], carried)
        self.compactions.append(
            RecordedCompaction(
                len(self.entries),
                trigger=str(meta.get("trigger") or ""),
                before=before if isinstance(before, int) else None,
                after=after if isinstance(after, int) else None,
                line=span.line if span else None,
            )
        )

    def _preserved(self, meta: Mapping[str, Any]) -> list[Draft]:
        """The messages that the tool itself carried over the boundary."""
        segment = meta.get("preservedSegment")
        if isinstance(segment, dict):
            first = self.starts.get(str(segment.get("headUuid")))
            last = self.starts.get(str(segment.get("tailUuid")))
            if first is not None and last is not None:
                return [
                    entry
                    for entry in self.entries
                    if entry.spans[-1].start >= first and entry.spans[0].start <= last
                ]
        listed = meta.get("preservedMessages")
        if isinstance(listed, dict):
            listed = listed.get("uuids") or listed.get("messageUuids")
        if not isinstance(listed, list):
            return []
        named = (one.get("uuid") if isinstance(one, dict) else one for one in listed)
        places = {self.starts.get(str(one)) for one in named}
        return [entry for entry in self.entries if any(s.start in places for s in entry.spans)]

    # ------------------------------------------------------------------------------ result

    def finish(self) -> Session:
        """The session. Raises SessionError when no line of it is of a transcript."""
        entries = self.entries + self.carried
        if not entries and not self.ours:
            name = called(self.source)
            raise SessionError(f"{name} holds no line of a {TITLE} transcript.")
        if not entries:
            self.faults.tell(
                "warning", "no-messages", "The transcript holds no message, only bookkeeping."
            )
        self._tell()
        cleared = frozenset[str]() if self.full else self._cleared()
        title = self.title or self._summarized_as()
        # What only reading needs goes before the messages come, so that they never add up.
        self.entries, self.responses, self.typed, self.starts = [], {}, {}, {}
        messages = with_bodies(self._segments(entries), self.source, cleared)
        return Session(
            self.source,
            NAME,
            messages,
            title=title,
            model=self.model,
            history=self.options.history,
            problems=self.faults.findings,
            left_out=dict(self.left_out.counts),
            compactions=tuple(self.compactions),
            document=Transcript(tuple(self.titles), tuple(self.clearings), self.session_id),
        )

    def _segments(self, entries: list[Draft]) -> list[Draft]:
        """The entries in the order of an API; no result goes back over a compaction."""
        cuts = [0, *(each.at for each in self.compactions), len(entries)]
        return [entry for start, end in pairwise(cuts) for entry in in_order(entries[start:end])]

    def _cleared(self) -> frozenset[str]:
        return frozenset(one for _, ids in self.clearings for one in ids)

    def _summarized_as(self) -> str:
        """The title older versions give; most of them are about another file."""
        return next((text for leaf, text in reversed(self.summaries) if leaf in self.starts), "")

    def _tell(self) -> None:
        if self.duplicates:
            some = "line is" if self.duplicates == 1 else "lines are"
            self.faults.tell(
                "info",
                "duplicates",
                f"{self.duplicates:,} {some} written twice under one id; the first is used.",
            )
        broken = len(self.unmet - self.starts.keys())
        if broken:
            some = "parent is" if broken == 1 else "parents are"
            self.faults.tell(
                "info",
                "broken-links",
                f"{broken:,} {some} not in the file; the order of the lines is used.",
            )
        if len(self.sessions) > 1:
            self.faults.tell(
                "info",
                "several-sessions",
                f"The file holds lines of {len(self.sessions):,} sessions; they are read as one, "
                "in the order of the file.",
            )
