"""What goes wrong while a file is written: the old file stays, or the new one is whole.

The disk is full, the permission is lost, the process is killed. No half of a file stands where one
was asked for, and nothing else is left behind where that can be helped.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from compaction import export
from compaction.errors import CompactionError, ExportError
from compaction.formats import load
from compaction.policy import Policy
from compaction.repairing import repair
from tui import settings, writing

OLD = "what was there before\n"

#: Long enough for several chunks and pages.
TURNS = [
    {"role": ("user", "assistant")[n % 2], "content": f"{n}: " + "the gate was reset. " * 60}
    for n in range(200)
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"messages": TURNS}))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder of its own for what is written."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def _exported(source: Path, target: Path) -> str:
    """Export the whole session; what went wrong, "" for nothing."""
    return _refusal(lambda: export.save(load(source), target, force=True))


def _fixed(source: Path, target: Path) -> str:
    return _refusal(lambda: export.save(repair(load(source), "openai-chat"), target, force=True))


def _policy(source: Path, target: Path) -> str:
    return writing.write_text(target, Policy(name="x" * 20_000).to_yaml())


def _settings(source: Path, target: Path) -> str:
    many = tuple(f"/sessions/{n:03}-{'x' * 900}" for n in range(20))
    return settings.save(settings.Settings(theme="dark", recent=many), target)


def _refusal(work: Callable[[], object]) -> str:
    try:
        work()
    except ExportError as error:
        return str(error)
    return ""


#: Everything that writes a file for a person.
Writer = Callable[[Path, Path], str]
WRITERS: dict[str, Writer] = {
    "export": _exported, "check --fix": _fixed, "policy": _policy, "settings": _settings,
}  # fmt: skip

every_writer = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---------------------------------------------------------------------------------- disk full


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of its own that holds `size` bytes; skips where none can be made."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip("only root can mount a small disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize("pages", [0, 1, 2, 3])
@every_writer
def test_a_full_disk(write: Writer, pages: int, source: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64 * 1024) as disk:
        target = disk / "target"
        target.write_text(OLD)
        free = os.statvfs(disk)
        # What is left over are a few pages: the write fails early or late.
        (disk / "ballast").write_bytes(bytes(max(0, free.f_bavail - pages) * free.f_bsize))
        why = write(source, target)
        assert "no space left" in why.lower()
        assert target.read_text() == OLD
        assert names(disk) == ["ballast", "target"]
        new = disk / "new"
        assert write(source, new)
        assert not new.exists()
        assert names(disk) == ["ballast", "target"]


class _Filling:
    """A file whose disk is full after some bytes, which are written."""

    def __init__(self, stream: Any, room: int) -> None:
        self._stream, self._room = stream, room

    def write(self, data: bytes) -> int:
        done = self._stream.write(data[: self._room])
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(done)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@pytest.mark.parametrize("room", [0, 1, 4095, 4096, 50_000, 200_000])
def test_a_disk_that_is_full_after_any_number_of_bytes(
    room: int, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pour = export._pour

    def filling(stream: BinaryIO, chunks: Any) -> int:
        return pour(_Filling(stream, room), chunks)  # type: ignore[arg-type]

    monkeypatch.setattr(export, "_pour", filling)
    target = out / "target"
    target.write_text(OLD)
    assert "no space left" in _exported(source, target)
    assert target.read_text() == OLD
    assert _exported(source, out / "new")
    assert names(out) == ["target"]


#: What the system is asked for while a file is put in place, each failing once. Small files are
#: written without the second and the third.
_STEPS = [
    (name, step)
    for name in WRITERS
    for step in ("open", "fsync", "chmod", "rename")
    if name not in ("policy", "settings") or step in ("open", "rename")
]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize(("name", "step"), _STEPS)
def test_any_step_that_fails(
    name: str, step: str, code: int, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = WRITERS[name]
    target = out / "target"
    target.write_text(OLD)

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    failed = {"open": 0}
    whole = os.open

    def fail_to_write(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            failed["open"] += 1
            fail()
        return whole(path, flags, *rest, **more)

    small = write in (_policy, _settings)
    with monkeypatch.context() as patched:
        match step:
            case "open" if small:
                patched.setattr(Path, "write_text", fail)
            case "open":
                patched.setattr(os, "open", fail_to_write)
            case "rename":
                patched.setattr(Path, "replace", fail)
            case "chmod":
                patched.setattr(Path, "chmod", fail)
            case _:
                patched.setattr(os, "fsync", fail)
        why = write(source, target)
    assert os.strerror(code).lower() in why.lower()
    assert "\n" not in why
    assert target.read_text() == OLD
    assert names(out) == ["target"]


# ---------------------------------------------------------------------------- permission lost


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@every_writer
def test_a_disk_that_became_read_only(write: Writer, source: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4_000_000) as disk:
        target = disk / "target"
        target.write_text(OLD)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for each in (target, disk / "new"):
            why = write(source, each)
            assert "read-only" in why.lower()
            assert "\n" not in why
        assert target.read_text() == OLD
        assert names(disk) == ["target"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
@every_writer
def test_a_folder_that_may_not_be_written(write: Writer, source: Path, out: Path) -> None:
    target = out / "target"
    target.write_text(OLD)
    out.chmod(0o500)
    try:
        assert "permission denied" in write(source, target).lower()
        assert target.read_text() == OLD
        assert names(out) == ["target"]
    finally:
        out.chmod(0o700)


# -------------------------------------------------------------------------------------- killed

#: Writes, and waits for ever in the middle of it; says so on standard output.
_SLOW = """
import os, sys, threading
from pathlib import Path
from compaction import export
from tests.compaction.test_export_faults import WRITERS

