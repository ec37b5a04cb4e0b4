"""Role names as they are spelled in the wild, and the roles they mean."""

from __future__ import annotations

from collections.abc import Mapping

_ALIASES: Mapping[str, str] = {
    "ai": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "chatgpt": "assistant",
    "function": "tool",
    "gpt": "assistant",
    "human": "user",
    "model": "assistant",
    "observation": "tool",
}
_KNOWN = frozenset({"system", "developer", "user", "assistant", "tool"})


def role_of(record: Mapping[str, object], default: str = "") -> str:
    """The normalised role of a record; a role nobody knows stays as it is spelled."""
    for key in ("role", "from", "author"):
        spelled = record.get(key)
        if isinstance(spelled, Mapping):
            spelled = spelled.get("role")
        if isinstance(spelled, str) and spelled:
            return normal(spelled)
    return default


def normal(spelled: str) -> str:
    """`HUMAN` is `user`, `model` is `assistant`; anything unknown comes back unchanged."""
    if spelled in _KNOWN:
        return spelled
    lower = spelled.strip().lower()
    if lower in _KNOWN:
        return lower
    return _ALIASES.get(lower, spelled)
