"""What one request of a VS Code chat sent to the model and got back, step by step.

`result.metadata` holds the rounds as the model saw them; `response` is what the editor shows of
them, and all there is where a request has no rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, text_of
from compaction.messages import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult, Usage

#: `late` are results of calls of an earlier request, `context` what is sent at the very start.
Kind = Literal["late", "context", "user", "assistant", "tool", "summary"]

_ROLES: Mapping[str, str] = {
    "late": "tool",
    "context": "user",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "summary": "user",
}

#: How deep a rendered tree may be nested.
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One message of a request."""

    kind: Kind
    parts: tuple[Part, ...]
    id: str = ""

    @property
    def role(self) -> str:
        return _ROLES[self.kind]


def steps(request: Mapping[str, Any]) -> list[Step]:
    """The messages of one request in the order they were sent."""
    return list(_steps(request))


def _steps(request: Mapping[str, Any]) -> Iterator[Step]:
    about = metadata(request)
    rounds = listed(about.get("toolCallRounds"))
    results = about.get("toolCallResults")
    results = results if isinstance(results, Mapping) else {}
    called = {
        call.get("id")
        for one in rounds
        for call in listed(one.get("toolCalls"))
        if isinstance(call.get("id"), str)
    }
    for call, held in results.items():
        if call not in called:
            yield Step("late", (_result(sent_id(call), "", held),))
    context = rendered(about.get("renderedGlobalContext"))
    if context:
        yield Step("context", context)
    said = _said(request, about)
    if said:
        yield Step("user", said, text_of(request.get("requestId")))
    if request.get("isCanceled") is True:
        return
    if not rounds:
        shown = shown_text(request.get("response"))
        if shown:
            yield Step("assistant", shown, text_of(request.get("responseId")))
    for one in rounds:
        yield from _round(one, results)


def _said(request: Mapping[str, Any], about: Mapping[str, Any]) -> tuple[Part, ...]:
    """What the user said, with all that was put around it where the file has that."""
    sent = rendered(about.get("renderedUserMessage"))
    if sent:
        return sent
    message = request.get("message")
    if isinstance(message, str):
        return (Text(message),) if message else ()
    text = text_of(message.get("text")) if isinstance(message, Mapping) else ""
    return (Text(text),) if text else ()


