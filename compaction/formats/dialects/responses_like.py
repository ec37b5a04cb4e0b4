"""Responses items: one item read into parts, and messages written as items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats.dialects import media
from compaction.formats.dialects.blocks import opaque, parse_content, result_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

Item = Mapping[str, Any]

#: Calls that the client answers with an item `<type>_output` of the same `call_id`, and the
#: member that holds what they ask for.
_CALLS: Mapping[str, str] = {
    "apply_patch_call": "operation",
    "computer_call": "action",
    "custom_tool_call": "input",
    "function_call": "arguments",
    "local_shell_call": "action",
    "shell_call": "action",
    "tool_search_call": "arguments",
}
#: Formats whose records are, or hold, items.
_NATIVE = frozenset({"openai-responses", "codex"})

#: Items that hold a sealed summary of what was before them.
COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})

#: Item types that only this dialect has.
OWN = frozenset(
    {
        "apply_patch_call",
        "apply_patch_call_output",
        "code_interpreter_call",
        "computer_call",
        "computer_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "function_call",
        "function_call_output",
        "image_generation_call",
        "item_reference",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_call",
        "mcp_list_tools",
        "reasoning",
        "shell_call",
        "shell_call_output",
        "web_search_call",
    }
)

_OUTPUTS = frozenset({f"{call}_output" for call in _CALLS} | {"tool_search_output"})


def parse_item(item: Item) -> tuple[Part, ...]:
    """The parts of one item, normally one; a message has those of its content."""
    kind = item.get("type")
    if kind is None or kind == "message":
        return parse_content(item.get("content"))
    if not isinstance(kind, str):
        return (opaque(item),)
    if kind == "reasoning":
        return (_reasoning(item),)
    if kind in _CALLS:
        return (ToolCall(*called(item, kind)),)
    if kind in _OUTPUTS:
        return (_output(item),)
    if kind in COMPACTIONS:
        return (Thinking("", sealed=len(text_of(item.get("encrypted_content")))),)
    if kind == "image_generation_call" and isinstance(item.get("result"), str):
        form = text_of(item.get("output_format")) or "png"
        return (media.from_base64(item["result"], f"image/{form}", "image"),)
    return (opaque(item),)


def item_role(item: Item) -> str:
    """The role of one item: a message's own, `tool` for outputs, `assistant` for all else."""
    kind = item.get("type")
    if kind is None or kind == "message":
        return role_of(item, "user")
    if isinstance(kind, str) and (kind in _OUTPUTS or kind == "mcp_approval_response"):
        return "tool"
    return "assistant"


def is_item(value: object) -> bool:
    """Whether a value can be an item: an object with a role or a type."""
    return isinstance(value, Mapping) and (
        isinstance(value.get("type"), str) or isinstance(value.get("role"), str)
    )


def _reasoning(item: Item) -> Thinking:
    texts = [
        part.text
        for key in ("summary", "content")
        for part in parse_content(item.get(key))
        if isinstance(part, (Text, Thinking)) and part.text
    ]
    sealed = text_of(item.get("encrypted_content"))
    return Thinking("\n\n".join(texts), sealed=len(sealed))


def called(item: Item, kind: str) -> tuple[str, str, str]:
    """The id, the name and the arguments of a call."""
    call = text_of(item.get("call_id") or item.get("id"))
    name = text_of(item.get("name")) or kind.removesuffix("_call")
    asked = item.get(_CALLS[kind])
    if kind == "computer_call" and asked is None:
        asked = item.get("actions")
    return call, name, text_of(asked)


def _output(item: Item) -> ToolResult:
    output = item.get("output", item.get("tools"))
    if isinstance(output, Mapping) and "type" not in output and "content" in output:
        # Some clients nest the text and a flag: {"content": …, "success": false}.
        failed = output.get("success") is False
        content = parse_content(output.get("content"))
    else:
        failed = item.get("status") == "failed"
        content = _output_content(output)
    call = text_of(item.get("call_id") or item.get("id"))
    return ToolResult(call, result_content(content), is_error=failed)


