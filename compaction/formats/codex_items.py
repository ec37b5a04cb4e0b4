"""The items of a Codex rollout: which are sent to the model, and what each holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import orjson

from compaction.formats import exact
from compaction.formats.dialects import responses_like
from compaction.formats.dialects.blocks import opaque, text_of
from compaction.formats.dialects.roles import role_of
from compaction.formats.drafts import (
    NO_KINDS,
    Draft,
    draft,
    own_summary,
    start_of,
    with_kind,
)
from compaction.formats.sketching import time_of
from compaction.messages import (
    PREVIEW_CHARS,
    Part,
    Source,
    Span,
    Text,
    ToolCall,
    ToolResult,
    kind_of,
    part_chars,
    part_text,
    preview_of,
)

#: Items of the log that the model is never sent.
NOT_SENT = frozenset({"ghost_snapshot", "other"})

#: Items that stand for a compacted past that only the provider can read.
SEALED = frozenset({"compaction", "compaction_summary", "context_compaction"})

#: Text that starts a user message which no person typed.
INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<subagent_notification>",
    "<turn_aborted>",
    "<recommended_plugins>",
    "<permissions instructions>",
    "<skill>",
    "<user_shell_command>",
)

#: How the tool opens the user message that carries a summary of its own.
SUMMARY_PREFIX = "Another language model started to solve this problem"

#: How a text starts that INJECTED or the SUMMARY_PREFIX may open.
_MARKS = frozenset(opening[0] for opening in (*INJECTED, SUMMARY_PREFIX))

#: Roles that are spelled as they are meant.
_ROLES = ("user", "assistant", "developer")

#: Blocks of a message that are just their text.
_TEXTS = ("input_text", "output_text", "text")

_TEXT, _CALL, _RESULT, _THINKING = (
    with_kind(NO_KINDS, kind) for kind in ("text", "tool call", "tool result", "thinking")
)


class ItemBody:
    """A body behind one item: a line of its own, or an element of a replacement history.

    `path` leads from the JSON in the span to the item.
    """

    __slots__ = ("_path", "_source", "_span")
    #: Members of a record that repeat the output of a tool for the screen.
    repeats: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, source: Source, span: Span, path: tuple[str, ...] = ()) -> None:
        self._source = source
        self._span = span
        self._path = path

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`, and so can be copied from it."""
        return self._source is source

    @property
    def is_line(self) -> bool:
        """Whether the span is a whole line that holds this item as its payload."""
        return self._path == ("payload",)

    def parts(self) -> tuple[Part, ...]:
        """The content of the item."""
        return self.again([self._source.raw(self._span)])

    def spans_read(self) -> tuple[Span, ...]:
        """Where the record stands."""
        return (self._span,)

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What the content would be if `raws` stood there."""
        raw = raws[0]
        try:
            value: object = orjson.loads(raw)
        except orjson.JSONDecodeError:
            value = exact.loads(raw)
        for key in self._path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            return (Text(value),)
        if isinstance(value, list):
            return tuple(part for one in value if isinstance(one, dict) for part in item_parts(one))
        return item_parts(value) if isinstance(value, dict) else ()

    def record(self) -> object:
        """The record in the span, exactly."""
        return exact.loads(self._source.raw(self._span))


def item_parts(item: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = responses_like.parse_item(item)
    # A message that keeps its text elsewhere is shown as it is rather than as nothing.
    return parts if parts or "content" in item else (opaque(item),)


def item_draft(
    item: Mapping[str, Any],
    body: ItemBody,
    span: Span,
    time: str,
    model: str,
    names: Mapping[str, str],
) -> Draft:
    """The message of one item. `names` are the tools of the calls before it, by call id.

    `model` is the one that answers at this place.
    """
    known, told = item.get("id"), item.get("model")
    made = draft(
        "assistant",
        body,
        span,
        "" if known is None else text_of(known),
        time or time_of(item),
    )
    kind = item.get("type")
    if kind == "message" or kind is None:
        _message(made, item, names)
    elif kind == "function_call_output" or kind == "custom_tool_call_output":
        _output(made, item, names)
    elif kind == "function_call" or kind == "custom_tool_call":
        _call(made, item, kind)
    elif kind == "reasoning":
        made.bound = True
        if not _reasoning(made, item):
            _other(made, item, kind, names)
    else:
        _other(made, item, text_of(kind), names)
    role = made.role
    if role != "tool" and not made.calls and "name" in item:
        made.name = text_of(item["name"])
    if told is not None:
        made.model = text_of(told)
    if role == "assistant" and not made.model:
        made.model = model
    return made


def text_draft(role: str, text: str, body: ItemBody, span: Span) -> Draft:
    """A message of one text that is no item."""
    made = draft(role, body, span)
    made.kinds = _TEXT
    made.chars, made.preview = len(text), start_of(text)
    made.summary = "compaction" if own_summary(text) else ""
    return made


def says(made: Draft, text: str) -> bool:
    """Whether a reader of the message sees just `text`."""
    return "\n".join(map(part_text, made.body.parts())) == text


# The common items are looked at where they stand: making parts of them takes longer.


def _message(made: Draft, item: Mapping[str, Any], names: Mapping[str, str]) -> None:
    role = item.get("role")
    made.role = role = role if role in _ROLES else role_of(item, "user")
    content = item.get("content")
    if type(content) is list and len(content) == 1 and type(content[0]) is dict:
        block = content[0]
        text = block.get("text")
        if type(text) is str and block.get("type") in _TEXTS:
            made.chars, made.preview, made.kinds = len(text), start_of(text), _TEXT
            _mark(made, text, role)
            return
    texts: list[Any] = []
    if type(content) is str:
        texts = [content] if content else []
    elif type(content) is list:
        texts = [
            block.get("text") if type(block) is dict and block.get("type") in _TEXTS else None
            for block in content
        ]
    chars, preview = 0, ""
    for text in texts:
        if type(text) is not str:
            break
        chars += len(text)
        preview = preview or start_of(text)
    else:
        if texts:
            made.chars, made.preview, made.kinds = chars, preview, _TEXT
            _mark(made, texts[0], role)
            return
    _other(made, item, "message", names)


def _mark(made: Draft, text: str, role: str) -> None:
    """Note what the text of a message says about who wrote it."""
    if own_summary(text):
        made.summary = "compaction"
    elif role == "user":
        start = text[:400].lstrip()
        if start[:1] in _MARKS:
            made.summary = "codex" if start.startswith(SUMMARY_PREFIX) else ""
            made.injected = start.startswith(INJECTED)


def _call(made: Draft, item: Mapping[str, Any], kind: str) -> None:
    call, name, arguments = responses_like.called(item, kind)
    made.kinds = _CALL
    made.calls, made.tool = (call,), name
    made.chars = len(name) + len(arguments)
    made.preview = start_of(f"{name} {arguments[: PREVIEW_CHARS * 4]}")


def _output(made: Draft, item: Mapping[str, Any], names: Mapping[str, str]) -> None:
    made.role = "tool"
    output = item.get("output")
    if type(output) is str:
        call = text_of(item.get("call_id") or item.get("id"))
        made.kinds = _RESULT
        made.results, made.tool = (call,), names.get(call, "")
        made.chars = len(output)
        made.preview = start_of(output)
    else:
        _other(made, item, "", names)


def _reasoning(made: Draft, item: Mapping[str, Any]) -> bool:
    """Take reasoning that is sealed and has at most a summary; False for any other."""
    if item.get("content") or type(sealed := item.get("encrypted_content")) is not str:
        return False
    if item.get("summary"):
        return False
    made.kinds = _THINKING
    made.preview = f"[sealed reasoning, {len(sealed):,} bytes]" if sealed else ""
    return True


def _other(made: Draft, item: Mapping[str, Any], kind: str, names: Mapping[str, str]) -> None:
    parts = item_parts(item)
    made.role = responses_like.item_role(item)
    _describe(made, parts)
    first = parts[0] if parts else None
    if isinstance(first, ToolCall):
        made.calls, made.tool = (first.id,), first.name
    elif isinstance(first, ToolResult):
        made.results, made.tool = (first.call_id,), first.name or names.get(first.call_id, "")
    elif kind in SEALED:
        sealed = len(text_of(item.get("encrypted_content")))
        made.summary, made.preview = "codex", f"[summary, encrypted, {sealed:,} bytes]"
    elif kind.endswith("_call"):
        made.tool = kind.removesuffix("_call")
    elif isinstance(first, Text):
        _mark(made, first.text, made.role)


def _describe(made: Draft, parts: Sequence[Part]) -> None:
    made.preview = preview_of(parts)
    for part in parts:
        made.chars += part_chars(part)
        made.kinds = with_kind(made.kinds, kind_of(part))
