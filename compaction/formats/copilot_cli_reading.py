"""Reading a Copilot event log: the messages that a resumed session sends.

Events are taken in the order of the file. A finished compaction stands for all that was there
when it started; events of sub-agents carry an agent id and are conversations of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from compaction.errors import SessionError
from compaction.formats.base import ReadOptions
from compaction.formats.copilot_cli import NAME, EventLog
from compaction.formats.copilot_cli_events import (
    assistant_parts,
    content_parts,
    result_parts,
    user_parts,
)
from compaction.formats.dialects.blocks import text_of
from compaction.formats.jsonl import Faults, Record, records
from compaction.formats.leaving import LeftOut
from compaction.formats.recognising import called
from compaction.formats.sketching import SpanBody, sketch
from compaction.messages import (
    Message,
    Part,
    RecordedCompaction,
    Session,
    Source,
    Span,
    ToolCall,
    Usage,
)

_BEFORE = "before the last compaction"
_CLEARED = "before the context was cleared"
_ASIDE = "side conversations"
_TAKEN_BACK = "turns taken back"
_EVENTS = "events of the client"
_SYSTEM = "system prompts replaced by a later one"

#: Events that say what the session is; an export keeps them although no message is in them.
HEADER = frozenset(
    {
        "session.start",
        "session.resume",
        "session.model_change",
        "session.mode_changed",
        "session.title_changed",
        "session.context_changed",
        "session.info",
    }
)


#: Where the text of a recorded compaction stands in its event.
SUMMARY = "/data/summaryContent"


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no event of it is of such a log."""
    faults = Faults()
    reading = _Reading(source, options, faults, LeftOut(options))
    for record in records(source, options, faults):
        reading.take(record)
    return reading.finish()


# ------------------------------------------------------------------------------- reading


