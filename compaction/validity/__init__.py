"""What a provider would refuse in a list of messages, as findings.

A list is judged as it would be sent: consecutive messages of one side are one turn where the
provider merges them, and a result line of its own is part of the turn it stands in.

| code | what | level |
|---|---|---|
| `orphan-result` | a result that answers no call before it | error |
| `open-call` | a call without a result: inside the list, or at its end | error, warning |
| `result-apart` | a result that does not stand directly behind its call | error |
| `repeated-result` | a second result to one call | error |
| `duplicate-call-id` | an id that two calls have | error, warning |
| `long-call-id` | an id of more than 64 characters | error |
| `arguments-no-object` | arguments of a call that are no JSON object | error, warning |
| `first-role` | the list does not start with the user | error |
| `role-order` | two turns of one side where they must alternate | error |
| `no-user` | no user message at all | error, warning |
| `system-inside` | a system message behind the start | error, info |
| `unknown-role` | a role the API does not know | error |
| `empty-content` | nothing, or only white space, where text must stand | error, warning |
| `last-assistant` | the list ends with the assistant: the answer would continue it | warning |
| `tool-then-user` | a user message behind a tool result, which some servers refuse | info |
| `reasoning-alone` | a reasoning item without the item after it | error |
| `reasoning-missing` | an item that came with reasoning stands without it | warning |
| `thinking-unsigned` | thinking without its signature | warning |
| `thinking-foreign` | reasoning that this API does not take | info |
| `cache-marks` | more than four cache marks | error |
| `media-refused` | a kind of media that the API does not take | warning |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.errors import CompactionError
from compaction.findings import Finding
from compaction.formats.base import DIALECTS, Dialect
from compaction.messages import Message
from compaction.validity import contents, order, pairing


def check(
    messages: Sequence[Message] | Sequence[Mapping[str, Any]],
    dialect: Dialect = "openai-chat",
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> tuple[Finding, ...]:
    """What `dialect` refuses in `messages`, in the order of the list; empty when it takes it.

    Messages may also be the dicts of a chat or Anthropic request. `tools` are the definitions
    sent beside them: a call of a tool that is not among them is told. Raises CompactionError for
    a dialect nobody knows.
    """
    if dialect not in DIALECTS:
        raise CompactionError(f"There is no dialect {dialect!r}; known are {', '.join(DIALECTS)}.")
    given = _messages(messages)
    findings = [
        *order.findings(given, dialect),
        *pairing.findings(given, dialect),
        *contents.findings(given, dialect),
        *(contents.unknown_tools(given, tools) if tools else ()),
    ]
    findings.sort(key=lambda one: -1 if one.message is None else one.message)
    return tuple(findings)


def _messages(given: Sequence[Message] | Sequence[Mapping[str, Any]]) -> Sequence[Message]:
    out: list[Message] = []
    for one in given:
        if isinstance(one, Message):
            out.append(one)
            continue
        from compaction.formats.dialects import anthropic_like, openai_like
        from compaction.formats.dialects.roles import role_of
        from compaction.messages import message

        anthropic = anthropic_like.speaks([one])
        parts = anthropic_like.parse_blocks(one) if anthropic else openai_like.parse_blocks(one)
        role = anthropic_like.message_role(one, parts) if anthropic else role_of(one)
        out.append(message(role, parts, record=one))
    return out
