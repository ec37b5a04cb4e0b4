from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from compaction.errors import ExportError
from compaction.export import losses, render_bytes, save
from compaction.formats import from_messages
from compaction.formats.base import ReadOptions, Written
from compaction.formats.openai_chat import OpenAIChat
from compaction.messages import Session, Source

TEXT = '{"messages": [{"role": "user", "content": "é", "n": 1.10}]}'


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "session.json"
    path.write_text(TEXT, encoding="utf-8")
    source = Source(path.read_bytes(), "session.json", str(path))
    return OpenAIChat().read(source, ReadOptions())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_saved_whole_and_nothing_else_is_left(session: Session, tmp_path: Path) -> None:
    saved = save(session, tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == TEXT
    assert (saved.bytes, saved.format) == (len(TEXT.encode()), "openai-chat")
    assert names(tmp_path) == ["out.json", "session.json"]


def test_a_new_file_has_the_permissions_of_new_files(session: Session, tmp_path: Path) -> None:
    save(session, tmp_path / "out.json")
    other = tmp_path / "other"
    other.write_bytes(b"")
    assert (tmp_path / "out.json").stat().st_mode == other.stat().st_mode


def test_in_another_format_with_what_is_lost_said_before(session: Session, tmp_path: Path) -> None:
    assert losses(session, "anthropic") == ()
    saved = save(session, tmp_path / "out.json", format="anthropic")
    out = json.loads((tmp_path / "out.json").read_bytes())
    assert out["messages"] == [{"role": "user", "content": "é"}]
    data, findings = render_bytes(session, "anthropic")
    assert data == (tmp_path / "out.json").read_bytes()
    assert saved.findings == findings == ()


@pytest.mark.parametrize("way", ["itself", "relative", "symlink", "hardlink", "forced"])
def test_the_source_is_never_written(
    session: Session, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "session.json"
    target = tmp_path / "link"
    match way:
        case "symlink":
            target.symlink_to(source)
        case "hardlink":
            target.hardlink_to(source)
        case "relative":
            monkeypatch.chdir(tmp_path)
            target = Path("./session.json")
        case _:
            target = source
    with pytest.raises(ExportError, match="is the session that was read"):
        save(session, target, force=True)
    assert source.read_text(encoding="utf-8") == TEXT


def test_another_file_only_with_force(session: Session, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o640)
    with pytest.raises(ExportError, match="exists already"):
        save(session, target)
    assert target.read_text() == "old"
    save(session, target, force=True)
    assert target.read_text(encoding="utf-8") == TEXT
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_behind_a_link_the_file_is_replaced_and_the_link_stays(
    session: Session, tmp_path: Path
) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    save(session, link, force=True)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("folder", "is a folder"),
        ("missing/out.json", "there is no folder"),
        ("new/", "there is no folder"),
        ("a\0b", "NUL"),
        ("n" * 400, "too long"),
        ("session.json/out.json", "ot a directory|no folder"),
    ],
)
def test_where_nothing_can_be_written(
    session: Session, tmp_path: Path, target: str, what: str
) -> None:
    (tmp_path / "folder").mkdir()
    before = names(tmp_path)
    with pytest.raises(ExportError, match=what):
        save(session, f"{tmp_path}/{target}")
    assert names(tmp_path) == before


def test_no_name(session: Session) -> None:
    with pytest.raises(ExportError, match="without a name"):
        save(session, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_device(session: Session) -> None:
    with pytest.raises(ExportError, match="no space left"):
        save(session, "/dev/full", force=True)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes in folders")
def test_a_disk_that_fills_up_leaves_the_old_file(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ExportError, match="no space left on device"):
        save(session, target, force=True)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.json", "session.json"]


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_whatever_stops_the_writing_leaves_nothing(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise error

    monkeypatch.setattr(OpenAIChat, "write", lambda *_: Written(chunks()))
    with pytest.raises((ExportError, KeyboardInterrupt)):
        save(session, tmp_path / "out.json")
    assert names(tmp_path) == ["session.json"]


def test_a_file_that_appears_meanwhile_is_not_replaced(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"

    def chunks() -> Iterator[bytes]:
        target.write_text("theirs")
        yield b"ours"

    monkeypatch.setattr(OpenAIChat, "write", lambda *_: Written(chunks()))
    with pytest.raises(ExportError, match="exists already"):
        save(session, target)
    assert target.read_text() == "theirs"


def test_an_unknown_format(session: Session, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="opanai"):
        save(session, tmp_path / "out.json", format="opanai-chat")
    assert names(tmp_path) == ["session.json"]


def test_what_another_api_would_refuse_is_said_before_it_is_written() -> None:
    lost = [
        {"role": "user", "content": "Weigh it."},
        {"role": "tool", "tool_call_id": "gone", "content": "12 kg"},
        {"role": "user", "content": "And?"},
    ]
    session = from_messages(lost)
    assert "orphan-result" in [each.code for each in losses(session, "anthropic")]
    whole = from_messages([{"role": "user", "content": "Weigh it."}])
    assert [each.level for each in losses(whole, "anthropic") if each.level == "error"] == []
