"""Tokens of a session from what is known without parsing a body: an estimate, at once.

Characters per token are the measured ones of o200k_base by kind of content; text outside of ASCII
has its own, by the script of the preview. Within some 20 % of the count over a whole session; a
single message can be off by half.
"""

from __future__ import annotations

from array import array

from compaction.messages import Message, Session
from compaction.tokens.counters import CHAT_FRAMING
from compaction.tokens.counts import Counts
from compaction.tokens.media import FLAT, sealed_tokens

#: Characters a token, by the kinds of a message.
_TEXT = 4.2
_RATIOS = {"thinking": 4.5, "tool call": 3.6, "tool result": 3.4, "opaque": 3.0}
_TOOLS = 4.0

#: Characters a token of an id, which has no words in it.
_ID = 1.8

#: Tokens a character outside of ASCII: wide scripts, other letters, pictures.
_CJK = 0.72
_LETTER = 0.33
_SIGN = 1.2

_ESTIMATED = "o200k_base"


def estimate(session: Session) -> Counts:
    """The tokens of every message, estimated from `Message.chars`. Reads no body."""
    frame = CHAT_FRAMING.message + CHAT_FRAMING.role
    rates: dict[frozenset[str], float] = {}
    tokens = array("q", bytes(8 * len(session.messages)))
    for index, message in enumerate(session.messages):
        kinds = message.kinds
        rate = rates.get(kinds)
        if rate is None:
            rate = rates[kinds] = _rate(kinds)
        preview = message.preview
        if not preview.isascii():
            rate = _rate_of(preview, rate)
        count = frame + int(message.chars * rate)
        if message.calls or message.results:
            count += int(len("".join(message.calls + message.results)) / _ID)
        if "media" in kinds:
            count += FLAT["image"]
        if not message.chars and "thinking" in kinds:
            count += _sealed(message)
        tokens[index] = count
    return Counts(_ESTIMATED, tokens, overhead=int(len(session.tools.text) / _TOOLS), exact=False)


def _rate(kinds: frozenset[str]) -> float:
    """Tokens a character of a message of `kinds`: the mean of its kinds."""
    ratios = [_RATIOS.get(kind, _TEXT) for kind in kinds if kind != "media"]
    return len(ratios) / sum(ratios) if ratios else 1 / _TEXT


def _rate_of(sample: str, ascii_rate: float) -> float:
    """Tokens a character of text like `sample`, which has characters outside of ASCII."""
    total = 0.0
    for char in sample:
        code = ord(char)
        if code < 0x80:
            total += ascii_rate
        elif 0x2E80 <= code < 0xD800 or 0xF900 <= code < 0xFE00 or 0xFF00 <= code < 0xFFF0:
            total += _CJK
        elif code >= 0x1F000 or not char.isalpha():
            total += _SIGN
        else:
            total += _LETTER
    return total / len(sample)


def _sealed(message: Message) -> int:
    """Tokens of reasoning that is sealed, from the size of its record."""
    return sealed_tokens(sum(span.end - span.start for span in message.spans))
