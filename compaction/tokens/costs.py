"""What a message costs: which of its texts are counted, and what is added to them.

- texts and thinking as they are; texts that follow one another are sent as one, so they count as
  one, and a list of blocks costs what the same string costs;
- a call: its name, its arguments and its id; a result: its id, its content, and its name;
- reasoning that is sealed, by its length (`media.sealed_tokens`);
- media, by kind and size (`media.media_tokens`);
- a part nobody knows, by its JSON text, at least 1; long base64 runs in it cost a flat number;
- the frame of a message, its role and its name, as the counter has it (`counters.Framing`).

`chars/4` is a quarter of the characters of the whole content, as those who publish it count: ids,
names of messages and frames are no part of it, media and sealed reasoning are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    part_chars,
)
from compaction.tokens.counters import CHARS, Counter, Framing
from compaction.tokens.media import BLOB, media_tokens, sealed_tokens

#: Changed with every change of the rules of this module: numbers of other rules are not reused.
RULES = "1"

_BLOB_CHARS = 1024
# A run is looked at from its first character only, or a short one costs the square of its length.
_BLOB = re.compile(
    r'("encrypted_content"\s*:\s*")?(?<![A-Za-z0-9+/_-])'
    rf"[A-Za-z0-9+/_-]{{{_BLOB_CHARS},}}={{0,2}}"
)


def count_message(message: Message, counter: Counter) -> int:
    """The tokens of one message with its frame. Parses its body."""
    return counter.framing.message + count_parts(
        message.parts, counter, role=message.role, name=message.name
    )


def count_parts(parts: Iterable[Part], counter: Counter, *, role: str = "", name: str = "") -> int:
    """The tokens of `parts`, and of the role and the name of their message where given."""
    if counter.encoding == CHARS:
        parts = tuple(parts)
        return sum(map(part_chars, parts)) // 4 + flat_tokens(parts)
    texts, flat = cost(parts, counter.framing, role, name)
    return flat + sum(counter.count_many(texts))


def cost(
    parts: Iterable[Part], framing: Framing, role: str = "", name: str = ""
) -> tuple[list[str], int]:
    """The texts to count for `parts`, and the tokens that are no text."""
    texts: list[str] = []
    flat = framing.role if role else 0
    if name:
        texts.append(name)
        flat += framing.name
    return texts, flat + _collect(parts, texts, framing)


def message_cost(message: Message, framing: Framing) -> tuple[list[str], int]:
    """The texts to count for a whole message, and its tokens that are no text."""
    parts = message.body.parts()
    if len(parts) == 1 and not message.name and message.role:
        # Most messages are one text; they are worth a way of their own.
        only = parts[0]
        if isinstance(only, Text):
            return [only.text], framing.role + framing.message
    texts, flat = cost(parts, framing, message.role, message.name)
    return texts, flat + framing.message


def flat_tokens(parts: Iterable[Part]) -> int:
    """The tokens of media and sealed reasoning in `parts`."""
    flat = 0
    for part in parts:
        if isinstance(part, Media):
            flat += media_tokens(part)
        elif isinstance(part, Thinking):
            flat += sealed_tokens(part.sealed)
        elif isinstance(part, ToolResult):
            flat += flat_tokens(part.content)
    return flat


def _collect(parts: Iterable[Part], texts: list[str], framing: Framing) -> int:
    flat = 0
    run: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            run.append(part.text)
            continue
        if run:
            texts.append(_joined(run))
            run = []
        if isinstance(part, ToolResult):
            texts.append(part.call_id)
            if part.name:
                texts.append(part.name)
                flat += framing.name
            flat += _collect(part.content, texts, framing)
        elif isinstance(part, ToolCall):
            texts += (part.name, part.arguments, part.id)
        elif isinstance(part, Thinking):
            if part.text:
                texts.append(part.text)
            flat += sealed_tokens(part.sealed)
        elif isinstance(part, Media):
            flat += media_tokens(part)
        else:
            flat += _opaque(part, texts)
    if run:
        texts.append(_joined(run))
    return flat


def _joined(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else "".join(run)


def _opaque(part: Opaque, texts: list[str]) -> int:
    """Adds the text of a part nobody knows without its long base64 runs; the tokens of those."""
    if len(part.text) < _BLOB_CHARS:
        texts.append(part.text)
        return 0 if part.text else 1
    flat = 0

    def replace(run: re.Match[str]) -> str:
        nonlocal flat
        if run.group(1):
            flat += sealed_tokens(run.end() - run.end(1))
            return run.group(1)
        flat += BLOB
        return ""

    texts.append(_BLOB.sub(replace, part.text))
    return flat
