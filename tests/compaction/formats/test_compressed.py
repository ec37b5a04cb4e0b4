"""Sessions that are compressed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from compaction.errors import ExportError, SessionError
from compaction.export import save
from compaction.formats import compressed, load

MESSAGES = [{"role": "user", "content": "Where is the valve?"}]


def test_a_gzip_file_is_read_and_never_written_to(tmp_path: Path) -> None:
    path = tmp_path / "session.json.gz"
    path.write_bytes(gzip.compress(json.dumps(MESSAGES).encode()))
    session = load(path)
    assert [one.text for one in session.messages] == ["Where is the valve?"]
    with pytest.raises(ExportError, match="never changed"):
        save(session, path, force=True)


def test_two_gzip_members_are_one_file() -> None:
    lines = [json.dumps({"role": "user", "content": text}).encode() + b"\n" for text in "ab"]
    assert len(load(b"".join(gzip.compress(line) for line in lines)).messages) == 2


def test_what_unpacks_to_far_more_than_it_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "RATIO", 2)
    monkeypatch.setattr(compressed, "LIMIT", 1000)
    with pytest.raises(SessionError, match="unpacks to more than 1,000 bytes"):
        load(gzip.compress(b" " * 5000))
