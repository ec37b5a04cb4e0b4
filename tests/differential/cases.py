"""Lists of messages to hold presets against their originals: drawn by a seed, and real ones.

A case is plain: roles, texts, calls and results, with a size for each message that both sides use
as its count of tokens, so that only what is kept and dropped is compared.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from compaction.messages import Message, Session, Source, Text, ToolCall, ToolResult, message
from compaction.tokens import Counts

WORDS = [
    "the",
    "north",
    "gate",
    "scanner",
    "was",
    "reset",
    "and",
    "lane",
    "four",
    "was",
    "measured",
    "again",
    "before",
    "noon",
]


@dataclass(frozen=True)
class Entry:
    """One message: `calls` are (id, tool) pairs it makes, `answers` the id it is the result of."""

    role: str
    text: str
    size: int
    calls: tuple[tuple[str, str], ...] = ()
    answers: str = ""


@dataclass(frozen=True)
class Case:
    """One list of messages; `real` when it comes from a session of the samples."""

    name: str
    entries: tuple[Entry, ...]
    real: bool = False

    @property
    def total(self) -> int:
        return sum(entry.size for entry in self.entries)

    @property
    def sizes(self) -> list[int]:
        return [entry.size for entry in self.entries]

    def session(self) -> Session:
        return Session(Source(b"", self.name), "openai-chat", tuple(map(_message, self.entries)))

    def counts(self) -> Counts:
        return Counts("chars/4", array("q", self.sizes))


def _message(entry: Entry) -> Message:
    if entry.answers:
        return message("tool", [ToolResult(entry.answers, (Text(entry.text),))])
    parts = [Text(entry.text), *(ToolCall(call, name, "{}") for call, name in entry.calls)]
    return message(entry.role, parts)


def drawn(seed: int, *, tools: bool = True, system: bool = True) -> Case:
    """A conversation that an API takes: turns, parallel calls with all results, answers."""
    random = Random(seed)
    out: list[Entry] = []

    def add(role: str, **more: object) -> None:
        text = " ".join(random.choices(WORDS, k=random.randint(1, 60)))
        size = max(1, len(text) // 4)
        out.append(Entry(role, text, size, **more))  # type: ignore[arg-type]

    if system and random.random() < 0.8:
        add("system")
    number = 0
    for _ in range(random.randint(1, 9)):
        add("user")
        for _ in range(random.randint(0, 3) if tools else 0):
            batch = [
                (f"c{number + n}", random.choice(("read", "run")))
                for n in range(random.randint(1, 3))
            ]
            number += len(batch)
            add("assistant", calls=tuple(batch))
            for call, _ in batch:
                add("tool", answers=call)
        add("assistant")
    if random.random() < 0.7:
        add("user")
    return Case(f"seed {seed}", tuple(out))


def real() -> Iterator[Case]:
    """The bundled sessions whose messages can be said in this plain form."""
    import compaction
    import sample_sessions

    for name in (each.name for each in sample_sessions.samples()):
        session = compaction.load(sample_sessions.path(name))
        counts = compaction.count(session, "chars/4")
        entries = [
            entry
            for one, size in zip(session.messages, counts.tokens, strict=True)
            for entry in _entries(one, size)
        ]
        if entries:
            yield Case(name, tuple(_joined(entries)), real=True)


def _joined(entries: list[Entry]) -> Iterator[Entry]:
    """The entries with those of the assistant that follow one another as one message."""
    last: Entry | None = None
    for entry in entries:
        if last is not None and last.role == entry.role == "assistant":
            text = f"{last.text}\n{entry.text}".strip()
            size = last.size + entry.size
            last = Entry("assistant", text, size, (*last.calls, *entry.calls))
            continue
        if last is not None:
            yield last
        last = entry
    if last is not None:
        yield last


def _entries(one: Message, size: int) -> list[Entry]:
    results = [part for part in one.parts if isinstance(part, ToolResult)]
    if results:
        share = max(1, size // len(results))
        return [Entry("tool", part.text, share, answers=part.call_id) for part in results]
    calls = tuple((part.id, part.name) for part in one.parts if isinstance(part, ToolCall))
    text = "\n".join(part.text for part in one.parts if isinstance(part, Text))
    role = {"developer": "system"}.get(one.role, one.role)
    return [Entry(role, text, max(1, size), calls=calls)]


def cases(count: int = 150, *, tools: bool = True, system: bool = True) -> list[Case]:
    """Drawn cases, then the real ones where tools and system messages are wanted."""
    made = [drawn(seed, tools=tools, system=system) for seed in range(count)]
    return [*made, *real()] if tools and system else made
