"""The `before` block: passes that change messages in place before anything is summarized.

Each pass is a frozen value that says what it spares and what it puts in the place of what it
takes. What it finds in a session is worked out in `compaction.passes`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from compaction.policy_checks import SettingError, flag, whole

#: What stands for a tool result that was cleared.
PLACEHOLDER = "[Old tool result content cleared]"

#: What stands for an output that a later message shows again.
REPEATED = "[Shown again by a later tool result]"


def _texts(key: str, value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(each, str) and each for each in value):
        raise SettingError(key, f"{key} is {value!r}; it must be a list of tool names.")


def _text(key: str, value: object) -> None:
    if not isinstance(value, str):
        raise SettingError(key, f"{key} is {value!r}; it must be text.")


@dataclass(frozen=True, slots=True)
class ClearToolResults:
    """Old tool results become `placeholder`; with `inputs` their calls lose the arguments too.

    The newest `keep` results stay, those among the newest `protect_tokens` tokens of results,
    those in the newest `messages` messages or `turns` turns, those of the tools in `exclude`, and
    those in messages of at most `larger_than` tokens. Nothing is cleared where it would free
    fewer than `at_least` tokens.
    """

    keep: int = 3
    protect_tokens: int = 0
    messages: int = 0
    turns: int = 0
    larger_than: int = 0
    at_least: int = 0
    exclude: tuple[str, ...] = ()
    inputs: bool = False
    placeholder: str = PLACEHOLDER

    def __post_init__(self) -> None:
        for name in ("keep", "protect_tokens", "messages", "turns", "larger_than", "at_least"):
            whole(f"before.{name}", getattr(self, name))
        _texts("before.exclude", self.exclude)
        flag("before.inputs", self.inputs)
        _text("before.placeholder", self.placeholder)


@dataclass(frozen=True, slots=True)
class ClearThinking:
    """Thinking goes, but for that of the newest `keep` turns that hold any.

    A message that is nothing but thinking stays, since what would be left of it is no message.
    """

    keep: int = 1
    at_least: int = 0

    def __post_init__(self) -> None:
        whole("before.keep", self.keep)
        whole("before.at_least", self.at_least)


@dataclass(frozen=True, slots=True)
class ClipToolResults:
    """The tool results of a message are shortened in their middle to `max_tokens` or `max_chars`.

    `max_tokens` are those of the whole message, `max_chars` those of one text. The newest `keep`
    messages with results stay whole.
    """

    max_tokens: int | None = None
    max_chars: int | None = None
    keep: int = 0
    at_least: int = 0

    def __post_init__(self) -> None:
        if (self.max_tokens is None) == (self.max_chars is None):
            raise SettingError(
                "before.clip_tool_results",
                "before.clip_tool_results takes one of max_tokens and max_chars.",
            )
        for name in ("max_tokens", "max_chars"):
            if getattr(self, name) is not None:
                whole(f"before.{name}", getattr(self, name), 1)
        whole("before.keep", self.keep)
        whole("before.at_least", self.at_least)


@dataclass(frozen=True, slots=True)
class DropMedia:
    """Images and other media become their label, but for those of the newest `keep` messages."""

    keep: int = 0
    at_least: int = 0

    def __post_init__(self) -> None:
        whole("before.keep", self.keep)
        whole("before.at_least", self.at_least)


@dataclass(frozen=True, slots=True)
class DedupeReads:
    """An output that a later result repeats, or replaces by reading the same, is said to be there.

    Reading the same is the same tool called with the same arguments, where it changes nothing.
    """

    placeholder: str = REPEATED
    at_least: int = 0

    def __post_init__(self) -> None:
        _text("before.placeholder", self.placeholder)
        whole("before.at_least", self.at_least)


Pass = ClearToolResults | ClearThinking | ClipToolResults | DropMedia | DedupeReads

#: The passes by the names they have in a policy.
PASSES: dict[str, type[Pass]] = {
    "clear_tool_results": ClearToolResults,
    "clear_thinking": ClearThinking,
    "clip_tool_results": ClipToolResults,
    "drop_media": DropMedia,
    "dedupe_reads": DedupeReads,
}


def name_of(each: Pass) -> str:
    """The name of a pass in a policy."""
    return next(name for name, kind in PASSES.items() if type(each) is kind)


def settings_of(each: Pass) -> dict[str, Any]:
    """The settings of a pass that differ from its defaults, in their order."""
    plain = ClipToolResults(max_tokens=1) if isinstance(each, ClipToolResults) else type(each)()
    out: dict[str, Any] = {}
    for field in fields(each):
        value = getattr(each, field.name)
        if value is None or (field.name != "max_tokens" and value == getattr(plain, field.name)):
            continue
        out[field.name] = list(value) if isinstance(value, tuple) else value
    return out
