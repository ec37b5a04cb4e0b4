"""Writing a result: in any format, complete or not at all, and never onto what was read.

The bytes go to a new file in the same folder, which takes the place of the target only when all
of them are on the disk.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from compaction.errors import ExportError
from compaction.findings import Finding
from compaction.formats.base import Format, Written
from compaction.messages import Message, Session

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.repairing import Repaired

    Result = Compacted | Repaired | Session


#: The format for what was read from one that cannot be written.
NEUTRAL = "openai-chat"


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written: where, how many bytes, in which format, and what it could not hold."""

    path: str
    bytes: int
    format: str
    findings: tuple[Finding, ...] = ()


def save(
    result: Result,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the word of the command line
    *,
    force: bool = False,
    alternate: bool | None = None,
) -> Saved:
    """Write `result` to `path`, in `format` (None: the one it was read in).

    `alternate`: a marked line of the assistant stands where a summary is next to another message
    of the user, for servers that want roles to take turns (None: where the model is known to).
    Never onto the session's own file, through whatever link; onto another existing file only with
    `force`. Raises ExportError, and then nothing has changed on the disk.
    """
    target = os.fspath(path)
    session, _ = _content(result)
    kind = _target(target, session, force=force)
    writer, written = _written(result, format, alternate)
    if kind == "stream":
        size = _write_into(target, written.chunks)
    else:
        size = _write_atomically(target, written.chunks, replace=kind == "replace")
    return Saved(target, size, writer.name, written.findings)


def write_bytes(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    force: bool = False,
    never: Iterable[str] = (),
) -> int:
    """Write `data` to `path`, complete or not at all; how many bytes.

    Onto another existing file only with `force`, and onto none of `never` (session files). Raises
    ExportError, and then nothing has changed on the disk.
    """
    target = os.fspath(path)
    if any(_is_same(target, each) for each in never):
        raise _is_session(target)
    if _kind_of(target, force=force) == "stream":
        return _write_into(target, (data,))
    return _write_atomically(target, (data,), replace=force and Path(target).exists())


def check_output(
    path: str | os.PathLike[str], session: Session, *, force: bool = False
) -> None:
    """Raise the ExportError that `save` of a result of `session` would raise for `path`."""
    _target(os.fspath(path), session, force=force)


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise the ExportError that writing to `path` would raise for its name or what is there."""
    _kind_of(os.fspath(path), force=force)


def render_bytes(
    result: Result,
    format: str | None = None,  # noqa: A002
    *,
    alternate: bool | None = None,
) -> tuple[bytes, tuple[Finding, ...]]:
    """What `save` would write, and what the format could not hold. Raises ExportError."""
    _, written = _written(result, format, alternate)
    return b"".join(written.chunks), written.findings


def losses(
    result: Result,
    format: str | None = None,  # noqa: A002
    *,
    alternate: bool | None = None,
) -> tuple[Finding, ...]:
    """What `format` cannot hold of `result`, to be said before it is written."""
    _, written = _written(result, format, alternate)
    return written.findings


# ----------------------------------------------------------------------------------- content


def _content(result: Result) -> tuple[Session, Sequence[Message]]:
    if isinstance(result, Session):
        return result, result.messages
    return result.session, result.messages


def _written(
    result: Result, name: str | None, alternate: bool | None = None
) -> tuple[Format, Written]:
    from compaction.errors import SessionError
    from compaction.formats import format_named
    from compaction.formats.in_place import made_in_place

    failure = getattr(result, "failure", "")
    if failure and not getattr(result, "made", True):
        raise ExportError(
            f"Nothing is exported, since the summary was not made: {failure.rstrip('.')}."
        )
    session, _ = _content(result)
    told: list[Finding] = []
    try:
        writer = format_named(name or session.format)
    except SessionError as error:
        raise ExportError(str(error)) from None
    if writer.read_only:
        if name is not None:
            raise ExportError(f"{writer.read_only} Choose another format, such as {NEUTRAL}.")
        neutral = format_named(NEUTRAL)
        text = f"{writer.read_only} It is written as {neutral.title}."
        told.append(Finding("warning", "export-read-only", text))
        writer = neutral
    messages, bridges = _messages(result, writer.name, alternate)
    if writer.name == session.format:
        messages, session = made_in_place(messages, session, writer)
    written = writer.write(messages, session)
    refused = _refused(messages, session, writer)
    return writer, Written(written.chunks, (*told, *bridges, *written.findings, *refused))


def _refused(messages: Sequence[Message], session: Session, writer: Format) -> tuple[Finding, ...]:
    """What the API of another format than the session's would refuse all the same."""
    from compaction.resulting import dialect_of
    from compaction.validity import check

    if dialect_of(session) == writer.dialect:
        return ()
    found = check(messages, writer.dialect, tools=session.tools)
    return tuple(each for each in found if each.level == "error")


