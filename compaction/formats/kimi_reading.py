"""Reading a Kimi Code log: played record by record, as the tool does when it resumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.formats.base import ReadOptions
from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.tools import tools_in
from compaction.formats.jsonl import Faults, records
from compaction.formats.kimi import NAME, LinesBody, Wire, event_in, message_in, parts_of
from compaction.formats.leaving import LeftOut
from compaction.formats.recognising import called
from compaction.formats.sketching import sketch, time_of
from compaction.messages import (
    Message,
    RecordedCompaction,
    Session,
    Source,
    Span,
    ToolCall,
    ToolResult,
    Tools,
    Usage,
)

#: Who made a user message that is kept when the context is compacted.
_PEOPLE = frozenset({"plugin_command", "skill_activation", "user"})

_BEFORE = "before the last compaction"
_CLEARED = "before the conversation was cleared"
_UNDONE = "taken back by the user"
_EMPTY = "empty messages"


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no record of one is in it."""
    faults = Faults()
    playing = _Playing(source, options, LeftOut(options), faults)
    for value, span in records(source, options, faults):
        playing.take(value, span)
    return playing.finish()


@dataclass(slots=True, eq=False)
class _Entry:
    """A message in the making: its lines, and what they say beside its content."""

    role: str
    records: list[Mapping[str, Any]]
    spans: list[Span]
    origin: str = ""
    usage: Usage | None = None
    model: str = ""

    @property
    def by_person(self) -> bool:
        return self.role == "user" and self.origin in _PEOPLE


