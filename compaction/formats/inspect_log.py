"""Inspect eval logs: every sample is a conversation, its `messages` the last state of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.inspect_messages import ATTACHED, Writing, parse_message, resolved
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Part, Session, Source, Usage

#: What a sample on its own has, as it lies in an archive.
_SAMPLE = frozenset({"id", "epoch", "target", "messages"})

_NO_TIME = "1970-01-01T00:00:00+00:00"

Record = Mapping[str, Any]


def is_message(value: object) -> bool:
    """Whether a value can be a message of a sample."""
    return isinstance(value, Mapping) and isinstance(value.get("role"), str)


def _role(message: Record, parts: Sequence[Part]) -> str:
    del parts
    return role_of(message)


def _hidden(values: Sequence[object], holder: Record) -> dict[int, str]:
    """Of a pool of messages, those that the last request did not name."""
    pool = holder.get("message_pool")
    if isinstance(holder.get("messages"), list) or not isinstance(pool, list):
        return {}
    asked = next(
        (refs for e in _asked(holder) if isinstance(refs := e.get("input_refs"), list)), ()
    )
    sent = {
        index
        for ref in asked
        if isinstance(ref, list) and len(ref) == 2 and all(isinstance(end, int) for end in ref)
        for index in range(max(0, ref[0]), min(ref[1], len(values)))
    }
    if not sent:
        return {}
    reason = "not in the last request"
    return {index: reason for index in range(len(values)) if index not in sent}


def _asked(sample: Record) -> Iterator[Record]:
    """What the events say of the requests of a sample, the last first."""
    events = sample.get("events")
    transcript = sample.get("transcript")
    if not isinstance(events, list) and isinstance(transcript, Mapping):
        events = transcript.get("events")
    for event in reversed(events) if isinstance(events, list) else ():
        if isinstance(event, Mapping) and event.get("event") == "model":
            yield event


def _called(sample: Record) -> str:
    """The id of a sample, with its epoch where there are several."""
    name, epoch = sample.get("id"), sample.get("epoch")
    if not isinstance(name, (str, int)):
        return ""
    return f"{name}" if epoch in (1, None) else f"{name}:{epoch}"


SHAPE = Shape(
    format="inspect",
    lists=(("messages",), ("message_pool",)),
    answers=(),
    parse=parse_message,
    role=_role,
    is_message=is_message,
    hidden=_hidden,
    groups=(("samples",),),
    called=_called,
    growing=False,
)


class Inspect:
    """The format: a JSON log, or the one made of an .eval archive."""

    name = "inspect"
    title = "Inspect eval log"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """An evaluation beside its samples or its status; or one sample."""
        value = sample.whole
        if not isinstance(value, Mapping):
            return False
        header = value.get("eval")
        if isinstance(header, Mapping) and "task" in header:
            return isinstance(value.get("samples"), list) or "status" in value
        return value.keys() >= _SAMPLE and isinstance(value.get("epoch"), int)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages of a sample; of several the first, or the one `options` asks for."""
        document = open_document(source, SHAPE.structural)
        root = document.roots[0].value
        samples = root.get("samples") if isinstance(root, Mapping) else None
        listed = samples if isinstance(samples, list) else [root]
        told = _Told([sample for sample in listed if isinstance(sample, Mapping)], source)
        shape = replace(SHAPE, parse=told.parse, facts=told.facts, about=told.about)
        session = chatfile.read(document, options, shape)
        return replace(session, messages=tuple(_injected(session.messages)))

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same log with other messages in the sample; else a log of one sample."""
        notes = Notes(self.title)
        writing = Writing(notes, session.model)
        if layout := place(messages, session, self.name):
            written = write_back(messages, session, layout, writing.rendered)
            # What is rendered is rendered by now: the losses are known.
            return Written(written.chunks, (*written.findings, *notes.findings()))
        rendered = [
            one
            for number, message in enumerate(as_responses(messages, session, notes))
            for one in _at(writing, notes, number, message)
        ]
        return whole(_log(rendered, session, tools_for(session.tools, self.dialect, notes)), notes)


def _at(writing: Writing, notes: Notes, number: int, message: Message) -> list[dict[str, Any]]:
    notes.at(number)
    return writing.rendered(message)


def _injected(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages, those of the user that no input and no operator gave marked as such."""
    stated = any(_source(one) == "input" for one in messages if one.role == "user")
    for one in messages:
        if stated and one.role == "user" and _source(one) not in ("input", "operator"):
            one = replace(one, injected=True)
        yield one


