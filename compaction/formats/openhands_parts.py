"""What the events of OpenHands say, as parts of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.blocks import opaque, parse_content, result_content
from compaction.formats.dialects.blocks import text_of as text
from compaction.formats.openhands_events import (
    Record,
    called,
    is_sdk,
    is_users,
    made_id,
    mapping,
    metadata,
)
from compaction.messages import Part, Text, Thinking, ToolCall, ToolResult

#: Members of a flat action that are no arguments of it.
_AROUND = frozenset(
    {
        "action",
        "action_risk",
        "args",
        "cause",
        "id",
        "is_confirmed",
        "kernel_init_code",
        "keep_prompt",
        "llm_metrics",
        "message",
        "source",
        "thought",
        "timeout",
        "timestamp",
        "tool_call_metadata",
    }
)


def parts(event: Record, call: str = "", *, first: bool = True) -> tuple[Part, ...]:
    """The parts of an event. `call` is the id of its call or of the one it answers.

    Of several actions of one response, what was said beside the calls is that of the `first`.
    """
    if is_sdk(event):
        return _sdk_parts(event, call)
    if not isinstance(event.get("action"), str):
        return _came(event, call)
    return _done(event, call, first=first)


def _sdk_parts(event: Record, call: str) -> tuple[Part, ...]:
    match event["kind"]:
        case "SystemPromptEvent":
            blocks = [event.get("system_prompt"), event.get("dynamic_context")]
            return _said([block for block in blocks if block])
        case "MessageEvent":
            message = mapping(event.get("llm_message"))
            extended = event.get("extended_content")
            content = [*_blocks(message.get("content")), *_blocks(extended)]
            return openai_like.parse_blocks({**message, "content": content})
        case "ActionEvent":
            held = {key: event.get(key) for key in ("thinking_blocks", "reasoning_content")}
            asked = event.get("tool_call")
            asked = [] if asked is None else [asked]
            content = _blocks(event.get("thought"))
            spoken = {"role": "assistant", **held, "content": content, "tool_calls": asked}
            return openai_like.parse_blocks(spoken)
        case "AgentErrorEvent":
            return (_result(event, call, parse_content(event.get("error")), failed=True),)
        case "UserRejectObservation":
            said = f"Action rejected: {text(event.get('rejection_reason'))}"
            return (_result(event, call, (Text(said),)),)
        case "ObservationEvent":
            seen = event.get("observation")
            failed = mapping(seen).get("is_error") is True
            return (_result(event, call, _seen(seen), failed=failed),)
    return parse_content(event.get("summary"))


def _seen(observation: object) -> tuple[Part, ...]:
    if isinstance(observation, Mapping):
        for key in ("content", "output"):
            if isinstance(observation.get(key), (str, list)):
                return _said(observation[key])
    return (opaque(observation),) if observation is not None else ()


def _result(event: Record, call: str, came: Iterable[Part], *, failed: bool = False) -> ToolResult:
    name = text(event.get("tool_name"))
    return ToolResult(call or called(event), result_content(came), is_error=failed, name=name)


def _said(content: object) -> tuple[Part, ...]:
    return parse_content(_blocks(content))


def _blocks(content: object) -> list[Any]:
    """Content as blocks that every API knows: images one by one."""
    if content is None or content == "":
        return []
    out: list[Any] = []
    for block in content if isinstance(content, list) else [content]:
        urls = block.get("image_urls") if isinstance(block, Mapping) else None
        if isinstance(urls, list):
            out += [{"type": "image_url", "image_url": url} for url in urls]
        elif isinstance(block, str):
            out.append({"type": "text", "text": block})
        else:
            out.append(block)
    return out


def _done(event: Record, call: str, *, first: bool) -> tuple[Part, ...]:
    """What an action of the first version says, and the call it is."""
    args = mapping(event.get("args")) or event
    action = event["action"]
    if action in ("message", "system"):
        images = args.get("image_urls")
        shown = [{"image_urls": images}] if isinstance(images, list) and images else []
        return _said([*_blocks(args.get("content")), *shown])
    if is_users(event):
        return (Text(f"{action} {exact.dumps(_arguments(event))}"),)
    message = _message_of(event)
    if not message:
        thought = text(args.get("thought"))
        out: tuple[Part, ...] = (Text(thought),) if thought else ()
        if action == "finish":
            return out
        asked = ToolCall(call or made_id(event), action, exact.dumps(_arguments(event)))
        return (*out, asked)
    every = openai_like.parse_blocks({**message, "role": "assistant"})
    spoken = tuple(p for p in every if not isinstance(p, ToolCall)) if first else ()
    if action == "finish":
        # The tool sends the end of a task as what was said, without the call.
        last = text(args.get("final_thought") or args.get("thought"))
        known = any(isinstance(part, Text) and last in part.text for part in spoken)
        return spoken if known or not last else (*spoken, Text(last))
    mine = [part for part in every if isinstance(part, ToolCall) and part.id == call]
    return (*spoken, *mine[:1]) if mine else (*spoken, _bare_call(event, call))


def _bare_call(event: Record, call: str) -> ToolCall:
    name = text(metadata(event).get("function_name")) or event["action"]
    return ToolCall(call, name, exact.dumps(_arguments(event)))


def _arguments(event: Record) -> dict[str, Any]:
    args = event.get("args")
    if isinstance(args, Mapping):
        return {key: value for key, value in args.items() if key not in _AROUND}
    return {key: value for key, value in event.items() if key not in _AROUND}


def _came(event: Record, call: str) -> tuple[Part, ...]:
    content = parse_content(event.get("content"))
    failed = event.get("observation") == "error"
    if not call:
        return content
    name = text(metadata(event).get("function_name"))
    return (ToolResult(call, result_content(content), is_error=failed, name=name),)


def merged(records: Sequence[tuple[Record, str]]) -> tuple[Part, ...]:
    """The parts of several actions of one response, each with the id of its call."""
    out: list[Part] = []
    for number, (event, call) in enumerate(records):
        found = parts(event, call, first=not number)
        known = {part for part in out if isinstance(part, Thinking)}
        out += [part for part in found if not (isinstance(part, Thinking) and part in known)]
    return tuple(out)


def _message_of(event: Record) -> Record:
    """The model's message that an action of the first version was made of."""
    choices = mapping(metadata(event).get("model_response")).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return mapping(mapping(first).get("message"))
