"""Reading a VS Code chat: its requests as the messages that the next one would send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats.base import ReadOptions
from compaction.formats.dialects.blocks import text_of
from compaction.formats.documents import open_document
from compaction.formats.leaving import LeftOut
from compaction.formats.recognising import called
from compaction.formats.sketching import SpanBody, sketch, time_of
from compaction.formats.vscode_steps import Step, listed, metadata, model, steps, usage
from compaction.messages import (
    Message,
    Part,
    RecordedCompaction,
    Session,
    Source,
    Span,
)

NAME = "vscode-copilot"

_BEFORE = "before the last compaction"
_TAKEN_BACK = "turns taken back"
_CANCELLED = "cancelled responses"
_SCREEN = "shown on the screen only"
_ERRORS = "error notices"


class _Requests:
    """The steps of the requests of a document; the last one looked at is held."""

    __slots__ = ("_held", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._held: tuple[int, list[Step]] = (-1, [])

    def steps(self, span: Span) -> list[Step]:
        """The steps of the request that stands in `span`."""
        start, held = self._held
        if start != span.start:
            value = exact.loads(self._source.raw(span))
            held = steps(value) if isinstance(value, Mapping) else []
            self._held = (span.start, held)
        return held


class StepBody(SpanBody):
    """The body of one message of a request."""

    __slots__ = ("_index", "_place", "_requests")

    def __init__(self, source: Source, span: Span, requests: _Requests, index: int) -> None:
        super().__init__(source, span, partial(_step, index=index))
        self._requests = requests
        self._place = span
        self._index = index

    def parts(self) -> tuple[Part, ...]:
        """The content, from the request it is a step of."""
        return self._requests.steps(self._place)[self._index].parts


def _step(request: Mapping[str, Any], index: int) -> tuple[Part, ...]:
    return steps(request)[index].parts


def read(source: Source, options: ReadOptions, problems: Sequence[Finding] = ()) -> Session:
    """The session in a document with `requests`. Raises SessionError where there are none."""
    document = open_document(_with_summaries(source), frozenset({"requests"}))
    source = document.source
    root = document.roots[0]
    node = root.get("requests")
    if node is None or node.items is None:
        raise SessionError(f"{called(source)} holds no requests of a VS Code chat.")
    reading = _Reading(source, options)
    for item in node.items:
        if isinstance(item.value, Mapping):
            reading.take(item.value, document.span(item))
    about = root.value
    told = (*problems, *document.problems)
    if not reading.messages:
        empty = Finding("warning", "no-messages", "The chat holds no message.")
        told = (*told, empty)
    return Session(
        source,
        NAME,
        tuple(reading.messages),
        title=text_of(about.get("customTitle") or about.get("computedTitle")),
        model=reading.model,
        history=options.history,
        problems=told,
        left_out=dict(reading.left_out.counts),
        compactions=tuple(reading.compactions),
    )


class _Reading:
    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._source = source
        self._full = options.history == "full"
        self._requests = _Requests(source)
        self.left_out = LeftOut(options)
        self.messages: list[Message] = []
        self.compactions: list[RecordedCompaction] = []
        self.model = ""

    def take(self, request: Mapping[str, Any], span: Span) -> None:
        """One request: what was sent, and what came back."""
        if request.get("shouldBeRemovedOnSend") or request.get("isHidden") is True:
            self.left_out.add(_TAKEN_BACK, span)
            return
        answered_by = model(request)
        self.model = answered_by or self.model
        made: list[Message] = []
        for index, step in enumerate(steps(request)):
            message = self._message(request, span, index, step, answered_by)
            if step.kind == "summary":
                self.messages += made
                made = []
                self._compacted(span)
            made.append(message)
        told = usage(request)
        spoke = next((i for i in reversed(range(len(made))) if made[i].role == "assistant"), None)
        if told is not None and spoke is not None:
            made[spoke] = replace(made[spoke], usage=told)
        self.messages += made
        self._left(request, span, spoke is not None)

    def _message(
        self, request: Mapping[str, Any], span: Span, index: int, step: Step, answered_by: str
    ) -> Message:
        made = sketch(
            step.parts,
            role=step.role,
            body=StepBody(self._source, span, self._requests, index),
            span=span,
            record={"id": step.id, "timestamp": time_of(request)},
            summary="copilot" if step.kind == "summary" else "",
            model=answered_by if step.role == "assistant" else "",
        )
        return replace(made, injected=True) if step.kind == "context" else made

    def _compacted(self, span: Span) -> None:
        """A summary stands for all before it, but for what is sent at the start of every chat."""
        if self._full:
            self.compactions.append(RecordedCompaction(len(self.messages), line=span.line))
            return
        context = [one for one in self.messages if one.injected]
        gone = [one for one in self.messages if not one.injected]
        self.left_out.add(_BEFORE, *(place for one in gone for place in one.spans))
        self.messages = context
        self.compactions = [RecordedCompaction(len(context), line=span.line)]

    def _left(self, request: Mapping[str, Any], span: Span, answered: bool) -> None:
        result = request.get("result")
        if not answered and isinstance(result, Mapping) and result.get("errorDetails"):
            self.left_out.add(_ERRORS, span)
        shown = listed(request.get("response"))
        if request.get("isCanceled") is True:
            if shown or metadata(request).get("toolCallRounds"):
                self.left_out.add(_CANCELLED, span)
            return
        if not listed(metadata(request).get("toolCallRounds")):
            used = (None, "markdownContent", "thinking", "inlineReference")
            shown = [one for one in shown if one.get("kind") not in used]
        if shown:
            self.left_out.add(_SCREEN, *([span] * len(shown)))


def _with_summaries(source: Source) -> Source:
    """The document with every summary at the round it stands for.

    A request that summarized rounds of an earlier one names them by their ids.
    """
    if b'"toolCallRoundId"' not in source.data:
        return source
    try:
        value = exact.loads(source.data.removeprefix(b"\xef\xbb\xbf"))
    except exact.ExactError:
        return source
    requests = listed(value.get("requests")) if isinstance(value, dict) else []
    rounds: dict[str, Any] = {}
    changed = False
    for request in requests:
        about = metadata(request)
        for held in listed(about.get("toolCallRounds")):
            if isinstance(held.get("id"), str):
                rounds[held["id"]] = held
        for told in (*listed([about.get("summary")]), *listed(about.get("summaries"))):
            one = rounds.get(text_of(told.get("toolCallRoundId")))
            text = told.get("text")
            if one is not None and isinstance(text, str) and text and one.get("summary") != text:
                one["summary"] = text
                changed = True
    if not changed:
        return source
    return Source(exact.dump_bytes(value), source.name, source.path)