def _source(message: Message) -> object:
    record = message.record
    return record.get("source") if isinstance(record, Mapping) else None


class _Told:
    """What a log says beside the messages: long texts, usage by message, model, tools."""

    def __init__(self, samples: Sequence[Record], source: Source) -> None:
        self._attached: dict[str, str] = {}
        self._usage: dict[str, Usage] = {}
        detached = ATTACHED.encode() in source.data
        for sample in samples:
            for held in (sample.get("attachments"), _within(sample, "transcript", "content")):
                if detached and isinstance(held, Mapping):
                    self._attached |= {k: v for k, v in held.items() if isinstance(v, str)}
            for event in _asked(sample):
                output = event.get("output")
                choices = _within(output, "choices")
                first = choices[0] if isinstance(choices, list) and choices else None
                name = _within(first, "message", "id")
                if isinstance(name, str) and (usage := usage_of(_within(output, "usage"))):
                    self._usage.setdefault(name, usage)

    def parse(self, message: Record) -> tuple[Part, ...]:
        return parse_message(resolved(dict(message), self._attached))

    def facts(self, message: Record) -> Facts:
        name = message.get("id")
        return Facts(usage=self._usage.get(name) if isinstance(name, str) else None)

    def about(self, sample: Record, document: object) -> dict[str, Any]:
        header = document.get("eval") if isinstance(document, Mapping) else None
        task = _within(header, "task")
        model = _within(header, "model") or _within(sample, "output", "model")
        named = task if isinstance(task, str) else ""
        if name := _called(sample):
            named = f"{named}, sample {name}" if named else f"sample {name}"
        tools = next((e["tools"] for e in _asked(sample) if isinstance(e.get("tools"), list)), None)
        usage = usage_of(_within(sample, "output", "usage"))
        return {
            "title": named,
            "model": model,
            "tools": resolved(tools, self._attached),
            "usage": usage
            and {
                "prompt_tokens": usage.context,
                "completion_tokens": usage.output,
                "prompt_tokens_details": {"cached_tokens": usage.cached},
                "cache_creation_input_tokens": usage.written,
            },
        }


def usage_of(value: object) -> Usage | None:
    """Usage as the tool reports it: newer versions count cached input apart, older ones within."""
    if not isinstance(value, Mapping):
        return None
    fresh, output = _count(value, "input_tokens"), _count(value, "output_tokens")
    if fresh is None:
        return None
    cached = _count(value, "input_tokens_cache_read") or 0
    written = _count(value, "input_tokens_cache_write") or 0
    total = _count(value, "total_tokens")
    context = fresh + cached + written
    if total is not None and total < context + (output or 0):
        context = fresh
    return Usage(context, output or 0, cached, written)


def _count(value: Record, key: str) -> int | None:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _within(value: object, *keys: str) -> Any:
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _log(
    messages: Sequence[dict[str, Any]], session: Session, tools: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A log of one sample that holds `messages`."""
    model = session.model or "none/none"
    created = next((one.time for one in session.messages if "T" in one.time), _NO_TIME)
    first = next((one["content"] for one in messages if one["role"] == "user"), "")
    answer = next((one for one in reversed(messages) if one["role"] == "assistant"), None)
    choices = [{"message": answer, "stop_reason": "stop"}] if answer else []
    sample = {
        "id": 1,
        "epoch": 1,
        "input": first if isinstance(first, str) else "",
        "target": "",
        "messages": list(messages),
        "output": {"model": model, "choices": choices},
        "metadata": {"tools": list(tools)} if tools else {},
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": "",
            "created": created,
            "task": session.title or "session",
            "task_id": "",
            "task_version": 0,
            "dataset": {"samples": 1, "sample_ids": [1], "shuffled": False},
            "model": model,
            "config": {},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": 1, "completed_samples": 1, "scores": []},
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
        "samples": [sample],
    }