@dataclass(slots=True)
class _Playing:
    """The context while the log is played."""

    source: Source
    options: ReadOptions
    left: LeftOut
    faults: Faults
    history: list[_Entry] = field(default_factory=list)
    everything: list[_Entry] = field(default_factory=list)
    marks: list[tuple[_Entry, Mapping[str, Any]]] = field(default_factory=list)
    steps: dict[str, _Entry] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    deferred: list[_Entry] = field(default_factory=list)
    lines: list[Span] = field(default_factory=list)
    prompt: _Entry | None = None
    tools: Tools = field(default_factory=Tools)
    model: str = ""
    known: int = 0

    def take(self, record: Mapping[str, Any], span: Span) -> None:
        """One record."""
        self.lines.append(span)
        kind = record.get("type")
        self.known += isinstance(kind, str)
        if event := event_in(record):
            self._event(event, record, span)
            return
        if message := message_in(record):
            origin = message.get("origin")
            made_by = text_of(origin.get("kind")) if isinstance(origin, Mapping) else "user"
            role = role_of(message, "user")
            entry = _Entry(role, [record], [span], made_by)
            if self.waiting and role not in ("assistant", "tool"):
                self.deferred.append(entry)
            else:
                self._push(entry)
            self._note(record, role)
            return
        match kind:
            case "config.update" | "profile.bind":
                prompt = record.get("systemPrompt")
                if isinstance(prompt, str) and prompt:
                    self.prompt = _Entry("system", [record], [span])
                self.model = text_of(record.get("modelAlias")) or self.model
            case "llm.tools_snapshot":
                self.tools = tools_in(record)
            case "llm.request":
                self.model = text_of(record.get("model")) or self.model
            case "context.apply_compaction":
                self._compact(record, span)
            case "context.clear":
                self._drop(self.history, _CLEARED)
                self._reset([])
            case "context.undo":
                self._undo(record.get("count"))
            case "micro_compaction.apply":
                self.faults.tell(
                    "info",
                    "micro-compaction",
                    "Old tool results are sent shortened from here on; they are shown whole.",
                    span.line,
                )

    def _note(self, record: Mapping[str, Any], role: str) -> None:
        """Which calls a message of a log that was written anew leaves open, and which it ends."""
        for part in parts_of([record]):
            if isinstance(part, ToolResult):
                self.waiting.discard(part.call_id)
            elif isinstance(part, ToolCall) and role == "assistant":
                self.waiting.add(part.id)
        self._close()

    def _event(self, event: Mapping[str, Any], record: Mapping[str, Any], span: Span) -> None:
        kind = event.get("type")
        if kind == "step.begin":
            self.waiting.clear()
            self._close()
            entry = _Entry("assistant", [record], [span], model=self.model)
            self.steps[text_of(event.get("uuid"))] = entry
            self._push(entry)
            return
        if kind == "tool.result":
            self._push(_Entry("tool", [record], [span]))
            self.waiting.discard(text_of(event.get("toolCallId")))
            self._close()
            return
        step = self.steps.get(text_of(event.get("uuid" if kind == "step.end" else "stepUuid")))
        if step is None:
            self.left.add("records of no known type", span)
            return
        step.records.append(record)
        step.spans.append(span)
        if kind == "tool.call":
            self.waiting.add(text_of(event.get("toolCallId")))
        elif kind == "step.end":
            step.usage = _usage(event.get("usage"))
            self._close()

    def _push(self, entry: _Entry) -> None:
        self.history.append(entry)
        self.everything.append(entry)

    def _close(self) -> None:
        """What came while calls were open stands behind their results."""
        if not self.waiting:
            for entry in self.deferred:
                self._push(entry)
            self.deferred = []

    def _reset(self, history: list[_Entry]) -> None:
        self.waiting.clear()
        self.steps.clear()
        self.history = history
        self._close()

    def _drop(self, entries: list[_Entry], reason: str) -> None:
        if self.options.history == "live":
            for entry in entries:
                self.left.add(reason, entry.spans[0])

    def _compact(self, record: Mapping[str, Any], span: Span) -> None:
        summary = _Entry("user", [record], [span], "compaction_summary")
        count, people = record.get("compactedCount"), record.get("keptUserMessageCount")
        end = count if type(count) is int and 0 <= count <= len(self.history) else len(self.history)
        before, rest = self.history[:end], self.history[end:]
        if type(people) is int:
            said = [entry for entry in self.history if entry.by_person]
            first = record.get("keptHeadUserMessageCount")
            head = first if type(first) is int and 0 < first < people else 0
            tail = max(len(said) - (people - head), head)
            kept = [*said[:head], *said[tail:]]
            gone = [entry for entry in self.history if entry not in kept]
            window = [*kept, summary]
        else:
            gone, window = before, [summary, *rest]
        self._drop(gone, _BEFORE)
        self.everything.append(summary)
        self.marks.append((summary, record))
        self._reset(window)

    def _undo(self, count: object) -> None:
        """Take back as many of the user's turns."""
        left = count if type(count) is int else 0
        while left > 0:
            places = [i for i, entry in enumerate(self.history) if entry.by_person]
            if not places:
                break
            gone = self.history[places[-1] :]
            self._drop(gone, _UNDONE)
            self.history = self.history[: places[-1]]
            left -= 1

    # --------------------------------------------------------------------------- the session

    def finish(self) -> Session:
        """The session. Raises SessionError when no record is of the tool."""
        if not self.known:
            raise SessionError(f"{called(self.source)} holds no record of a Kimi Code session.")
        self.waiting.clear()
        self._close()
        full = self.options.history == "full"
        entries = self.everything if full else self.history
        if self.prompt is not None:
            entries = [self.prompt, *entries]
        messages: list[Message] = []
        at: dict[int, int] = {}
        for entry in entries:
            made = self._message(entry)
            if not made.kinds and entry.role == "assistant":
                self.left.add(_EMPTY, entry.spans[0])
                continue
            at[id(entry)] = len(messages)
            messages.append(made)
        if not messages:
            self.faults.tell("warning", "no-messages", "The session holds no message.")
        spoken = {span for message in messages for span in message.spans}
        return Session(
            self.source,
            NAME,
            tuple(messages),
            model=next((one.model for one in reversed(messages) if one.model), self.model),
            history=self.options.history,
            tools=self.tools,
            problems=self.faults.findings,
            left_out=dict(self.left.counts),
            compactions=tuple(
                RecordedCompaction(
                    at[id(entry)],
                    before=_known(record.get("tokensBefore")),
                    after=_known(record.get("tokensAfter")),
                    line=entry.spans[0].line,
                )
                for entry, record in self.marks
                if id(entry) in at
            ),
            document=Wire(
                tuple(span for span in self.lines if span not in spoken),
                tuple(message.spans[0].start for message in messages),
            ),
        )

    def _message(self, entry: _Entry) -> Message:
        spans = tuple(entry.spans)
        exactly = [exact.loads(self.source.raw(span)) for span in spans]
        record = entry.records[0]
        told = entry.origin == "compaction_summary"
        event = event_in(entry.records[-1])
        made = sketch(
            parts_of(exactly),
            role=entry.role,
            body=LinesBody(self.source, spans),
            span=spans[0],
            record={"timestamp": time_of({"ts": record.get("time")})},
            usage=entry.usage,
            model=entry.model,
        )
        return replace(
            made,
            id=text_of(event.get("messageId")) or text_of(event_in(record).get("uuid")),
            spans=spans,
            summary=made.summary or (NAME if told else ""),
            injected=entry.role == "user" and not told and entry.origin not in _PEOPLE,
        )


def _known(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    fresh, output, cached, written = (
        _known(usage.get(key)) or 0
        for key in ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
    )
    context = fresh + cached + written
    return Usage(context, output, cached, written) if context or output else None
