"""Reading a pi session: the branch that ends with the last entry, from its compaction on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.formats.base import ReadOptions
from compaction.formats.dialects.blocks import text_of
from compaction.formats.jsonl import Faults, records
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.leaving import LeftOut
from compaction.formats.pi import NAME, Tree
from compaction.formats.pi_messages import (
    broke_off,
    calls_in,
    entry_parts,
    is_injected,
    is_own,
    is_summary,
    message_in,
    parts_of,
    role_in,
    usage_in,
)
from compaction.formats.recognising import called
from compaction.formats.sketching import SpanBody, sketch
from compaction.messages import Message, Part, RecordedCompaction, Session, Source, Span

#: Entries that set something, and are sent to nobody.
_STATE = frozenset(
    {"custom", "label", "model_change", "session_info", "thinking_level_change", "branch_summary"}
)
_KNOWN = _STATE | {"message", "custom_message", "compaction"}


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no entry of one is in it."""
    faults = Faults()
    reading = _Reading(source, options, LeftOut(options), faults)
    for value, span in records(source, options, faults):
        reading.take(value, span)
    return reading.finish()


@dataclass(slots=True)
class _Entry:
    """A line of the file, where it hangs in the tree, and its place among all lines."""

    value: Mapping[str, Any]
    span: Span
    id: str
    parent: str | None
    index: int

    @property
    def kind(self) -> object:
        return self.value.get("type")


