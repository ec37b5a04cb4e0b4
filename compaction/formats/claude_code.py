"""Claude Code transcripts (`~/.claude/projects/**/*.jsonl`): what is in the window, and why.

The file is read in its order, never along `parentUuid`: hooks and progress lines break that
chain, and walking it loses tool results in most real sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.errors import SessionError
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.claude_code_lines import (
    Entry,
    assistant_entry,
    extend,
    queued_entry,
    user_entry,
)
from compaction.formats.jsonl import Faults, Record, records
from compaction.messages import RecordedCompaction, Session, Source, Span

#: Records without a message that name the session or set a mode.
_BOOKKEEPING: Mapping[str, str] = {
    "summary": "title of a session",
    "file-history-snapshot": "file history",
    "file-history-delta": "file history",
    "queue-operation": "prompt queue",
    "last-prompt": "bookkeeping",
    "mode": "bookkeeping",
    "permission-mode": "bookkeeping",
    "ai-title": "title of a session",
    "custom-title": "title of a session",
    "agent-name": "bookkeeping",
    "pr-link": "bookkeeping",
    "bridge-session": "bookkeeping",
    "progress": "progress display",
    "system": "shown on the screen only",
}

_BEFORE = "before the last compaction"


class ClaudeCode:
    """The format."""

    name = "claude-code"
    title = "Claude Code"
    dialect: Dialect = "anthropic"
    suffix = ".jsonl"

    def recognise(self, sample: Sample) -> bool:
        """Lines with a type, a parent and a session around an Anthropic message."""
        return any(_is_envelope(line) for line in sample.lines)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The live context, or with `history="full"` all that was ever sent."""
        faults = Faults()
        reading = _Reading(source, options, faults)
        for record in records(source, options, faults):
            reading.take(record)
        return reading.finish()

    def write(self, messages: Sequence[Any], session: Session) -> Written:
        """A transcript that the tool resumes: a compaction boundary, then the messages."""
        from compaction.formats.claude_code_writing import write

        return write(messages, session)


def _is_envelope(line: object) -> bool:
    if not isinstance(line, dict):
        return False
    kind = line.get("type")
    if kind == "system" and line.get("subtype") == "compact_boundary":
        return "parentUuid" in line
    if kind not in ("user", "assistant", "system") or "parentUuid" not in line:
        return False
    held = line.get("message")
    return (
        isinstance(held, dict) and "parts" not in held and ("sessionId" in line or "uuid" in line)
    )


@dataclass(frozen=True, slots=True)
class Transcript:
    """What writing back needs: lines that set a title, and the marks of cleared outputs."""

    titles: tuple[Span, ...] = ()
    clearings: tuple[Span, ...] = ()
    session_id: str = ""


@dataclass(slots=True)
class _Branch:
    """A typed line with its place in the list, by the line it answers."""

    entry: Entry
    at: int


