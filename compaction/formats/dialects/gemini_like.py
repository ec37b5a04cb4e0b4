"""Gemini contents: `{role, parts}` read into parts, and messages written as contents.

Names of members are read as the API spells them (`functionCall`) and as Google's Python libraries
do (`function_call`). Where calls and results have no ids, they are paired by name and order, and
`name#n` stands for the n-th call of that name in its turn. Writing stands in `gemini_rendering`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, result_content, text_of
from compaction.formats.dialects.roles import role_of
from compaction.messages import Media, MediaKind, Opaque, Part, Text, Thinking, ToolCall, ToolResult

Content = Mapping[str, Any]

#: Members of a part, by the key the API gives them and the one of Google's Python libraries.
_SNAKE: Mapping[str, str] = {
    "codeExecutionResult": "code_execution_result",
    "executableCode": "executable_code",
    "fileData": "file_data",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mediaResolution": "media_resolution",
    "thoughtSignature": "thought_signature",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
    "videoMetadata": "video_metadata",
}
#: Keys inside those that are spelled in two ways, too.
_INNER: Mapping[str, str] = {
    "displayName": "display_name",
    "endOffset": "end_offset",
    "fileUri": "file_uri",
    "mimeType": "mime_type",
    "startOffset": "start_offset",
}
_CAMEL = {snake: camel for camel, snake in (*_SNAKE.items(), *_INNER.items())}
_MEMBERS = frozenset(_SNAKE) | frozenset(_SNAKE.values()) | {"text"}

#: What runs on Google's side: no call of the client, and no answer of it.
_THEIR_OWN = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")

_MADE = re.compile(r"(?s)(.*)#([0-9]+)")


def get(holder: Mapping[str, Any], key: str) -> Any:
    """A member of a part, under either spelling."""
    found = holder.get(key)
    if found is not None:
        return found
    snake = _SNAKE.get(key) or _INNER.get(key)
    return holder.get(snake) if snake else None


def parts_of(content: Content) -> list[Any]:
    """The parts of a content as a list, whichever way they are given."""
    held = content.get("parts")
    if isinstance(held, list):
        return held
    return [] if held is None else [held]


def is_content(value: object) -> bool:
    """Whether a value is a content: an object with `parts` of the kinds that Gemini has."""
    if not isinstance(value, Mapping):
        return False
    held = value.get("parts")
    if not isinstance(held, (list, dict)) or "type" in value or "kind" in value:
        return False
    parts = parts_of(value)
    if not parts:
        return isinstance(value.get("role"), str)
    return any(map(_is_part, parts))


def _is_part(part: object) -> bool:
    return isinstance(part, str) or (
        isinstance(part, Mapping)
        and "type" not in part
        and "part_kind" not in part
        and "kind" not in part
        and not _MEMBERS.isdisjoint(part)
    )


def content_role(content: Content, parts: Sequence[Part]) -> str:
    """The role of a content: `tool` for one of nothing but results, `user` where none is said."""
    role = "assistant" if content.get("role") == "gemini" else role_of(content, "user")
    if role in ("user", "tool"):
        answers = any(isinstance(part, ToolResult) for part in parts)
        only = all(isinstance(part, (ToolResult, Media)) for part in parts)
        return "tool" if answers and only else "user"
    return role


def parse_content(content: object, ids: Sequence[str] | None = None) -> tuple[Part, ...]:
    """The parts of one content. `ids` are those of its calls and results, in their order."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, Mapping):
        return () if content is None else (opaque(content),)
    return parse_parts(parts_of(content), ids)


def parse_parts(parts: Sequence[object], ids: Sequence[str] | None = None) -> tuple[Part, ...]:
    """The parts of a list of Gemini parts."""
    if ids is None:
        ids = ids_of([parts], [False])[0]
    left = list(reversed(ids))
    out: list[Part] = []
    for part in parts:
        if isinstance(part, str):
            out.append(Text(part))
        elif isinstance(part, Mapping):
            out += _parse_part(part, left)
        else:
            out.append(opaque(part))
    return tuple(out)


def _parse_part(part: Mapping[str, Any], ids: list[str]) -> list[Part]:
    """The parts of one part: what it says, and a signature in front of what it signs."""
    signature = get(part, "thoughtSignature")
    signature = signature if isinstance(signature, str) else ""
    text = part.get("text")
    if part.get("thought") is True and isinstance(text, str):
        return [Thinking(text, signature, 0 if text else len(signature))]
    out: list[Part] = []
    if isinstance(text, str) and (text or not signature):
        out.append(Text(text))
    if (call := _held(part, "functionCall")) is not None:
        arguments = exact.dumps({} if call.get("args") is None else call["args"])
        out.append(ToolCall(ids.pop() if ids else "", text_of(call.get("name")), arguments))
    if (answer := _held(part, "functionResponse")) is not None:
        out.append(_response(answer, ids.pop() if ids else ""))
    if (blob := _held(part, "inlineData")) is not None:
        out.append(_inline(blob) or opaque(part, "inlineData"))
    if (file := _held(part, "fileData")) is not None:
        out.append(_file(file) or opaque(part, "fileData"))
    out += [opaque(part, key) for key in _THEIR_OWN if get(part, key) is not None]
    if signature:
        return [Thinking("", signature, len(signature)), *out]
    return out or [opaque(part, _first_key(part))]


