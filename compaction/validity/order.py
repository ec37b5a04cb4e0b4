"""Roles in their order: who begins, who ends, and what may not stand in the middle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compaction.findings import Finding
from compaction.messages import ROLES
from compaction.validity.listing import View, finding, first_record

_SYSTEM = frozenset({"system", "developer"})


def order(view: View) -> Iterator[Finding]:
    """Findings about roles."""
    messages, rules = view.messages, view.rules
    leading = 0
    while leading < len(messages) and messages[leading].role in _SYSTEM:
        leading += 1
    if leading == len(messages):
        yield finding(
            "error",
            "no-messages",
            None,
            "The list has no message beside its instructions."
            if messages
            else "The list has no message.",
            "Keep at least one message of the user.",
        )
        return
    for index, message in enumerate(messages):
        role = message.role
        if role not in ROLES:
            yield finding(
                "error",
                "unknown-role",
                index,
                f"#{index} has the role {role!r}, which no API knows."
                if role
                else f"#{index} has no role.",
                f"Use one of {', '.join(ROLES)}.",
            )
        elif role in _SYSTEM and index > leading and rules.system_inside:
            yield finding(
                rules.system_inside,
                "system-inside",
                index,
                f"#{index} is a {role} message in the middle of the list; "
                + (
                    "OpenAI takes it, many servers that speak its API do not."
                    if rules.system_inside == "warning"
                    else f"{rules.title} takes instructions only at the start."
                ),
                "Make it a message of the user, or move it to the start.",
            )
    yield from _ends(view, leading)
    yield from _neighbours(view)


def _ends(view: View, leading: int) -> Iterator[Finding]:
    messages, rules = view.messages, view.rules
    first, last = messages[leading].role, messages[-1].role
    if not any(message.role == "user" for message in messages[leading:]):
        yield finding(
            rules.no_user,
            "no-user",
            None,
            "The list has no message of the user; "
            + ("many servers refuse" if rules.no_user == "warning" else f"{rules.title} refuses")
            + " it.",
            "Keep the first task of the user, or make the summary a message of the user.",
        )
    elif rules.first_user and first == "assistant" and not _stands_for_all(view, leading):
        yield finding(
            "error",
            "first-not-user",
            leading,
            f"The list begins with the assistant (#{leading}); {rules.title} wants the user first.",
            "Keep the message before it, or let the summary be a message of the user.",
        )
    if rules.last_assistant and last == "assistant" and not messages[-1].calls:
        yield finding(
            "info",
            "assistant-last",
            len(messages) - 1,
            f"The list ends with the assistant (#{len(messages) - 1}); sent as it is, newer models "
            "of "
            f"{rules.title} refuse it.",
            "Add the next message of the user before sending it.",
        )


def _stands_for_all(view: View, index: int) -> bool:
    """Whether the message is Anthropic's own compaction, before which the API reads nothing."""
    if view.dialect != "anthropic" or view.origin != "anthropic":
        return False
    content = first_record(view.messages[index]).get("content")
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") == "compaction" for block in content
    )


def _neighbours(view: View) -> Iterator[Finding]:
    roles = [message.role for message in view.messages]
    if view.dialect == "openai-chat":
        places = [i for i in range(1, len(roles)) if roles[i] == "user" and roles[i - 1] == "tool"]
        if places:
            yield finding(
                "info",
                "tool-then-user",
                places[0],
                f"The user speaks right after a tool result ({_places(places)}); Mistral and some "
                "others refuse that.",
                "For those, put a message of the assistant between the two.",
            )
    if view.dialect == "gemini":
        sides = ["model" if role == "assistant" else "user" for role in roles]
        places = [
            i
            for i in range(1, len(roles))
            if sides[i] == sides[i - 1] and roles[i - 1] not in _SYSTEM and roles[i] != "tool"
        ]
        if places:
            yield finding(
                "info",
                "roles-repeat",
                places[0],
                f"One side speaks twice in a row ({_places(places)}); Gemini wants them to take "
                "turns.",
                "Join such messages when you send them.",
            )


def _places(places: list[int]) -> str:
    if len(places) == 1:
        return f"#{places[0]}"
    return f"{len(places):,} places, first #{places[0]}"
