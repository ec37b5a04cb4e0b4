"""Counting a session: message by message, in batches by time, each content once."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice
from time import monotonic
from weakref import WeakKeyDictionary

from compaction.errors import Cancelled
from compaction.messages import IsCancelled, Message, OnProgress, Progress, Session
from compaction.tokens.cache import CountCache, Keys
from compaction.tokens.costs import flat_tokens, message_cost
from compaction.tokens.counters import CHARS, DEFAULT, Counter, counter
from compaction.tokens.counts import Counts

#: Seconds between two batches of `count_steps`.
EVERY = 0.1

#: Characters that are counted in one go, between two looks at the clock.
_CHUNK = 256 * 1024

#: Messages looked up in the cache between two looks at the clock.
_LOOKS = 512

#: Kinds of messages that may hold what has no characters.
_FLAT_KINDS = frozenset({"media", "thinking", "tool result"})

_process = CountCache()
_known: WeakKeyDictionary[Session, dict[str, Counts]] = WeakKeyDictionary()


def count(
    session: Session,
    tokenizer: str = DEFAULT,
    *,
    cache: CountCache | None = None,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
    every: float | None = None,
) -> Counts:
    """The tokens of every message of `session`, counted.

    Counts are kept by content for the process, or in `cache`; those of the very same session are
    not looked up again. `progress` is told about every `every` seconds (0.1). Raises PolicyError
    for a tokenizer that is not there, Cancelled when `cancelled` says so.
    """
    held = _known.setdefault(session, {})
    found = held.get(tokenizer)
    if found is not None:
        return found
    tokens = array("q")
    for _, batch in count_steps(session, tokenizer, cache=cache, cancelled=cancelled, every=every):
        tokens.extend(batch)
        if progress is not None:
            progress(Progress(len(tokens), len(session.messages), "messages"))
    found = held[tokenizer] = Counts(
        tokenizer,
        tokens,
        overhead=tools_tokens(session, tokenizer),
        model=foreign_model(session, tokenizer),
    )
    return found


def count_steps(
    session: Session,
    tokenizer: str = DEFAULT,
    *,
    cache: CountCache | None = None,
    cancelled: IsCancelled | None = None,
    every: float | None = None,
) -> Iterator[tuple[int, array[int]]]:
    """The counts in batches, (index of the first message, tokens), in order and without a gap.

    A batch comes about every `every` seconds (0.1); a single message is counted in one go, so a
    huge one takes longer. A cache with a file is saved at the end, and when the caller stops.
    Raises as `count` does.
    """
    counting = counter(tokenizer)
    if counting.encoding == CHARS:
        yield 0, _quarters(session.messages)
        return
    store = _process if cache is None else cache
    run = _Run(session, counting, store, cancelled or _never)
    start, since, pause = 0, monotonic(), EVERY if every is None else every
    batch = array("q")
    try:
        for chunk in run.chunks():
            batch.extend(chunk)
            if batch and monotonic() - since >= pause:
                yield start, batch
                start += len(batch)
                batch, since = array("q"), monotonic()
        if batch:
            yield start, batch
    finally:
        store.save()


def tools_tokens(session: Session, tokenizer: str = DEFAULT) -> int:
    """The tokens of the tool definitions that the file holds, as their JSON text."""
    text = session.tools.text
    return counter(tokenizer).count(text) if text else 0


_OWN = ("gpt", "o1", "o3", "o4", "o5", "codex", "chatgpt", "openai", "text-", "ft:gpt")


def foreign_model(session: Session, tokenizer: str = DEFAULT) -> str:
    """The model of the session when no tokenizer of ours is its own, else ""."""
    model = session.model.rpartition("/")[2].lower()
    if not model or model.startswith(_OWN) or counter(tokenizer).encoding == CHARS:
        return ""
    return session.model


def _never() -> bool:
    return False


def _quarters(messages: tuple[Message, ...]) -> array[int]:
    """A quarter of the characters, rounded so that the sum is a quarter of all characters."""
    tokens = array("q", bytes(8 * len(messages)))
    chars = 0
    for index, message in enumerate(messages):
        after = chars + message.chars
        tokens[index] = after // 4 - chars // 4
        chars = after
        # Media inside a result shows in no kind, so results are looked into.
        if not _FLAT_KINDS.isdisjoint(message.kinds):
            tokens[index] += flat_tokens(message.body.parts())
    return tokens


#: A message without its count yet: its place in a chunk, its key, how many texts it has.
_Open = tuple[int, bytes | None, int]


class _Run:
    """One pass over the messages of a session."""

    def __init__(
        self, session: Session, counting: Counter, store: CountCache, cancelled: IsCancelled
    ) -> None:
        self._messages = session.messages
        self._keys = Keys(session, counting.encoding)
        self._counting = counting
        self._store = store
        self._cancelled = cancelled

    def chunks(self) -> Iterator[array[int]]:
        """Counts of the messages in order, some at a time."""
        left = iter(self._messages)
        while some := tuple(islice(left, _LOOKS)):
            yield from self._counted(some)

    def _counted(self, messages: tuple[Message, ...]) -> Iterator[array[int]]:
        known_of, key_of = self._store.reader(), self._keys.of
        framing = self._counting.framing
        done = array("q")
        open_: list[_Open] = []
        texts: list[str] = []
        size = 0
        for message in messages:
            key = key_of(message)
            known = None if key is None else known_of(key)
            if known is not None:
                done.append(known)
                continue
            own, flat = message_cost(message, framing)
            open_.append((len(done), key, len(own)))
            done.append(flat)
            texts += own
            for text in own:
                size += len(text)
            if size >= _CHUNK:
                self._settle(done, open_, texts)
                yield done
                done, open_, texts, size = array("q"), [], [], 0
        self._settle(done, open_, texts)
        yield done

    def _settle(self, done: array[int], open_: list[_Open], texts: list[str]) -> None:
        """Counts `texts` and adds them to the messages they belong to."""
        if self._cancelled():
            raise Cancelled("The counting was stopped before it was done.")
        if not open_:
            return
        counts = self._counting.count_many(texts)
        new: dict[bytes, int] = {}
        at = 0
        for index, key, pieces in open_:
            done[index] += counts[at] if pieces == 1 else sum(counts[at : at + pieces])
            at += pieces
            if key is not None:
                new[key] = done[index]
        self._store.put(new)
