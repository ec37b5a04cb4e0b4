"""Records of a file that are not in the window: each one told once, with the reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from compaction.formats import load, omitted


def line(uuid: str, parent: str | None, **more: Any) -> bytes:
    return json.dumps({"uuid": uuid, "parentUuid": parent, "sessionId": "s", **more}).encode()


def user(uuid: str, parent: str | None, text: str, **more: Any) -> bytes:
    said = {"role": "user", "content": text}
    return line(
        uuid, parent, type="user", message=said, timestamp=f"2026-01-01T00:00:{uuid}Z", **more
    )


LINES = (
    user("01", None, "Old question."),
    line("02", "01", type="assistant", message={
        "id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Old answer."}]
    }),
    line("03", "02", type="progress", data={"type": "bash_progress"}),
    user("04", "02", "Aside.", isSidechain=True),
    line("05", None, type="system", subtype="compact_boundary", compactMetadata={"preTokens": 9}),
    user("06", "05", "Summary of it.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
    user("07", "06", "First try."),
    user("08", "06", "Second try."),
    b'{"type":"file-history-snapshot","messageId":"x","snapshot":{}}',
)  # fmt: skip


def test_each_record_that_is_not_live_is_told_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join(LINES) + b"\n")
    session = load(path)
    assert [one.text for one in session.messages] == ["Summary of it.", "Second try."]
    told = omitted(session)
    assert [(one.span.line, one.reason) for one in told] == [
        (1, "before the last compaction"),
        (2, "before the last compaction"),
        (3, "progress display"),
        (4, "side conversations"),
        (7, "abandoned attempts"),
        (9, "file history"),
    ]
    assert session.source.raw(told[1].span) == LINES[1]
    assert Counter(one.reason for one in told) == session.left_out


def test_of_several_conversations_the_one_shown_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    chats = [[{"role": "user", "content": f"{n}"}] for n in "ab"]
    path.write_bytes(b"\n".join(json.dumps({"messages": chat}).encode() for chat in chats))
    session = load(path, conversation="2")
    assert session.conversation == "2"
    assert omitted(session) == ()
