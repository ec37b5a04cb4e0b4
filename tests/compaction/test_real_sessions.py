"""Every real session file beside the checkout: loaded, or refused with one clear sentence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import compaction
from compaction.errors import SessionError

#: Folders whose every file is a session of a supported format.
SUPPORTED = {
    "claude-code": {"claude-code"},
    "claude-code-edge-cases": {"claude-code"},
    "codex": {"codex"},
    "openai-chat": {"openai-chat"},
    "openai-responses": {"openai-responses"},
    "anthropic-messages": {"anthropic"},
    "stress": {"claude-code", "openai-chat"},
}


def files_of(folder: Path) -> list[Path]:
    """The files of one format, largest last."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
    return sorted(found, key=lambda path: (path.stat().st_size, path.name))


@pytest.mark.parametrize("folder", sorted(SUPPORTED))
def test_every_file_of_a_supported_format_loads(folder: str, shared_sessions: Path) -> None:
    files = files_of(shared_sessions / folder)
    assert files
    print()
    for path in files:
        session = compaction.load(path)
        roles = Counter(message.role for message in session.messages)
        print(
            f"{session.format:<17} {len(session):>6,} live  {sum(session.left_out.values()):>6,} "
            f"left out  {len(session.problems):>3} problems  {path.name}  {dict(roles)}"
        )
        assert session.format in SUPPORTED[folder]
        # Some recordings hold nothing but bookkeeping, and say so.
        assert session.messages or session.left_out
        full = compaction.load(path, history="full")
        assert len(full) >= len(session)


def test_every_other_file_is_read_or_refused_in_one_sentence(shared_sessions: Path) -> None:
    print()
    for folder in sorted(shared_sessions.iterdir()):
        if not folder.is_dir() or folder.name in SUPPORTED:
            continue
        outcomes: Counter[str] = Counter()
        for path in files_of(folder):
            try:
                session = compaction.load(path)
            except SessionError as error:
                sentence = str(error)
                assert path.name in sentence
                assert "\n" not in sentence
                outcomes["refused"] += 1
                outcomes[f"  “{sentence.replace(str(path), path.name)}”"] += 0
            else:
                assert len(session) > 0
                outcomes[f"read as {session.format}"] += 1
        numbers = ", ".join(f"{n} {name}" for name, n in outcomes.items() if n)
        print(f"{folder.name:<22} {numbers}")
        for name, number in outcomes.items():
            if not number:
                print(f"  {name}")


@pytest.mark.parametrize("folder", ["claude-code", "codex"])
def test_what_is_written_back_unchanged_has_the_same_messages(
    folder: str, shared_sessions: Path, tmp_path: Path
) -> None:
    for path in files_of(shared_sessions / folder):
        if path.stat().st_size > 2_000_000:
            continue
        session = compaction.load(path)
        out = tmp_path / f"{folder}-{path.name}"
        compaction.save(session, out, force=True)
        again = compaction.load(out)
        assert [each.preview for each in again.messages] == [
            each.preview for each in session.messages
        ]
