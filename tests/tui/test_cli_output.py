"""Printing: aligned, cut by cells, coloured only where wanted, and never raw."""

from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.cli_output import Cell, Column, Printer, cell_width, fit, print_json, share

ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printed(colour: bool = False, width: int = 60) -> tuple[Printer, io.StringIO]:
    stream = io.StringIO()
    return Printer(stream, colour=colour, width=width), stream


def test_numbers_are_aligned_to_the_right() -> None:
    printer, stream = printed()
    printer.table(
        [Column("name"), Column("tokens", right=True)], [["a", "7"], ["longer", "12,345"]]
    )
    assert stream.getvalue() == "  name    tokens\n  a            7\n  longer  12,345\n"


def test_wide_characters_count_two_cells() -> None:
    printer, stream = printed()
    printer.table([Column(), Column()], [["金沢", "x"], ["abcd", "x"]])
    first, second = stream.getvalue().splitlines()
    assert first == "  金沢  x"
    assert second == "  abcd  x"
    assert cell_width("金沢") == 4
    assert fit("金沢の旅", 5) == "金沢…"


def test_the_last_column_is_cut_at_the_width() -> None:
    printer, stream = printed(width=40)
    printer.table([Column(), Column()], [["a", "word " * 40]])
    assert all(cell_width(line) <= 40 for line in stream.getvalue().splitlines())
    assert "…" in stream.getvalue()


def test_a_last_column_that_wraps_is_told_in_full() -> None:
    printer, stream = printed(width=40)
    text = "one two three four five six seven eight nine ten eleven " + "x" * 50
    printer.table([Column(), Column(wrap=True)], [["a", text]])
    lines = stream.getvalue().splitlines()
    assert all(cell_width(line) <= 40 for line in lines)
    assert all(line.startswith("     ") for line in lines[1:])
    assert "".join(lines).replace(" ", "") == "a" + text.replace(" ", "")


def test_colour_only_when_asked() -> None:
    plain, plain_stream = printed()
    plain.line(Cell("head", "1;36"), " rest")
    coloured, coloured_stream = printed(colour=True)
    coloured.line(Cell("head", "1;36"), " rest")
    assert plain_stream.getvalue() == "head rest\n"
    assert coloured_stream.getvalue() == "\x1b[1;36mhead\x1b[0m rest\n"


def test_bars_are_in_proportion_and_never_vanish() -> None:
    printer, _ = printed()
    assert printer.bar(1, 8) == "█" * 8
    assert printer.bar(0.5, 8) == "█" * 4
    assert printer.bar(0.0001, 8) == "▏"
    assert printer.bar(0, 8) == ""
    assert printer.bar(7, 8) == "█" * 8


def test_shares() -> None:
    assert share(1, 2) == "50 %"
    assert share(1, 50) == "2.0 %"
    assert share(0, 50) == "0 %"
    assert share(1, 0) == ""


@given(st.text(st.characters(), max_size=60))
def test_nothing_printed_acts_on_a_terminal(text: str) -> None:
    printer, stream = printed()
    printer.line(text, Cell(text, "31"))
    printer.text(text)
    printer.heading(text)
    printer.table([Column(text), Column()], [[text, Cell(text)]])
    assert not ACTS.search(stream.getvalue())


@given(st.text(st.characters(), max_size=60))
def test_json_is_exact_and_never_acts(text: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        print_json({"text": text})
    stream.flush()
    out = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert json.loads(out) == {"text": text}
    assert not ACTS.search(out)
