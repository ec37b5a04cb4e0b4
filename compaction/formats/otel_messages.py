"""What spans say of model calls, in each of the conventions that name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media, openai_like
from compaction.formats.dialects.blocks import opaque, parse_content, result_content, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.tools import tools_in
from compaction.formats.dialects.vercel_model import cut_model
from compaction.formats.otel_numbered import Exchange, from_json, openinference, rows, traceloop
from compaction.formats.otel_spans import OtelSpan
from compaction.formats.traces import Said, merged, role_for
from compaction.messages import Part, Text, Thinking, ToolCall, ToolResult, Tools, Usage

Record = Mapping[str, Any]

#: Names of the events that older conventions put messages into, and who speaks in them.
_EVENTS: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}

_DETAILS = "gen_ai.client.inference.operation.details"


def exchange(span: OtelSpan) -> Exchange:
    """What was sent and what was answered; nothing where the content was not recorded."""
    for convention in (_gen_ai, openinference, traceloop, _vercel, _events):
        sent, answer = convention(span)
        if sent or answer:
            return sent, merged(answer)
    return (), ()


def everything(span: OtelSpan) -> tuple[Said, ...]:
    """All that an agent's span says was exchanged in its run."""
    found = _messages(from_json(span.attributes.get("pydantic_ai.all_messages")))
    if not found:
        return ()
    return (*_instructions(span.attributes), *found)


def calls_model(span: OtelSpan) -> bool:
    """Whether a span is the call of a model, not of a tool or an agent."""
    held = span.attributes
    kind = held.get("openinference.span.kind")
    operation = held.get("gen_ai.operation.name")
    if isinstance(kind, str):
        return kind.upper() == "LLM"
    if isinstance(operation, str):
        return operation in ("chat", "text_completion", "generate_content", "completion")
    vercel = held.get("ai.operationId")
    if isinstance(vercel, str):
        return vercel.endswith((".doGenerate", ".doStream")) and "mbed" not in vercel
    if held.get("traceloop.span.kind") is not None:
        return False
    return any(
        key.startswith(("gen_ai.prompt", "llm.input_messages", "gen_ai.input.messages"))
        or key in ("gen_ai.request.model", "llm.request.type")
        for key in held
    )


def usage(held: Record) -> Usage | None:
    """Usage of one call; what was read includes what came from the cache."""

    def count(*names: str) -> int | None:
        for name in names:
            found = held.get(name)
            if isinstance(found, int) and not isinstance(found, bool):
                return found
        return None

    context = count(
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
    )
    if context is None:
        return None
    output = count(
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    )
    cached = count(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
    )
    written = count(
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    )
    return Usage(context, output or 0, cached or 0, written or 0)


def model(held: Record) -> str:
    """The model that answered, or the one that was asked."""
    names = ("gen_ai.response.model", "ai.response.model", "gen_ai.request.model")
    for name in (*names, "llm.model_name", "ai.model.id"):
        if isinstance(held.get(name), str) and held[name]:
            return str(held[name])
    return ""


def tools(held: Record) -> Tools:
    """The definitions of the tools that were offered."""
    found = from_json(held.get("gen_ai.tool.definitions"))
    if isinstance(found, list) and found:
        return tools_in({"tools": found})
    listed = held.get("ai.prompt.tools")
    if isinstance(listed, list) and listed:
        return tools_in({"tools": [from_json(one) for one in listed]})
    numbered = [from_json(one.get("tool.json_schema")) for one in rows(held, "llm.tools.")]
    numbered += [
        {**one, "parameters": from_json(one.get("parameters"))}
        for one in rows(held, "llm.request.functions.")
    ]
    return tools_in({"tools": [one for one in numbered if one]})


# ---------------------------------------------------------------------- the newest convention


def _gen_ai(span: OtelSpan) -> Exchange:
    for held in (span.attributes, *(about for name, about in span.events if name == _DETAILS)):
        sent = _messages(from_json(held.get("gen_ai.input.messages")))
        answer = _messages(from_json(held.get("gen_ai.output.messages")), "assistant")
        if sent or answer:
            return (*_instructions(held), *sent), answer
    return (), ()


def _instructions(held: Record) -> tuple[Said, ...]:
    found = from_json(held.get("gen_ai.system_instructions"))
    if isinstance(found, str):
        return (Said("system", (Text(found),)),) if found else ()
    listed = found if isinstance(found, list) else []
    parts = tuple(part for each in listed for part in _part(each))
    return (Said("system", parts, found),) if parts else ()


def _messages(value: object, role: str = "user") -> tuple[Said, ...]:
    if isinstance(value, str):
        # Cut off by a limit of the exporter, so that it is no JSON any more: kept as text.
        return (Said(role, (Text(value),), value),) if value else ()
    out: list[Said] = []
    for one in value if isinstance(value, list) else []:
        if not isinstance(one, Mapping):
            continue
        listed = one.get("parts")
        if isinstance(listed, list):
            parts = tuple(part for each in listed for part in _part(each))
        else:
            parts = openai_like.parse_blocks(one)
        spoken = role_for(role_of(one, role), parts)
        named = one.get("name")
        out.append(Said(spoken, parts, one, named if isinstance(named, str) else ""))
    return tuple(out)