def stop():
    print("here", flush=True)
    threading.Event().wait()

def half(stream, chunks):
    data = b"".join(chunks)
    stream.write(data[: len(data) // 2])
    stream.flush()
    stop()

def text(path, text, encoding):
    with path.open("w", encoding=encoding) as file:
        file.write(text[: len(text) // 2])
        file.flush()
        stop()

where, name, source, target = sys.argv[1:]
if where == "middle":
    export._pour = half
    Path.write_text = text
elif where == "before the place":
    Path.replace = lambda *_: stop()
print(WRITERS[name](Path(source), Path(target)), flush=True)
if where == "after":
    stop()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills nobody")
@pytest.mark.parametrize("where", ["middle", "before the place", "after"])
@pytest.mark.parametrize("name", list(WRITERS))
def test_a_process_that_is_killed(where: str, name: str, source: Path, out: Path) -> None:
    target = out / "target"
    target.write_text(OLD)
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", _SLOW, where, name, str(source), str(target)],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        told = [program.stdout.readline().strip()]
        if where == "after":
            # Nothing went wrong before.
            told.append(program.stdout.readline().strip())
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL, program.stderr
    assert told[-1] == "here"
    if where == "after":
        assert target.read_text() != OLD
        _assert_whole(name, target)
        assert names(out) == ["target"]
        return
    assert target.read_text() == OLD
    # A killed process cannot clean up; what it leaves is hidden and in nobody's way.
    left = [each for each in names(out) if each != "target"]
    assert len(left) <= 1
    assert all(each.startswith(".") and each.endswith(".part") for each in left)
    # And the next one writes.
    assert WRITERS[name](source, target) == ""
    _assert_whole(name, target)


def _assert_whole(name: str, target: Path) -> None:
    if name in ("export", "check --fix"):
        assert len(load(target)) == len(TURNS)
    elif name == "settings":
        read, warnings = settings.load(target)
        assert len(read.recent) == 20
        assert not warnings
    else:
        assert len(Policy.from_yaml(target.read_text()).name) == 20_000


# -------------------------------------------------------------------------------- command line


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize("command", [("export", "--budget", "100k"), ("check", "--fix")])
def test_the_command_line_says_it_in_one_sentence(
    command: tuple[str, ...], source: Path, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", 64 * 1024) as disk:
        target = disk / "out.json"
        ran = subprocess.run(
            [sys.executable, "-m", "tui", command[0], str(source), "-o", str(target), *command[1:]],
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 2
        assert "no space left" in ran.stderr
        assert [line.startswith("compaction: ") for line in ran.stderr.splitlines()][-1:] == [True]
        assert "Traceback" not in ran.stderr
        assert names(disk) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_standard_output_that_is_full(source: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "tui", "export", str(source), "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert ran.returncode == 2
    assert "no space left" in ran.stderr.lower()
    assert "Traceback" not in ran.stderr


def test_an_interrupted_write_is_taken_back(
    source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "_pour", stop)
    with pytest.raises(KeyboardInterrupt):
        export.save(load(source), out / "new")
    assert names(out) == []
    assert issubclass(ExportError, CompactionError)