@dataclass(slots=True)
class _Reading:
    """The lines by the order of the file."""

    source: Source
    options: ReadOptions
    left: LeftOut
    faults: Faults
    header: tuple[Mapping[str, Any], Span] | None = None
    entries: list[_Entry] = field(default_factory=list)
    count: int = 0
    answered: set[str] = field(default_factory=set)
    calls: dict[str, int] | None = None

    def take(self, value: Mapping[str, Any], span: Span) -> None:
        """One line of the file."""
        index, self.count = self.count, self.count + 1
        if value.get("type") == "session":
            self.header = self.header or (value, span)
        elif isinstance(value.get("type"), str):
            parent = value.get("parentId")
            named = parent if isinstance(parent, str) else None
            self.entries.append(_Entry(value, span, text_of(value.get("id")), named, index))
        else:
            self.left.add("records of no known type", span)

    # ------------------------------------------------------------------------------ the tree

    @property
    def _linear(self) -> bool:
        """Whether the file is of the first version, in which lines simply follow each other."""
        if self.header is None:
            return not any(entry.id for entry in self.entries)
        version = self.header[0].get("version")
        return not isinstance(version, int) or version < 2

    def _chain(self) -> list[_Entry]:
        """The entries from the root to the last one."""
        if self._linear:
            return self.entries
        for before, entry in zip([None, *self.entries], self.entries, strict=False):
            if not entry.id:
                entry.id = f"#{entry.index}"
                entry.parent = entry.parent or (before.id if before else None)
        places = {entry.id: place for place, entry in enumerate(self.entries)}
        chain: list[_Entry] = []
        seen: set[int] = set()
        place: int | None = len(self.entries) - 1
        while place is not None and place >= 0 and place not in seen:
            seen.add(place)
            entry = self.entries[place]
            chain.append(entry)
            place = self._parent(entry, place, places)
        for place, entry in enumerate(self.entries):
            if place not in seen and message_in(entry.value) is not None:
                self.left.add("other branches", entry.span)
        return chain[::-1]

    def _parent(self, entry: _Entry, place: int, places: Mapping[str, int]) -> int | None:
        parent = entry.parent
        if parent is None or (self.header and parent == self.header[0].get("id")):
            return None
        if parent in places:
            return places[parent]
        # Some writers name the call that a result answers.
        called_in = self._calls().get(parent, place)
        if called_in < place:
            return called_in
        self.faults.tell(
            "warning",
            "gap",
            f"The entry that line {entry.span.line:,} follows is missing; the entry before it in "
            "the file is taken for it.",
            entry.span.line,
        )
        return place - 1 if place else None

    def _calls(self) -> dict[str, int]:
        """Where each call is made."""
        if self.calls is None:
            self.calls = {
                call: place
                for place, entry in enumerate(self.entries)
                if (held := message_in(entry.value)) is not None
                for call in calls_in(held)
            }
        return self.calls

    # --------------------------------------------------------------------------- the messages

    def finish(self) -> Session:
        """The session. Raises SessionError when no line is of the tool."""
        if not self.entries and self.header is None:
            raise SessionError(f"{called(self.source)} holds no entry of a pi session.")
        chain = self._chain()
        full = self.options.history == "full"
        self.answered = {
            text_of(held.get("toolCallId"))
            for entry in chain
            if (held := message_in(entry.value)) is not None and held.get("role") == "toolResult"
        }
        last = next((i for i in range(len(chain) - 1, -1, -1) if _compacts(chain[i])), None)
        messages: list[Message] = []
        marks: list[RecordedCompaction] = []
        if last is not None and not full:
            compaction = chain[last]
            marks.append(_recorded(compaction, 0))
            messages.append(self._message(compaction))
            tail = list(self._retained(compaction))
            kept = last if tail else self._first_kept(chain, last)
            messages += tail
            for entry in chain[:last]:
                if entry.index < chain[kept].index or _compacts(entry):
                    self._before(entry)
            window = [*chain[kept:last], *chain[last + 1 :]]
            window = [entry for entry in window if not _compacts(entry)]
        else:
            window = chain
        asides = {entry.span.start for entry in chain if entry.kind in _STATE}
        for entry in window:
            if full and _compacts(entry):
                marks.append(_recorded(entry, len(messages)))
            reason = self._why_not(entry)
            if reason:
                self.left.add(reason, entry.span)
                asides.add(entry.span.start)
            else:
                made = self._message(entry)
                if not full and last is not None and entry.index < chain[last].index:
                    # What it reported was the window before the compaction.
                    made = replace(made, usage=None)
                messages.append(made)
                asides.discard(entry.span.start)
        if not messages:
            self.faults.tell("warning", "no-messages", "The session holds no message.")
        titles = [text_of(e.value.get("name")) for e in self.entries if e.kind == "session_info"]
        return Session(
            self.source,
            NAME,
            tuple(messages),
            title=next((one for one in reversed(titles) if one), ""),
            model=self._model(chain),
            history=self.options.history,
            problems=self.faults.findings,
            left_out=dict(self.left.counts),
            compactions=tuple(marks),
            document=Tree(
                self.header[1] if self.header else None,
                self._linear,
                tuple(entry.span for entry in chain),
                frozenset(asides),
                tuple(message.spans[0].start for message in messages),
            ),
        )

    def _before(self, entry: _Entry) -> None:
        if message_in(entry.value) is not None:
            self.left.add("before the last compaction", entry.span)
        else:
            self.left.add("state of the client", entry.span)

    def _why_not(self, entry: _Entry) -> str:
        """Why an entry of the window is not sent; "" for one that is."""
        held = message_in(entry.value)
        if held is None:
            kind = entry.kind
            known = isinstance(kind, str) and kind in _KNOWN
            return "state of the client" if known else "records of no known type"
        if held.get("role") == "bashExecution" and held.get("excludeFromContext") is True:
            return "commands of the client"
        if broke_off(held) and self.answered.isdisjoint(calls_in(held)):
            return "answers that broke off"
        return ""

    def _first_kept(self, chain: Sequence[_Entry], last: int) -> int:
        """The place in the chain of the first entry that a compaction kept."""
        value = chain[last].value
        wanted = value.get("firstKeptEntryIndex") if self._linear else value.get("firstKeptEntryId")
        for place, entry in enumerate(chain[:last]):
            if wanted is not None and wanted == (entry.index if self._linear else entry.id):
                return place
        return last

    def _retained(self, compaction: _Entry) -> Iterator[Message]:
        """The messages that newer versions keep inside of the compaction itself."""
        if not isinstance(compaction.value.get("retainedTail"), list):
            return
        span = compaction.span
        raw = self.source.raw(span)
        text = exact.decode_bytes(raw)
        offsets = Bytes(text, raw)
        node = scan(text, ("retainedTail",)).get("retainedTail")
        for held in (node.items or ()) if node else ():
            if isinstance(held.value, Mapping):
                start, end = offsets.at(held.start), offsets.at(held.end)
                own = Span(span.start + start, span.start + end, span.line)
                yield self._made(held.value, held.value, own, parts_of)

    def _message(self, entry: _Entry) -> Message:
        held = message_in(entry.value)
        assert held is not None
        made = self._made(held, entry.value, entry.span, entry_parts)
        return replace(made, id=text_of(entry.value.get("id")))

    def _made(
        self,
        held: Mapping[str, Any],
        record: Mapping[str, Any],
        span: Span,
        parse: Callable[[Any], tuple[Part, ...]],
    ) -> Message:
        role = role_in(held)
        made = sketch(
            parse(record),
            role=role,
            body=SpanBody(self.source, span, parse),
            span=span,
            record={key: record[key] for key in ("timestamp",) if key in record},
            summary=("compaction" if is_own(held) else NAME) if is_summary(held) else "",
            usage=usage_in(held),
            model=text_of(held.get("model")) if role == "assistant" else "",
        )
        return replace(made, injected=is_injected(held) and not made.summary)

    def _model(self, chain: Sequence[_Entry]) -> str:
        """The model that goes on: of the last answer, or chosen after it."""
        for entry in reversed(chain):
            held = message_in(entry.value)
            if entry.kind == "model_change":
                named = text_of(entry.value.get("modelId"))
            elif held is not None and held.get("role") == "assistant":
                named = text_of(held.get("model"))
            else:
                continue
            if named:
                return named
        return text_of(self.header[0].get("modelId")) if self.header else ""


def _compacts(entry: _Entry) -> bool:
    return entry.kind == "compaction"


def _recorded(entry: _Entry, at: int) -> RecordedCompaction:
    before = entry.value.get("tokensBefore")
    known = isinstance(before, int) and not isinstance(before, bool)
    return RecordedCompaction(at, before=before if known else None, line=entry.span.line)
