"""What takes the tokens of a session, as lists. Reads every message: work for a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message as Event

from compaction.errors import CompactionError
from compaction.messages import IsCancelled, Session, ToolCall, ToolResult
from tui.collecting import lasting
from tui.filtering import Clause, Filter

if TYPE_CHECKING:
    from compaction.inspecting import Inspection, Share
    from compaction.tokens import Counts

#: Rows of one list.
SHOWN = 10

_KIND_WORDS = {"tool call": "call", "tool result": "result"}


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One name with what it takes. Opening it goes to `messages`, or narrows by `narrow`."""

    label: str
    note: str
    tokens: int
    messages: tuple[int, ...] = ()
    narrow: Filter | None = None


@dataclass(frozen=True, slots=True)
class UsageList:
    """Rows under a heading, the largest first; `more` of them are not shown."""

    heading: str
    rows: tuple[UsageRow, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Everything the pane says."""

    sentence: str
    lists: tuple[UsageList, ...]
    total: int


@dataclass
class UsageFound(Event):
    """What takes the tokens was found; `inspection` serves for another sentence."""

    ticket: int
    counts: Counts
    budget: int | None
    inspection: Inspection | None
    usage: Usage | None
    reason: str = ""


def find_usage(
    session: Session,
    counts: Counts,
    budget: int | None,
    known: tuple[Inspection, Usage] | None,
    ticket: int,
    post: Callable[[Event], object],
    stopped: IsCancelled,
) -> None:
    """Look through `session`; where its parts are `known` already, only the sentence is new."""
    from compaction.inspecting import inspect
    from compaction.over_budget import why_over

    try:
        with lasting():
            found = known[0] if known is not None else inspect(session, counts)
            if stopped():
                return
            lists = known[1].lists if known is not None else usage_lists(session, counts, found)
            sentence = why_over(session, counts, found, budget)
    except CompactionError as error:
        if not stopped():
            post(UsageFound(ticket, counts, budget, None, None, str(error)))
        return
    if not stopped():
        usage = Usage(sentence, lists, counts.total)
        post(UsageFound(ticket, counts, budget, found, usage))


def usage_lists(session: Session, counts: Counts, found: Inspection) -> tuple[UsageList, ...]:
    """The lists of the pane; one that would be empty is left out."""
    files = _messages_of_files(session, {share.name for share in found.files[:SHOWN]})
    lists = (
        _listed("by role", (_narrowed(share, "role", "message") for share in found.roles)),
        _listed("by kind", (_narrowed(share, "kind", "message") for share in found.kinds)),
        _listed("by tool", (_narrowed(share, "tool", "call") for share in found.tools)),
        _listed(
            "by file",
            (
                UsageRow(share.name, _many(share.count, "call"), share.tokens, files[share.name])
                for share in found.files[:SHOWN]
            ),
            len(found.files),
        ),
        _listed("largest messages", (_message(session, counts, at) for at in found.largest)),
        _listed(
            "more than once",
            (
                UsageRow(
                    each.name or each.what,
                    f"{_many(len(each.messages), 'time')}, wasted",
                    each.wasted,
                    each.messages,
                )
                for each in found.repeats[:SHOWN]
            ),
            len(found.repeats),
        ),
    )
    return tuple(each for each in lists if each.rows)


def _listed(heading: str, rows: Iterable[UsageRow], many: int | None = None) -> UsageList:
    held = tuple(rows)
    shown = held[:SHOWN]
    return UsageList(heading, shown, (len(held) if many is None else many) - len(shown))


def _narrowed(share: Share, key: str, word: str) -> UsageRow:
    value = _KIND_WORDS.get(share.name, share.name) if key == "kind" else share.name
    known = key != "kind" or share.name != "empty"
    known = known and not (key == "tool" and share.name.startswith("("))
    text = f'{key}:"{value}"' if " " in value else f"{key}:{value}"
    narrow = Filter(text, (Clause(key, (value.lower(),)),)) if known else None
    return UsageRow(share.name, _many(share.count, word), share.tokens, narrow=narrow)


def _message(session: Session, counts: Counts, index: int) -> UsageRow:
    message = session.messages[index]
    label = f"#{index} {message.role}" + (f" {message.tool}" if message.tool else "")
    return UsageRow(label, "", counts.tokens[index], (index,))


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _messages_of_files(session: Session, wanted: set[str]) -> dict[str, tuple[int, ...]]:
    """The messages with a call about each of the `wanted` files, or with the result of one."""
    from compaction.inspecting import file_of
    from compaction.summary.tool_actions import action_of

    found: dict[str, dict[int, None]] = {name: {} for name in wanted}
    paths: dict[str, str] = {}
    for index, message in enumerate(session.messages):
        if not wanted or not (message.calls or message.results):
            continue
        for part in message.parts:
            if isinstance(part, ToolCall):
                path = paths[part.id] = file_of(action_of(part.name, part.arguments))
            elif isinstance(part, ToolResult):
                path = paths.get(part.call_id, "")
            else:
                continue
            if path in wanted:
                found[path][index] = None
    return {name: tuple(indexes) for name, indexes in found.items()}
