"""Reading a Codex rollout: the context a resumed session has.

The rules are those of the tool's own resume: the newest surviving `compacted` line gives the list
to start from, response items follow it, and a rollback takes back whole turns. Events repeat what
items say and are not context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.formats.base import ReadOptions
from compaction.formats.codex import NAME, Rollout, is_item
from compaction.formats.codex_items import NOT_SENT, ItemBody, item_draft, says, text_draft
from compaction.formats.dialects.blocks import text_of
from compaction.formats.drafts import Draft, settled
from compaction.formats.jsonl import Faults, Record, records
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.leaving import LeftOut
from compaction.formats.recognising import called
from compaction.messages import (
    RecordedCompaction,
    Session,
    Source,
    Span,
    Usage,
)

#: The way from a line to its item.
_PAYLOAD = ("payload",)

_LEFT_OUT = {
    "event_msg": "events that repeat items",
    "turn_context": "settings of turns",
    "world_state": "state of the client",
}


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no record of it is of a rollout."""
    faults = Faults()
    reading = _Reading(source, options, faults)
    for record in records(source, options, faults):
        reading.take(record)
    return reading.finish()


@dataclass(slots=True)
class _Context:
    """A list of items with the places where its turns start, and what it replaced."""

    items: list[Draft] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    earlier: _Context | None = None