def _held(part: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    found = get(part, key)
    return found if isinstance(found, Mapping) else None


def _first_key(part: Mapping[str, Any]) -> str:
    return next((key for key in part if key not in ("thought", "text")), "unknown")


def _response(answer: Mapping[str, Any], call: str) -> ToolResult:
    """A result: the text of `output` or `error` where there is nothing else, else its JSON."""
    response = answer.get("response")
    failed = False
    said: object = response
    if isinstance(response, Mapping) and len(response) == 1:
        key, value = next(iter(response.items()))
        if key in ("output", "result", "error") and isinstance(value, str):
            failed, said = key == "error", value
        elif key == "error":
            failed = True
    content: list[Part] = []
    if isinstance(said, str):
        content = [Text(said)] if said else []
    elif said is not None and said != {}:
        content = [Text(exact.dumps(said))]
    inner = answer.get("parts")
    if isinstance(inner, list):
        content += parse_parts(inner)
    name = text_of(answer.get("name"))
    return ToolResult(call, result_content(content), is_error=failed, name=name)


def _inline(blob: Mapping[str, Any]) -> Media | None:
    data = blob.get("data")
    if not isinstance(data, str):
        return None
    if "-" in data or "_" in data:
        # Google's Python libraries write base64 with the alphabet for URLs.
        data = data.replace("-", "+").replace("_", "/")
    mime, name = text_of(get(blob, "mimeType")), text_of(get(blob, "displayName"))
    return media.from_base64(data, mime, name=name)


def _file(file: Mapping[str, Any]) -> Media | None:
    uri = get(file, "fileUri")
    if not isinstance(uri, str):
        return None
    mime, name = text_of(get(file, "mimeType")), text_of(get(file, "displayName"))
    kind: MediaKind = media.kind_of(mime, "video" if "youtu" in uri else "file")
    return media.from_url(uri, kind, mime=mime, name=name)


# --------------------------------------------------------------------------------------- ids


@dataclass(slots=True)
class _Turn:
    """The calls of one turn of the model, and how far they are answered."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    open: list[tuple[str, str]] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    over: bool = False

    def call(self, name: str, given: str) -> str:
        self.named[name] += 1
        made = given or f"{name}#{self.named[name]}"
        self.calls.append((made, name))
        self.open.append((made, name))
        return made

    def answer(self, name: str, given: str) -> str:
        self.answered[name] += 1
        if given:
            fitting = [at for at, (made, _) in enumerate(self.open) if made == given]
        else:
            # A call without an id of its own comes first: the others have results that name them.
            named = [at for at, (_, called) in enumerate(self.open) if called == name]
            fitting = [at for at in named if is_made(*self.open[at])] or named
        if fitting:
            return self.open.pop(fitting[0])[0]
        return given or f"{name}#{self.answered[name]}"


def parsers(contents: Sequence[object]) -> list[Callable[[Any], tuple[Part, ...]]]:
    """How to parse each of a list of contents: results without ids take those of their calls."""
    held = [parts_of(one) if isinstance(one, Mapping) else [] for one in contents]
    spoken = [isinstance(one, Mapping) and content_role(one, ()) == "assistant" for one in contents]
    return [partial(parse_content, ids=ids) for ids in ids_of(held, spoken)]


def ids_of(contents: Sequence[Sequence[object]], spoken: Sequence[bool]) -> list[tuple[str, ...]]:
    """For the parts of each content the ids of its calls and results, in their order.

    `spoken` says which contents are the model's.
    """
    out: list[tuple[str, ...]] = []
    turn = _Turn()
    for parts, model in zip(contents, spoken, strict=True):
        if model and turn.over:
            turn = _Turn()
        ids: list[str] = []
        for part in parts:
            if not isinstance(part, Mapping):
                continue
            signed = part.get("thought") is True and isinstance(part.get("text"), str)
            for key, take in (("functionCall", turn.call), ("functionResponse", turn.answer)):
                if not signed and (held := _held(part, key)) is not None:
                    given = held.get("id")
                    given = given if isinstance(given, str) else ""
                    ids.append(take(text_of(held.get("name")), given))
        turn.over = turn.over or not model
        out.append(tuple(ids))
    return out


def is_made(call_id: str, name: str) -> bool:
    """Whether an id is none of the file, but stands for the place of a call of `name`."""
    found = _MADE.fullmatch(call_id)
    return found is not None and found[1] == name


def camel(part: Mapping[str, Any], depth: int = 2) -> dict[str, Any]:
    """A part with its own members, and theirs, spelled as the API spells them."""
    return {
        _CAMEL.get(key, key): camel(one, depth - 1)
        if isinstance(one, Mapping) and depth > 1
        else one
        for key, one in part.items()
    }


def text_part(part: Opaque) -> dict[str, Any] | None:
    """The Gemini part that an opaque part was read from; None where it was something else."""
    try:
        value = exact.loads(part.text)
    except exact.ExactError:
        return None
    return dict(value) if isinstance(value, dict) and _is_part(value) else None
