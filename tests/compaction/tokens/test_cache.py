"""The cache of counts: what was counted once is not counted again, whatever befalls its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats import load
from compaction.messages import Inline, Message, Session, Source, Span, Text
from compaction.tokens import CountCache, count_steps
from compaction.tokens.cache import Keys
from compaction.tokens.counters import TiktokenCounter

KEYS = st.binary(min_size=16, max_size=16)
ENTRIES = st.dictionaries(KEYS, st.integers(0, 2**31), min_size=1, max_size=20)


def lines(count: int, first: int = 0) -> bytes:
    return b"".join(
        b'{"role": "%s", "content": "message %d about lane %d"}\n'
        % ((b"user", b"assistant")[n % 2], n, n % 9)
        for n in range(first, count)
    )


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that reach the tokenizer, as they come."""
    seen: list[str] = []
    whole = TiktokenCounter.count_many

    def spy(self: TiktokenCounter, texts: Sequence[str]) -> list[int]:
        seen.extend(texts)
        return whole(self, texts)

    monkeypatch.setattr(TiktokenCounter, "count_many", spy)
    return seen


def run(data: bytes, cache: CountCache) -> list[int]:
    return [n for _, batch in count_steps(load(data), cache=cache) for n in batch]


def test_a_second_opening_counts_nothing(tmp_path: Path, counted: list[str]) -> None:
    path = tmp_path / "deep" / "counts"
    first = run(lines(50), CountCache(path))
    assert len(counted) == 50
    counted.clear()
    assert run(lines(50), CountCache(path)) == first
    assert counted == []


def test_a_grown_session_costs_only_what_is_new(tmp_path: Path, counted: list[str]) -> None:
    path = tmp_path / "counts"
    run(lines(50), CountCache(path))
    counted.clear()
    assert len(run(lines(53), CountCache(path))) == 53
    assert counted == [f"message {n} about lane {n % 9}" for n in (50, 51, 52)]


def test_a_changed_message_is_counted_anew(tmp_path: Path, counted: list[str]) -> None:
    path = tmp_path / "counts"
    run(lines(9), CountCache(path))
    counted.clear()
    run(lines(9).replace(b"lane 4", b"lake 4"), CountCache(path))
    assert counted == ["message 4 about lake 4"]


def test_each_encoding_and_format_has_its_own_keys() -> None:
    data = lines(1)
    plain = load(data)
    other = Session(plain.source, "claude-code", plain.messages)
    message = plain.messages[0]
    keys = {
        Keys(plain, "o200k_base").of(message),
        Keys(plain, "cl100k_base").of(message),
        Keys(other, "o200k_base").of(message),
    }
    assert len(keys) == 3
    assert None not in keys


def test_messages_of_one_record_have_keys_of_their_own() -> None:
    source = Source(b"x" * 200_000)
    for end in (10, 200_000):
        spans = (Span(0, end, 1),)
        body = Inline((Text("x"),))
        pair = [Message("user", body, chars=1, spans=spans, pointer=f"/{n}") for n in range(2)]
        keys = Keys(Session(source, "codex", tuple(pair)), "o200k_base")
        assert keys.of(pair[0]) != keys.of(pair[1])
        assert keys.of(pair[0]) == keys.of(pair[0])


def test_what_does_not_stand_in_the_source_has_no_key() -> None:
    body = Inline((Text("x"),))
    made = Message("user", body)
    beyond = Message("user", body, spans=(Span(0, 99, 1),))
    inside = Message("user", body, spans=(Span(0, 1, 1),))
    for name, expected in (("openai-chat", True), ("yaml", False)):
        keys = Keys(Session(Source(b"x"), name, ()), "o200k_base")
        assert keys.of(made) is None
        assert keys.of(beyond) is None
        assert (keys.of(inside) is not None) is expected


@given(ENTRIES, ENTRIES, st.data())
def test_a_damaged_file_gives_nothing_wrong(
    tmp_path_factory: pytest.TempPathFactory,
    first: dict[bytes, int],
    second: dict[bytes, int],
    data: st.DataObject,
) -> None:
    path = tmp_path_factory.mktemp("cache") / "counts"
    for entries in (first, second):
        cache = CountCache(path)
        cache.put(entries)
        cache.save()
    whole = path.read_bytes()
    both = {**first, **second}
    assert {key: CountCache(path).get(key) for key in both} == both
    at = data.draw(st.integers(0, len(whole) - 1))
    damage = data.draw(st.sampled_from(["cut", "flip", "junk"]))
    if damage == "cut":
        path.write_bytes(whole[:at])
    elif damage == "flip":
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
    else:
        path.write_bytes(whole[:at] + b"\xc7cb\n junk" + whole[at:])
    cache = CountCache(path)
    told = {key: cache.get(key) for key in both}
    for key, tokens in told.items():
        assert tokens in (None, first.get(key), second.get(key))
    assert cache.problem == ""
    cache.put(both)
    cache.save()
    assert {key: CountCache(path).get(key) for key in both} == both


def test_a_file_of_something_else_is_started_anew(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    path.write_bytes(b"something else entirely")
    cache = CountCache(path)
    assert cache.get(b"k" * 16) is None
    cache.put({b"k" * 16: 7})
    cache.save()
    assert CountCache(path).get(b"k" * 16) == 7


def test_a_cache_is_bounded_in_memory_and_file(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    for start in range(0, 100, 10):
        cache = CountCache(path, limit=20)
        cache.put({b"%016d" % n: n for n in range(start, start + 10)})
        cache.save()
        assert len(cache) <= 20
    left = CountCache(path, limit=20)
    assert 10 <= len(left) <= 20
    assert left.get(b"%016d" % 99) == 99
    assert path.stat().st_size < 1_000
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_said_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = CountCache(tmp_path / "file" / "counts")
    assert cache.get(b"k" * 16) is None
    cache.put({b"k" * 16: 7})
    cache.save()
    assert cache.get(b"k" * 16) == 7
    assert str(tmp_path / "file" / "counts") in cache.problem