@dataclass(slots=True)
class _Reading:
    """The state while events are taken in their order."""

    source: Source
    options: ReadOptions
    faults: Faults
    left_out: LeftOut
    messages: list[Message] = field(default_factory=list)
    system: Message | None = None
    compactions: list[RecordedCompaction] = field(default_factory=list)
    header: list[Span] = field(default_factory=list)
    starts: dict[str, Span] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    started_at: int | None = None
    seen: bool = False
    model: str = ""
    last_model: str = ""
    title: str = ""
    window: int | None = None
    empty_results: int = 0

    @property
    def full(self) -> bool:
        return self.options.history == "full"

    def take(self, record: Record) -> None:
        """One event of the file."""
        event, span = record
        kind, data = event.get("type"), event.get("data")
        if not isinstance(kind, str) or not isinstance(data, dict):
            self.left_out.add("records of no known type", span)
            return
        if event.get("agentId") or data.get("parentToolCallId"):
            self.seen = True
            self.left_out.add(_ASIDE, span)
            return
        match kind:
            case "user.message":
                self._user(event, data, span)
            case "assistant.message":
                self.model = text_of(data.get("model")) or self.model
                self._add(event, "assistant", assistant_parts, span)
            case "tool.execution_complete":
                self._result(event, data, span)
            case "system.message":
                self._system(event, data, span)
            case "session.compaction_complete":
                self._compacted(event, data, span)
            case _:
                self._event(kind, data, span)

    def _add(
        self,
        event: Mapping[str, Any],
        role: str,
        parse: Callable[[Any], tuple[Part, ...]],
        span: Span,
        *,
        summary: str = "",
        pointer: str = "",
    ) -> Message:
        self.seen = True
        parts = parse(event)
        made = sketch(
            parts,
            role=role,
            body=SpanBody(self.source, span, parse),
            span=span,
            record=event,
            summary=summary,
            pointer=pointer,
            model=self.model if role == "assistant" else "",
        )
        for part in parts:
            if isinstance(part, ToolCall):
                self.names[part.id] = part.name
        self.messages.append(made)
        return made

    def _user(self, event: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> None:
        made = self._add(event, "user", user_parts, span)
        origin = data.get("source")
        if data.get("isAutopilotContinuation") is True or (
            isinstance(origin, str) and origin not in ("", "user")
        ):
            self.messages[-1] = replace(made, injected=True)

    def _result(self, event: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> None:
        name = self.names.get(text_of(data.get("toolCallId")), "")
        if data.get("success") is True and data.get("result") is None:
            self.empty_results += 1
        self._add(event, "tool", partial(result_parts, name=name), span)

    def _system(self, event: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> None:
        role = "developer" if data.get("role") == "developer" else "system"
        made = self._add(event, role, content_parts, span)
        if role == "developer":
            return
        self.messages.pop()
        if self.system is not None:
            self.left_out.add(_SYSTEM, *self.system.spans)
        self.system = made

    def _event(self, kind: str, data: Mapping[str, Any], span: Span) -> None:
        self.left_out.add(_EVENTS, span)
        if kind in HEADER:
            self.seen = True
            self.header.append(span)
        match kind:
            case "session.start" | "session.resume":
                self.model = text_of(data.get("selectedModel")) or self.model
            case "session.model_change":
                self.model = text_of(data.get("newModel")) or self.model
            case "session.title_changed":
                self.title = text_of(data.get("title"))
            case "tool.execution_start":
                call = text_of(data.get("toolCallId"))
                self.starts[call] = span
                self.names.setdefault(call, text_of(data.get("toolName")))
            case "assistant.usage":
                self._usage(data)
            case "session.usage_info":
                self._limit(data)
            case "session.shutdown":
                self.last_model = text_of(data.get("currentModel"))
            case "session.truncation":
                self._limit(data)
                self._truncated(data, span)
            case "session.compaction_start":
                self.started_at = len(self.messages)
            case "session.context_cleared":
                if not self.full:
                    self._drop(len(self.messages), _CLEARED)
            case "session.snapshot_rewind":
                self._rewind(text_of(data.get("upToEventId")))

    def _usage(self, data: Mapping[str, Any]) -> None:
        told = [
            _count(data.get(key))
            for key in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        ]
        if not told[0]:
            return
        # Some providers count what the cache held apart from the rest.
        whole = told[0] if told[0] >= told[2] else told[0] + told[2] + told[3]
        for place in range(len(self.messages) - 1, max(-1, len(self.messages) - 50), -1):
            if self.messages[place].role == "assistant":
                usage = Usage(whole, told[1], cached=told[2], written=told[3])
                self.messages[place] = replace(self.messages[place], usage=usage)
                return

    def _limit(self, data: Mapping[str, Any]) -> None:
        self.window = _count(data.get("tokenLimit")) or self.window

    def _truncated(self, data: Mapping[str, Any], span: Span) -> None:
        removed = _count(data.get("messagesRemovedDuringTruncation"))
        what = f"{removed:,} messages" if removed else "messages"
        self.faults.tell(
            "info",
            "truncated",
            f"Line {span.line:,}: the tool took {what} out of the window and did not record "
            "which; all of them are shown.",
            span.line,
        )

    def _rewind(self, event_id: str) -> None:
        if self.full or not event_id:
            return
        for place, message in enumerate(self.messages):
            if message.id == event_id:
                gone = self.messages[place:]
                del self.messages[place:]
                self.left_out.add(_TAKEN_BACK, *(span for one in gone for span in one.spans))
                return

    def _compacted(self, event: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> None:
        started, self.started_at = self.started_at, None
        if data.get("success") is False or not text_of(data.get("summaryContent")):
            self.left_out.add(_EVENTS, span)
            return
        # It runs while the conversation goes on: what came after its start is not in it.
        at = len(self.messages) if started is None or self.full else started
        while at < len(self.messages) and self.messages[at].results:
            at += 1
        kept = self.messages[at:]
        if self.full:
            at = len(self.messages)
        else:
            self._drop(at, _BEFORE)
            self.messages, at = [], 0
        parse = partial(content_parts, key="summaryContent")
        self._add(event, "user", parse, span, summary="copilot", pointer=SUMMARY)
        self.compactions.append(
            RecordedCompaction(
                at,
                trigger=text_of(data.get("trigger")),
                before=_count(data.get("preCompactionTokens")) or None,
                after=_count(data.get("postCompactionTokens")) or None,
                line=span.line,
            )
        )
        if not self.full:
            self.messages += kept

    def _drop(self, at: int, reason: str) -> None:
        gone = self.messages[:at]
        del self.messages[:at]
        self.left_out.add(reason, *(span for one in gone for span in one.spans))

    # ------------------------------------------------------------------------------ result

    def finish(self) -> Session:
        """The session. Raises SessionError when there was no event in it."""
        if not self.seen:
            raise SessionError(f"{called(self.source)} holds no event of a Copilot session.")
        messages = self.messages
        if self.system is not None:
            messages = [self.system, *messages]
        if not messages:
            self.faults.tell(
                "warning", "no-messages", "The session holds no message, only events of the client."
            )
        if self.empty_results:
            self.faults.tell(
                "info",
                "results-not-held",
                f"{self.empty_results:,} tool calls ended without their output in the file: the "
                "log says only that they succeeded.",
            )
        shift = 1 if self.system is not None else 0
        compactions = self.compactions if self.full else self.compactions[-1:]
        return Session(
            self.source,
            NAME,
            tuple(messages),
            title=self.title,
            model=self.model or self.last_model,
            history=self.options.history,
            window=self.window,
            problems=self.faults.findings,
            left_out=dict(self.left_out.counts),
            compactions=tuple(replace(one, at=one.at + shift) for one in compactions),
            document=EventLog(tuple(self.header), tuple(self.starts.items())),
        )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
