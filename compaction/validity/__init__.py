"""Validity: what an API would refuse in a list of messages, as findings.

`check(messages, dialect)` judges the list as it would be sent. A list that stands in the API's own
shape (an Anthropic file checked for Anthropic, chat dicts checked for OpenAI Chat) is sent as it
is; any other is rendered on export, and what rendering repairs is told at level info.

| code | level | what |
|---|---|---|
| no-messages | error | nothing but instructions, or nothing at all |
| unknown-role | error | a role no API knows |
| no-user | error; warning for OpenAI | no message of the user |
| first-not-user | error | Anthropic and Gemini: the assistant begins |
| assistant-last | info | Anthropic and Gemini: the assistant ends, newer models refuse that |
| system-inside | error; warning for OpenAI Chat | instructions in the middle of the list |
| tool-then-user | info | OpenAI Chat: Mistral refuses the user right after a result |
| roles-repeat | info | Gemini: one side speaks twice in a row |
| orphan-result | error | a result without a call before it |
| unanswered-call | error | a call without a result, and the conversation went on |
| interrupted-call | warning | a call without a result at the end of the list |
| result-apart | error | a result that does not directly follow its call |
| batch-split | error | a result that stands apart from the others of its parallel batch |
| result-twice | error | a second result to one call |
| results-merged | info | results on lines of their own that are sent as one message |
| missing-id | error | a call without an id |
| duplicate-id | error | two calls of one turn with one id |
| reused-id | error for Anthropic; warning | a call with the id of an earlier call |
| long-id | error over 64; warning over 40 for OpenAI Chat | an id that is too long |
| id-characters | error | Anthropic: an id with characters it does not take |
| empty-message | error for Anthropic, Gemini, and where content is null; warning | no content |
| blank-text | error for Anthropic, Gemini; warning (Claude Code too) | empty or white-space text |
| arguments-no-object | error in Anthropic's own lists; warning | no JSON object as arguments |
| media-refused | error | media the API does not take there |
| thinking-unsigned | error | Anthropic: thinking without a signature |
| results-not-first | error | Anthropic: content before the results of a message |
| cache-marks | error | Anthropic: more than four cache_control marks |
| reasoning-alone | error | Responses: reasoning without the item it led to |
| reasoning-missing | info | Responses: an item with an id, and no reasoning before it |
| tools-missing | warning | Anthropic: calls in the list, but no tool is defined |
| unknown-tool | info | a call of a tool that is not among the definitions |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compaction.errors import PolicyError, SessionError
from compaction.findings import LEVELS, Finding
from compaction.formats.base import DIALECTS, Dialect
from compaction.messages import Message, ToolCall, Tools
from compaction.validity.content import content
from compaction.validity.listing import View, finding, view
from compaction.validity.order import order
from compaction.validity.pairing import pairing
from compaction.validity.reasoning import reasoning

__all__ = ["check"]


def check(
    messages: Sequence[Message | Mapping[str, Any]],
    dialect: Dialect = "openai-chat",
    *,
    tools: Tools | Sequence[object] | None = None,
) -> tuple[Finding, ...]:
    """What `dialect` would refuse in `messages`, by message, the gravest first for each.

    `messages` are Messages, or dicts of a chat API, of Anthropic or Gemini, or Responses items.
    `tools` are the definitions that are sent along, None when they are not known. Takes time in
    proportion to the list; parses the bodies that may have something wrong inside.
    Raises PolicyError for a dialect that is not known, SessionError for what is no list of
    messages.
    """
    if dialect not in DIALECTS:
        raise PolicyError(f"{dialect!r} is no dialect; known are {', '.join(DIALECTS)}.")
    listed = view(messages, dialect)
    found: list[Finding] = []
    for part in (order, pairing, content, reasoning):
        found += part(listed)
    found += _tools(listed, tools)
    return _sorted(found)


def _tools(listed: View, tools: Tools | Sequence[object] | None) -> Iterable[Finding]:
    # A file that holds no definitions says nothing about what is sent.
    if tools is None or (isinstance(tools, Tools) and not tools.names):
        return
    if not isinstance(tools, (Tools, Sequence)) or isinstance(tools, (str, bytes)):
        raise SessionError(f"tools is {type(tools).__name__}; it must be a list of definitions.")
    names = set(tools.names if isinstance(tools, Tools) else map(_name, tools))
    calling = [index for index, message in enumerate(listed.messages) if message.calls]
    if not names:
        if calling and listed.dialect == "anthropic":
            yield finding(
                "warning",
                "tools-missing",
                calling[0],
                f"The list calls tools (first in #{calling[0]}), but none is defined; Anthropic "
                "wants the definitions with it.",
                "Send the tools along.",
            )
        return
    for index in calling:
        for part in listed.messages[index].parts:
            if isinstance(part, ToolCall) and part.name not in names:
                names.add(part.name)
                yield finding(
                    "info",
                    "unknown-tool",
                    index,
                    f"#{index} calls {part.name or 'a tool'}, which is not among the definitions.",
                )


def _name(tool: object) -> str:
    held = tool.get("function", tool) if isinstance(tool, Mapping) else tool
    name = held.get("name") if isinstance(held, Mapping) else held
    return name if isinstance(name, str) else ""


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    def place(one: Finding) -> tuple[int, int]:
        return (-1 if one.message is None else one.message, LEVELS.index(one.level))

    return tuple(sorted(found, key=place))
