"""Counts kept by content, so that what was counted once is not counted again.

The key of a message is a hash of the bytes it was read from, so a hit needs no parse. The file of
a cache is a row of blocks, each with its length and checksum, and only ever appended to: a block
that was cut off or damaged is passed over, and what it held is counted again.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha1
from itertools import islice
from pathlib import Path
from threading import Lock
from zlib import crc32

from compaction.messages import Message, Session, Span
from compaction.tokens.costs import RULES

_FILE = b"compaction counts 2\n"
_BLOCK = struct.Struct("<4sII")
_MARK = b"\xc7cb\n"
_KEY = 16
_ENTRY = struct.Struct(f"<{_KEY}sI")

#: Processors have instructions for it, so that it is the fastest of the hashes that are shipped.
_hash = sha1

#: Counts held at most; the older half is dropped when there are more.
LIMIT = 500_000

#: Bytes of a record from which on its hash is remembered for the next message.
_LONG = 64 * 1024

#: Formats in which the bytes of a message do not tell its whole content (YAML has references).
_UNKEYED = frozenset({"yaml"})


class CountCache:
    """Counts by key, in memory and, where `path` is given, in a file.

    The file is read when the cache is first asked, and written by `save`. A file that cannot be
    read or written is no error: `problem` then says what is wrong, and the cache works in memory.
    Safe from several threads, and the file from several processes.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, limit: int = LIMIT) -> None:
        self.path = Path(path) if path is not None else None
        self.limit = limit
        self.problem = ""
        self._held: dict[bytes, int] = {}
        self._new: dict[bytes, int] = {}
        self._stored = 0
        self._foreign = False
        self._loaded = self.path is None
        self._lock = Lock()

    def __len__(self) -> int:
        self._load()
        return len(self._held)

    def get(self, key: bytes) -> int | None:
        """The count kept under `key`."""
        return self.reader()(key)

    def reader(self) -> Callable[[bytes], int | None]:
        """`get`, ready to be called very often."""
        if not self._loaded:
            self._load()
        return self._held.get

    def put(self, entries: Mapping[bytes, int]) -> None:
        """Keeps counts by key. They are in the file after the next `save`."""
        if not self._loaded:
            self._load()
        with self._lock:
            self._held.update(entries)
            if self.path is not None:
                self._new.update(entries)
            if len(self._held) > self.limit:
                for old in list(islice(self._held, len(self._held) - self.limit // 2)):
                    del self._held[old]

    def save(self) -> None:
        """Appends what is new to the file; writes it anew when it has outgrown the limit."""
        if self.path is None or not self._new:
            return
        with self._lock:
            new, self._new = self._new, {}
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self._foreign or self._stored + len(new) > self.limit:
                    self._rewrite(self.path)
                else:
                    _append(self.path, _block(new))
                    self._stored += len(new)
            except OSError as error:
                self.problem = _sentence(self.path, "cannot be written", error)

    def _load(self) -> None:
        with self._lock:
            if self._loaded or self.path is None:
                return
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                data = b""
            except OSError as error:
                data = b""
                self.problem = _sentence(self.path, "cannot be read", error)
            # A beginning that is damaged cannot be appended to.
            self._foreign = bool(data) and not data.startswith(_FILE)
            for entries in _blocks(data):
                self._stored += len(entries) // _ENTRY.size
                self._held.update(_ENTRY.iter_unpack(entries))
            self._loaded = True

    def _rewrite(self, path: Path) -> None:
        keep = dict(islice(self._held.items(), max(0, len(self._held) - self.limit // 2), None))
        handle, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_FILE + _block(keep))
            Path(name).replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        self._stored = len(keep)
        self._foreign = False


def _block(entries: dict[bytes, int]) -> bytes:
    body = b"".join(_ENTRY.pack(key, tokens) for key, tokens in entries.items())
    return _BLOCK.pack(_MARK, len(body), crc32(body)) + body


def _blocks(data: bytes) -> Iterator[bytes]:
    """The entries of every whole block in `data`."""
    if not data.startswith(_FILE):
        return
    at = len(_FILE)
    while (at := data.find(_MARK, at)) >= 0 and at + _BLOCK.size <= len(data):
        _, length, checksum = _BLOCK.unpack_from(data, at)
        body = data[at + _BLOCK.size : at + _BLOCK.size + length]
        if len(body) == length and length % _ENTRY.size == 0 and crc32(body) == checksum:
            yield body
            at += _BLOCK.size + length
        else:
            at += 1


def _append(path: Path, block: bytes) -> None:
    # One write of a file opened for appending: blocks of two processes do not mix.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o600)
    try:
        if os.fstat(handle).st_size == 0:
            block = _FILE + block
        os.write(handle, block)
    finally:
        os.close(handle)


def _sentence(path: Path, what: str, error: OSError) -> str:
    return f"The cache of token counts {path} {what}: {error.strerror or error}."


# -------------------------------------------------------------------------------------- keys


class Keys:
    """Keys of the messages of one session for one encoding."""

    def __init__(self, session: Session, encoding: str) -> None:
        self._keyed = session.format not in _UNKEYED
        self._data = memoryview(session.source.data)
        self._end = len(self._data)
        salt = f"{RULES}\0{encoding}\0{session.format}\0".encode()
        self._base = _hash(salt, usedforsecurity=False)
        self._long: tuple[tuple[Span, ...], bytes] = ((), b"")

    def of(self, message: Message) -> bytes | None:
        """The key of `message`; None when its content does not stand in the source alone.

        What a file says about a message elsewhere (that a result was cleared, say) shows in its
        length, so that is part of the key; so is its place inside a record of several.
        """
        spans = message.spans
        if not spans or not self._keyed or spans[-1].end > self._end:
            return None
        first = spans[0]
        about = f"{message.role}\0{message.chars}\0{message.pointer}\0{message.name}"
        try:
            rest = about.encode()
        except UnicodeEncodeError:
            rest = about.encode("utf-8", "surrogatepass")
        hasher = self._base.copy()
        if len(spans) == 1 and first.end - first.start <= _LONG:
            hasher.update(self._data[first.start : first.end])
        else:
            hasher.update(self._digest(spans))
        hasher.update(rest)
        return hasher.digest()[:_KEY]

    def _digest(self, spans: tuple[Span, ...]) -> bytes:
        # A long record may hold many messages one after the other; it is hashed once.
        if spans != self._long[0]:
            hasher = _hash(usedforsecurity=False)
            for span in spans:
                hasher.update(self._data[span.start : span.end])
            self._long = (spans, hasher.digest())
        return self._long[1]
