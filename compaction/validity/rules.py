"""What each API asks of a list of messages, as values that the checks read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from compaction.findings import Level
from compaction.formats.base import Dialect

#: When the calls of a batch can no longer be answered in place.
Closing = Literal["message", "turn", "answer", "never"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one API.

    `closes` is what ends the place of results: the next message that is no result ("message"),
    the next turn of the model ("turn"), or nothing ("never"). A list that is sent as it stands in
    an Anthropic file is stricter: one message may answer ("answer"). A level of "" means that the
    API does not mind. `media` are the kinds it takes from a user.
    """

    title: str
    closes: Closing
    joins_turns: bool
    needs_ids: bool = True
    duplicate: Level | Literal[""] = "error"
    reused: Level | Literal[""] = "warning"
    long_id: int = 64
    id_pattern: re.Pattern[str] | None = None
    first_user: bool = False
    no_user: Level = "warning"
    system_inside: Level | Literal[""] = ""
    empty: Level = "warning"
    last_assistant: bool = False
    media: frozenset[str] = frozenset()


RULES: Mapping[Dialect, Rules] = {
    "openai-chat": Rules(
        "OpenAI Chat",
        closes="message",
        joins_turns=False,
        system_inside="warning",
        media=frozenset({"image", "audio", "document", "file"}),
    ),
    "openai-responses": Rules(
        "OpenAI Responses",
        closes="never",
        joins_turns=True,
        media=frozenset({"image", "document", "file"}),
    ),
    "anthropic": Rules(
        "Anthropic",
        closes="turn",
        joins_turns=True,
        reused="error",
        id_pattern=re.compile(r"[a-zA-Z0-9_-]+"),
        first_user=True,
        no_user="error",
        system_inside="error",
        empty="error",
        last_assistant=True,
        media=frozenset({"image", "document", "file"}),
    ),
    "gemini": Rules(
        "Gemini",
        closes="turn",
        joins_turns=True,
        needs_ids=False,
        duplicate="",
        reused="",
        first_user=True,
        no_user="error",
        system_inside="error",
        empty="error",
        last_assistant=True,
        media=frozenset({"image", "audio", "video", "document", "file"}),
    ),
}
