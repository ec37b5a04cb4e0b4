"""What is in a session: its tokens by role, kind, tool and file, what is large and what is twice.

Pure functions over a session and its counts; a message that holds several kinds of parts has its
tokens shared between them in proportion to what each part counts alone, so every table adds up
to the same total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compaction.messages import Message, Part, Session, ToolCall, ToolResult, kind_of
from compaction.repeating import Read, Repeat, Repeats
from compaction.summary.tool_actions import Action, action_of, files_looked_at
from compaction.tokens import Counter, Counts, count_parts

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
    it holds. `tools` counts calls, and the tokens of the calls and of their results; `files` the
    same for the calls that are about one file. `largest` are message indexes. `repeats` are
    outputs that stand in the session more than once, the most wasteful first.
    """

    roles: tuple[Share, ...]
    kinds: tuple[Share, ...]
    tools: tuple[Share, ...]
    files: tuple[Share, ...]
    largest: tuple[int, ...]
    repeats: tuple[Repeat, ...]


def inspect(session: Session, counts: Counts, *, largest: int = 10) -> Inspection:
    """Look through every message once. `largest` says how many of the biggest to name."""
    tally = _Tally(counts.counter)
    for index, (message, tokens) in enumerate(zip(session.messages, counts.tokens, strict=True)):
        tally.add(index, message, tokens)
    order = sorted(range(len(session)), key=lambda i: (-counts.tokens[i], i))
    return Inspection(
        roles=_shares(tally.roles),
        kinds=_shares(tally.kinds),
        tools=_shares(tally.tools),
        files=_shares(tally.files),
        largest=tuple(order[:largest]),
        repeats=tally.repeats.found(),
    )


class _Tally:
    """Counts and tokens by role, kind, tool and file, and what each call id is about."""

    def __init__(self, counting: Counter) -> None:
        self.roles: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.tools: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.files: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.repeats = Repeats()
        self._names: dict[str, str] = {}
        self._actions: dict[str, Action] = {}
        self._arguments: dict[str, str] = {}
        self._counting = counting

    def add(self, index: int, message: Message, tokens: int) -> None:
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
            self._add_tool(index, part, taken)
        for kind, taken in by_kind.items():
            _add(self.kinds[kind], 1, taken)

    def _weight(self, part: Part, message: Message) -> int:
        return max(1, count_parts((part,), self._counting, role=message.role))

    def _add_tool(self, index: int, part: Part, tokens: int) -> None:
        match part:
            case ToolCall(id=call_id, name=name, arguments=arguments):
                self._names[call_id] = name
                _add(self.tools[name or UNKNOWN_TOOL], 1, tokens)
                action = self._actions[call_id] = action_of(name, arguments)
                self._arguments[call_id] = arguments
                if path := file_of(action):
                    _add(self.files[path], 1, tokens)
            case ToolResult(call_id=call_id, name=name):
                known = name or self._names.get(call_id) or UNKNOWN_TOOL
                _add(self.tools[known], 0, tokens)
                done = self._actions.get(call_id)
                path = file_of(done) if done is not None else ""
                if path:
                    _add(self.files[path], 0, tokens)
                looked = done is not None and done.verb in ("read", "ran")
                read = Read(path, self._arguments[call_id]) if path and looked else None
                self.repeats.add(index, part, tokens, known, read)


def file_of(action: Action) -> str:
    """The one file that a call is about; "" for none, or several."""
    if action.verb in ("read", "wrote", "edited", "deleted"):
        paths: Sequence[str] = action.targets
    elif action.verb == "ran" and action.targets:
        paths = files_looked_at(action.targets[0])
    else:
        return ""
    return paths[0] if len(paths) == 1 else ""


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
