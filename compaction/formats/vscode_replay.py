"""Reading `*.chatreplay.json`: the requests that Copilot Chat sent, each with its whole history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats.base import ReadOptions
from compaction.formats.choosing import chosen
from compaction.formats.dialects.blocks import result_content, text_of
from compaction.formats.dialects.roles import normal
from compaction.formats.dialects.tools import tools_in
from compaction.formats.documents import Document, open_document
from compaction.formats.jsonspans import Node
from compaction.formats.leaving import LeftOut
from compaction.formats.recognising import called
from compaction.formats.sketching import Parse, SpanBody, sketch, usage_of
from compaction.formats.vscode_steps import listed, rendered, sent_id
from compaction.messages import (
    Conversation,
    Message,
    Part,
    Session,
    Source,
    Text,
    ToolCall,
    ToolResult,
)

NAME = "vscode-copilot"

_ROLES = ("system", "user", "assistant", "tool")


def is_replay(value: object) -> bool:
    """Whether a document is such a log: prompts with logs, or one of them."""
    if not isinstance(value, Mapping):
        return False
    prompts = value.get("prompts")
    if isinstance(prompts, list):
        return any(_is_prompt(one) for one in prompts)
    return _is_prompt(value)


def _is_prompt(value: object) -> bool:
    if not isinstance(value, Mapping) or "prompt" not in value:
        return False
    kinds = [one.get("kind") for one in listed(value.get("logs"))]
    return any(kind in ("request", "toolCall", "element") for kind in kinds)


@dataclass(frozen=True, slots=True)
class _Request:
    """One logged request, the messages it sent, and the calls that its response made."""

    prompt: str
    log: Node
    sent: Node
    calls: tuple[Node, ...]


def read(source: Source, options: ReadOptions) -> Session:
    """The last request of the log, or the one asked for, and its response."""
    keys = frozenset({"prompts", "logs", "requestMessages", "messages", "response"})
    document = open_document(source, keys)
    requests = _requests(document.roots[0])
    if not requests:
        raise SessionError(f"{called(source)} logs no request with messages.")
    conversations = tuple(
        Conversation(text_of(one.log.value.get("id")), one.prompt, len(one.sent.items or ()))
        for one in requests
    )
    index = len(requests) - 1
    problems: tuple[Finding, ...] = document.problems
    if options.conversation is not None:
        index, _ = chosen(conversations, options.conversation, source)
    elif len(requests) > 1:
        told = f"The file logs {len(requests):,} requests of one conversation; the last is shown."
        problems = (*problems, Finding("info", "growing-log", told))
    request = requests[index]
    left_out = LeftOut(options)
    left_out.add("other requests", *(document.span(o.log) for o in requests if o is not request))
    log = request.log.value
    about = log.get("metadata")
    about = about if isinstance(about, Mapping) else {}
    limits = [about.get("maxPromptTokens"), about.get("maxResponseTokens")]
    messages = tuple(_messages(document, request, about))
    return Session(
        document.source,
        NAME,
        messages,
        title=request.prompt.strip().partition("\n")[0],
        model=text_of(about.get("model")),
        history=options.history,
        tools=tools_in(about),
        window=sum(one for one in limits if type(one) is int) or None,
        problems=problems,
        left_out={reason: count for reason, count in left_out.counts.items() if count},
        conversations=conversations if len(conversations) > 1 else (),
    )


def _requests(root: Node) -> list[_Request]:
    prompts = root.get("prompts")
    out: list[_Request] = []
    for prompt in (prompts.items or ()) if prompts is not None else (root,):
        logs = prompt.get("logs")
        entries = logs.items if logs is not None else None
        for place, log in enumerate(entries or ()):
            value = log.value
            sent = log.get("requestMessages", "messages") or log.get("messages")
            if not isinstance(value, Mapping) or sent is None or not sent.items:
                continue
            calls: list[Node] = []
            for later in (entries or ())[place + 1 :]:
                kind = later.value.get("kind") if isinstance(later.value, Mapping) else None
                if kind == "request":
                    break
                if kind == "toolCall":
                    calls.append(later)
            out.append(_Request(text_of(prompt.value.get("prompt")), log, sent, tuple(calls)))
    return out


def _messages(document: Document, request: _Request, about: Mapping[str, Any]) -> list[Message]:
    names: dict[str, str] = {}
    out: list[Message] = []

    def add(node: Node, role: str, parse: Parse) -> None:
        parts = parse(node.value)
        names.update((part.id, part.name) for part in parts if isinstance(part, ToolCall))
        span = document.span(node)
        body = SpanBody(document.source, span, parse)
        named = role == "tool" and next((p for p in parts if isinstance(p, ToolResult)), None)
        made = sketch(parts, role=role, body=body, span=span)
        out.append(replace(made, tool=names.get(named.call_id, made.tool)) if named else made)

    for node in request.sent.items or ():
        if isinstance(node.value, Mapping):
            add(node, _role(node.value), _sent)
    response = request.log.get("response")
    if response is not None and _answer(response.value):
        add(response, "assistant", _answer)
        said = usage_of(about.get("usage"))
        out[-1] = replace(out[-1], usage=said, model=text_of(about.get("model")))
    for node in request.calls:
        add(node, "assistant", _call)
        add(node, "tool", _output)
    return out


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role")
    if isinstance(role, str):
        return normal(role)
    return _ROLES[role] if type(role) is int and 0 <= role < len(_ROLES) else "user"


def _sent(message: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = rendered(message.get("content"))
    if _role(message) == "tool":
        call = text_of(message.get("toolCallId", message.get("tool_call_id")))
        return (ToolResult(call, result_content(parts)),)
    calls = listed(message.get("toolCalls", message.get("tool_calls")))
    return (*parts, *(_requested(call) for call in calls))


def _requested(call: Mapping[str, Any]) -> ToolCall:
    inner = call.get("function")
    inner = inner if isinstance(inner, Mapping) else call
    return ToolCall(
        text_of(call.get("id")), text_of(inner.get("name")), text_of(inner.get("arguments"))
    )


def _answer(response: object) -> tuple[Part, ...]:
    if not isinstance(response, Mapping) or response.get("type") not in (None, "success"):
        return ()
    told = response.get("message", response.get("value"))
    texts: Sequence[object] = told if isinstance(told, list) else [told]
    text = "".join(one for one in texts if isinstance(one, str))
    return (Text(text),) if text else ()


def _id(log: Mapping[str, Any]) -> str:
    return sent_id(text_of(log.get("id")))


def _call(log: Mapping[str, Any]) -> tuple[Part, ...]:
    return (ToolCall(_id(log), text_of(log.get("tool")), text_of(log.get("args"))),)


def _output(log: Mapping[str, Any]) -> tuple[Part, ...]:
    told = log.get("response")
    texts = told if isinstance(told, list) else [] if told is None else [told]
    content = tuple(Text(text_of(one)) for one in texts)
    return (ToolResult(_id(log), content, name=text_of(log.get("tool"))),)
