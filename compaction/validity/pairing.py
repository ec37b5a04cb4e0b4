"""Calls and their results: each answered once, and where the API looks for the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compaction.findings import Finding, Level
from compaction.formats.base import Dialect
from compaction.groups import Groups, find_groups
from compaction.messages import Message

#: Longest call id that every API takes.
_LONGEST_ID = 64

_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")


def findings(messages: Sequence[Message], dialect: Dialect) -> Iterator[Finding]:
    """What is wrong between calls and results."""
    groups = find_groups(messages)
    yield from _orphans(groups)
    yield from _open(messages, groups)
    for index, call in groups.extra_results:
        yield Finding(
            "error",
            "repeated-result",
            f"#{index} answers the call {call!r}, which has an answer already.",
            index,
            remedy="keep one result and tell the other as text",
        )
    if dialect != "openai-responses":
        yield from _apart(messages, groups)
    yield from _ids(messages, groups, dialect)


def _orphans(groups: Groups) -> Iterator[Finding]:
    for index, call in groups.orphans:
        named = f"the call {call!r}" if call else "a call"
        yield Finding(
            "error",
            "orphan-result",
            f"#{index} is the result of {named} that is not in the list before it.",
            index,
            remedy="keep the call with it, or leave the result to the summary",
        )


def _open(messages: Sequence[Message], groups: Groups) -> Iterator[Finding]:
    end = _open_end(messages)
    for index, call in groups.open_calls:
        named = f"call {call!r}" if call else "call"
        level: Level = "error"
        text = f"#{index} makes the {named}, and no message answers it."
        remedy = "add its result, or leave the call to the summary"
        if index >= end:
            level = "warning"
            text = f"#{index} makes the {named}; the session was interrupted before its result."
            remedy = "answer it before the list is sent"
        yield Finding(level, "open-call", text, index, remedy=remedy)


def _open_end(messages: Sequence[Message]) -> int:
    """Where the last turn of the model starts: its calls may still be running."""
    at = len(messages)
    while at and messages[at - 1].role == "tool":
        at -= 1
    while at and messages[at - 1].role == "assistant":
        at -= 1
    return at


def _apart(messages: Sequence[Message], groups: Groups) -> Iterator[Finding]:
    """Results with something else between them and their call."""
    for owner, call in groups.links:
        answer = groups.links[owner, call]
        between = range(owner + 1, answer)
        # Only results may stand between: of the batch, or of another part of the same response.
        other = next((i for i in between if not _may_stand(messages, owner, i)), None)
        if other is not None:
            yield Finding(
                "error",
                "result-apart",
                f"#{answer} answers a call of #{owner}, and #{other} stands between them.",
                answer,
                remedy="results must follow their call directly",
            )


def _may_stand(messages: Sequence[Message], owner: int, at: int) -> bool:
    message = messages[at]
    if message.results:
        return True
    # Items of one response follow each other before any of their results.
    return message.role == "assistant" and all(
        messages[i].role == "assistant" for i in range(owner, at)
    )


def _ids(messages: Sequence[Message], groups: Groups, dialect: Dialect) -> Iterator[Finding]:
    for index, call in groups.duplicates:
        same = messages[index].calls.count(call) > 1
        strict = same or dialect == "anthropic"
        level: Level = "error" if strict else "warning"
        where = "twice in one message" if same else "again after an earlier call"
        yield Finding(
            level,
            "duplicate-call-id",
            f"#{index} uses the call id {call!r} {where}.",
            index,
            remedy="give each call an id of its own, in the call and in its result",
        )
    told = 0
    for index, message in enumerate(messages):
        for call in (*message.calls, *message.results):
            if len(call) > _LONGEST_ID and told < 1:
                told += 1
                yield Finding(
                    "error",
                    "long-call-id",
                    f"#{index} has a call id of {len(call)} characters; {_LONGEST_ID} are taken.",
                    index,
                    remedy="export in another format: ids are replaced in call and result alike",
                )
            elif dialect == "anthropic" and call and not _ANTHROPIC_ID.match(call) and told < 1:
                told += 1
                yield Finding(
                    "error",
                    "long-call-id",
                    f"#{index} has a call id with characters that the API does not take.",
                    index,
                    remedy="export in another format: ids are replaced in call and result alike",
                )
