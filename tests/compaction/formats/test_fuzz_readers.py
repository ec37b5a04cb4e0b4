"""Whatever bytes a reader is given: a session, or a refusal in one sentence; never another error.

`python -m tests.fuzz` does the same for as long as one likes.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compaction.formats import FORMATS, load
from tests import fuzz
from tests.mutating import ODD, damaged, exercise, made_up, mutated, seeds, words

NAMES = [each.name for each in FORMATS]

#: A format that is named, or None for the one that is recognised.
named = st.sampled_from([*NAMES, None])

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from([each for each in ODD if not isinstance(each, (list, dict))]),
)


def documents(name: str) -> st.SearchStrategy[Any]:
    """JSON values made of the keys and tags of a format, in every place where none belongs."""
    keys, values = words(name)
    leaves = st.one_of(_SCALARS, st.sampled_from(values or ("x",)))
    key = st.sampled_from(keys or ("x",))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(key, inner, max_size=6)
        ),
        max_leaves=20,
    )


@pytest.fixture(scope="module", autouse=True)
def _made() -> None:
    seeds()


def test_every_reader_has_valid_inputs_that_load() -> None:
    assert seeds().keys() == set(NAMES)
    for name, held in seeds().items():
        for data in held:
            assert load(data).format == name
            assert exercise(data, name)


@given(st.data())
def test_values_with_the_keys_of_a_format(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    lines = data.draw(st.lists(documents(name), min_size=1, max_size=3))
    text = "\n".join(json.dumps(line) for line in lines)
    exercise(text.encode("utf-8", "surrogatepass"), data.draw(st.sampled_from([name, None])))


@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.booleans())
def test_sessions_with_something_wrong(name: str, seed: int, by_name: bool) -> None:
    exercise(mutated(name, Random(seed)), name if by_name else None)


@given(st.sampled_from(NAMES), named, st.integers(0, 2**32))
def test_sessions_of_one_format_read_as_another(name: str, other: str | None, seed: int) -> None:
    chance = Random(seed)
    data = chance.choice(seeds()[name])
    exercise(damaged(data, chance) if chance.random() < 0.5 else data, other)


@given(st.binary(max_size=200), st.sampled_from(NAMES), named)
@example(b"SQLite format 3\0" + bytes(84), "cursor-chats", None)
@example(b"PK\x03\x04" + bytes(40), "inspect", None)
@example(b"\x1f\x8b\x08" + bytes(20), "openai-chat", None)
@settings(suppress_health_check=[*HealthCheck])
def test_bytes_of_chance(some: bytes, of: str, name: str | None) -> None:
    exercise(some, name)
    held = seeds()[of][0]
    exercise(held[: len(held) // 2] + some + held[len(held) // 2 :], name)


#: What fuzzing has found, with the format it was read as.
FOUND: tuple[tuple[str, bytes], ...] = (
    ("atif", b'"steps": [{"step_id": 1, "source": "user", "message": "x"}]}'),
    ("atif", (b'\xef\xbb\xbf{"schema_version": "ATIF-v1.5", "session_id": "a", "agent": '
             b'{"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "user", '
             b'"message": "x"}]}')),
    ("sharegpt", b'{"from": "human", "value": "x", "more": ["a",'),
    ("chatgpt", b'{"mapping": {"a": {"id": "a", "message": {"author": {"role": "user"}, "weight": '
                b'1' + b"0" * 400 + b', "content": {"content_type": "text", "parts": ["x"]}}, '
                b'"parent": null, "children": []}}, "current_node": "a"}'),
    ("yaml", (b"messages:\n- role: user\n  content:\n  - type: text\n    text: a\n  - type: text\n"
             b"    text: b\n  content:\n  - type: text\n    text: c\n")),
)  # fmt: skip


@pytest.mark.parametrize(("name", "data"), FOUND, ids=lambda each: str(each)[:20])
def test_what_was_found_stays_mended(name: str, data: bytes) -> None:
    exercise(data, name)


def test_many_broken_lines_take_no_time_of_the_file() -> None:
    line = b'{"role": "user" \x00 "content": "x"}\n'
    times = []
    for count in (2_000, 16_000):
        data = b'{"role": "user", "content": "x"}\n' + line * count
        start = fuzz.time.process_time()
        assert len(load(data, format="openai-chat")) == 1
        times.append(fuzz.time.process_time() - start)
    # Eight times the lines: quadratic would be sixty-four times as long.
    assert times[1] < 25 * max(times[0], 0.01)


def test_a_short_run_of_the_driver() -> None:
    report = fuzz.run(seed=20, inputs=100, size=150_000)
    print()
    for line in report.lines():
        print(line)
    assert report.inputs == 100 * len(NAMES)
    assert not report.failures, [(each.reader, each.named, each.why) for each in report.failures]
    assert all(each.sessions for each in report.tallies.values())


def test_made_up_documents_are_the_same_for_a_seed() -> None:
    assert made_up("codex", Random(5)) == made_up("codex", Random(5))