def _output_content(output: object) -> tuple[Part, ...]:
    if isinstance(output, Mapping) and output.get("type") == "computer_screenshot":
        url = output.get("image_url")
        if isinstance(url, str):
            return (media.from_url(url, "image"),)
        return (Media("image", name=text_of(output.get("file_id"))),)
    return parse_content(output)


# ------------------------------------------------------------------------------------ writing


def render(
    messages: Sequence[Message], notes: Notes, origin: str = ""
) -> tuple[str | None, list[dict[str, Any]]]:
    """The instructions (the text of a first system message) and the items of the rest.

    `origin` is the format of the session: items that are of this dialect already stay as they are.
    """
    ids = Ids()
    instructions: str | None = None
    items: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        notes.at(index)
        if index == 0 and message.role == "system":
            parts = message.parts
            if parts and all(isinstance(part, Text) for part in parts):
                instructions = "\n\n".join(p.text for p in parts if isinstance(p, Text))
                continue
        own = own_item(message) if origin in _NATIVE else None
        items += [own] if own is not None else render_items(message, ids, notes)
    notes.tell_ids(ids.changed)
    return instructions, items


def own_item(message: Message) -> dict[str, Any] | None:
    """The item that a message was read from, where it is one and says what the message says."""
    record = message.record if message.spans else None
    if isinstance(record, dict) and record.get("type") == "response_item":
        record = record.get("payload")
    if not isinstance(record, dict) or not is_item(record):
        return None
    return record if parse_item(record) == message.parts else None


def render_items(message: Message, ids: Ids, notes: Notes) -> list[dict[str, Any]]:
    """One message as items: its calls and outputs by themselves, runs of the rest as messages."""
    role = message.role if message.role in ("system", "developer", "assistant") else "user"
    items: list[dict[str, Any]] = []
    run: list[dict[str, Any]] = []

    def close() -> None:
        if run:
            items.append({"type": "message", "role": role, "content": list(run)})
            run.clear()

    for part in message.parts:
        match part:
            case ToolCall(id=call, name=name, arguments=arguments):
                close()
                items.append(
                    {
                        "type": "function_call",
                        "call_id": ids.call(call),
                        "name": name,
                        "arguments": arguments,
                    }
                )
            case ToolResult():
                close()
                items.append(_output_item(part, ids, notes))
            case Thinking():
                notes.tell("thinking", "reasoning of another provider")
            case Text() | Media() | Opaque():
                block = _block(part, notes, answer=role == "assistant")
                if block:
                    run.append(block)
    close()
    return items


def _output_item(result: ToolResult, ids: Ids, notes: Notes) -> dict[str, Any]:
    if result.is_error:
        notes.tell("error-flag", "the error mark of a tool result")
    blocks = [block for part in result.content if (block := _block(part, notes, answer=False))]
    output: object = blocks
    if not blocks:
        output = ""
    elif len(blocks) == 1 and "text" in blocks[0]:
        output = blocks[0]["text"]
    return {
        "type": "function_call_output",
        "call_id": ids.result(result.call_id),
        "output": output,
    }


def _block(part: Text | Media | Opaque, notes: Notes, *, answer: bool) -> dict[str, Any] | None:
    """A content block; `answer` where only an assistant's output may stand, which is text."""
    match part:
        case Text(text=text):
            return _text(text, answer=answer) if text else None
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind}")
            return _text(text, answer=answer)
        case Media():
            url = media.data_url(part)
            if not answer and part.kind == "image" and url:
                block = {"type": "input_image", "image_url": url}
                return {**block, "detail": part.detail} if part.detail else block
            if not answer and part.kind in ("document", "file"):
                named = {"filename": part.name} if part.name else {}
                if part.data:
                    return {"type": "input_file", "filename": part.name or "file", "file_data": url}
                if part.url:
                    return {"type": "input_file", **named, "file_url": part.url}
            notes.tell("media", f"{part.mime or part.kind} content")
            return _text(part.label, answer=answer)
    raise AssertionError("unreachable")


def _text(text: str, *, answer: bool) -> dict[str, Any]:
    if answer:
        return {"type": "output_text", "text": text, "annotations": []}
    return {"type": "input_text", "text": text}