def _round(one: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[Step]:
    parts: list[Part] = list(_thinking(one.get("thinking")))
    text = text_of(one.get("response"))
    if text:
        parts.append(Text(text))
    asked = [(text_of(call.get("id")), call) for call in listed(one.get("toolCalls"))]
    calls = [
        ToolCall(sent_id(key), text_of(call.get("name")), _json(call.get("arguments")))
        for key, call in asked
    ]
    name = text_of(one.get("id"))
    if parts or calls:
        yield Step("assistant", (*parts, *calls), name)
    for (key, _), call in zip(asked, calls, strict=True):
        if key in results:
            yield Step("tool", (_result(call.id, call.name, results[key]),))
    summary = one.get("summary")
    if isinstance(summary, str) and summary:
        yield Step("summary", (Text(summary),))


def sent_id(held: str) -> str:
    """The id of a call as the model knows it: the editor puts a counter of its own behind it."""
    return held.partition("__vscode-")[0]


def _thinking(held: object) -> Iterator[Thinking]:
    if not isinstance(held, Mapping):
        return
    told = held.get("text")
    text = "".join(map(text_of, told)) if isinstance(told, list) else text_of(told)
    sealed = text_of(held.get("encrypted"))
    if text or sealed:
        yield Thinking(text, sealed=0 if text else len(sealed))


def metadata(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the extension keeps of a request."""
    result = request.get("result")
    held = result.get("metadata") if isinstance(result, Mapping) else None
    return held if isinstance(held, Mapping) else {}


def usage(request: Mapping[str, Any]) -> Usage | None:
    """The tokens of the last round, where the file tells them."""
    result = request.get("result")
    held = result.get("usage") if isinstance(result, Mapping) else None
    about = metadata(request)
    for told, wrote in ((held, "completionTokens"), (about, "outputTokens")):
        if isinstance(told, Mapping) and type(told.get("promptTokens")) is int:
            output = told.get(wrote)
            return Usage(told["promptTokens"], output if type(output) is int else 0)
    return None


def model(request: Mapping[str, Any]) -> str:
    """The model that answered, without the vendor that VS Code puts before it."""
    resolved = metadata(request).get("resolvedModel")
    named = resolved if isinstance(resolved, str) and resolved else request.get("modelId")
    return text_of(named).removeprefix("copilot/")


def listed(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _json(value: object) -> str:
    return value if isinstance(value, str) else exact.dumps({} if value is None else value)


# ----------------------------------------------------------------------------- rendered parts


def rendered(content: object) -> tuple[Part, ...]:
    """Content as the extension renders it: 1 is text, 2 an image, 3 a mark for the cache."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    out: list[Part] = []
    for block in content if isinstance(content, list) else ():
        out += _rendered(block)
    return tuple(out)


def _rendered(block: object) -> Sequence[Part]:
    if not isinstance(block, Mapping):
        return parse_block(block)
    match block.get("type"):
        case 1:
            return (Text(text_of(block.get("text"))),) if block.get("text") else ()
        case 2:
            held = block.get("imageUrl")
            url = held.get("url") if isinstance(held, Mapping) else None
            return (media.from_url(url, "image"),) if isinstance(url, str) else (opaque(block),)
        case 3:
            return ()
        case str():
            return parse_block(block)
    return (opaque(block, "part"),)


def _result(call: str, name: str, held: object) -> ToolResult:
    content = held.get("content") if isinstance(held, Mapping) else held
    failed = isinstance(held, Mapping) and held.get("isError") is True
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    parts = tuple(part for block in blocks for part in _content(block))
    return ToolResult(call, parts, is_error=failed, name=name)


def _content(block: object) -> tuple[Text | Media | Opaque, ...]:
    if isinstance(block, str):
        return (Text(block),) if block else ()
    if not isinstance(block, Mapping):
        return (opaque(block),)
    value = block.get("value")
    if isinstance(value, str):
        return (Text(value),) if value else ()
    if isinstance(value, Mapping) and isinstance(value.get("node"), Mapping):
        text = _tree_text(value["node"])
        return (Text(text),) if text else ()
    if isinstance(block.get("data"), str):
        return (media.from_base64(block["data"], text_of(block.get("mimeType"))),)
    return (opaque(block, text_of(block.get("mimeType")) or "tool result"),)


def _tree_text(node: Mapping[str, Any]) -> str:
    """The text of a rendered tree: its leaves, some of which start a line."""
    out: list[str] = []
    stack: list[tuple[object, int]] = [(node, 0)]
    while stack:
        one, depth = stack.pop()
        if not isinstance(one, Mapping) or depth > _DEEPEST:
            continue
        if isinstance(one.get("text"), str):
            if one.get("lineBreakBefore") is True and out:
                out.append("\n")
            out.append(one["text"])
        children = one.get("children")
        if isinstance(children, list):
            stack += [(child, depth + 1) for child in reversed(children)]
    return "".join(out)


# ---------------------------------------------------------------------------- what is on screen


def shown_text(response: object) -> tuple[Part, ...]:
    """The answer as it is shown, where nothing else is kept of it."""
    thoughts: list[str] = []
    texts: list[str] = []
    for one in listed(response):
        match one.get("kind"):
            case None | "markdownContent":
                texts.append(_markdown(one.get("value", one.get("content"))))
            case "thinking":
                value = one.get("value")
                thoughts.append(
                    "".join(map(text_of, value)) if isinstance(value, list) else text_of(value)
                )
            case "inlineReference":
                texts.append(_reference(one))
    thought, text = "".join(thoughts), "".join(texts)
    parts: list[Part] = [Thinking(thought)] if thought.strip() else []
    if text.strip():
        parts.append(Text(text))
    return tuple(parts)


def _markdown(value: object) -> str:
    return text_of(value.get("value")) if isinstance(value, Mapping) else text_of(value)


def _reference(one: Mapping[str, Any]) -> str:
    """The name of a file or symbol that the editor shows as a link."""
    if isinstance(one.get("name"), str):
        return str(one["name"])
    held = one.get("inlineReference")
    if not isinstance(held, Mapping):
        return ""
    if isinstance(held.get("name"), str):
        return str(held["name"])
    inner = held.get("uri", held)
    path = inner.get("path", inner.get("fsPath")) if isinstance(inner, Mapping) else None
    return path.rstrip("/").rpartition("/")[2] if isinstance(path, str) else ""
