"""What a message of opencode sends: the steps of a response, and the results of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, text_of
from compaction.formats.pieces import Piece
from compaction.messages import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult, Usage

Record = Mapping[str, Any]

#: What opencode sends in place of what it does not send as it is.
CLEARED = "[Old tool result content cleared]"
INTERRUPTED = "[Tool execution was interrupted]"
COMPACTION = "What did we do so far?"
SUBTASK = "The following tool was executed by the user"

#: Parts that are never sent: marks and states of the client.
_UNSENT = frozenset(
    {
        "agent",
        "compaction",
        "patch",
        "retry",
        "snapshot",
        "step-finish",
        "step-start",
        "subtask",
    }
)

#: Files whose content stands in a text part beside them.
_UNPACKED = frozenset({"text/plain", "application/x-directory"})


def info_of(record: object) -> Record:
    """What a message says of itself."""
    return mapping(record.get("info")) if isinstance(record, Mapping) else {}


def parts_of(record: object) -> list[Record]:
    """The parts of a message; what is no object stands as a part of no type."""
    held = record.get("parts") if isinstance(record, Mapping) else None
    if not isinstance(held, list):
        return []
    return [part if isinstance(part, Mapping) else {"value": part} for part in held]


def mapping(value: object) -> Record:
    """An object as it is; nothing for any other value."""
    return value if isinstance(value, Mapping) else {}


@dataclass(slots=True)
class _Step:
    """One request within a response: what the model said, and what its calls gave."""

    said: list[Part] = field(default_factory=list)
    results: list[Part] = field(default_factory=list)
    usage: Usage | None = None
    #: Indexes of its parts in the record.
    parts: list[int] = field(default_factory=list)

    def pieces(self) -> Iterator[Piece]:
        """The messages it is sent as."""
        if self.said:
            yield Piece("assistant", tuple(self.said), usage=self.usage)
        if self.results:
            yield Piece("tool", tuple(self.results))


def cut(record: Record) -> Sequence[Piece]:
    """The messages that a message of opencode is sent as; none for one that is not sent."""
    info = info_of(record)
    if info.get("role") != "assistant":
        return _said(record)
    if is_failed(record):
        return ()
    return tuple(piece for step in _steps(record) for piece in step.pieces())


def keep(record: Record, indexes: Sequence[int]) -> object:
    """The message with the parts that those pieces come from; a call goes with its result."""
    number = 0
    left: list[int] = []
    for step in _steps(record):
        count = sum(1 for _ in step.pieces())
        own = range(number, number + count)
        number += count
        kept = [index for index in own if index in indexes]
        if not kept:
            continue
        only_results = bool(step.said) and own[0] not in kept
        left += [
            part
            for part in step.parts
            if not only_results or record["parts"][part].get("type") == "tool"
        ]
    return {**record, "parts": [record["parts"][index] for index in left]}


def is_failed(record: Record) -> bool:
    """Whether a response ended in an error that keeps it from being sent again."""
    error = mapping(info_of(record).get("error"))
    if not error:
        return False
    if error.get("name") != "MessageAbortedError":
        return True
    return all(part.get("type") in ("step-start", "reasoning") for part in parts_of(record))


def usage_of(tokens: object) -> Usage | None:
    """The tokens that opencode counts; what came from the cache is not in its `input`."""
    held = mapping(tokens)
    cache = mapping(held.get("cache"))
    fresh, wrote = _count(held, "input"), _count(held, "output")
    read, written = _count(cache, "read"), _count(cache, "write")
    if "total" in held:
        # Since it has the total, reasoning is no longer part of the output.
        wrote += _count(held, "reasoning")
    context = fresh + read + written
    return Usage(context, wrote, read, written) if context or wrote else None


def _count(value: Record, key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


# --------------------------------------------------------------------------------------- user


def _said(record: Record) -> Sequence[Piece]:
    parts: list[Part] = []
    typed = False
    for part in parts_of(record):
        match part.get("type"):
            case "text":
                if part.get("ignored") is not True and (text := text_of(part.get("text"))):
                    parts.append(Text(text))
                    typed = typed or part.get("synthetic") is not True
            case "file":
                if text_of(part.get("mime")) not in _UNPACKED:
                    parts.append(_file(part))
                    typed = True
            case "compaction":
                parts.append(Text(COMPACTION))
            case "subtask":
                parts.append(Text(SUBTASK))
            case _ as kind if not _is_unsent(kind):
                parts.append(opaque(dict(part)))
    role = text_of(info_of(record).get("role"))
    return (Piece(role, tuple(parts), role == "user" and not typed),) if parts else ()


def _is_unsent(kind: object) -> bool:
    return isinstance(kind, str) and kind in _UNSENT


def _file(part: Record) -> Media:
    name, mime = text_of(part.get("filename")), text_of(part.get("mime"))
    return media.from_url(text_of(part.get("url")), mime=mime, name=name)


# ---------------------------------------------------------------------------------- assistant


def _steps(record: Record) -> list[_Step]:
    steps = [_Step()]
    for index, part in enumerate(parts_of(record)):
        kind = part.get("type")
        if kind == "step-start" and steps[-1].said:
            steps.append(_Step())
        step = steps[-1]
        step.parts.append(index)
        match kind:
            case "text":
                if text := text_of(part.get("text")):
                    step.said.append(Text(text))
            case "reasoning":
                step.said += _thinking(part)
            case "file":
                step.said.append(_file(part))
            case "tool":
                call = _call(part, index)
                step.said.append(call)
                step.results.append(_result(part, call))
            case "step-finish":
                step.usage = usage_of(part.get("tokens"))
            case _ if not _is_unsent(kind):
                step.said.append(opaque(dict(part)))
    if len(steps) > 1 and not steps[-1].said:
        # What stands behind the last step is of the one before it.
        last = steps.pop()
        steps[-1].parts += last.parts
    told = usage_of(info_of(record).get("tokens"))
    if not steps[-1].usage and told:
        steps[-1].usage = told
    return steps


def _thinking(part: Record) -> Iterator[Thinking]:
    text = text_of(part.get("text"))
    signature = ""
    sealed = 0
    for held in mapping(part.get("metadata")).values():
        given = mapping(held)
        signature = signature or text_of(given.get("signature"))
        sealed = sealed or len(text_of(given.get("reasoningEncryptedContent")))
        sealed = sealed or len(text_of(given.get("redactedData")))
    if text or signature or sealed:
        yield Thinking(text, signature, 0 if text else sealed or len(signature))


def call_id(part: Record, index: int) -> str:
    """The id of a call; one is made where there is none."""
    for key in ("callID", "id"):
        if isinstance(given := part.get(key), str) and given:
            return given
    return f"{text_of(part.get('tool')) or 'tool'}#{index}"


def _call(part: Record, index: int) -> ToolCall:
    state = mapping(part.get("state"))
    given, raw = state.get("input"), state.get("raw")
    if not given and isinstance(raw, str) and raw:
        given = raw
    arguments = given if isinstance(given, str) else exact.dumps({} if given is None else given)
    return ToolCall(call_id(part, index), text_of(part.get("tool")), arguments)


def _result(part: Record, call: ToolCall) -> ToolResult:
    state = mapping(part.get("state"))
    status = state.get("status")
    about = mapping(state.get("metadata"))
    if status in ("pending", "running"):
        return ToolResult(call.id, (Text(INTERRUPTED),), True, call.name)
    if status == "error" and not isinstance(about.get("output"), str):
        return ToolResult(call.id, (Text(text_of(state.get("error"))),), True, call.name)
    if status == "error":
        output: object = about["output"]
    elif mapping(state.get("time")).get("compacted"):
        return ToolResult(call.id, (Text(CLEARED),), name=call.name, cleared=True)
    else:
        output = state.get("output")
    content: list[Text | Media | Opaque] = []
    if output is not None and output != "":
        content.append(Text(text_of(output)))
    files = state.get("attachments")
    content += [
        _file(file) if isinstance(file, Mapping) else opaque(file)
        for file in (files if isinstance(files, list) else [])
    ]
    return ToolResult(call.id, tuple(content), name=call.name)
