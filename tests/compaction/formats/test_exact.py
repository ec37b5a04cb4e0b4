from __future__ import annotations

import json

import pytest
from chat_documents import SCALAR, array, members
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats import exact

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
)


@pytest.mark.parametrize(
    "text",
    [
        "1.10",
        "1.0e5",
        "1E400",
        "-0",
        "-0.0",
        "18446744073709551617",
        "9" * 5000,
        '"\\ud800"',
        '{"b":1,"a":[2.50,{}],"b2":[]}',
    ],
)
def test_what_is_read_is_spelled_as_it_was(text: str) -> None:
    assert exact.dumps(exact.loads(text)) == text


@given(st.one_of(SCALAR, st.lists(SCALAR).flatmap(array)))
def test_every_scalar_survives_a_round_trip(text: str) -> None:
    once = exact.dumps(exact.loads(text))
    assert exact.dumps(exact.loads(once)) == once
    assert exact.loads(once) == exact.loads(text)


@given(VALUES)
def test_reads_and_writes_as_the_standard_library_does(value: object) -> None:
    text = json.dumps(value)
    assert exact.loads(text) == value
    assert json.loads(exact.dumps(value)) == value
    assert json.loads(exact.dumps(value, exact.PRETTY)) == value


def test_numbers_compare_by_value_and_by_text_where_they_are_infinite() -> None:
    assert exact.loads("1.10") == 1.1
    assert exact.loads("1e999") != exact.loads("1e998")
    assert exact.loads("9" * 5000) != exact.loads("9" * 4999 + "8")


def test_the_longest_numbers_count_as_numbers_and_print() -> None:
    huge = exact.loads("1" + "0" * 5000)
    assert isinstance(huge, float)
    assert str(huge).startswith("1000")


def test_nan_and_infinity_are_counted_and_become_null() -> None:
    value, count = exact.loads_telling("[NaN, -Infinity, 1.0, Infinity]")
    assert count == 3
    assert exact.dumps(value) == "[null,null,1.0,null]"


def test_a_lone_surrogate_is_escaped_and_its_neighbours_are_not() -> None:
    assert exact.dump_bytes({"é": "a\ud800é"}) == '{"é":"a\\ud800é"}'.encode()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "ends in the middle"),
        ("[1,", "ends in the middle"),
        ('{"a" 1}', "':' delimiter"),
        ("{} x", "something follows"),
        ("nul", "no JSON value starts here"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_fault_is_one_clear_sentence(text: str, what: str) -> None:
    with pytest.raises(exact.ExactError, match=what):
        exact.loads(text)


def test_depth_costs_no_stack_when_writing() -> None:
    value: list[object] = []
    for _ in range(50_000):
        value = [value]
    assert exact.dumps(value) == "[" * 50_001 + "]" * 50_001


def test_layouts() -> None:
    value = {"a": [1, {"b": None}], "c": "é"}
    assert exact.dumps(value, exact.SPACED) == '{"a": [1, {"b": null}], "c": "é"}'
    tab = exact.Style(indent="\t", colon=": ", ascii=True)
    assert exact.dumps(value, tab) == (
        '{\n\t"a": [\n\t\t1,\n\t\t{\n\t\t\t"b": null\n\t\t}\n\t],\n\t"c": "\\u00e9"\n}'
    )


@pytest.mark.parametrize(
    ("raw", "valid"),
    [
        (b'{"a":1}', True),
        (b'"\\ud800"', True),
        (b"1e999", True),
        (b"[" * 1100 + b"]" * 1100, False),
        (b"[NaN]", False),
        (b'"\x01"', False),
        (b'"\xff"', False),
        (b"{} {}", False),
    ],
)
def test_what_can_be_copied_for_every_reader(raw: bytes, valid: bool) -> None:
    assert exact.is_valid(raw) is valid


@given(
    st.lists(SCALAR, max_size=3).flatmap(lambda v: members([(f"k{i}", x) for i, x in enumerate(v)]))
)
def test_valid_text_is_known_as_such(text: str) -> None:
    assert exact.is_valid(text.encode())
