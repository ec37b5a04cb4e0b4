"""What a summarizer is, what it is asked, and what counts as an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from compaction.errors import Cancelled, SummarizerError
from compaction.marker import clean
from compaction.messages import IsCancelled, Message


class TokenCounter(Protocol):
    """The part of a token counter that a summarizer needs."""

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each of `texts`."""
        ...


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summarizer is given.

    `messages` are the ones to replace, in order, earlier summaries among them. `previous` holds
    the texts of those earlier summaries without their frames. The answer should stay within
    `max_tokens` as `counter` counts. `follows` is the first message after the replaced ones,
    None when there is none. `labels` are labels that mark summaries of this program beside the
    ones it always knows.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    counter: TokenCounter
    previous: tuple[str, ...] = ()
    follows: Message | None = None
    labels: tuple[str, ...] = ()
    cancelled: IsCancelled = field(default=_never)

    def heed(self) -> None:
        """Raise Cancelled when nobody waits for the summary any more."""
        if self.cancelled():
            raise Cancelled("The summary was cancelled.")


class Summarizer(Protocol):
    """Turns messages into the text that stands for them."""

    @property
    def name(self) -> str:
        """How it is called in reports: "digest", "command:…"."""
        ...

    def summarize(self, request: SummaryRequest) -> str:
        """The summary, without label or frame. Raises SummarizerError, Cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable summary. `cut` says that it may end early (a tag was left open)."""

    text: str
    cut: bool = False


_REFUSAL = re.compile(
    r"\W*(?:(?:I(?:['’]m| am) (?:very |really )?(?:sorry|afraid)|sorry|my apologies|I apologi[sz]e|"
    r"unfortunately)\b[^.!?]{0,60}\b(?:I|we)\b[^.!?]{0,30}|as an AI[^.!?]{0,60}|I )"
    r"(?:can(?:no|['’])t|can not|cannot|could not|couldn['’]t|am (?:not able|unable)|"
    r"['’]?m (?:not able|unable)|won['’]t|will not|not able|unable)\b[^.!?]{0,120}"
    r"\b(?:help|assist|comply|fulfil|provide|continue|do (?:that|this)|summari[sz]e|process)",
    re.IGNORECASE,
)
_REFUSAL_LENGTH = 600


def usable(reply: object, who: str) -> Reply:
    """`reply` of a model as a summary. Raises SummarizerError saying why it is none.

    Refused: what is not text, blank, only tags, only scratch work, a refusal to help, or a tool
    call instead of a text.
    """
    if not isinstance(reply, str):
        kind = type(reply).__name__
        raise SummarizerError(f"{who} returned {kind} where the text of a summary was expected.")
    cleaned = clean(reply)
    text = cleaned.text
    if not text.strip():
        what = "only scratch work or tags" if reply.strip() else "nothing"
        raise SummarizerError(f"{who} returned {what}: there is no summary in it.")
    if "\x00" in text:
        raise SummarizerError(f"{who} returned binary data, not text.")
    if len(text) <= _REFUSAL_LENGTH and _REFUSAL.match(text):
        first = " ".join(text.split())[:80]
        raise SummarizerError(f"{who} refused: “{first}”.")
    if _is_tool_call(text):
        raise SummarizerError(f"{who} answered with a tool call instead of a text.")
    return Reply(text, cleaned.cut)


def _is_tool_call(text: str) -> bool:
    stripped = text.strip()
    if stripped[:1] not in "{[" or stripped[-1:] not in "}]":
        return False
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    entries = value if isinstance(value, list) else [value]
    return bool(entries) and all(_calls(entry) for entry in entries)


def _calls(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    kind = entry.get("type")
    if kind in {"tool_use", "function_call", "tool_call", "custom_tool_call"}:
        return True
    return "name" in entry and ("arguments" in entry or "input" in entry) and len(entry) <= 4
