"""LangSmith: runs as its API and SDKs write them, one by one, in trees, or as a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.errors import ExportError
from compaction.formats import traces
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.dialects import langchain_like, openai_like, responses_like
from compaction.formats.dialects.blocks import parse_content
from compaction.formats.dialects.langchain_like import style_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.tools import tools_in
from compaction.formats.documents import Document, open_document
from compaction.formats.jsonspans import Node
from compaction.formats.sketching import usage_of
from compaction.formats.traces import Call, Recording, Said
from compaction.messages import Message, Session, Source, Span, Text, Tools, Usage

Record = Mapping[str, Any]

#: Members that hold runs.
_HOLDERS = frozenset({"runs", "post", "patch", "child_runs"})

#: Metadata that names a conversation over several traces.
_THREADS = ("thread_id", "conversation_id", "session_id")


class LangSmith:
    """The format."""

    name = "langsmith"
    title = "LangSmith runs"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = (
        "A LangSmith trace can only be read: it records the requests that were made, and no "
        "request can be added to it."
    )

    def recognise(self, sample: Sample) -> bool:
        """Runs, a batch of them, or a tree of them."""
        roots: Sequence[object] = sample.lines if sample.whole is None else [sample.whole]
        return not sample.yaml and any(_holds_runs(root) for root in roots[:50])

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What the last model run was sent and answered."""
        document = open_document(source, _HOLDERS)
        runs = _runs(document)
        calls: list[Call] = []
        others: list[tuple[str, Span]] = []
        silent = 0
        for number, (run, span) in enumerate(runs):
            spoken = run.get("run_type") in ("llm", "chat_model")
            call = _call(run, span, number, spoken)
            if call.messages:
                calls.append(call)
            silent += spoken and not call.messages
            if not spoken:
                others.append((call.group, span))
        recording = Recording(tuple(calls), tuple(others), silent, document.problems)
        return traces.session_of(recording, document.source, options, self.name)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """Raises ExportError: nothing is written in this format."""
        del messages, session
        raise ExportError(self.read_only)


