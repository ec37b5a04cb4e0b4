"""Values, constraints, and what of them a summary still holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.constraints import _STRONG, _STRONG_SIGNS, sentences
from compaction.errors import Cancelled
from compaction.evidence import constraints, identifiers, occurs, survival, values, window
from compaction.messages import Text, ToolCall, ToolResult, message

STRONG = f"{_STRONG}|{_STRONG_SIGNS}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Deploy 3f2a9c1e5b7d4860a1c2e3f405162738495a6b7c to [2001:db8::17]:8443.",
            ["3f2a9c1e5b7d4860a1c2e3f405162738495a6b7c", "[2001:db8::17]:8443"],
        ),
        (
            "Config is /srv/depot/my files/gate-04.yaml, job 7b1e0c52-9d4f-4a6e-8c11-2f30b1a7d9ee.",
            ["/srv/depot/my files/gate-04.yaml", "7b1e0c52-9d4f-4a6e-8c11-2f30b1a7d9ee"],
        ),
        (
            "Ticket DEP-4821; https://docs.example.net/gates?rev=12&lang=en#reset; due 2026-04-09.",
            ["DEP-4821", "https://docs.example.net/gates?rev=12&lang=en#reset", "2026-04-09"],
        ),
        ("12.5 kg at $1,234.56, 5 % off", ["12.5 kg", "$1,234.56", "5 %"]),
        (
            "请把/srv/depot/config.yaml发到「三号门」，订单W12345",
            ["/srv/depot/config.yaml", "三号门", "W12345"],
        ),
        ("(see https://en.wikipedia.org/wiki/A_(b)).", ["https://en.wikipedia.org/wiki/A_(b)"]),
        ("C:\\Users\\me\\a.txt and 10.0.0.1:8080", ["C:\\Users\\me\\a.txt", "10.0.0.1:8080"]),
        ("run `pytest -q` with --flag=val", ["pytest -q", "--flag=val"]),
        ("order #W2378156 by me@example.org", ["#W2378156", "me@example.org"]),
        ("edit src/auth/session.py and setup.cfg", ["src/auth/session.py", "setup.cfg"]),
    ],
)
def test_values_are_found_exactly_and_in_order(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "input/output and/or TCP/IP",
        "a well-known fact",
        "e.g. this, i.e. that.",
        "int64 utf8 x86_64",
        "12-char names",
    ],
)
def test_words_are_no_values(text: str) -> None:
    assert identifiers(text) == []


def test_each_value_comes_once() -> None:
    assert identifiers("a/b/c.py a/b/c.py `a/b/c.py`") == ["a/b/c.py"]


def test_a_value_on_a_chunk_border_is_whole() -> None:
    path = "/srv/" + "/".join(["folder"] * 5) + "/file.yaml"
    for before in range(8150, 8200):
        assert path in identifiers("x" * before + " " + path + " end")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400), st.booleans())
def test_every_value_is_a_substring(text: str, prose: bool) -> None:
    for value in values(text, prose=prose):
        assert value.text in text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "/" * 300_000,
        "a/" * 150_000,
        "1." * 100_000,
        "`" * 300_000,
        "http://" * 50_000,
        "[::" * 100_000,
        "x@y." * 80_000,
    ],
)
def test_hostile_text_is_one_pass(text: str) -> None:
    values(text)
    constraints(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs. Never delete the DB! It is old.", ["Never delete the DB!"]),
        ("You must not touch src/a.py at all.", ["You must not touch src/a.py at all."]),
        ("好的。不要删除数据库。", ["不要删除数据库。"]),
        ("ファイルを削除しないでください。お願いします。", ["ファイルを削除しないでください。"]),
        (
            "Danke. Die Tabelle darf nicht geändert werden.",
            ["Die Tabelle darf nicht geändert werden."],
        ),
        ("Merci. Ne touche pas au fichier.", ["Ne touche pas au fichier."]),
        ("Gracias. No borres la tabla.", ["No borres la tabla."]),
        ("All fine here.", []),
    ],
)
def test_constraints_in_six_languages(text: str, expected: list[str]) -> None:
    assert constraints(text, weak=False) == expected


def test_occurs_wants_the_value_itself() -> None:
    assert occurs("17", "pallet 17.")
    assert not occurs("17", "in 2017")
    assert occurs("a/b.py", "(a/b.py)")
    assert occurs("三号门", "去三号门吧")


def test_survival_names_the_message_of_each_value() -> None:
    messages = [
        message("user", "Look at DEP-4821. Never call gate-04.yaml finished."),
        message("assistant", [ToolCall("c1", "read", '{"path": "/srv/a.txt"}')]),
        message("tool", [ToolResult("c1", (Text("total 12000 at /srv/b.txt"),))]),
    ]
    result = survival(messages, "DEP-4821 and /srv/b.txt", indexes=[4, 5, 9])
    assert [(item.text, item.message) for item in result.kept] == [
        ("DEP-4821", 4),
        ("/srv/b.txt", 9),
    ]
    assert [(item.text, item.kind, item.message) for item in result.lost] == [
        ("gate-04.yaml", "path", 4),
        ("Never call gate-04.yaml finished.", "constraint", 4),
        ("/srv/a.txt", "path", 5),
        ("12000", "id", 9),
    ]


@pytest.mark.parametrize("looks", [1, 2, 3])
def test_survival_can_be_cancelled(looks: int) -> None:
    messages = [message("user", f"Look at DEP-{number}.") for number in range(300)]
    left = iter([False] * (looks - 1))
    with pytest.raises(Cancelled):
        survival(messages, "nothing", cancelled=lambda: next(left, True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Only words, (and) marks; it's plain: yes? No! Well-known... And.", []),
        ("Words. Then a.py, done.", ["a.py"]),
        ("It is 5 km.", ["5 km"]),
    ],
)
def test_plain_words_hold_no_values(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@given(st.text(alphabet="nevr mustNOT.!?\n\"'kſéﬁ不要", max_size=80))
def test_a_phrase_is_found_whatever_the_case(text: str) -> None:
    found = [one for one in sentences(text) if re.search(STRONG, one, re.IGNORECASE)]
    kept = dict.fromkeys(one for one in found if len(one) >= 4)
    assert constraints(text, weak=False) == list(kept)


def test_a_window_keeps_both_ends_and_cuts_no_word() -> None:
    text = " ".join(f"word{number}" for number in range(10_000))
    short = window(text, 1000)
    assert len(short) < 2100
    assert short.startswith("word0 ")
    assert short.endswith("word9999")
    assert set(short.split()) <= set(text.split())