def _part(part: object) -> tuple[Part, ...]:
    if not isinstance(part, dict):
        return parse_content(part) if isinstance(part, str) else (opaque(part),)
    kind, content = part.get("type"), part.get("content")
    mime = text_of(part.get("mime_type") or part.get("media_type"))
    match kind:
        case "text" | "compaction" if isinstance(content, str):
            return (Text(content),)
        case "reasoning" | "thinking" if "content" in part:
            return (Thinking(text_of(content)),)
        case "tool_call":
            given = part.get("arguments")
            arguments = given if isinstance(given, str) else exact.dumps(given or {})
            return (ToolCall(text_of(part.get("id")), text_of(part.get("name")), arguments),)
        case "tool_call_response":
            said = next((part[k] for k in ("response", "result", "content") if k in part), None)
            listed = said if isinstance(said, list) and _typed(said) else []
            inner = tuple(p for each in listed for p in _part(each))
            content = result_content(inner or _plain(said))
            name = text_of(part.get("name"))
            return (ToolResult(text_of(part.get("id")), content, name=name),)
        case "blob" | "binary":
            data = next((part[k] for k in ("content", "data") if isinstance(part.get(k), str)), "")
            return (media.from_base64(data, mime),)
        case "uri" | "image-url" | "audio-url" | "video-url" | "document-url":
            url = text_of(part.get("uri") or part.get("url"))
            family = text_of(part.get("modality")) or str(kind).partition("-")[0]
            return (media.from_url(url, media.kind_of(f"{family}/", "document"), mime=mime),)
    return parse_content(part)


def _typed(value: list[Any]) -> bool:
    return any(
        isinstance(one, Mapping) and one.get("type") in ("text", "blob", "uri") for one in value
    )


def _plain(value: object) -> tuple[Part, ...]:
    text = text_of(value)
    return (Text(text),) if text else ()


# ------------------------------------------------------------------------- Vercel, and events


def _vercel(span: OtelSpan) -> Exchange:
    held = span.attributes
    found = from_json(held.get("ai.prompt.messages"))
    sent: list[Said] = []
    for one in found if isinstance(found, list) else []:
        if isinstance(one, Mapping):
            sent += [Said(piece.role, piece.parts, one) for piece in cut_model(one)]
    parts: list[Part] = []
    if isinstance(held.get("ai.response.reasoning"), str) and held["ai.response.reasoning"]:
        parts.append(Thinking(held["ai.response.reasoning"]))
    said = held.get("ai.response.text") or held.get("ai.response.object")
    if isinstance(said, str) and said:
        parts.append(Text(said))
    calls = from_json(held.get("ai.response.toolCalls"))
    for one in calls if isinstance(calls, list) else []:
        block = {**one, "type": "tool-call"} if isinstance(one, Mapping) else one
        parts += [p for piece in cut_model({"content": [block]}) for p in piece.parts]
    return tuple(sent), (Said("assistant", tuple(parts)),) if parts else ()


def _events(span: OtelSpan) -> Exchange:
    sent: list[Said] = []
    answer: list[Said] = []
    listed = from_json(span.attributes.get("events"))
    events = [*span.events]
    events += [
        (one["event.name"], one)
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, Mapping) and isinstance(one.get("event.name"), str)
    ]
    for name, held in events:
        if name in _EVENTS:
            side = answer if name == "gen_ai.choice" else sent
            side.append(_event(held, _EVENTS[name]))
        for key, role, side in (
            ("gen_ai.prompt", "user", sent),
            ("gen_ai.completion", "assistant", answer),
        ):
            if key in held:
                side += _messages(from_json(held[key]), role)
    return tuple(sent), tuple(answer)


def _event(held: Record, role: str) -> Said:
    body = from_json(held.get("gen_ai.event.content", held.get("body")))
    inner: dict[str, Any] = dict(body) if isinstance(body, Mapping) else dict(held)
    message = from_json(inner.get("message"))
    if isinstance(message, Mapping):
        inner = dict(message)
    elif isinstance(message, str) and "content" not in inner:
        inner["content"] = message
    inner["role"] = role_of(inner, role)
    inner["tool_calls"] = from_json(inner.get("tool_calls"))
    inner.setdefault("tool_call_id", inner.get("id"))
    parts = openai_like.parse_blocks(inner)
    return Said(role_for(inner["role"], parts), parts, held)


def is_cut_off(span: OtelSpan) -> bool:
    """Whether a limit of the exporter cut the messages of a span."""
    names: Sequence[str] = (
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "ai.prompt.messages",
    )
    held = (span.attributes.get(name) for name in names)
    return any(isinstance(one, str) and one[:1] == "[" and from_json(one) is one for one in held)
