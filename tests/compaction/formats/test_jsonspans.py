from __future__ import annotations

import json
import random

import pytest
from chat_documents import SPACE, chat_message, request
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats.exact import ExactError, loads
from compaction.formats.jsonspans import Bytes, scan, scan_broken


@given(request("messages", chat_message()), st.booleans())
def test_every_element_is_found_at_its_bytes(pieces: tuple[str, str, str], mark: bool) -> None:
    text = "".join(pieces)
    before = 3 if mark else 0
    data = b"\xef\xbb\xbf" * mark + text.encode()
    listed = scan(text, {"messages"}).get("messages")
    assert listed is not None
    assert listed.items is not None
    offsets = Bytes(text, data, before)
    values = loads(text)["messages"]
    assert len(listed.items) == len(values)
    for item, value in zip(listed.items, values, strict=True):
        span = offsets.span(item.start, item.end)
        assert loads(data[span.start : span.end]) == value == item.value
        assert span.line == 1 + data.count(b"\n", 0, span.start)


@given(st.text(max_size=30), st.lists(st.integers(0, 30), max_size=10))
def test_bytes_of_characters_in_any_order(text: str, positions: list[int]) -> None:
    text = text.encode("utf-8", "replace").decode()
    offsets = Bytes(text, text.encode())
    for position in positions:
        position = min(position, len(text))
        assert offsets.at(position) == len(text[:position].encode())


def test_of_repeated_keys_the_last_counts_and_all_are_kept() -> None:
    node = scan('{"a":1,"messages":[1],"messages":[2,3]}', {"messages"})
    assert [member.key for member in node.members or ()] == ["a", "messages", "messages"]
    assert node.value == {"a": 1, "messages": [2, 3]}
    listed = node.get("messages")
    assert listed is not None
    assert [item.value for item in listed.items or ()] == [2, 3]


def test_paths_lead_into_structure_and_no_further() -> None:
    text = '{"response":{"choices":[{"message":{"role":"x"}}]},"other":{"message":1}}'
    root = scan(text, {"response", "choices", "message"})
    found = root.get("response", "choices", 0, "message")
    assert found is not None
    assert text[found.start : found.end] == '{"role":"x"}'
    assert root.get("other", "message") is None
    assert root.get("response", "choices", 5) is None


@given(SPACE, SPACE)
def test_empty_containers(a: str, b: str) -> None:
    assert scan(f"{a}[{b}]").items == ()
    assert scan(f"{a}{{{b}}}").members == ()


@pytest.mark.parametrize(
    ("text", "kept", "closers"),
    [
        ('{"messages":[{"a":1},{"b":', [{"a": 1}], "]}"),
        ('{"messages":[{"a":1} {"b":2}]}', [{"a": 1}], "]}"),
        ('{"request":{"messages":[{"a":1},', [{"a": 1}], "]}}"),
        ('[{"a":1},{"b":2},', [{"a": 1}, {"b": 2}], "]"),
    ],
)
def test_what_stands_before_a_fault_is_kept(text: str, kept: list[object], closers: str) -> None:
    node, fault = scan_broken(text, {"messages", "request"})
    assert fault is not None
    assert node.closers == closers
    listed = node.get("messages") or node.get("request", "messages") or node
    assert [item.value for item in listed.items or ()] == kept
    end = (listed.items or ())[-1].end
    json.loads(text[:end] + closers)


@pytest.mark.parametrize(
    "text", ["", "{", "[1", '{"a"', '{"a":1', "{a:1}", '{"a":1 "b":2}', "[1 2]", "[" * 100_000]
)
def test_faults_are_errors_and_not_crashes(text: str) -> None:
    with pytest.raises(ExactError):
        scan(text, {"a"})


#: Characters of one to four bytes, and bytes that are no UTF-8.
_PIECES = [b"a", "é".encode(), "😀".encode(), b"\xff", b"\x80\x81", b"\xe2\x82", b"\xed\xa0\x80"]


@given(st.lists(st.sampled_from([*_PIECES, "\ufffd".encode()])), st.booleans(), st.randoms())
def test_bytes_that_are_no_utf_8_shift_nothing(
    pieces: list[bytes], mark: bool, chance: random.Random
) -> None:
    text = b"".join(pieces).decode("utf-8", "replace")
    data = b"\xef\xbb\xbf" * mark + b"".join(pieces)
    offsets = Bytes(text, data, 3 * mark)
    positions = list(range(len(text) + 1))
    chance.shuffle(positions)
    found = {position: offsets.at(position) for position in positions}
    assert found[len(text)] == len(data)
    for position, character in enumerate(text):
        own = data[found[position] : found[position + 1]]
        assert own.decode("utf-8", "replace") == character
