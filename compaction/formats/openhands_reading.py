"""Reading OpenHands runs: events folded into the view that the model is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.errors import Cancelled, SessionError
from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats import openhands_events as events
from compaction.formats.base import ReadOptions
from compaction.formats.choosing import chosen
from compaction.formats.dialects.tools import tool_names
from compaction.formats.documents import Document, open_document, where
from compaction.formats.layout import Layout, Listing
from compaction.formats.leaving import LeftOut
from compaction.formats.openhands_files import KEYS, Run, runs, title
from compaction.formats.openhands_parts import merged, parts
from compaction.formats.sketching import SpanBody, sketch
from compaction.messages import (
    Conversation,
    Message,
    Part,
    Progress,
    RecordedCompaction,
    Session,
    Source,
    Span,
    Tools,
)

NAME = "openhands"

#: How often reading says how far it is, in events.
_EVERY = 2000


class EventsBody(SpanBody):
    """A body behind the events of one message: mostly one, several calls of one response."""

    __slots__ = ("_calls", "_spans")

    def __init__(self, source: Source, spans: tuple[Span, ...], calls: tuple[str, ...]) -> None:
        super().__init__(source, spans[0], lambda record: parts(record, calls[0]))
        self._spans = spans
        self._calls = calls

    def parts(self) -> tuple[Part, ...]:
        """The content of all of them."""
        return self.again([self._source.raw(span) for span in self._spans])

    def spans_read(self) -> tuple[Span, ...]:
        """Where the events stand."""
        return self._spans

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What the content would be if `raws` stood there."""
        return merged(list(zip(map(exact.loads, raws), self._calls, strict=True)))

    def record(self) -> object:
        """The event, or the list of events when there are several."""
        found = [exact.loads(self._source.raw(span)) for span in self._spans]
        return found[0] if len(found) == 1 else found


@dataclass(slots=True)
class _Entry:
    """One message in the making: the events it stands for, by index, with their call ids."""

    indexes: list[int]
    calls: list[str] = field(default_factory=list)
    summary: bool = False
    shown: bool = True


def read(source: Source, options: ReadOptions) -> Session:
    """The session in a file of events. Raises SessionError when there is none in it."""
    document = open_document(source, frozenset(KEYS))
    found = list(runs(document))
    if not found:
        raise SessionError(f"{where(source)} holds no events of an OpenHands run.")
    told = [
        Conversation(one.name or str(number), title(one), len(one.nodes))
        for number, one in enumerate(found, 1)
    ]
    index, problems = chosen(told, options.conversation, source)
    session = _Folding(document, found[index], options).session(told if len(told) > 1 else [])
    return replace(session, problems=(*document.problems, *problems, *session.problems))


