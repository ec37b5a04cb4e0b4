"""Small values for the widgets to show: what they read of a plan, of counts and of groups."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.groups import Groups, find_groups
from compaction.messages import (
    Message,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.policy import Policy
from compaction.tokens import Counts


def counts_of(tokens: array[int], **given: Any) -> Counts:
    """Exact counts, unless something else is given."""
    return Counts("o200k_base", tokens, **given)


@dataclass
class FakePlan:
    """What the widgets read of `compaction.planning.Plan`; `asked` counts calls of `region`."""

    counts: Counts
    head_end: int
    cut: int
    budget: int
    kept: tuple[int, ...] = ()
    compacts: bool = True
    summary_estimate: int = 1214
    reason: str = ""
    asked: int = 0
    policy: Policy = field(default_factory=Policy)
    tokens_cleared: int = 0
    tokens_freed: int = 0

    def __post_init__(self) -> None:
        if not self.compacts:
            self.cut, self.kept, self.summary_estimate = self.head_end, (), 0

    @property
    def summarizes(self) -> bool:
        return self.compacts

    def messages_in(self, region: str) -> int:
        summarized = self.cut - self.head_end - len(self.kept)
        sizes = {"head": self.head_end, "summarized": summarized, "kept": len(self.kept)}
        return sizes.get(region, self.n - self.cut if region == "recent" else 0)

    def had_cleared(self, start: int, stop: int) -> int:
        return 0

    @property
    def n(self) -> int:
        return len(self.counts.tokens)

    @property
    def overhead(self) -> int:
        return self.counts.overhead

    def region(self, index: int) -> str:
        self.asked += 1
        if index < self.head_end:
            return "head"
        if index >= self.cut:
            return "recent"
        return "kept" if index in self.kept else "summarized"

    def _between(self, first: int, end: int) -> int:
        return self.counts.prefix[end] - self.counts.prefix[first]

    @property
    def tokens_head(self) -> int:
        return self._between(0, self.head_end)

    @property
    def tokens_kept(self) -> int:
        return sum(self.counts.tokens[index] for index in self.kept)

    @property
    def tokens_summarized(self) -> int:
        return self._between(self.head_end, self.cut) - self.tokens_kept

    @property
    def tokens_recent(self) -> int:
        return self._between(self.cut, self.n)


def session_of(messages: Sequence[Message]) -> Session:
    """A session in memory."""
    return Session(Source(b"", "sample.jsonl"), "claude-code", tuple(messages), "refactor-auth")


_SAID = [
    "I'll start by reading the session module to see where the login code is.",
    "The session object is created in three places; I will move them one at a time.",
    "Understood. I'll leave migrations/ alone and only touch src/auth.",
    "A 403 here means the CSRF token is missing in the fixture.",
]
_ASKED = [
    "Please move the login code into src/auth/login.py and keep the public API.",
    "Never touch the migrations folder.",
    "Now the integration test fails with a 403, have a look.",
]
_RESULTS = [
    "import os\nimport sys\nfrom flask import session\n\ndef login(user): ...",
    "src/auth/views.py:14: @login_required\nsrc/auth/views.py:88: @login_required",
    "212 passed, 3 failed in 41.20s\nFAILED tests/test_login.py::test_login_redirect",
]
_TOOLS = ["read_file", "grep", "run_tests"]
_SIZES = [212, 1840, 8412, 2204, 640, 15210, 96, 1320, 420, 9120, 88, 2210, 6105, 3110, 980]


def conversation(n: int) -> tuple[Session, Counts, Groups]:
    """A believable agent session of `n` messages."""
    messages = [message("system", "You are a careful coding agent. Work in small steps.")]
    while len(messages) < n:
        step = len(messages)
        if step % 7 == 1:
            messages.append(message("user", _ASKED[step // 7 % 3]))
        elif step % 7 in {2, 5}:
            call = f"call_{step}"
            which = step % 3
            messages.append(
                message(
                    "assistant",
                    [
                        Thinking("Where is it used? Let me look before I change it."),
                        Text(_SAID[step % 4]),
                        ToolCall(call, _TOOLS[which], '{"path": "src/auth/session.py", "n": 40}'),
                        ToolCall(call + "b", "grep", '{"pattern": "login_required"}'),
                    ],
                )
            )
            for suffix in ("", "b"):
                result = ToolResult(
                    call + suffix,
                    (Text(_RESULTS[(which + len(suffix)) % 3]),),
                    name=_TOOLS[(which + len(suffix)) % 3],
                )
                messages.append(message("tool", [result]))
        else:
            messages.append(message("assistant", _SAID[step % 4]))
    messages = messages[:n]
    tokens = array("q", [3102, *(_SIZES[i % len(_SIZES)] for i in range(1, n))])
    return session_of(messages), counts_of(tokens), find_groups(messages)


HOSTILE = [
    "[/red] [bold]x[/] [@click=app.quit]quit[/]",
    "[b",
    "\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07clip \x9b2J",
    "abc\u202etxt.exe\u2066 \u200f",
    "日本語のとても長いメッセージです。" * 8,
    "👨\u200d👩\u200d👧 family ❤\ufe0f 👍🏽 " * 10,
    "one\rtwo\r\nthree\nfour\tfive",
    "lone \ud800 surrogate \x00\x08\x7f",
    "e\u0301\u0301\u0301\u0301 combining",
    "<|endoftext|> {{ template }} $head %s",
]


def hostile() -> tuple[Session, Counts, Groups]:
    """Every kind of text that a careless list would obey."""
    messages = [message("system", HOSTILE[0])]
    for text in HOSTILE:
        messages.append(message("[/role]", text, name="[b"))
        messages.append(
            message("tool", [ToolResult("c", (Text(text),), name="\x1b]0;owned\x07[tool")])
        )
    counts = counts_of(array("q", [10 + i for i in range(len(messages))]))
    return session_of(messages), counts, find_groups(messages)
