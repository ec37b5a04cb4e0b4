"""Estimates: near the count over a session, and made without reading a body."""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction.errors import SessionError
from compaction.formats import load
from compaction.messages import Message, Part, Session, Source, Span, Text, Tools, message
from compaction.tokens import count, estimate

PROSE = "The north gate scanner was reset and lane four was measured again before noon. "
JAPANESE = "倉庫の北門は正午まで閉まっています。荷物は四番の列に置いてください。"
RUSSIAN = "Северные ворота склада закрыты до полудня, а посылки лежат в четвёртом ряду. "


class Sealed:
    """A body that must not be looked at."""

    def parts(self) -> tuple[Part, ...]:
        raise AssertionError("the body was parsed")

    def record(self) -> object:
        raise AssertionError("the body was parsed")


def session_of(*listed: Message, tools: str = "") -> Session:
    return Session(Source(b""), "openai-chat", listed, tools=Tools(("f",), tools))


@pytest.mark.parametrize("text", [PROSE, JAPANESE, RUSSIAN], ids=["prose", "cjk", "cyrillic"])
def test_an_estimate_is_within_a_third(text: str) -> None:
    session = session_of(*(message("user", text * 9) for _ in range(5)))
    assert estimate(session).total == pytest.approx(count(session).total, rel=0.34)


def test_no_body_is_read() -> None:
    kinds = frozenset({"text"})
    sealed = Message("user", Sealed(), preview="Lane four", chars=400, kinds=kinds)
    counts = estimate(session_of(sealed, tools="x" * 400))
    assert 80 <= counts.tokens[0] <= 130
    assert counts.overhead == 100
    assert (counts.exact, counts.done, counts.label) == (False, 0, "estimated")


def test_media_and_sealed_reasoning_are_not_free() -> None:
    picture = Message("user", Sealed(), kinds=frozenset({"media"}))
    reasoning = Message(
        "assistant", Sealed(), kinds=frozenset({"thinking"}), spans=(Span(0, 4_000, 1),)
    )
    tokens = estimate(session_of(picture, reasoning)).tokens
    assert tokens[0] > 1_000
    assert 500 <= tokens[1] <= 700


def test_every_message_has_an_estimate() -> None:
    assert len(estimate(session_of())) == 0
    assert all(n > 0 for n in estimate(session_of(message("user", []), message("x", "a"))).tokens)
    assert estimate(session_of(message("user", [Text("")]))).total == 4


def test_real_sessions_are_estimated_within_a_quarter(shared_sessions: Path) -> None:
    off: dict[str, float] = {}
    for path in sorted(shared_sessions.glob("c*/*.jsonl")):
        try:
            session = load(path)
        except SessionError:
            continue
        total = count(session).total
        if total > 5_000:
            off[path.name] = estimate(session).total / total
    assert off
    assert {name: ratio for name, ratio in off.items() if not 0.75 <= ratio <= 1.25} == {}
