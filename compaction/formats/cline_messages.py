"""Messages as Cline and Roo keep them: their content, what they tell, and which are not sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import exact
from compaction.formats.chatshape import Facts
from compaction.formats.dialects import media
from compaction.formats.dialects.anthropic_like import message_role
from compaction.formats.dialects.blocks import parse_block, result_content, text_of
from compaction.formats.sketching import time_of
from compaction.marker import is_own_summary
from compaction.messages import Part, Text, ToolResult, Usage

#: Members of Roo's messages about what it condensed and cut away.
ROO = frozenset(
    {
        "condenseId",
        "condenseParent",
        "isSummary",
        "isTruncationMarker",
        "truncationId",
        "truncationParent",
    }
)

#: Members that tell a history of these tools from any list of Anthropic messages.
TELLING = ROO | {"modelInfo"}

_ENVIRONMENT = "<environment_details>"

#: How texts begin that the tool puts into a user message.
_PUT_IN = (_ENVIRONMENT, "[ERROR] ", "[TASK RESUMPTION] ", "[Sliding window truncation")

#: What stands between the name of a tool and its result, where calls are texts.
_RESULT = "] Result:"

_SUMMARIES = ("compaction", "compaction_summary")


def is_message(value: object) -> bool:
    """Whether a value is a message: a role and content."""
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and "content" in value


def parse(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of a message: Anthropic's blocks, and files and pictures as the tool has them."""
    return _content(message.get("content"))


def _content(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if content is None:
        return ()
    blocks = content if isinstance(content, list) else [content]
    return tuple(part for block in blocks for part in _block(block))


def _block(block: object) -> tuple[Part, ...]:
    if not isinstance(block, dict):
        return parse_block(block)
    match block.get("type"):
        case "file" if isinstance(block.get("content"), str):
            path = text_of(block.get("path"))
            return (Text(f'<file_content path="{path}">\n{block["content"]}\n</file_content>'),)
        case "image" if isinstance(block.get("data"), str):
            return (media.from_base64(block["data"], text_of(block.get("mediaType")), "image"),)
        case "tool_result":
            inner = block.get("content")
            items = inner if isinstance(inner, list) else [inner]
            return (
                ToolResult(
                    text_of(block.get("tool_use_id")),
                    result_content(part for item in items for part in _output(item)),
                    is_error=block.get("is_error") is True,
                    name=text_of(block.get("name")),
                ),
            )
    return parse_block(block)


def _output(item: object) -> tuple[Part, ...]:
    """What a tool gave back, which need not be blocks: an object is sent as its JSON text."""
    if isinstance(item, Mapping) and "type" not in item and "text" not in item:
        return (Text(exact.dumps(item)),)
    return _content(item)


# ------------------------------------------------------------------------------------ facts


def facts(message: Mapping[str, Any]) -> Facts:
    """Time, model and usage, and whether a user message is all the tool's own."""
    model = message.get("modelInfo")
    named = ""
    if isinstance(model, Mapping):
        named = text_of(model.get("id")) or text_of(model.get("modelId"))
    return Facts(
        time=time_of({"ts": message.get("ts")}),
        model=named,
        usage=_usage(message.get("metrics")),
        injected=message.get("role") == "user" and _is_injected(parse(message)),
    )


def _usage(metrics: object) -> Usage | None:
    if not isinstance(metrics, Mapping):
        return None
    tokens = metrics.get("tokens")
    if isinstance(tokens, Mapping):
        # The extension counts what came from the cache apart.
        fresh, output, cached = (_count(tokens, k) for k in ("prompt", "completion", "cached"))
        return Usage(fresh + cached, output, cached) if fresh or cached or output else None
    context, output = _count(metrics, "inputTokens"), _count(metrics, "outputTokens")
    cached, written = _count(metrics, "cacheReadTokens"), _count(metrics, "cacheWriteTokens")
    return Usage(context, output, cached, written) if context or output else None


def _count(held: Mapping[str, Any], key: str) -> int:
    value = held.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _is_injected(parts: Sequence[Part]) -> bool:
    """Whether each text was put in by the tool: its environment, or results as text."""
    texts = [part.text.lstrip() for part in parts if isinstance(part, Text)]
    return bool(texts) and all(
        text.startswith(_PUT_IN) or (text[:1] == "[" and _RESULT in text[:400]) or _follows(texts)
        for text in texts
    )


def _follows(texts: Sequence[str]) -> bool:
    # What follows the head of a result that stands in a text of its own.
    return texts[0][:1] == "[" and _RESULT in texts[0][:400]


def speaks_of_environment(message: Mapping[str, Any]) -> bool:
    """Whether a user message has the details of the environment that only these tools send."""
    if message.get("role") != "user":
        return False
    return any(isinstance(part, Text) and _ENVIRONMENT in part.text for part in parse(message))


# --------------------------------------------------------------------------- what is live


def summary(message: Mapping[str, Any]) -> str:
    """Who wrote a summary: these tools mark theirs."""
    metadata = message.get("metadata")
    kind = metadata.get("kind") if isinstance(metadata, Mapping) else None
    marked = isinstance(kind, str) and kind in _SUMMARIES
    if not marked and message.get("isSummary") is not True:
        return ""
    text = next((part.text for part in parse(message) if isinstance(part, Text)), "")
    return "compaction" if is_own_summary(text) else "cline"


def last_summary(values: Sequence[object]) -> int:
    """The index of the last summary; 0 where there is none."""
    for index in range(len(values) - 1, 0, -1):
        value = values[index]
        if isinstance(value, Mapping) and value.get("isSummary") is True:
            return index
    return 0


def starts_anew(values: Sequence[object]) -> int:
    """The index of the summary that Roo starts from, which is the user's.

    Older versions wrote it as the assistant's, behind the first message.
    """
    index = last_summary(values)
    value = values[index] if values else None
    return index if isinstance(value, Mapping) and value.get("role") == "user" else 0


def hidden(values: Sequence[object], _: Mapping[str, Any]) -> dict[int, str]:
    """The messages that a summary or a cut replaced, and results that lost their calls so."""
    records = [value if isinstance(value, Mapping) else {} for value in values]
    summaries = {text_of(r.get("condenseId")) for r in records if r.get("isSummary") is True}
    cuts = {text_of(r.get("truncationId")) for r in records if r.get("isTruncationMarker") is True}
    out: dict[int, str] = {}
    for index, record in enumerate(records):
        if text_of(record.get("condenseParent")) in summaries - {""}:
            out[index] = "before the last compaction"
        elif text_of(record.get("truncationParent")) in cuts - {""}:
            out[index] = "cut away by the tool"
    if not out and not summaries:
        return out
    calls: set[str] = set()
    for index, record in enumerate(records):
        if index in out or not is_message(record):
            continue
        parts = parse(record)
        calls |= {text_of(b.get("id")) for b in _uses(record)}
        results = [part.call_id for part in parts if isinstance(part, ToolResult)]
        if results and message_role(record, parts) == "tool" and calls.isdisjoint(results):
            out[index] = "results whose call is gone"
    return out


def _uses(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = record.get("content")
    blocks = content if isinstance(content, list) else []
    return [b for b in blocks if isinstance(b, Mapping) and b.get("type") == "tool_use"]
