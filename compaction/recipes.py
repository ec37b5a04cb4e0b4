"""The four published compaction functions, over plain chat dicts.

Each has the signature and the behaviour of its publication, weaknesses included: none keeps a
tool call with its result, and only `compact_turns` looks at what the summarizer returns. The
presets three-region, fit-window, keep-last and untrusted-data give the same lists; the default
policy does better.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ChatMessage = Mapping[str, Any]
CountTokens = Callable[[Any], int]
Summarize = Callable[[Any], str]

#: What stands before the text of a `fit_context` summary.
FIT_CONTEXT_LABEL = "Summary of earlier messages: "

#: What stands before the text of a `compact_session` summary.
COMPACT_SESSION_LABEL = "[Prior conversation summary]\n"

#: Characters that `compact_session` takes for a token.
CHARS_PER_TOKEN = 4


def compact_history(
    messages: list[Any],
    summarize: Summarize,
    count_tokens: CountTokens,
    token_budget: int,
    keep_recent: int = 2,
) -> list[Any]:
    """Head, one system message that summarizes the old middle, and the last `keep_recent`.

    The head is the first message when its role is "system". The very list that was given comes
    back when it is not over `token_budget`, or when nothing is between head and recent.
    """
    if sum(count_tokens(entry) for entry in messages) <= token_budget:
        return messages
    start = 1 if messages and messages[0].get("role") == "system" else 0
    cut = max(start, len(messages) - max(keep_recent, 0))
    if cut == start:
        return messages
    summary = {"role": "system", "content": summarize(messages[start:cut])}
    return [*messages[:start], summary, *messages[cut:]]


def fit_context(
    messages: list[Any], budget: int, count_tokens: CountTokens, summarize: Summarize
) -> list[Any]:
    """The first message, a summary of what was dropped, and the newest messages that fit.

    The newest contiguous messages that fit `budget` beside the first one are kept. While the
    list with its summary is over, the oldest of them is dropped too and the summary made again;
    when none is left, first message and summary come back. A copy comes back when all fits.
    """
    sizes = [count_tokens(entry) for entry in messages]
    if sum(sizes) <= budget or len(messages) < 2:
        return list(messages)
    total, cut = sizes[0], len(messages)
    while cut > 1 and total + sizes[cut - 1] <= budget:
        cut -= 1
        total += sizes[cut]
    while True:
        text = FIT_CONTEXT_LABEL + summarize(messages[1:cut])
        summary = {"role": "system", "content": text}
        if cut == len(messages) or total + count_tokens(summary) <= budget:
            return [messages[0], summary, *messages[cut:]]
        total -= sizes[cut]
        cut += 1


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """A quarter of the characters of all contents; what is no text counts as its `str`."""
    return sum(content_chars(entry) for entry in messages) // CHARS_PER_TOKEN


def content_chars(message: ChatMessage) -> int:
    """The characters of the content of one message; what is no text counts as its `str`."""
    content = message.get("content", "")
    return len(content if isinstance(content, str) else str(content))


def compact_session(
    messages: list[Any], summarize: Summarize, threshold: int = 30000, keep_recent: int = 20
) -> list[Any]:
    """One user message that summarizes the old messages, and the last `keep_recent`.

    The very list that was given comes back while its estimate is below `threshold`, and when
    nothing is older than the recent messages.
    """
    if estimate_tokens(messages) < threshold:
        return messages
    cut = max(0, len(messages) - max(keep_recent, 0))
    if cut == 0:
        return messages
    summary = {"role": "user", "content": COMPACT_SESSION_LABEL + summarize(messages[:cut])}
    return [summary, *messages[cut:]]


def compact_turns(
    turns: Sequence[Any], summarize: Summarize, identifiers: Any, keep: int = 4
) -> list[Any]:
    """One user message whose JSON holds summary and identifiers as data, and the last `keep`.

    `turns` are user and assistant messages; instructions are held elsewhere. A copy comes back
    when there are no more than `keep`. Raises ValueError for a `keep` below 1 and for a summary
    that is no text or blank.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}; it must be 1 or more")
    if len(turns) <= keep:
        return list(turns)
    cut = len(turns) - keep
    summary = summarize(turns[:cut])
    if not isinstance(summary, str) or not summary.strip():
        raise ValueError("the summarizer returned no usable summary")
    content = json.dumps(
        {
            "kind": "untrusted_conversation_summary",
            "summary": summary,
            "identifiers": identifiers,
        }
    )
    return [{"role": "user", "content": content}, *turns[cut:]]