def _is_run(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    kind = isinstance(value.get("run_type"), str)
    return kind and ("inputs" in value or "outputs" in value or "child_runs" in value)


def _holds_runs(root: object) -> bool:
    if isinstance(root, list):
        return any(_is_run(one) for one in root[:50])
    if not isinstance(root, Mapping):
        return False
    held = [root.get(key) for key in ("runs", "post")]
    return _is_run(root) or any(
        isinstance(each, list) and any(_is_run(one) for one in each[:50]) for each in held
    )


# ------------------------------------------------------------------------------------- runs


def _runs(document: Document) -> list[tuple[Record, Span]]:
    """Every run of the file; a run that was posted and patched is one."""
    found: dict[str, tuple[Record, Span]] = {}
    for root in document.roots:
        for node in _nodes(root, document):
            value, span = node.value, document.span(node)
            name = _id(value) or f"#{len(found)}"
            known = found.get(name)
            if known is None:
                found[name] = (value, span)
                continue
            new = {key: held for key, held in value.items() if held not in (None, {}, [])}
            found[name] = ({**known[0], **new}, known[1])
    return list(found.values())


def _nodes(node: Node, document: Document) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        if node.items is not None:
            stack += reversed(node.items)
            continue
        if not isinstance(node.value, dict):
            continue
        if node.members is None and not _HOLDERS.isdisjoint(node.value):
            node = document.deeper(node)
        if "inputs" in node.value or "outputs" in node.value or _is_run(node.value):
            yield node
        stack += reversed([m.node for m in node.members or () if m.key in _HOLDERS])


def _id(run: Record) -> str:
    """The id of a run; a patch may have it in its place in the tree only."""
    for key in ("id", "run_id"):
        if isinstance(run.get(key), str):
            return str(run[key])
    order = run.get("dotted_order")
    if isinstance(order, str) and "Z" in order:
        return order.rpartition("Z")[2]
    return _string(run.get("trace_id"))


def _call(run: Record, span: Span, number: int, spoken: bool) -> Call:
    inputs, outputs = _mapping(run.get("inputs")), _mapping(run.get("outputs"))
    extra = _mapping(run.get("extra"))
    about = {**_mapping(run.get("metadata")), **_mapping(extra.get("metadata"))}
    given = {**_mapping(about), **_mapping(extra.get("invocation_params"))}
    thread = next((about[key] for key in _THREADS if isinstance(about.get(key), str)), "")
    started = run.get("start_time")
    if isinstance(started, int) and not isinstance(started, bool):
        started = f"{started:020d}"
    sent, answer = _sent(inputs), _answered(outputs)
    if not spoken:
        # A run of an agent says in the end all that was said.
        whole = _said_all(outputs.get("messages"))
        if not whole:
            sent, answer = (), ()
        elif len(whole) >= len(sent):
            sent, answer = whole, ()
    return Call(
        thread or _string(run.get("trace_id")) or _id(run),
        (_string(run.get("dotted_order")) or _string(started), number),
        span,
        sent,
        answer,
        model=_first(
            _string(given.get("ls_model_name")),
            _string(outputs.get("model")),
            _string(inputs.get("model")),
            _string(given.get("model")),
            _string(given.get("model_name")),
        ),
        usage=_usage(run, outputs, about),
        tools=_tools(inputs, given),
        title="" if spoken else _string(run.get("name")),
        time=_string(run.get("start_time")),
        whole=not spoken,
    )


def _sent(inputs: Record) -> tuple[Said, ...]:
    front = []
    for key in ("system", "instructions"):
        parts = parse_content(inputs[key]) if isinstance(inputs.get(key), (str, list)) else ()
        front += [Said("system", parts)] if parts else []
    for key in ("messages", "input", "prompts", "prompt"):
        if said := _said_all(inputs.get(key)):
            return (*front, *said)
    return tuple(front) if any(key in inputs for key in ("messages", "input")) else ()


def _answered(outputs: Record) -> tuple[Said, ...]:
    """The answer, in whichever of the ways of the many clients."""
    generation = _within(outputs, "generations", 0, 0) or _within(outputs, "generations", 0)
    for value in (
        _within(generation, "message"),
        _within(outputs, "choices", 0, "message"),
        outputs.get("message"),
        _within(outputs, "output", "message"),
        outputs.get("output"),
        outputs if "content" in outputs or style_of(outputs) else None,
    ):
        if said := _said_all(value, "assistant"):
            return traces.merged(said)
    text = _within(generation, "text")
    if isinstance(text, str) and text:
        return (Said("assistant", (Text(text),), text),)
    listed = outputs.get("messages")
    return _said_all(listed[-1:] if isinstance(listed, list) else None, "assistant")


def _within(value: object, *path: str | int) -> Any:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _said_all(value: object, role: str = "user") -> tuple[Said, ...]:
    """Messages in any of the dialects that are recorded; one of them, or a text, stands alone."""
    if isinstance(value, str):
        return (Said(role, (Text(value),), value),) if value else ()
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list) or not value:
        return ()
    if isinstance(value[0], list):
        # A batch of prompts: the first is the conversation.
        return _said_all(value[0], role)
    return tuple(said for one in value if (said := _said(one, role)) is not None)


def _said(value: object, role: str) -> Said | None:
    if isinstance(value, str):
        return Said(role, (Text(value),), value)
    if not isinstance(value, Mapping):
        return None
    if style_of(value):
        name = langchain_like.facts(value).name
        return Said(langchain_like.role(value), langchain_like.parse(value), value, name)
    if isinstance(value.get("type"), str) and "role" not in value and "content" not in value:
        return Said(responses_like.item_role(value), responses_like.parse_item(value), value)
    if "role" not in value and "content" not in value and "tool_calls" not in value:
        return None
    parts = openai_like.parse_blocks(value)
    spelled = role_of(value, role)
    named = _string(value.get("name")) if spelled != "tool" else ""
    return Said(traces.role_for(spelled, parts), parts, value, named)


def _usage(run: Record, outputs: Record, about: Record) -> Usage | None:
    message = _within(outputs, "generations", 0, 0, "message")
    held = langchain_like.inner(message) if isinstance(message, Mapping) else {}
    for told in (outputs, held, about):
        if found := langchain_like.usage_of(told.get("usage_metadata")):
            return found
    for counted in (outputs.get("usage"), _within(outputs, "llm_output", "token_usage"), run):
        if found := usage_of(counted):
            return found
    return None


def _tools(inputs: Record, given: Record) -> Tools:
    found = tools_in(inputs)
    return found if found.names else tools_in(given)


def _mapping(value: object) -> Record:
    return value if isinstance(value, Mapping) else {}


def _first(*values: str) -> str:
    return next((value for value in values if value), "")


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