def _messages(
    result: Result, name: str, alternate: bool | None
) -> tuple[Sequence[Message], tuple[Finding, ...]]:
    from compaction.compacting import Compacted
    from compaction.taking_turns import taking_turns

    if isinstance(result, Compacted):
        return taking_turns(result, name, alternate)
    return _content(result)[1], ()


# ------------------------------------------------------------------------------------ target


def _target(target: str, session: Session, *, force: bool) -> str:
    """How to write to `target`: "new", "replace" or "stream". Raises ExportError for never."""
    if session.source.path and _is_same(target, session.source.path):
        raise _is_session(target)
    return _kind_of(target, force=force)


def _kind_of(target: str, *, force: bool) -> str:
    if not target:
        raise ExportError("Cannot write to a file without a name.")
    if "\0" in target:
        raise ExportError(f"Cannot write {target!r}: a file name holds no NUL.")
    try:
        mode = Path(target).stat().st_mode
    except FileNotFoundError:
        folder = Path(os.path.realpath(target)).parent
        if target.endswith(("/", os.sep)) or not folder.is_dir():
            missing = target if target.endswith(("/", os.sep)) else folder
            raise ExportError(f"Cannot write {target}: there is no folder {missing}.") from None
        return "new"
    except OSError as error:
        raise _cannot(target, error) from None
    if stat.S_ISDIR(mode):
        raise ExportError(f"Cannot write {target}: it is a folder. Name a file in it.")
    if stat.S_ISREG(mode):
        if not force:
            raise ExportError(
                f"Cannot write {target}: it exists already. Use --force to replace it."
            )
        return "replace"
    if stat.S_ISBLK(mode):
        raise ExportError(f"Cannot write {target}: it is a disk.")
    return "stream"


def _is_session(target: str) -> ExportError:
    return ExportError(
        f"Cannot write {target}: it is the session that was read, which is never changed. "
        "Choose another file."
    )


def _is_same(target: str, source: str) -> bool:
    if not target or "\0" in target:
        return False
    try:
        if Path(target).samefile(source):
            return True
    except (OSError, ValueError):
        pass
    return os.path.realpath(target) == os.path.realpath(source)


def _exists(target: str) -> ExportError:
    return ExportError(f"Cannot write {target}: it exists already. Use --force to replace it.")


def _cannot(target: str, error: OSError) -> ExportError:
    reason = error.strerror or str(error)
    return ExportError(f"Cannot write {target}: {reason[:1].lower()}{reason[1:]}.")


# ----------------------------------------------------------------------------------- writing


def _write_into(target: str, chunks: Iterable[bytes]) -> int:
    """Write into what is no file (a pipe, a terminal), where nothing can be put in place."""
    try:
        with Path(target).open("wb") as stream:
            size = _pour(stream, chunks)
            stream.flush()
            return size
    except OSError as error:
        raise _cannot(target, error) from None


def _write_atomically(target: str, chunks: Iterable[bytes], *, replace: bool) -> int:
    # Through a symbolic link the file behind it is replaced, and the link stays.
    final = Path(os.path.realpath(target))
    try:
        mode = stat.S_IMODE(final.stat().st_mode) if replace else None
        if replace and not os.access(final, os.W_OK):
            raise ExportError(f"Cannot write {target}: the file there is read-only.")
        with _temporary(final.parent) as (temporary, stream):
            size = _pour(stream, chunks)
            stream.flush()
            if mode is not None:
                temporary.chmod(mode)
            os.fsync(stream.fileno())
            stream.close()
            _put_in_place(temporary, final, replace=replace)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        raise _cannot(target, error) from None
    _sync_folder(final.parent)
    return size


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in `folder`, with the permissions a new file gets; gone when left there."""
    path = folder / f".{secrets.token_hex(8)}.part"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield path, stream
    finally:
        with suppress(OSError):
            path.unlink()


def _put_in_place(temporary: Path, final: Path, *, replace: bool) -> None:
    if not replace:
        # A hard link cannot fall on a file that somebody made in the meantime.
        try:
            final.hardlink_to(temporary)
        except FileExistsError:
            raise
        except OSError:
            pass
        else:
            return
    temporary.replace(final)


def _pour(stream: BinaryIO, chunks: Iterable[bytes]) -> int:
    size = 0
    for chunk in chunks:
        stream.write(chunk)
        size += len(chunk)
    return size


def _sync_folder(folder: Path) -> None:
    # The new name itself must reach the disk; not every system can sync a folder.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