@dataclass(slots=True)
class _Reading:
    """The state while lines are taken in their order."""

    source: Source
    options: ReadOptions
    faults: Faults
    entries: list[Entry] = field(default_factory=list)
    aside: list[Entry] = field(default_factory=list)
    open: dict[str, Entry] = field(default_factory=dict)
    uuids: set[str] = field(default_factory=set)
    unmet: set[str] = field(default_factory=set)
    branches: dict[str, _Branch] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    titles: list[Span] = field(default_factory=list)
    clearings: list[Span] = field(default_factory=list)
    held_back: list[Entry] = field(default_factory=list)
    title: str = ""
    named: bool = False
    model: str = ""
    session_id: str = ""
    duplicates: int = 0
    main: bool = False

    @property
    def full(self) -> bool:
        return self.options.history == "full"

    # ------------------------------------------------------------------------------ lines

    def take(self, record: Record) -> None:
        """One record of the file."""
        value, span = record
        kind = value.get("type")
        if not isinstance(kind, str):
            self.left_out["records of no known type"] += 1
            return
        uuid = value.get("uuid")
        if isinstance(uuid, str):
            if uuid in self.uuids:
                self.duplicates += 1
                self.left_out["written twice"] += 1
                return
            self.uuids.add(uuid)
            parent = value.get("parentUuid")
            if isinstance(parent, str) and parent not in self.uuids:
                self.unmet.add(parent)
        if kind == "assistant":
            self._assistant(value, span)
        elif kind == "user":
            self._user(value, span)
        elif kind == "attachment":
            self._add(queued_entry(value, span), value, "attachments rendered when sent")
        elif kind == "system":
            self._system(value, span)
        else:
            self._bookkeeping(kind, value, span)

    def _assistant(self, value: dict[str, Any], span: Span) -> None:
        held = value.get("message")
        if not isinstance(held, dict):
            self.left_out["lines without a message"] += 1
            return
        if value.get("isApiErrorMessage") is True or held.get("model") == "<synthetic>":
            self.left_out["error notices"] += 1
            return
        known = held.get("id")
        known = known if isinstance(known, str) else ""
        side = value.get("isSidechain") is True
        if known and (entry := self.open.get(known)) is not None:
            if not extend(entry, held, span):
                self.duplicates += 1
                self.left_out["written twice"] += 1
            return
        entry = assistant_entry(value, held, span)
        if not entry.kinds:
            # A line of nothing but an empty block; the next line of the response may say more.
            self.left_out["empty lines"] += 1
            return
        if self._place(entry, side=side):
            if known:
                self.open[known] = entry
            if not side:
                self.model = entry.model or self.model

    def _user(self, value: dict[str, Any], span: Span) -> None:
        if not self.session_id and isinstance(value.get("sessionId"), str):
            self.session_id = value["sessionId"]
        if (
            value.get("isVisibleInTranscriptOnly") is True
            and value.get("isCompactSummary") is not True
        ):
            self.left_out["shown on the screen only"] += 1
            return
        self._add(user_entry(value, span), value, "lines without a message")

    def _add(self, entry: Entry | None, value: Mapping[str, Any], otherwise: str) -> None:
        if entry is None:
            self.left_out[otherwise] += 1
            return
        side = value.get("isSidechain") is True
        if entry.summary and not side and not self.compactions and self.entries:
            # Older versions write the summary without a boundary line before it.
            self._boundary({}, None)
        if entry.typed and not side and self._is_twin(entry):
            self.duplicates += 1
            self.left_out["written twice"] += 1
            return
        if not self._place(entry, side=side):
            return
        if entry.summary:
            self.entries += self.held_back
            self.held_back = []
        if entry.typed and not side and isinstance(entry.parent, str):
            self.branches[entry.parent] = _Branch(entry, len(self.entries) - 1)

    def _place(self, entry: Entry, *, side: bool) -> bool:
        """Put a message where it belongs; False when it is not of this conversation."""
        if not side:
            if not self.main:
                self.main = True
                if self.aside:
                    self.left_out["side conversations"] += len(self.aside)
                    self._forget(self.aside)
                    self.aside = []
            self.entries.append(entry)
            return True
        if self.main:
            self.left_out["side conversations"] += 1
            return False
        self.aside.append(entry)
        return True

    def _forget(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.open.pop(entry.id, None)

    def _is_twin(self, entry: Entry) -> bool:
        """Whether a typed line repeats its sibling; an earlier attempt of it is abandoned."""
        if not isinstance(entry.parent, str):
            return False
        sibling = self.branches.get(entry.parent)
        if sibling is None:
            return False
        if sibling.entry.time == entry.time:
            return True
        if not self.full:
            gone = self.entries[sibling.at :]
            self.left_out["abandoned attempts"] += len(gone)
            self._forget(gone)
            del self.entries[sibling.at :]
            self.branches = {
                parent: branch for parent, branch in self.branches.items() if branch.at < sibling.at
            }
        return False

    def _bookkeeping(self, kind: str, value: Mapping[str, Any], span: Span) -> None:
        self.left_out[_BOOKKEEPING.get(kind, f"records of type {kind[:40]!r}")] += 1
        for key, chosen in (("customTitle", True), ("aiTitle", False)):
            title = value.get(key)
            if isinstance(title, str) and title and (chosen or not self.named):
                self.title, self.named = title, self.named or chosen
                self.titles.append(span)

    # ------------------------------------------------------------------------- compactions

    def _system(self, value: Mapping[str, Any], span: Span) -> None:
        subtype = value.get("subtype")
        if value.get("isSidechain") is True:
            self.left_out["side conversations"] += 1
        elif subtype == "compact_boundary":
            self._boundary(value, span)
        elif subtype == "microcompact_boundary":
            meta = value.get("microcompactMetadata")
            ids = meta.get("compactedToolIds") if isinstance(meta, dict) else None
            if isinstance(ids, list):
                self.cleared.update(one for one in ids if isinstance(one, str))
            self.clearings.append(span)
            self.left_out["marks of cleared outputs"] += 1
        else:
            self.left_out["shown on the screen only"] += 1

    def _boundary(self, value: Mapping[str, Any], span: Span | None) -> None:
        meta = value.get("compactMetadata")
        meta = meta if isinstance(meta, dict) else {}
        before = meta.get("preTokens")
        if not self.full:
            kept = self._preserved(meta)
            self.left_out[_BEFORE] += len(self.entries) - len(kept)
            self.entries = []
            self.open = {entry.id: entry for entry in kept if entry.id}
            self.branches = {}
            self.held_back = kept
            self.cleared.clear()
            self.clearings = []
            self.compactions = []
        self.compactions.append(
            RecordedCompaction(
                len(self.entries),
                trigger=str(meta.get("trigger") or ""),
                before=before if isinstance(before, int) else None,
                line=span.line if span else None,
            )
        )

    def _preserved(self, meta: Mapping[str, Any]) -> list[Entry]:
        """The messages that the tool itself carried over the boundary."""
        segment = meta.get("preservedSegment")
        if isinstance(segment, dict):
            places = {entry.uuid: place for place, entry in enumerate(self.entries)}
            first = places.get(str(segment.get("headUuid")))
            last = places.get(str(segment.get("tailUuid")))
            if first is not None:
                end = len(self.entries) if last is None else last + 1
                return self.entries[first:end]
        listed = meta.get("preservedMessages")
        if isinstance(listed, dict):
            listed = listed.get("uuids") or listed.get("messageUuids")
        if isinstance(listed, list):
            wanted = {str(one.get("uuid")) if isinstance(one, dict) else str(one) for one in listed}
            return [entry for entry in self.entries if entry.uuid in wanted]
        return []

    # ------------------------------------------------------------------------------ result

    def finish(self) -> Session:
        """The session. Raises SessionError when no line of it is a message."""
        entries = self.entries + self.held_back
        if not self.main:
            # Every line is of a side conversation: the file is that of a sub-agent.
            entries = self.aside
            self.model = next((e.model for e in reversed(entries) if e.model), "")
        if not entries and not self.compactions:
            raise SessionError(
                f"{self.source.name or 'The input'} holds no message of a Claude Code session."
            )
        self._tell()
        cleared = frozenset() if self.full else frozenset(self.cleared)
        messages = tuple(entry.finish(self.source, cleared) for entry in _ordered(entries))
        return Session(
            self.source,
            "claude-code",
            messages,
            title=self.title,
            model=self.model,
            history=self.options.history,
            problems=self.faults.findings,
            left_out=dict(self.left_out),
            compactions=tuple(self.compactions),
            document=Transcript(tuple(self.titles), tuple(self.clearings), self.session_id),
        )

    def _tell(self) -> None:
        if self.duplicates:
            some = "line is" if self.duplicates == 1 else "lines are"
            self.faults.tell(
                "info",
                "duplicates",
                f"{self.duplicates:,} {some} written twice under one id; the first is used.",
            )
        broken = len(self.unmet - self.uuids)
        if broken:
            some = "parent is" if broken == 1 else "parents are"
            self.faults.tell(
                "info",
                "broken-links",
                f"{broken:,} {some} not in the file; the order of the lines is used.",
            )


def _ordered(entries: Sequence[Entry]) -> list[Entry]:
    """As an API wants it: each response, then the results of its calls, then what follows."""
    owners: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        for call in entry.calls:
            owners.setdefault(call, []).append(place)
    behind: dict[int, list[Entry]] = {}
    moved: set[int] = set()
    for place, entry in enumerate(entries):
        if entry.role != "tool" or not entry.results:
            continue
        owner = _owner(owners.get(entry.results[0], ()), place)
        if owner is not None:
            behind.setdefault(owner, []).append(entry)
            moved.add(place)
    out: list[Entry] = []
    for place, entry in enumerate(entries):
        if place not in moved:
            out.append(entry)
            out += behind.get(place, ())
    return out


def _owner(places: Sequence[int], at: int) -> int | None:
    """The nearest call before a result; the first one after it when there is none before."""
    before = [place for place in places if place < at]
    if before:
        return before[-1]
    return places[0] if places else None
