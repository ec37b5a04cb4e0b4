"""What every format of an agent library must keep: messages and bytes, through a compaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compaction import Policy, compact, load, plan
from compaction.export import render_bytes
from compaction.messages import Message, Session
from compaction.policy import SummaryBlock

SHARED = Path(__file__).parents[4] / "shared" / "sessions"


def shared(folder: str) -> list[Any]:
    """The files of a folder of real sessions, as parameters; skipped where none is."""
    files = sorted((SHARED / folder).glob("*")) if (SHARED / folder).is_dir() else []
    if not files:
        reason = f"the real sessions of {folder} are not beside this checkout"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(path, id=path.name) for path in files]


def opened(document: object, **options: Any) -> Session:
    """The session in a JSON document, its format found from the content."""
    return load(
        document if isinstance(document, bytes) else json.dumps(document).encode(), **options
    )


def same(left: Sequence[Message], right: Sequence[Message]) -> bool:
    """Whether both lists send the same."""
    return len(left) == len(right) and all(
        one.same_content(other) for one, other in zip(left, right, strict=True)
    )


def compacted(session: Session, keep: int = 4) -> list[Message]:
    """Head, summary and the last messages, as a compaction leaves them."""
    policy = Policy(budget=1, keep_recent=keep, summary=SummaryBlock(accept="any"))
    result = compact(plan(session, policy))
    assert result.made, result.failure
    return list(result.messages)


def saved(session: Session, messages: Sequence[Message] | None = None, form: str = "") -> bytes:
    """`messages` as a file of the session's own format, or of another."""
    holding = session if messages is None else replace(session, messages=tuple(messages))
    return render_bytes(holding, form or None)[0]


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from dicts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from dicts(inner)
