"""Tokens: counting texts, messages and sessions.

`count(session)` gives exact `Counts`, `estimate(session)` instant ones that need no body;
`count_steps` counts in batches for a worker. `counter(name)` counts texts, `count_message` one
message. Heavy things (tiktoken, the ranks) are loaded when something is first counted.
"""

from __future__ import annotations

from compaction.tokens.cache import CountCache
from compaction.tokens.calibrating import calibrate
from compaction.tokens.costs import count_message, count_parts
from compaction.tokens.counters import DEFAULT, NAMES, Counter, counter
from compaction.tokens.counting import count, count_steps, foreign_model, tools_tokens
from compaction.tokens.counts import Calibration, Counts
from compaction.tokens.estimating import estimate
from compaction.tokens.media import image_tokens, media_tokens

__all__ = [
    "DEFAULT",
    "NAMES",
    "Calibration",
    "CountCache",
    "Counter",
    "Counts",
    "calibrate",
    "count",
    "count_message",
    "count_parts",
    "count_steps",
    "counter",
    "estimate",
    "foreign_model",
    "image_tokens",
    "media_tokens",
    "tools_tokens",
]