@dataclass(slots=True)
class _Reading:
    """The state while lines are taken in their order."""

    source: Source
    options: ReadOptions
    faults: Faults
    context: _Context = field(default_factory=_Context)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    left_out: LeftOut = field(init=False)
    names: dict[str, str] = field(default_factory=dict)
    system: Draft | None = None
    meta: Span | None = None
    flat: bool = False
    model: str = ""
    title: str = ""
    window: int | None = None
    forks: int = 0
    rolled_back: bool = False
    spent: int | None = None

    def __post_init__(self) -> None:
        self.left_out = LeftOut(self.options)

    @property
    def full(self) -> bool:
        return self.options.history == "full"

    # ------------------------------------------------------------------------------ lines

    def take(self, record: Record) -> None:
        """One record of the file."""
        value, span = record
        kind, payload = value.get("type"), value.get("payload")
        if type(payload) is not dict:
            self._flat(value, span)
            return
        match kind:
            case "response_item":
                self._add(payload, value, span, _PAYLOAD)
            case "event_msg":
                self._event(payload, span)
            case "compacted":
                self._compacted(payload, value, span)
            case "session_meta":
                self._meta(payload, span)
            case "turn_context":
                self.model = text_of(payload.get("model")) or self.model
                self.left_out.add(_LEFT_OUT["turn_context"], span)
            case _:
                named = _LEFT_OUT.get(str(kind), f"records of type {str(kind)[:40]!r}")
                self.left_out.add(named, span)

    def _flat(self, value: Mapping[str, Any], span: Span) -> None:
        """A line of a rollout of mid-2025: the item itself, or the first line about the session."""
        if "record_type" in value:
            self.left_out.add("state of the client", span)
        elif "type" not in value and "role" not in value and "id" in value:
            if self.meta is None:
                self.meta, self.flat = span, True
                self._instructions(value, span, ())
        elif "payload" not in value and is_item(value):
            self.flat = True
            self._add(value, value, span, ())
        else:
            self.left_out.add("records of no known type", span)

    def _meta(self, payload: Mapping[str, Any], span: Span) -> None:
        if self.meta is not None:
            # A fork repeats the line of the session it came from.
            self.forks += 1
            self.left_out.add("records of forked sessions", span)
            return
        self.meta = span
        window = payload.get("context_window")
        if isinstance(window, int):
            self.window = window
        if payload.get("forked_from_id"):
            self.forks += 1
        self._instructions(payload, span, ("payload",))

    def _instructions(self, held: Mapping[str, Any], span: Span, path: tuple[str, ...]) -> None:
        for key, inner in (("base_instructions", ("text",)), ("instructions", ())):
            text = held.get(key)
            where = (*path, key)
            if isinstance(text, dict):
                text, where = text.get("text"), (*where, *(inner or ("text",)))
            if isinstance(text, str) and text:
                self.system = text_draft("system", text, ItemBody(self.source, span, where), span)
                self.system.pointer = "/" + "/".join(where)
                return

    def _add(
        self,
        item: Mapping[str, Any],
        line: Mapping[str, Any],
        span: Span,
        path: tuple[str, ...],
    ) -> None:
        kind = item.get("type")
        if type(kind) is str and kind in NOT_SENT:
            self.left_out.add("snapshots of files", span)
            return
        self.context.items.append(self._drafted(item, span, path, _time(line)))

    def _drafted(
        self,
        item: Mapping[str, Any],
        span: Span,
        path: tuple[str, ...],
        time: str,
    ) -> Draft:
        body = ItemBody(self.source, span, path)
        made = item_draft(item, body, span, time, self.model, self.names)
        for call in made.calls:
            self.names[call] = made.tool
        return made

    # ------------------------------------------------------------------------------ events

    def _event(self, payload: Mapping[str, Any], span: Span) -> None:
        self.left_out.add(_LEFT_OUT["event_msg"], span)
        match payload.get("type"):
            case "user_message":
                self._turn()
            case "token_count":
                self._usage(payload.get("info"))
            case "task_started" | "turn_started":
                self._window(payload)
            case "thread_rolled_back":
                turns = payload.get("num_turns")
                if isinstance(turns, int) and turns > 0:
                    self._roll_back(turns)
            case "thread_name_updated":
                self.title = text_of(payload.get("thread_name") or payload.get("name"))

    def _turn(self) -> None:
        """A turn starts at the user message that the event repeats, or at what comes next."""
        items, turns = self.context.items, self.context.turns
        at = len(items)
        if items and items[-1].typed and (not turns or turns[-1] != at - 1):
            at -= 1
        turns.append(at)

    def _window(self, held: Mapping[str, Any]) -> None:
        window = held.get("model_context_window")
        if isinstance(window, int) and window > 0:
            self.window = window

    def _usage(self, info: object) -> None:
        if not isinstance(info, dict):
            return
        self._window(info)
        last = info.get("last_token_usage")
        if not isinstance(last, dict):
            return
        total = info.get("total_token_usage")
        spent = total.get("total_tokens") if isinstance(total, dict) else None
        if spent is not None and spent == self.spent:
            # The same count is told again when only rate limits changed.
            return
        self.spent = spent
        read, wrote = last.get("input_tokens"), last.get("output_tokens")
        cached = last.get("cached_input_tokens")
        if not isinstance(read, int):
            return
        usage = Usage(
            read,
            wrote if isinstance(wrote, int) else 0,
            cached if isinstance(cached, int) else 0,
        )
        items = self.context.items
        for place in range(len(items) - 1, max(-1, len(items) - 50), -1):
            if items[place].role == "assistant":
                items[place].usage = usage
                return

    def _roll_back(self, turns: int) -> None:
        self.rolled_back = True
        if self.full:
            return
        while True:
            context = self.context
            if turns <= len(context.turns) or context.earlier is None:
                break
            # The compaction itself was in a turn that is taken back.
            turns -= len(context.turns)
            self.left_out.many("turns taken back", [item.spans for item in context.items])
            self.context = context.earlier
            if self.compactions:
                self.compactions.pop()
        items = self.context.items
        # A turn is told by its event; where a client wrote none, by what the user typed.
        starts = self.context.turns or [i for i, item in enumerate(items) if item.typed]
        if not starts:
            return
        first = max(0, len(starts) - turns)
        self.left_out.many("turns taken back", [item.spans for item in items[starts[first] :]])
        del items[starts[first] :]
        del self.context.turns[first:]

    # ------------------------------------------------------------------------- compactions

    def _compacted(self, payload: Mapping[str, Any], line: Mapping[str, Any], span: Span) -> None:
        at = len(self.context.items) if self.full else 0
        self.compactions.append(RecordedCompaction(at, line=span.line))
        message = text_of(payload.get("message"))
        history = payload.get("replacement_history")
        time = _time(line)
        fresh: list[Draft] = []
        if isinstance(history, list):
            fresh = self._replaced(history, span, time, message)
        elif message:
            # Before the list was recorded: what the user said, then the summary.
            fresh = [m for m in self.context.items if m.role == "user" and not m.summary]
            body = ItemBody(self.source, span, ("payload", "message"))
            said = text_draft("user", message, body, span)
            said.time, said.pointer = time, "/payload/message"
            said.summary = said.summary or "codex"
            fresh.append(said)
        if self.full:
            self.context.items += [one for one in fresh if one.summary]
            return
        gone = [item.spans for item in self.context.items]
        self.left_out.many("before the last compaction", gone)
        self.context = _Context(fresh, earlier=self.context)

    def _replaced(
        self, history: Sequence[object], span: Span, time: str, message: str
    ) -> list[Draft]:
        """The items of a replacement history, each with the bytes it stands in.

        An item that says the `message` of the line is the summary.
        """
        raw = self.source.raw(span)
        text = exact.decode_bytes(raw)
        node = scan(text, ("payload", "replacement_history")).get("payload", "replacement_history")
        offsets = Bytes(text, raw)
        out: list[Draft] = []
        for index, (item, held) in enumerate(
            zip(history, (node.items or ()) if node else (), strict=False)
        ):
            if not isinstance(item, dict) or str(item.get("type")) in NOT_SENT:
                continue
            start, end = offsets.at(held.start), offsets.at(held.end)
            own = Span(span.start + start, span.start + end, span.line)
            made = self._drafted(item, own, (), time)
            made.pointer = f"/payload/replacement_history/{index}"
            if message and not made.summary and made.role == "user" and says(made, message):
                made.summary = "codex"
            out.append(made)
        return out

    # ------------------------------------------------------------------------------ result

    def finish(self) -> Session:
        """The session. Raises SessionError when no record of it is an item."""
        items = self.context.items
        if self.system is not None:
            items = [self.system, *items]
        if not items and self.meta is None:
            raise SessionError(f"{called(self.source)} holds no item of a Codex session.")
        if not items:
            self.faults.tell(
                "warning", "no-messages", "The session holds no message, only events of the client."
            )
        if self.forks:
            self.faults.tell(
                "info",
                "forked",
                "The session was forked from another; what it repeats of that one is in its "
                "context.",
            )
        shift = 1 if self.system is not None else 0
        compactions = self.compactions if self.full else self.compactions[-1:]
        return Session(
            self.source,
            NAME,
            settled(items),
            title=self.title,
            model=self.model,
            history=self.options.history,
            window=self.window,
            problems=self.faults.findings,
            left_out=dict(self.left_out.counts),
            compactions=tuple(replace(one, at=one.at + shift) for one in compactions),
            document=Rollout(self.meta, self.flat, self.rolled_back),
        )


def _time(line: Mapping[str, Any]) -> str:
    told = line.get("timestamp")
    return told if type(told) is str else str(told or "")
