"""Steps of ATIF trajectories: cut into messages, made of messages, and put in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, parse_content, result_content
from compaction.formats.dialects.blocks import text_of as text
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.pieces import Piece
from compaction.messages import (
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

Step = Mapping[str, Any]

_ROLES: Mapping[str, str] = {"agent": "assistant", "user": "user", "system": "system"}

#: What only a step in which the model spoke may have.
_SPOKEN = ("reasoning_content", "reasoning_effort", "tool_calls", "metrics", "llm_call_count")

#: The images a trajectory may hold.
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def cut(step: Step) -> list[Piece]:
    """What was said in a step, and what came back: one message for every result."""
    return [piece for _, piece in _pieces(step)]


def keep(step: Step, indexes: Sequence[int]) -> dict[str, Any]:
    """The step with only some of its messages."""
    pieces = _pieces(step)
    gone = {pieces[i][0] for i in range(len(pieces)) if i not in indexes}
    made = dict(step)
    if None in gone:
        made = {key: value for key, value in step.items() if key not in _SPOKEN}
        made |= {"step_id": 0, "message": ""}
    left = [one for number, one in enumerate(_results(step)) if number not in gone]
    if left:
        made["observation"] = {**step["observation"], "results": left}
    else:
        made.pop("observation", None)
    return made


def _pieces(step: Step) -> list[tuple[int | None, Piece]]:
    """Every message of a step with the number of its result, None for what was said."""
    source = step.get("source")
    role = _ROLES.get(source, source) if isinstance(source, str) else ""
    said: list[Part] = []
    reasoning = step.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        said.append(Thinking(reasoning))
    said += _content(step.get("message"))
    calls = step.get("tool_calls")
    if isinstance(calls, list):
        said += [_call(call) for call in calls]
    came = [
        (number, piece)
        for number, result in enumerate(_results(step))
        if (piece := _came(result)) is not None
    ]
    spoken = Piece(role or "user", tuple(said))
    return [(None, spoken), *came] if said or not came else list(came)


def _results(step: Step) -> list[Any]:
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, Mapping) else None
    return results if isinstance(results, list) else []


def _came(result: object) -> Piece | None:
    """A result as a message: of the tool that was called, else what the agent was told."""
    if not isinstance(result, Mapping):
        return Piece("user", (opaque(result, "result"),), injected=True)
    call, content = result.get("source_call_id"), tuple(_content(result.get("content")))
    if isinstance(call, str):
        return Piece("tool", (ToolResult(call, result_content(content)),))
    # A result with nothing but references to other trajectories is not sent.
    return Piece("user", content, injected=True) if content else None


def _content(content: object) -> list[Part]:
    if not isinstance(content, list):
        return list(parse_content(content))
    return [part for block in content for part in _block(block)]


def _block(block: object) -> tuple[Part, ...]:
    source = block.get("source") if isinstance(block, Mapping) else None
    kind = block.get("type") if isinstance(block, Mapping) else None
    if isinstance(source, Mapping) and kind in ("image", "audio"):
        path, mime = source.get("path"), text(source.get("media_type"))
        what: MediaKind = "image" if kind == "image" else "audio"
        if isinstance(path, str):
            if "://" in path[:12] or path[:5].lower() == "data:":
                return (media.from_url(path, what, mime=mime),)
            return (Media(what, mime=mime, name=path),)
    return parse_block(block)


def _call(call: object) -> Part:
    if not isinstance(call, Mapping):
        return opaque(call, "tool_call")
    given = call.get("arguments")
    arguments = given if isinstance(given, str) else exact.dumps({} if given is None else given)
    return ToolCall(text(call.get("tool_call_id")), text(call.get("function_name")), arguments)


# ------------------------------------------------------------------------------------ writing


def rendered(message: Message, ids: Ids, notes: Notes) -> list[dict[str, Any]]:
    """A message as steps, still without a number: what it says, its results apart."""
    parts = message.parts
    results = [part for part in parts if isinstance(part, ToolResult)]
    rest = [part for part in parts if not isinstance(part, ToolResult)]
    out: list[dict[str, Any]] = []
    if results:
        came = [
            {
                "source_call_id": ids.result(one.call_id),
                "content": _written(one.content, notes),
            }
            for one in results
        ]
        if any(one.is_error for one in results):
            notes.tell("error-flag", "the error mark of a tool result")
        out.append(_step("agent", message, "", observation={"results": came}))
    if rest or not results:
        out.append(_said(message, rest, ids, notes))
    return out


def _said(message: Message, parts: Sequence[Part], ids: Ids, notes: Notes) -> dict[str, Any]:
    if message.role != "assistant":
        source = "system" if message.role in ("system", "developer") else "user"
        return _step(source, message, _written(parts, notes))
    more: dict[str, Any] = {"model_name": message.model} if message.model else {}
    thoughts = [part for part in parts if isinstance(part, Thinking)]
    if any(part.sealed for part in thoughts):
        notes.tell("thinking", "reasoning that only its provider can read")
    if said := "\n\n".join(part.text for part in thoughts if part.text):
        more["reasoning_content"] = said
    calls = [
        {
            "tool_call_id": ids.call(part.id),
            "function_name": part.name,
            "arguments": _arguments(part, notes),
        }
        for part in parts
        if isinstance(part, ToolCall)
    ]
    if calls:
        more["tool_calls"] = calls
    if message.usage:
        more["metrics"] = {
            "prompt_tokens": message.usage.context,
            "completion_tokens": message.usage.output,
            "cached_tokens": message.usage.cached,
        }
    spoken = [part for part in parts if not isinstance(part, (Thinking, ToolCall))]
    return _step("agent", message, _written(spoken, notes), **more)


def _step(source: str, message: Message, said: object, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"step_id": 0}
    if "T" in message.time:
        made["timestamp"] = message.time
    made["source"] = source
    if model := more.pop("model_name", ""):
        made["model_name"] = model
    return {**made, "message": said, **more}


def _arguments(call: ToolCall, notes: Notes) -> dict[str, Any]:
    try:
        value = exact.loads(call.arguments) if call.arguments.strip() else {}
    except exact.ExactError:
        value = None
    if isinstance(value, dict):
        return value
    notes.tell("arguments", f"arguments of {call.name or 'a tool'} that are no JSON object")
    return {"input": call.arguments}


def _written(parts: Iterable[Part], notes: Notes) -> str | list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text(text=said):
                blocks.append({"type": "text", "text": said})
            case Media(kind="image", mime=mime, url=url) if url[:4].lower() == "http":
                source = {"media_type": mime if mime in _IMAGES else "image/png", "path": url}
                blocks.append({"type": "image", "source": source})
            case Media(mime=mime, kind=kind):
                notes.tell("media", f"{mime or kind} content")
                blocks.append({"type": "text", "text": part.label})
            case Opaque(kind=kind, text=said):
                notes.tell("opaque", f"a block of type {kind}")
                blocks.append({"type": "text", "text": said})
            case _:
                pass
    if not blocks:
        return ""
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return str(blocks[0]["text"])
    return blocks


# -------------------------------------------------------------------------------------- order


def settled(steps: Sequence[object]) -> list[tuple[int, object, bool]]:
    """Steps with every result in the step of its call: each with its index, and if it changed.

    A result may only stand beside its call; one whose call is gone stands without a name for it.
    """
    out: list[tuple[int, object, bool]] = []
    owners: dict[str, int] = {}
    for index, step in enumerate(steps):
        if isinstance(step, Mapping) and _is_bare(step):
            homeless: list[Any] = []
            for result in _results(step):
                home = owners.get(result["source_call_id"])
                if home is None:
                    homeless.append({k: v for k, v in result.items() if k != "source_call_id"})
                    continue
                at, owner, _ = out[home]
                assert isinstance(owner, Mapping)
                seen = {**(owner.get("observation") or {})}
                seen["results"] = [*_results(owner), result]
                out[home] = (at, {**owner, "observation": seen}, True)
            if not homeless:
                continue
            step = {**step, "source": "user", "observation": {"results": homeless}}
            step.pop("model_name", None)
            out.append((index, step, True))
            continue
        calls = step.get("tool_calls") if isinstance(step, Mapping) else None
        for call in calls if isinstance(calls, list) else ():
            name = call.get("tool_call_id") if isinstance(call, Mapping) else None
            if isinstance(name, str):
                owners[name] = len(out)
        out.append((index, step, False))
    return out


def _is_bare(step: Step) -> bool:
    """Whether a step was made here of nothing but results, to be put beside their calls."""
    results = _results(step)
    return (
        bool(results)
        and step.get("step_id") == 0
        and not step.get("message")
        and not step.get("tool_calls")
        and all(isinstance(one, Mapping) for one in results)
        and all(isinstance(one.get("source_call_id"), str) for one in results)
    )
