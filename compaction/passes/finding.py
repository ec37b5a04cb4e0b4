"""Which messages a pass takes, and which of their parts: the numbers of results or calls."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from compaction.groups import Groups
from compaction.messages import Media, Message, ToolCall, ToolResult
from compaction.policy_passes import (
    ClearThinking,
    ClearToolResults,
    ClipToolResults,
    DedupeReads,
    DropMedia,
)

#: Tools that look and change nothing, by how their names begin.
_LOOKS = re.compile(
    r"(?:\w+[_.])?(?:read|view|cat|open|get|show|list|ls|glob|grep|search|find|fetch)", re.I
)

#: Characters from which on an output is worth taking for a repetition.
_WORTH = 200


class Scene(NamedTuple):
    """What a pass looks at: the messages, their tokens as they are by now, and the groups."""

    messages: Sequence[Message]
    tokens: Sequence[int]
    groups: Groups


#: Messages with the numbers of the parts that are taken of them; none named means all.
Found = Iterator[tuple[int, frozenset[int]]]


def _old_results(scene: Scene, each: ClearToolResults) -> Found:
    names = _names(scene.messages) if each.exclude else {}
    newest = len(scene.messages) - each.messages
    if each.turns:
        turns = scene.groups.turns
        newest = min(newest, turns[-each.turns] if each.turns <= len(turns) else 0)
    seen = spent = 0
    calls: dict[str, None] = {}
    out: list[tuple[int, frozenset[int]]] = []
    for index in range(len(scene.messages) - 1, -1, -1):
        entry = scene.messages[index]
        slots = []
        if entry.results:
            spent += scene.tokens[index]
            small = scene.tokens[index] <= each.larger_than
            for slot in range(len(entry.results) - 1, -1, -1):
                seen += 1
                if seen <= each.keep or spent <= each.protect_tokens or index >= newest or small:
                    continue
                call = entry.results[slot]
                if each.exclude and (names.get(call) or entry.tool) in each.exclude:
                    continue
                slots.append(slot)
                calls[call] = None
        elif each.inputs and entry.calls:
            slots = [slot for slot, call in enumerate(entry.calls) if call and call in calls]
        if slots:
            out.append((index, frozenset(slots)))
    yield from reversed(out)


def _names(messages: Sequence[Message]) -> dict[str, str]:
    """The names of the tools that were called, by the id of the call."""
    return {
        part.id: part.name
        for entry in messages
        if entry.calls
        for part in entry.parts
        if isinstance(part, ToolCall)
    }


def _old_thinking(scene: Scene, each: ClearThinking) -> Found:
    holding = [
        index
        for index, entry in enumerate(scene.messages)
        if "thinking" in entry.kinds and len(entry.kinds) > 1 and not entry.bound
    ]
    turns = sorted({bisect_left(scene.groups.turns, index + 1) for index in holding})
    spared = set(turns[len(turns) - each.keep :] if each.keep else ())
    for index in holding:
        if bisect_left(scene.groups.turns, index + 1) not in spared:
            yield index, frozenset()


def _big_results(scene: Scene, each: ClipToolResults) -> Found:
    holding = [index for index, entry in enumerate(scene.messages) if entry.results]
    if each.keep:
        del holding[-each.keep :]
    for index in holding:
        if each.max_tokens is not None and scene.tokens[index] <= each.max_tokens:
            continue
        if each.max_chars is not None and scene.messages[index].chars <= each.max_chars:
            continue
        yield index, frozenset()


def _media(scene: Scene, each: DropMedia) -> Found:
    holding = [
        index
        for index, entry in enumerate(scene.messages)
        if "media" in entry.kinds or (entry.results and _holds_media(entry))
    ]
    for index in holding[: len(holding) - each.keep] if each.keep else holding:
        yield index, frozenset()


def _holds_media(entry: Message) -> bool:
    return any(
        isinstance(inner, Media)
        for part in entry.parts
        if isinstance(part, ToolResult)
        for inner in part.content
    )


def _repeated(scene: Scene, _: DedupeReads) -> Found:
    looked: dict[str, bytes] = {}
    later: set[bytes] = set()
    out: list[tuple[int, frozenset[int]]] = []
    for entry in scene.messages:
        if entry.calls:
            for part in entry.parts:
                if isinstance(part, ToolCall) and part.id and _LOOKS.match(part.name):
                    looked[part.id] = _key(f"{part.name}\0{part.arguments}")
    for index in range(len(scene.messages) - 1, -1, -1):
        if not scene.messages[index].results or scene.messages[index].chars < _WORTH:
            continue
        slots = []
        results = [part for part in scene.messages[index].parts if isinstance(part, ToolResult)]
        for slot in range(len(results) - 1, -1, -1):
            text = results[slot].text
            if results[slot].is_error or len(text) < _WORTH:
                continue
            keys = {_key(text)}
            if (same := looked.get(results[slot].call_id)) is not None:
                keys.add(same)
            if keys & later:
                slots.append(slot)
            later |= keys
        if slots:
            out.append((index, frozenset(slots)))
    yield from reversed(out)


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


#: How each pass finds its messages.
FINDERS: Mapping[type, Callable[..., Found]] = {
    ClearToolResults: _old_results,
    ClearThinking: _old_thinking,
    ClipToolResults: _big_results,
    DropMedia: _media,
    DedupeReads: _repeated,
}