class _Folding:
    """The events of one conversation on their way to messages."""

    def __init__(self, document: Document, found: Run, options: ReadOptions) -> None:
        self._source = document.source
        self._found = found
        self._options = options
        self._left = LeftOut(options)
        self._others: set[int] = set()
        self._model = ""
        self._tools = Tools()
        self._compactions: list[RecordedCompaction] = []
        #: Ids of calls that are open, of actions by event, and the messages of responses.
        self._pending: list[str] = []
        self._by_event: dict[str, str] = {}
        self._answers: dict[str, _Entry] = {}
        self._called: set[str] = set()

    def session(self, conversations: list[Conversation]) -> Session:
        full = self._options.history == "full"
        view: list[_Entry] = []
        for index, node in enumerate(self._found.nodes):
            if index % _EVERY == 0:
                self._report(index)
            event = node.value
            if not events.is_event(event):
                self._aside(index, "records of no known type")
                continue
            self._model = events.model(event) or self._model
            match events.what(event):
                case "condensation":
                    view = self._condensed(index, event, view, full=full)
                case "message":
                    self._add(index, event, view)
                case "placeholder":
                    self._aside(index, "attachments rendered when sent")
                    view.append(_Entry([index], shown=False))
                case "client":
                    self._aside(index, "state of the client")
                case _:
                    self._aside(index, "records of no known type")
        view = list(self._paired(view))
        messages = [self._message(entry) for entry in view if entry.shown]
        marks = [entry.indexes[0] for entry in view if entry.shown and entry.summary]
        shown = [entry.indexes[0] for entry in view if entry.shown]
        for index in marks:
            line = self._found.spans[index].line
            self._compactions.append(RecordedCompaction(shown.index(index), line=line))
        found = self._found
        listing = Listing(
            found.listing.open,
            found.listing.close,
            found.listing.elements,
            frozenset(self._others),
            lines=found.listing.lines,
        )
        problems: tuple[Finding, ...] = ()
        if not messages:
            problems = (Finding("warning", "no-messages", "No event is sent to a model."),)
        return Session(
            self._source,
            NAME,
            tuple(messages),
            model=self._model,
            history=self._options.history,
            tools=self._tools,
            problems=problems,
            left_out=dict(self._left.counts),
            compactions=tuple(self._compactions),
            conversations=tuple(conversations),
            document=Layout(
                found.start,
                found.end,
                (listing,),
                closers=found.closers.encode(),
                order=tuple(one.spans[0].start for one in messages),
            ),
        )

    def _paired(self, view: list[_Entry]) -> Iterator[_Entry]:
        """The view without results of the SDK whose call is not in it: it sends none such."""
        nodes = self._found.nodes
        made = {
            call
            for entry in view
            if not entry.summary and events.role(nodes[entry.indexes[0]].value) == "assistant"
            for call in entry.calls
        }
        for entry in view:
            event = nodes[entry.indexes[0]].value
            answers = not entry.summary and entry.shown and events.is_sdk(event)
            if answers and events.role(event) == "tool" and entry.calls[0] not in made:
                # It would be counted where a compaction says behind how many events it stands.
                self._left.add("results whose call is gone", self._found.spans[entry.indexes[0]])
            else:
                yield entry

    def _report(self, done: int) -> None:
        if self._options.cancelled():
            raise Cancelled("The reading was stopped.")
        if self._options.progress:
            self._options.progress(Progress(done, len(self._found.nodes), "events"))

    def _aside(self, index: int, reason: str) -> None:
        """An event that is not sent, and stays where it is."""
        self._others.add(index)
        self._left.add(reason, self._found.spans[index])

    def _add(self, index: int, event: events.Record, view: list[_Entry]) -> None:
        role = events.role(event)
        if role == "system" and (definitions := events.tools(event)):
            names = tuple(name for tool in definitions for name in tool_names(tool))
            self._tools = Tools(names, exact.dumps(definitions))
        call = ""
        if role == "assistant":
            call = self._call(event)
            answer = events.response(event)
            if answer and (entry := self._answers.get(answer)) and entry in view:
                entry.indexes.append(index)
                entry.calls.append(call)
                return
        elif role == "tool" or not isinstance(event.get("action", event.get("kind")), str):
            call = self._answered(event)
        entry = _Entry([index], [call])
        if role == "assistant" and (answer := events.response(event)):
            self._answers[answer] = entry
        view.append(entry)

    def _call(self, event: events.Record) -> str:
        """The id of the call an action makes; "" when it makes none."""
        if not events.calls(event):
            return ""
        call = events.called(event)
        if not call and not events.is_sdk(event):
            made = call = events.made_id(event)
            again = 1
            while call in self._called:
                again += 1
                call = f"{made}-{again}"
            self._pending.append(call)
        self._called.add(call)
        self._by_event[events.event_id(event)] = call
        return call

    def _answered(self, event: events.Record) -> str:
        """The id of the call that an event answers, by what it names or else by its place."""
        if call := events.called(event):
            return call
        if events.is_sdk(event):
            return self._by_event.get(str(event.get("action_id")), "")
        if "cause" in event:
            return self._by_event.get(str(event["cause"]), "")
        return self._pending.pop() if self._pending else ""

    def _condensed(
        self, index: int, event: events.Record, view: list[_Entry], *, full: bool
    ) -> list[_Entry]:
        """The view behind a compaction: without what it forgot, with what stands in for it."""
        held = events.condensation(event)
        said = events.summary_parts(event)
        entry = _Entry([index], [""], summary=True)
        if full:
            if said:
                view.append(entry)
            else:
                self._aside(index, "marks of compactions")
                at = sum(each.shown for each in view)
                line = self._found.spans[index].line
                self._compactions.append(RecordedCompaction(at, line=line))
            return view
        first = len(view)
        left: list[_Entry] = []
        for place, each in enumerate(view):
            stays = [] if each.summary else self._staying(each, held)
            if len(stays) < len(each.indexes):
                first = min(first, place, len(left))
                gone = [i for i in each.indexes if i not in stays]
                if each.shown:
                    spans = (self._found.spans[i] for i in gone)
                    self._left.add("before the last compaction", *spans)
            if stays:
                calls = [c for i, c in zip(each.indexes, each.calls, strict=False) if i in stays]
                each.indexes, each.calls = stays, calls
                left.append(each)
        if not said:
            self._aside(index, "marks of compactions")
            return left
        at = first if held.offset is None else held.offset
        left.insert(_place(left, at), entry)
        return left

    def _staying(self, entry: _Entry, held: events.Condensation) -> list[int]:
        nodes = self._found.nodes
        return [index for index in entry.indexes if not held.forgets(nodes[index].value)]

    def _message(self, entry: _Entry) -> Message:
        nodes, source = self._found.nodes, self._source
        spans = tuple(self._found.spans[index] for index in entry.indexes)
        event: dict[str, Any] = nodes[entry.indexes[0]].value
        pointer = str(entry.indexes[0])
        if entry.summary:
            return sketch(
                events.summary_parts(event),
                role="user",
                body=SpanBody(source, spans[0], events.summary_parts),
                span=spans[0],
                record={"timestamp": event.get("timestamp"), "id": events.event_id(event)},
                summary=NAME,
                pointer=pointer,
            )
        records = [nodes[index].value for index in entry.indexes]
        content = merged(list(zip(records, entry.calls, strict=True)))
        role = events.role(event)
        if role == "user" and entry.calls[0]:
            role = "tool"
        made = sketch(
            content,
            role=role,
            body=EventsBody(source, spans, tuple(entry.calls)),
            span=spans[0],
            record={"timestamp": event.get("timestamp"), "id": events.event_id(event)},
            usage=events.usage(event) if role == "assistant" else None,
            model=self._model if role == "assistant" else "",
            pointer=pointer,
        )
        return _completed(made, spans, injected=role == "user" and not _is_typed(event))


def _completed(message: Message, spans: tuple[Span, ...], *, injected: bool) -> Message:
    return replace(message, spans=spans, injected=injected)


def _place(view: list[_Entry], events_before: int) -> int:
    """The place in a view behind so many events."""
    seen = 0
    for place, entry in enumerate(view):
        if seen >= events_before:
            return place
        seen += len(entry.indexes)
    return len(view)


def _is_typed(event: events.Record) -> bool:
    """Whether a person wrote it: a message, and not what a shell answered."""
    if events.is_sdk(event):
        return event["kind"] == "MessageEvent" and event.get("source") == "user"
    return event.get("action") == "message" and event.get("source", "user") == "user"
