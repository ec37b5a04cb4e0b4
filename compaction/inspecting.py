"""What is in a session: its tokens by role, tool and kind, and its largest messages.

Pure functions over a session and its counts; a message that holds several kinds of parts has its
tokens shared between them in proportion to what each part counts alone, so every table adds up
to the same total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compaction.messages import Message, Part, Session, ToolCall, ToolResult, kind_of
from compaction.tokens import Counter, Counts, count_parts, counter

#: Stands for a tool result whose call is not in the session.
UNKNOWN_TOOL = "(unknown tool)"


@dataclass(frozen=True, slots=True)
class Share:
    """How many messages (or calls) of one name there are, and the tokens they take."""

    name: str
    count: int
    tokens: int

    def as_json(self) -> dict[str, object]:
        """The share as the command line prints it."""
        return {"name": self.name, "count": self.count, "tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is in a session. Shares are sorted by tokens, largest first.

    `roles` and `kinds` add up to all tokens of the messages; a message counts once for every kind
    it holds. `tools` counts calls, and the tokens of the calls and of their results. `largest`
    are message indexes.
    """

    roles: tuple[Share, ...]
    kinds: tuple[Share, ...]
    tools: tuple[Share, ...]
    largest: tuple[int, ...]


def inspect(session: Session, counts: Counts, *, largest: int = 10) -> Inspection:
    """Look through every message once. `largest` says how many of the biggest to name."""
    tally = _Tally(counter(counts.tokenizer))
    for message, tokens in zip(session.messages, counts.tokens, strict=True):
        tally.add(message, tokens)
    order = sorted(range(len(session)), key=lambda i: (-counts.tokens[i], i))
    return Inspection(
        roles=_shares(tally.roles),
        kinds=_shares(tally.kinds),
        tools=_shares(tally.tools),
        largest=tuple(order[:largest]),
    )


class _Tally:
    """Counts and tokens by role, kind and tool, and which tool each call id names."""

    def __init__(self, counting: Counter) -> None:
        self.roles: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.tools: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._names: dict[str, str] = {}
        self._counting = counting

    def add(self, message: Message, tokens: int) -> None:
        """Take one message in."""
        _add(self.roles[message.role], 1, tokens)
        uses_tools = bool(message.calls or message.results)
        if len(message.kinds) <= 1 and not uses_tools:
            _add(self.kinds[next(iter(message.kinds), "empty")], 1, tokens)
            return
        parts = message.parts
        spread = split(tokens, [self._weight(part, message) for part in parts])
        by_kind: dict[str, int] = defaultdict(int)
        for part, taken in zip(parts, spread, strict=True):
            by_kind[kind_of(part)] += taken
            self._add_tool(part, taken)
        for kind, taken in by_kind.items():
            _add(self.kinds[kind], 1, taken)

    def _weight(self, part: Part, message: Message) -> int:
        return max(1, count_parts((part,), self._counting, role=message.role))

    def _add_tool(self, part: Part, tokens: int) -> None:
        match part:
            case ToolCall(id=call_id, name=name):
                self._names[call_id] = name
                _add(self.tools[name or UNKNOWN_TOOL], 1, tokens)
            case ToolResult(call_id=call_id, name=name):
                known = name or self._names.get(call_id) or UNKNOWN_TOOL
                _add(self.tools[known], 0, tokens)


def split(total: int, weights: Sequence[int]) -> list[int]:
    """`total` in whole numbers in proportion to `weights` (each at least 1); they add up to it."""
    whole = sum(weights)
    shares: list[int] = []
    given = seen = 0
    for weight in weights:
        seen += weight
        upto = total * seen // whole
        shares.append(upto - given)
        given = upto
    return shares


def _add(entry: list[int], count: int, tokens: int) -> None:
    entry[0] += count
    entry[1] += tokens


def _shares(found: Mapping[str, Iterable[int]]) -> tuple[Share, ...]:
    shares = (Share(name, *entry) for name, entry in found.items())
    return tuple(sorted(shares, key=lambda share: (-share.tokens, share.name)))
