from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.widgets.text_flow import SLICE, Flow, Passage, wrapped

from .samples import HOSTILE

texts = st.text(st.sampled_from("ab  \n日é\u0301👍"), max_size=400)


def flowed(passages: list[Passage], width: int) -> Flow:
    flow = Flow(passages, width)
    while not flow.done:
        flow.extend()
    return flow


@given(texts, st.integers(4, 30))
def test_no_line_is_wider_than_asked(text: str, width: int) -> None:
    flow = flowed([Passage(text)], width)
    assert all(cell_len(line) <= width for line in flow.lines)


@given(texts, st.integers(4, 30))
def test_nothing_but_the_spaces_at_breaks_is_lost(text: str, width: int) -> None:
    def solid(value: str) -> str:
        return "".join(value.split())

    assert solid("".join(flowed([Passage(text)], width).lines)) == solid(text)


def test_lines_break_at_spaces() -> None:
    assert wrapped("the login code is here", 10) == ["the login", "code is", "here"]
    assert wrapped("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert wrapped("日本語日本語", 5) == ["日本", "語日", "本語"]
    assert wrapped("", 10) == [""]


def test_a_passage_has_its_tone_and_indent() -> None:
    flow = flowed([Passage("one", "accent"), Passage("two\nthree", "muted", indent=2)], 20)
    assert flow.lines == ["one", "  two", "  three"]
    assert [flow.tone(line) for line in range(3)] == ["accent", "muted", "muted"]


def test_a_huge_text_is_wrapped_a_slice_at_a_time() -> None:
    line = "0123456789 " * 9 + "\n"
    text = line * (10 * SLICE // len(line))
    flow = Flow([Passage(text)], 50)
    flow.extend(100)
    first = len(flow.lines)
    assert 100 <= first < 4_000
    assert not flow.done
    whole = flowed([Passage(text)], 50)
    assert whole.lines[:first] == flow.lines
    small = flowed([Passage(line)], 50).lines[:-1]
    assert whole.lines == small * (len(text) // len(line)) + [""]


def test_one_endless_line_has_slices_too() -> None:
    flow = flowed([Passage("x" * (3 * SLICE + 7))], 100)
    assert sum(len(line) for line in flow.lines) == 3 * SLICE + 7


def test_a_pile_of_marks_does_not_make_an_endless_line() -> None:
    flow = flowed([Passage("e" + "\u0301" * 10_000)], 20)
    assert max(len(line) for line in flow.lines) < 200


def test_everything_is_harmless() -> None:
    for line in flowed([Passage(text) for text in HOSTILE], 40).lines:
        assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)
        assert not set(line) & set("\u202e\u2066\u200f\u200d")
