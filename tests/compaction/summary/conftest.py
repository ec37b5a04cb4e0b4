"""A counter that needs no ranks, and a short way to a request."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from compaction.messages import Message
from compaction.summary.protocol import SummaryRequest

_PIECES = re.compile(r"\s?[A-Za-z]{1,5}|\s?\d{1,3}|\s|.", re.DOTALL)


class PieceCounter:
    """Counts pieces of words, about as many as a real tokenizer does."""

    name = "pieces"
    exact = True

    def count(self, text: str) -> int:
        return len(_PIECES.findall(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


@pytest.fixture(scope="session")
def counter() -> PieceCounter:
    return PieceCounter()


@pytest.fixture(scope="session")
def request_for(counter: PieceCounter) -> Callable[..., SummaryRequest]:
    def make(
        messages: Sequence[Message], max_tokens: int = 1024, follows: Message | None = None
    ) -> SummaryRequest:
        return SummaryRequest(tuple(messages), max_tokens, counter, follows=follows)

    return make
