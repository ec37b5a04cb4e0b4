"""OpenTelemetry: traces of model calls, in the protocol's JSON or as SDKs list them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compaction.errors import ExportError
from compaction.findings import Finding
from compaction.formats import traces
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.documents import open_document
from compaction.formats.otel_messages import (
    calls_model,
    everything,
    exchange,
    is_cut_off,
    model,
    tools,
    usage,
)
from compaction.formats.otel_spans import (
    HOLDERS,
    TELLING,
    OtelSpan,
    attribute_names,
    is_span,
    spans_in,
)
from compaction.formats.traces import Call, Recording
from compaction.messages import Message, Session, Source, Span

#: Attributes that name a conversation over several traces.
_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "ai.telemetry.metadata.sessionId")
#: Attributes that name the agent.
_AGENTS = ("gen_ai.agent.name", "agent.name", "ai.telemetry.functionId")


class OpenTelemetry:
    """The format."""

    name = "otel"
    title = "OpenTelemetry traces"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = (
        "An OpenTelemetry trace can only be read: it records the requests that were made, and no "
        "request can be added to it."
    )

    def recognise(self, sample: Sample) -> bool:
        """Spans of the protocol, or a list of spans that speak of models."""
        roots: Sequence[object] = sample.lines if sample.whole is None else [sample.whole]
        return not sample.yaml and any(_holds_spans(root) for root in roots[:50])

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What the model was sent last, and answered, in one conversation of the trace."""
        document = open_document(source, HOLDERS)
        calls: list[Call] = []
        others: list[tuple[str, Span]] = []
        silent, cut = 0, 0
        for number, span in enumerate(spans_in(document)):
            spoken = calls_model(span)
            call = _call(span, number, spoken)
            if call.messages:
                calls.append(call)
                cut += is_cut_off(span)
            silent += spoken and not call.messages
            if not spoken:
                others.append((call.group, span.place))
        problems = (*document.problems, *_cut_off(cut))
        recording = Recording(tuple(calls), tuple(others), silent, problems)
        return traces.session_of(recording, document.source, options, self.name)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """Raises ExportError: nothing is written in this format."""
        del messages, session
        raise ExportError(self.read_only)


def _holds_spans(root: object, depth: int = 6) -> bool:
    if not depth:
        return False
    if isinstance(root, list):
        return any(isinstance(one, Mapping) and _holds_spans(one, depth - 1) for one in root[:200])
    if not isinstance(root, Mapping):
        return False
    if any(isinstance(root.get(key), list) for key in ("resourceSpans", "resource_spans")):
        return True
    held = [root.get(key) for key in ("spans", "data")]
    return _speaks(root) or any(
        isinstance(each, list) and _holds_spans(each, depth - 1) for each in held
    )


def _speaks(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and is_span(value)
        and any(name.startswith(TELLING) for name in attribute_names(value))
    )


def _call(span: OtelSpan, number: int, spoken: bool) -> Call:
    held = span.attributes
    sent, answer = exchange(span) if spoken else (everything(span), ())
    named = (held.get(key) for key in _CONVERSATIONS)
    agents = (held.get(key) for key in _AGENTS)
    return Call(
        next((one for one in named if isinstance(one, str) and one), span.trace),
        (span.start, number),
        span.place,
        sent,
        answer,
        model=model(held),
        usage=usage(held) if spoken else None,
        tools=tools(held),
        title=next((one for one in agents if isinstance(one, str)), ""),
        whole=not spoken,
    )


def _cut_off(count: int) -> tuple[Finding, ...]:
    if not count:
        return ()
    some = "span was" if count == 1 else "spans were"
    return (
        Finding(
            "warning",
            "cut-off",
            f"The messages of {count:,} {some} cut off by a limit of the exporter; what is left is "
            "shown as text.",
            remedy="raise OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT and record again",
        ),
    )
