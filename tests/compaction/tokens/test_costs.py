"""What a message costs: every kind of part, by the documented rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.messages import (
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.tokens import count_message, count_parts, counter, image_tokens, media_tokens
from compaction.tokens.media import BLOB, FLAT, sealed_tokens

O200K = counter()
QUARTER = counter("chars/4")
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.text(max_size=20).map(Text),
    st.builds(Thinking, st.text(max_size=20), sealed=st.integers(0, 5_000)),
    st.builds(ToolCall, st.just("c1"), st.text(max_size=9), st.text(max_size=20)),
    st.builds(ToolResult, st.just("c1"), st.text(max_size=20).map(lambda text: (Text(text),))),
    st.builds(Media, st.sampled_from(["image", "audio", "video", "document", "file"])),
    st.builds(Opaque, st.just("x"), st.text(max_size=20)),
)


def n(text: str) -> int:
    return O200K.count(text)


def test_a_message_costs_its_text_role_and_frame() -> None:
    assert count_message(message("user", "Hello, world!"), O200K) == 3 + 1 + 4


def test_a_name_costs_its_text_and_one() -> None:
    plain = count_message(message("user", "Hi"), O200K)
    named = count_message(message("user", "Hi", name="anna"), O200K)
    assert named == plain + n("anna") + 1


def test_blocks_cost_what_the_string_costs() -> None:
    for cut in range(14):
        parts = [Text("Depot helper."[:cut]), Text("Depot helper."[cut:])]
        whole = count_message(message("system", "Depot helper."), O200K)
        assert count_message(message("system", parts), O200K) == whole


def test_a_call_costs_name_arguments_and_id() -> None:
    call = ToolCall("call_abc", "read_file", '{"path": "a.py"}')
    expected = n("read_file") + n('{"path": "a.py"}') + n("call_abc")
    assert count_parts([call], O200K) == expected


def test_a_result_costs_id_content_and_name() -> None:
    result = ToolResult("call_abc", (Text("12 kg"), Media("image")), name="weigh")
    expected = n("call_abc") + n("12 kg") + FLAT["image"] + n("weigh") + 1
    assert count_parts([result], O200K) == expected


def test_sealed_reasoning_costs_by_its_length() -> None:
    assert [sealed_tokens(length) for length in (0, 10, 867, 4_000)] == [0, 1, 1, 587]
    assert count_parts([Thinking("", sealed=4_000)], O200K) == 587
    assert count_parts([Thinking("Hello, world!", "signature")], O200K) == 4


def test_base64_is_never_counted_as_text() -> None:
    data = "QUJD" * 700_000
    assert count_parts([Media("image", data=data, size=2_100_000)], O200K) == FLAT["image"]
    assert count_parts([Opaque("x", f'{{"blob":"{data}"}}')], O200K) == BLOB + n('{"blob":""}')
    sealed = f'{{"encrypted_content":"{data[:4_000]}"}}'
    assert count_parts([Opaque("compaction", sealed)], O200K) == 587 + n('{"encrypted_content":""}')


def test_an_unknown_part_costs_its_json_and_never_nothing() -> None:
    assert count_parts([Opaque("x", '{"a":[1,2]}')], O200K) == n('{"a":[1,2]}')
    assert count_parts([Opaque("x", "")], O200K) == 1


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (1, 1, 85 + 170),
        (512, 512, 85 + 170),
        (513, 512, 85 + 340),
        (1024, 1024, 85 + 4 * 170),
        (1920, 1080, FLAT["image"]),
        (4096, 8192, 85 + 6 * 170),
        (30_000, 10, 85 + 4 * 170),
    ],
)
def test_an_image_costs_by_its_tiles(width: int, height: int, tokens: int) -> None:
    assert image_tokens(width, height) == tokens
    assert media_tokens(Media("image", width=width, height=height)) == tokens
    assert media_tokens(Media("image", width=width, height=height, detail="low")) == 85


def test_chars_4_counts_the_characters_of_all_parts_together() -> None:
    parts = [Text("abc"), Text("de"), ToolCall("some long id", "fn", "{}")]
    assert count_message(message("assistant", parts), QUARTER) == 9 // 4
    assert count_parts([Text("abcd"), Media("audio")], QUARTER) == 1 + FLAT["audio"]


@given(st.lists(PARTS, max_size=5))
def test_nothing_breaks_a_count_and_more_parts_never_cost_less(parts: list[Part]) -> None:
    counts = [count_parts(parts[:end], O200K) for end in range(len(parts) + 1)]
    # Joined texts may share a token at their seam; nothing else makes a list cheaper.
    assert counts[0] == 0
    for before, after, part in zip(counts, counts[1:], parts, strict=False):
        assert after >= before - (4 if isinstance(part, Text) else 0)
