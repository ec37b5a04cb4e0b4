"""New messages and parts as opencode stores them, with all the members it wants of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from compaction.formats.dialects import media
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import argument_object
from compaction.formats.opencode_parts import mapping
from compaction.messages import (
    Media,
    Opaque,
    Part,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: Makers of models, by how the names of their models begin.
_MAKERS: Mapping[str, str] = {
    "claude": "anthropic",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "gemini": "google",
}

#: When a session began of which nobody knows, in milliseconds since 1970.
EPOCH = 1_700_000_000_000

_NOTHING = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def new_record(role: str, parts: Sequence[Part], notes: Notes) -> dict[str, Any]:
    """A record without ids."""
    spoken = "assistant" if role == "assistant" else "user"
    made = [one for part in parts for one in _part(part, notes)]
    return {"info": {"role": spoken}, "parts": made}


def _part(part: Part, notes: Notes) -> Iterator[dict[str, Any]]:
    match part:
        case Text(text=text):
            if text:
                yield {"type": "text", "text": text}
        case Thinking(text=text):
            if text:
                yield {"type": "reasoning", "text": text, "time": {"start": 0, "end": 0}}
            else:
                notes.tell("thinking", "reasoning that is sealed")
        case ToolCall():
            given = argument_object(part, notes)
            state = {"status": "pending", "input": given, "raw": part.arguments}
            yield {"type": "tool", "callID": part.id, "tool": part.name, "state": state}
        case ToolResult():
            yield {"type": "text", "text": part.text}
        case Media():
            if url := media.data_url(part):
                yield _file(part, url)
            else:
                notes.tell("media", f"{part.mime or part.kind} content")
                yield {"type": "text", "text": part.label}
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind}")
            yield {"type": "text", "text": text}


def _file(part: Media, url: str) -> dict[str, Any]:
    made = {"type": "file", "mime": part.mime or "application/octet-stream", "url": url}
    return {**made, "filename": part.name} if part.name else made


def answered(old: Mapping[str, Any], result: ToolResult, notes: Notes) -> dict[str, Any]:
    """The state of a call with this result; input, times and what else it says stay."""
    texts: list[str] = []
    files: list[dict[str, Any]] = []
    for part in result.content:
        if isinstance(part, Media) and (url := media.data_url(part)):
            files.append(_file(part, url))
        else:
            if isinstance(part, Media):
                notes.tell("media", f"{part.mime or part.kind} content")
            texts.append(part.label if isinstance(part, Media) else part.text)
    text = "\n".join(texts)
    time = {"start": 0, "end": 0, **mapping(old.get("time"))}
    time.pop("compacted", None)
    kept = {k: v for k, v in old.items() if k in ("input", "title", "metadata")}
    made = {"input": {}, "metadata": {}, **kept, "time": time}
    if result.is_error:
        made.pop("title", None)
        return {**made, "status": "error", "error": text}
    made = {"title": "", **made, "status": "completed", "output": text}
    return {**made, "attachments": files} if files else made


def complete(
    record: dict[str, Any],
    name: str,
    owner: str,
    created: object,
    model: tuple[str, str],
    agent: str | None,
) -> None:
    """Give a record and its parts all that opencode wants of them."""
    time = created if isinstance(created, int) and not isinstance(created, bool) else EPOCH
    provider, model_id = model
    info: dict[str, Any] = {"id": name, "sessionID": owner, **record["info"]}
    info["time"] = {"created": time}
    info["agent"] = agent or "build"
    if info["role"] == "user":
        info["model"] = {"providerID": provider, "modelID": model_id}
    else:
        info["time"]["completed"] = time
        info |= {"parentID": name, "modelID": model_id, "providerID": provider}
        info |= {"mode": info["agent"], "path": {"cwd": "/", "root": "/"}}
        info |= {"cost": 0, "tokens": _NOTHING, "finish": "stop"}
    record["info"] = info
    stem = "prt" + name.removeprefix("msg")
    for number, part in enumerate(record["parts"]):
        ids = {"id": f"{stem}{number:04d}", "sessionID": owner, "messageID": name}
        record["parts"][number] = {**ids, **part}
        state = part.get("state")
        if isinstance(state, dict) and isinstance(files := state.get("attachments"), list):
            state["attachments"] = [
                {**ids, "id": f"{stem}{number:04d}{index:02d}", **file}
                for index, file in enumerate(files)
            ]


def model_of(info: Mapping[str, Any], session: Session) -> tuple[str, str]:
    """The maker and the model of a neighbour, else of the session."""
    held = mapping(info.get("model"))
    provider = info.get("providerID") or held.get("providerID")
    model = info.get("modelID") or held.get("modelID")
    if isinstance(provider, str) and isinstance(model, str):
        return provider, model
    return maker_of(session.model), session.model or "unknown"


def maker_of(model: str) -> str:
    """Who makes a model, as far as its name tells."""
    return next((v for k, v in _MAKERS.items() if model.startswith(k)), "unknown")


def hashed(seed: bytes, length: int) -> str:
    """Hexadecimal digits that stand for `seed`."""
    return sha256(seed).hexdigest()[:length]
