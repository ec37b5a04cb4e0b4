"""Reading a Qwen Code session: the branch that ends with the last line, from its compaction on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.formats.base import ReadOptions
from compaction.formats.dialects import gemini_like
from compaction.formats.dialects.blocks import text_of
from compaction.formats.jsonl import Faults, Record, records
from compaction.formats.jsonspans import Bytes, scan
from compaction.formats.leaving import LeftOut
from compaction.formats.qwen_code import NAME, Chat, LinesBody, is_spoken
from compaction.formats.recognising import called
from compaction.formats.sketching import SpanBody, sketch, usage_of
from compaction.messages import Message, RecordedCompaction, Session, Source, Span, Text

#: Lines that hang at the side of the tree and never end a branch.
_ASIDE = ("session_artifact", "session_sources")

#: Lines with a content that is never sent.
_NOT_SENT = frozenset({"code_mode_tool_result", "realtime_message"})

#: User lines that no person typed, by what they are and by who made them.
_INJECTED = frozenset({"background_task_completed", "cron", "goal_runtime", "notification"})
_PERSON = "real_user"

_SNAPSHOT = "<state_snapshot>"


def read(source: Source, options: ReadOptions) -> Session:
    """The session in `source`. Raises SessionError when no line in it is of one."""
    faults = Faults()
    reading = _Reading(source, options, LeftOut(options), faults)
    for record in records(source, options, faults):
        reading.take(record)
    return reading.finish()


@dataclass(slots=True)
class _Entry:
    """A message in the making: its lines or one value inside a line, and its parts."""

    value: Mapping[str, Any]
    spans: list[Span]
    parts: list[Any]
    role: str
    nested: bool = False


@dataclass(slots=True)
class _Reading:
    """The lines by the order of the file."""

    source: Source
    options: ReadOptions
    left: LeftOut
    faults: Faults
    lines: list[Record] = field(default_factory=list)

    def take(self, record: Record) -> None:
        """One record of the file."""
        if isinstance(record[0].get("uuid"), str) and isinstance(record[0].get("type"), str):
            self.lines.append(record)
        else:
            self.left.add("records of no known type", record[1])

    # ---------------------------------------------------------------------------- the branch

    def _branch(self) -> list[Record]:
        """The lines of the branch that the last line ends, in the order of its tree."""
        places: dict[str, list[int]] = {}
        for index, (line, _) in enumerate(self.lines):
            places.setdefault(line["uuid"], []).append(index)
        parents = {uuid: self.lines[at[0]][0].get("parentUuid") for uuid, at in places.items()}
        ends = (
            line["uuid"]
            for line, _ in reversed(self.lines)
            if not text_of(line.get("subtype")).startswith(_ASIDE)
        )
        at: object = next(ends, self.lines[-1][0]["uuid"])
        order: list[str] = []
        seen: set[str] = set()
        roots: dict[str, str] = {}
        while isinstance(at, str) and at not in seen:
            seen.add(at)
            order.append(at)
            parent = parents[at]
            if isinstance(parent, str) and parent not in parents:
                first = self.lines[places[at][0]][0]
                parent = None
                if first.get("subtype") != "rewind":
                    roots = roots or _roots(parents)
                    parent = self._earlier(places[at][0], {roots[one] for one in order}, roots)
                    self._tell_gap(places[at][0])
            at = parent
        chosen = {index for uuid in order for index in places[uuid]}
        for index, (line, span) in enumerate(self.lines):
            if index not in chosen and is_spoken(line):
                self.left.add("abandoned attempts", span)
        return [self.lines[index] for uuid in reversed(order) for index in places[uuid]]

    def _earlier(self, before: int, used: set[str], roots: Mapping[str, str]) -> str | None:
        """The last line before a gap that is of another tree than those walked already."""
        for line, _ in reversed(self.lines[:before]):
            if roots[line["uuid"]] not in used:
                return str(line["uuid"])
        return None

    def _tell_gap(self, index: int) -> None:
        number = self.lines[index][1].line
        self.faults.tell(
            "warning",
            "gap",
            f"The line before line {number:,} is missing; what the file holds of the time before "
            "is put in its place.",
            number,
        )

    # --------------------------------------------------------------------------- the messages

    def finish(self) -> Session:
        """The session. Raises SessionError when no line is of the tool."""
        if not self.lines:
            raise SessionError(f"{called(self.source)} holds no line of a Qwen Code session.")
        branch = self._branch()
        full = self.options.history == "full"
        entries: list[_Entry] = []
        marks: list[tuple[int, Span]] = []
        for line, span in branch:
            if line["type"] == "system":
                nested = self._compacted(line, span)
                if nested is not None:
                    marks.append((len(entries) if full else 0, span))
                    if full:
                        nested = [one for one in nested if _is_snapshot(one)]
                    else:
                        for entry in entries:
                            self.left.add("before the last compaction", *entry.spans)
                        entries = []
                    entries += nested
                    continue
                self._client(line, entries)
                self.left.add("state of the client", span)
            elif not is_spoken(line) or text_of(line.get("subtype")) in _NOT_SENT:
                self.left.add("lines without a message", span)
            else:
                self._spoken(line, span, entries)
        messages = self._messages(entries)
        if not messages:
            self.faults.tell("warning", "no-messages", "The session holds no message.")
        titles = [(line, span) for line, span in branch if _title(line)] or [
            (line, span) for line, span in self.lines if _title(line)
        ]
        windows = [line.get("contextWindowSize") for line, _ in branch]
        return Session(
            self.source,
            NAME,
            tuple(messages),
            title=_title(titles[-1][0]) if titles else "",
            model=next((one.model for one in reversed(messages) if one.model), ""),
            history=self.options.history,
            window=next((one for one in reversed(windows) if type(one) is int and one), None),
            problems=self.faults.findings,
            left_out=dict(self.left.counts),
            compactions=tuple(
                RecordedCompaction(at, line=span.line)
                for at, span in (marks if full else marks[-1:])
            ),
            document=Chat(
                tuple(span for _, span in branch), tuple(span for _, span in titles[-1:])
            ),
        )

    def _spoken(self, line: Mapping[str, Any], span: Span, entries: list[_Entry]) -> None:
        last = entries[-1] if entries else None
        parts = gemini_like.parts_of(line["message"])
        role = "assistant" if line["type"] == "assistant" else "user"
        known = last is not None and not last.nested and last.value.get("uuid") == line["uuid"]
        if last is None or not known or role == "user" or last.role == "user":
            entries.append(_Entry(line, [span], list(parts), role))
        else:
            # One response comes in several lines of one id.
            last.value = {**last.value, **line}
            last.spans.append(span)
            last.parts += parts

    def _client(self, line: Mapping[str, Any], entries: list[_Entry]) -> None:
        """A command that the client answered itself takes back the line it was typed in."""
        payload = line.get("systemPayload")
        if line.get("subtype") != "slash_command" or not isinstance(payload, Mapping):
            return
        if payload.get("phase") != "result" or payload.get("sentToModel") is True or not entries:
            return
        last = entries[-1]
        if not last.nested and last.parts == [{"text": payload.get("rawCommand")}]:
            entries.pop()
            self.left.add("commands of the client", *last.spans)

    def _compacted(self, line: Mapping[str, Any], span: Span) -> list[_Entry] | None:
        """The contents that a compaction left; None for any other line."""
        payload = line.get("systemPayload")
        listed = payload.get("compressedHistory") if isinstance(payload, Mapping) else None
        if line.get("subtype") != "chat_compression" or not isinstance(listed, list):
            return None
        return [
            _Entry(
                {**value, "timestamp": line.get("timestamp")},
                [own],
                list(gemini_like.parts_of(value)),
                gemini_like.content_role(value, ()),
                nested=True,
            )
            for value, own in self._nested(span)
        ]

    def _nested(self, span: Span) -> Iterator[tuple[Mapping[str, Any], Span]]:
        path = ("systemPayload", "compressedHistory")
        raw = self.source.raw(span)
        text = exact.decode_bytes(raw)
        offsets = Bytes(text, raw)
        node = scan(text, path).get(*path)
        for held in (node.items or ()) if node else ():
            if isinstance(held.value, Mapping):
                start, end = offsets.at(held.start), offsets.at(held.end)
                yield held.value, Span(span.start + start, span.start + end, span.line)

    def _messages(self, entries: Sequence[_Entry]) -> list[Message]:
        ids = gemini_like.ids_of(
            [entry.parts for entry in entries], [entry.role == "assistant" for entry in entries]
        )
        return [self._message(*one) for one in zip(entries, ids, strict=True)]

    def _message(self, entry: _Entry, ids: tuple[str, ...]) -> Message:
        parts = gemini_like.parse_parts(entry.parts, ids)
        role = gemini_like.content_role({"role": entry.role}, parts)
        spans = tuple(entry.spans)
        body: SpanBody | LinesBody
        if entry.nested:
            body = SpanBody(self.source, spans[0], partial(gemini_like.parse_content, ids=ids))
        else:
            body = LinesBody(self.source, spans, ids)
        line = entry.value
        first = parts[0] if parts else None
        snapshot = isinstance(first, Text) and first.text.lstrip().startswith(_SNAPSHOT)
        made = sketch(
            parts,
            role=role,
            body=body,
            span=spans[0],
            record={key: line[key] for key in ("timestamp", "model") if key in line},
            usage=usage_of(line.get("usageMetadata")),
            summary=NAME if snapshot and role == "user" else "",
        )
        made_by = text_of(line.get("provenance"))
        injected = text_of(line.get("subtype")) in _INJECTED or made_by not in ("", _PERSON)
        return replace(
            made,
            id=text_of(line.get("uuid")),
            spans=spans,
            injected=injected and role == "user" and not made.summary,
        )


def _is_snapshot(entry: _Entry) -> bool:
    first = entry.parts[0] if entry.parts else None
    text = first.get("text") if isinstance(first, Mapping) else first
    return isinstance(text, str) and text.lstrip().startswith(_SNAPSHOT)


def _title(line: Mapping[str, Any]) -> str:
    payload = line.get("systemPayload")
    if line.get("subtype") != "custom_title" or not isinstance(payload, Mapping):
        return ""
    return text_of(payload.get("customTitle"))


def _roots(parents: Mapping[str, object]) -> dict[str, str]:
    """For each line the line its tree begins with."""
    roots: dict[str, str] = {}
    for start in parents:
        path: dict[str, None] = {}
        at = start
        while at not in roots and at not in path:
            path[at] = None
            parent = parents[at]
            if not isinstance(parent, str) or parent not in parents:
                break
            at = parent
        root = roots.get(at, at)
        roots.update(dict.fromkeys(path, root))
    return roots
