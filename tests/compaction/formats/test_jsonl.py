from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats.base import ReadOptions
from compaction.formats.jsonl import Faults, records
from compaction.messages import Progress, Source


def read(data: bytes, **options: Any) -> tuple[list[dict[str, Any]], list[tuple[str, int | None]]]:
    """The records of `data`, each proven to be what its span says, and the codes of the faults."""
    faults, source, found = Faults(), Source(data), []
    for value, span in records(source, ReadOptions(**options), faults):
        raw = source.raw(span)
        assert raw[:1] == b"{"
        assert raw.rstrip()[-1:] == b"}"
        assert b"\n" not in raw
        assert span.line == data.count(b"\n", 0, span.start) + 1
        found.append(value)
    return found, [(each.code, each.line) for each in faults.findings]


A, B, C = {"type": "a", "n": 1}, {"type": "b", "t": "é"}, {"type": "c"}
LINE_A, LINE_B, LINE_C = (json.dumps(each, ensure_ascii=False).encode() for each in (A, B, C))


@pytest.mark.parametrize(
    ("data", "kept", "faults"),
    [
        pytest.param(LINE_A + b"\n" + LINE_B + b"\n", [A, B], [], id="two lines"),
        pytest.param(LINE_A, [A], [], id="one line without an end"),
        pytest.param(b"\xef\xbb\xbf" + LINE_A + b"\n" + LINE_B, [A, B], [], id="byte order mark"),
        pytest.param(LINE_A + b"\r\n\r\n \n" + LINE_B + b"\r\n", [A, B], [], id="CRLF and blanks"),
        pytest.param(
            LINE_A + LINE_B + b" " + LINE_C + b"\n" + LINE_A,
            [A, B, C, A],
            [("glued", 1)],
            id="glued",
        ),
        pytest.param(
            LINE_A + b'\n{"type":"b","t":"cut of' + LINE_B + b"\n" + LINE_C,
            [A, B, C],
            [("broken-line", 2)],
            id="whole behind torn",
        ),
        pytest.param(
            LINE_A + b'\n{"type":"b","in":{"role":"x"},"t":[{"type":"z"},' + LINE_B + LINE_C,
            [A, B, C],
            [("broken-line", 2), ("glued", 2)],
            id="parts of the torn record are no records",
        ),
        pytest.param(LINE_A + b"\nnonsense\n" + LINE_B, [A, B], [("broken-line", 2)], id="words"),
        pytest.param(LINE_A + b"\n" + LINE_B[:-4], [A], [("torn-end", 2)], id="torn end"),
        pytest.param(
            LINE_A + b"\n" + '{"type":"é'.encode()[:-1],
            [A],
            [("torn-end", 2)],
            id="torn inside a character",
        ),
        pytest.param(
            b'{"type":"a","t":"\xff!"}\n' + LINE_B,
            [{"type": "a", "t": "�!"}, B],
            [("not-utf-8", 1)],
            id="no UTF-8",
        ),
        pytest.param(
            '{"type":"a","t":"x\u2028y\u2029\x85z"}\n'.encode() + LINE_B,
            [{"type": "a", "t": "x\u2028y\u2029\x85z"}, B],
            [],
            id="line separators inside a text",
        ),
        pytest.param(
            b'{"type":"a","t":"\\ud83d"}', [{"type": "a", "t": "\ud83d"}], [], id="lone surrogate"
        ),
        pytest.param(
            b'{"type":"a","n":-Infinity}\n' + LINE_B,
            [{"type": "a", "n": float("-inf")}, B],
            [("not-json", 1)],
            id="Infinity",
        ),
        pytest.param(
            b"[1]\n" + LINE_A + b'\n"x"\n7\nnull\n',
            [A],
            [("not-a-record", n) for n in (1, 3, 4, 5)],
            id="other values",
        ),
        pytest.param(
            LINE_A + b"\n" + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n" + LINE_B,
            [A, B],
            [("too-deep", 2)],
            id="deep",
        ),
        pytest.param(
            LINE_A + b"\n" + b'{"n":' + b"1" * 5000 + b"}\n" + LINE_B,
            [A, B],
            [("broken-line", 2)],
            id="a number too long for Python",
        ),
    ],
)
def test_what_can_be_read_is_read_and_the_rest_told(
    data: bytes, kept: list[Any], faults: list[Any]
) -> None:
    assert read(data) == (kept, faults)


def test_spans_are_bytes_also_behind_bytes_that_are_no_utf_8() -> None:
    data = LINE_A + b'\n{"type":"x","t":"\xc3\xff"}' + LINE_B + b"\n"
    source = Source(data)
    spans = [span for _, span in records(source, ReadOptions(), Faults())]
    assert [source.raw(span) for span in spans] == [LINE_A, b'{"type":"x","t":"\xc3\xff"}', LINE_B]


def test_many_faults_of_one_kind_are_counted() -> None:
    faults = Faults()
    data = b"no\n" * 500 + LINE_A
    assert [value for value, _ in records(Source(data), ReadOptions(), faults)] == [A]
    told = faults.findings
    assert len(told) < 12
    assert {each.level for each in told} == {"error"}
    assert told[-1].text == "492 more of the kind `broken-line`."


def test_one_line_of_20_mb() -> None:
    line = json.dumps({"type": "a", "t": "long " * 4_000_000}).encode()
    found, faults = read(LINE_B + b"\n" + line + b"\n" + LINE_C)
    assert len(found[1]["t"]) == 20_000_000
    assert [found[0], found[2]] == [B, C]
    assert not faults


def test_a_hostile_line_is_given_up_in_bounded_effort() -> None:
    # Every object opened in it would be decoded up to the fault at its end.
    found, faults = read(LINE_A + b"\n" + b'{"type":"' * 200_000 + b"\n" + LINE_B)
    assert found == [A, B]
    assert faults == [("broken-line", 2)]


def test_cancelling_keeps_what_was_read() -> None:
    answers = iter([False, True])
    found, faults = read(b"\n".join([LINE_A] * 2000), cancelled=lambda: next(answers))
    assert 0 < len(found) < 2000
    assert faults == [("stopped", len(found))]


def test_progress_ends_at_the_size_of_the_file() -> None:
    told: list[Progress] = []
    data = b"\n".join([LINE_A] * 3000)
    read(data, progress=told.append)
    assert told[-1] == Progress(len(data), len(data), "bytes")
    assert [each.done for each in told] == sorted(each.done for each in told)


RECORDS = st.lists(
    st.dictionaries(
        st.text(max_size=5), st.text(max_size=20) | st.integers(-(2**63), 2**63), max_size=4
    ).map(lambda record: {"type": "x", **record}),
    min_size=1,
    max_size=6,
)


@given(RECORDS, st.sampled_from([b"\n", b"\r\n", b"\n\n", b" ", b""]))
def test_no_record_is_lost_whatever_stands_between(values: list[Any], between: bytes) -> None:
    lines = [json.dumps(each).encode() for each in values]
    assert read(between.join(lines))[0] == values


@given(st.binary(max_size=300))
def test_nothing_raises_and_no_byte_is_taken_twice(noise: bytes) -> None:
    data = LINE_A + b"\n" + noise + b"\n" + LINE_B
    source = Source(data)
    spans = [span for _, span in records(source, ReadOptions(), Faults())]
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert source.raw(spans[0]) == LINE_A
    assert source.raw(spans[-1]) == LINE_B
