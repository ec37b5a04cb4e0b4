"""What the entries of a pi session mean: roles and parts of what is sent for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.formats import exact
from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_block, result_content, text_of
from compaction.formats.dialects.roles import role_of
from compaction.marker import is_own_summary
from compaction.messages import Part, Text, Thinking, ToolCall, ToolResult, Usage

#: Roles of messages that the tool sends as the user's.
_AS_USER = frozenset(
    {"bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage"}
)

#: Those that no person typed as they are sent.
_INJECTED = frozenset({"bashExecution", "custom", "hookMessage"})

_SUMMARIES = frozenset({"branchSummary", "compactionSummary"})

_OPENER = "\n<summary>\n"

#: What the tool puts around a summary when it sends one.
_FRAMES: Mapping[str, tuple[str, str]] = {
    "compactionSummary": (
        "The conversation history before this point was compacted into the following summary:\n"
        + _OPENER,
        "\n</summary>",
    ),
    "branchSummary": (
        "The following is a summary of a branch that this conversation came back from:\n" + _OPENER,
        "</summary>",
    ),
}

#: What the tool keeps beside a summary for whoever wrote it.
OWN: dict[str, Any] = {"by": "compaction"}

#: Answers that broke off; the tool does not send them again.
_BROKEN_OFF = frozenset({"aborted", "error"})


def message_in(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The message that an entry stands for; None for one that is no message."""
    match entry.get("type"):
        case "message":
            held = entry.get("message")
            return held if isinstance(held, Mapping) else None
        case "custom_message":
            return {"role": "custom", "content": entry.get("content")}
        case "branch_summary" if entry.get("summary"):
            return {"role": "branchSummary", "summary": entry.get("summary")}
        case "compaction":
            held = {"role": "compactionSummary", "summary": entry.get("summary")}
            return {**held, "details": entry.get("details")}
    return None


def entry_parts(entry: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of what is sent for an entry."""
    held = message_in(entry)
    return () if held is None else parts_of(held)


def parts_of(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of what is sent for a message."""
    role = message.get("role")
    if role == "bashExecution":
        return (Text(_bash(message)),)
    if isinstance(role, str) and role in _SUMMARIES:
        text = text_of(message.get("summary"))
        if not text:
            return ()
        # A summary of this program has a frame of its own, as its policy wants it.
        before, after = ("", "") if is_own(message) else _FRAMES[role]
        return (Text(f"{before}{text}{after}"),)
    parts = _content(message.get("content"))
    if role == "toolResult":
        return (
            ToolResult(
                text_of(message.get("toolCallId")),
                result_content(parts),
                is_error=message.get("isError") is True,
                name=text_of(message.get("toolName")),
            ),
        )
    return parts


def role_in(message: Mapping[str, Any]) -> str:
    """The role a message is sent in."""
    role = message.get("role")
    if role == "toolResult":
        return "tool"
    return "user" if isinstance(role, str) and role in _AS_USER else role_of(message, "user")


def is_injected(message: Mapping[str, Any]) -> bool:
    """Whether a user message was put in by the tool or an extension."""
    return message.get("role") in _INJECTED if isinstance(message.get("role"), str) else False


def is_summary(message: Mapping[str, Any]) -> bool:
    """Whether a message is a summary, of what was compacted or of another branch."""
    return message.get("role") in _SUMMARIES if isinstance(message.get("role"), str) else False


def is_own(message: Mapping[str, Any]) -> bool:
    """Whether a summary is one of this program."""
    return message.get("details") == OWN or is_own_summary(text_of(message.get("summary")))


def broke_off(message: Mapping[str, Any]) -> bool:
    """Whether a message is an answer that failed or was stopped."""
    reason = message.get("stopReason")
    return message.get("role") == "assistant" and isinstance(reason, str) and reason in _BROKEN_OFF


def calls_in(message: Mapping[str, Any]) -> list[str]:
    """The ids of the calls a message makes."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [
        str(block.get("id"))
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") == "toolCall"
    ]


def usage_in(message: Mapping[str, Any]) -> Usage | None:
    """What the provider reported for an answer; None where it reported nothing."""
    usage = message.get("usage")
    if not isinstance(usage, Mapping):
        return None
    fresh, output, read, written = (
        value if isinstance(value := usage.get(key), int) and not isinstance(value, bool) else 0
        for key in ("input", "output", "cacheRead", "cacheWrite")
    )
    context = fresh + read + written
    return Usage(context, output, read, written) if context or output else None


def _bash(message: Mapping[str, Any]) -> str:
    """A command that the user ran beside the conversation, as the model is told of it."""
    output, code = text_of(message.get("output")), message.get("exitCode")
    text = f"Ran `{text_of(message.get('command'))}`\n"
    text += f"```\n{output}\n```" if output else "(no output)"
    if message.get("cancelled") is True:
        text += "\n\n(command cancelled)"
    elif isinstance(code, int) and code:
        text += f"\n\nCommand exited with code {code}"
    path = text_of(message.get("fullOutputPath"))
    if message.get("truncated") is True and path:
        text += f"\n\n[Output truncated. Full output: {path}]"
    return text


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
        case "thinking":
            text, signature = (
                text_of(block.get("thinking")),
                text_of(block.get("thinkingSignature")),
            )
            return (Thinking(text, signature, 0 if text else len(signature)),)
        case "toolCall":
            given = block.get("arguments")
            arguments = given if isinstance(given, str) else exact.dumps(given or {})
            return (ToolCall(text_of(block.get("id")), text_of(block.get("name")), arguments),)
        case "image" if isinstance(block.get("data"), str):
            mime = text_of(block.get("mimeType"))
            return (media.from_base64(block["data"], mime, "image"),)
        case "text" if isinstance(block.get("text"), str):
            return (Text(block["text"]),)
    return (opaque(block),)
