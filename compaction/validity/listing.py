"""The list that is judged: messages or plain dicts, and where they come from.

Where a list comes from matters: what a file holds in the API's own shape is sent as it stands,
anything else is rendered first, and rendering repairs a good deal (`View.native`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction.errors import SessionError
from compaction.findings import Finding, Level
from compaction.formats.base import Dialect
from compaction.formats.dialects import (
    anthropic_like,
    gemini_like,
    openai_like,
    responses_like,
)
from compaction.formats.dialects.roles import role_of
from compaction.messages import Inline, Message, Part, Session, describe
from compaction.validity.rules import RULES, Rules

#: The shape of the records behind a list; "plain" is `{role, content}` alone, which two APIs share.
Origin = Literal["", "plain", "openai-chat", "anthropic", "claude-code", "items", "gemini"]

_NATIVE: Mapping[Origin, frozenset[Dialect]] = {
    "": frozenset(),
    "plain": frozenset({"openai-chat", "anthropic"}),
    "openai-chat": frozenset({"openai-chat"}),
    "anthropic": frozenset({"anthropic"}),
    "claude-code": frozenset({"anthropic"}),
    "items": frozenset({"openai-responses"}),
    "gemini": frozenset({"gemini"}),
}

#: Messages whose records are looked at to tell where a list comes from.
_SAMPLE = 8


@dataclass(frozen=True, slots=True)
class View:
    """One list under the rules of one API."""

    messages: tuple[Message, ...]
    dialect: Dialect
    rules: Rules
    origin: Origin

    @property
    def native(self) -> bool:
        """Whether the messages stand in the API's own shape, so that nothing repairs them."""
        return self.dialect in _NATIVE[self.origin]

    def level(self, level: Level) -> Level:
        """The level of what rendering repairs: as given where the list is sent as it stands."""
        return level if self.native else "info"


def view(messages: Sequence[Message | Mapping[str, Any]], dialect: Dialect) -> View:
    """`messages` as one list to judge. Dicts may be chat messages, Anthropic's, items, contents.

    Raises SessionError for what is no list of messages.
    """
    given = _given(messages)
    parsers = gemini_like.parsers(given) if any(map(gemini_like.is_content, given)) else None
    listed = tuple(
        one if isinstance(one, Message) else _from_dict(one, parsers[at] if parsers else None)
        for at, one in enumerate(given)
    )
    return View(listed, dialect, RULES[dialect], _origin(listed))


def _given(messages: object) -> Sequence[Message | Mapping[str, Any]]:
    """What was handed over, as a list of which each entry can be looked at."""
    if isinstance(messages, Session):
        return messages.messages
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        raise SessionError(
            f"A list of messages is checked, and this is {_kind(messages)}; put a single message "
            "into a list."
        )
    given = messages if isinstance(messages, (list, tuple)) else list(messages)
    for index, one in enumerate(given):
        if not isinstance(one, (Message, Mapping)):
            raise SessionError(
                f"#{index} of the list is {_kind(one)}, where a message (an object with a role "
                "and content) is expected."
            )
    return given


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _from_dict(
    record: Mapping[str, Any], read: Callable[[Any], tuple[Part, ...]] | None
) -> Message:
    parse: Callable[[Mapping[str, Any]], tuple[Part, ...]]
    if read is not None and gemini_like.is_content(record):
        parts = read(record)
        role = gemini_like.content_role(record, parts)
    elif "role" not in record and isinstance(record.get("type"), str):
        parse, role = responses_like.parse_item, responses_like.item_role(record)
        parts = parse(record)
    else:
        parts = openai_like.parse_blocks(record)
        role = anthropic_like.message_role(record, parts)
    name = record.get("name")
    bound = record.get("type") == "reasoning"
    plain = Message(
        role,
        Inline(parts, record),
        name=name if isinstance(name, str) and role != "tool" else "",
        bound=bound,
    )
    return describe(plain, parts)


def first_record(message: Message) -> Mapping[str, Any]:
    """The record of a message, the first where there are several, {} where there is none."""
    record = message.record
    if isinstance(record, list) and record:
        record = record[0]
    return record if isinstance(record, Mapping) else {}


def _origin(messages: Sequence[Message]) -> Origin:
    # Messages with calls and results tell most; a list of texts may tell nothing.
    telling = [m for m in messages if m.calls or m.results][:_SAMPLE]
    others = [m for m in messages if not (m.calls or m.results)][:_SAMPLE]
    seen: list[Origin] = []
    for message in (*telling, *others):
        record = first_record(message)
        if record:
            seen.append(_shape(record))
            if seen[-1] != "plain":
                return seen[-1]
    return "plain" if seen else ""


def _shape(record: Mapping[str, Any]) -> Origin:
    kind = record.get("type")
    if isinstance(record.get("message"), Mapping) and kind in ("user", "assistant", "system"):
        return "claude-code"
    if isinstance(record.get("payload"), Mapping):
        return "items"
    if gemini_like.is_content(record):
        return "gemini"
    if _is_item(record, kind):
        return "items"
    if isinstance(kind, str) and kind and "role" not in record:
        # A record of some tool's own, which is rendered for every API.
        return ""
    if anthropic_like.speaks([record]):
        return "anthropic"
    if anthropic_like.speaks_chat([record]) and role_of(record) not in ("system", "developer"):
        return "openai-chat"
    content = record.get("content")
    if isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") in ("image_url", "input_audio")
        for block in content
    ):
        return "openai-chat"
    return "plain"


def _is_item(record: Mapping[str, Any], kind: object) -> bool:
    if kind == "message":
        # Other tools call their messages so, too, and put them inside or calls beside them.
        return "role" in record and "tool_calls" not in record and not _is_anthropic_answer(record)
    return isinstance(kind, str) and (
        kind in responses_like.OWN or kind in responses_like.COMPACTIONS
    )


def _is_anthropic_answer(record: Mapping[str, Any]) -> bool:
    return "stop_reason" in record or "stop_sequence" in record


def listed(ids: Sequence[str], most: int = 3) -> str:
    """Ids as they stand in a sentence: the first few, and how many more."""
    shown = ", ".join(one[:40] or "(no id)" for one in ids[:most])
    more = len(ids) - most
    return f"{shown} and {more} more" if more > 0 else shown


def finding(level: Level, code: str, index: int | None, text: str, remedy: str = "") -> Finding:
    """A finding about the message at `index`."""
    return Finding(level, code, text, message=index, remedy=remedy)
