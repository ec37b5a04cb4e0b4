"""The rows of a sweep as files: JSON lines, or CSV that table tools and Parquet readers take."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

from compaction.errors import ExportError
from compaction.sweeping.results import Sweep

_ENDINGS = frozenset({".csv", ".jsonl", ".ndjson"})


def rows_of(found: Sweep) -> list[dict[str, Any]]:
    """One flat object a session and setting, the values of the axes first; baselines at the end."""
    out: list[dict[str, Any]] = []
    for row in found.rows:
        values = dict(zip(found.axes, found.values[row.setting], strict=True))
        out.append({"session": row.session, **values, **_rest(row.as_json())})
    out += [
        {"session": row.session, **dict.fromkeys(found.axes), **_rest(row.as_json())}
        for row in found.baselines
    ]
    return out


def _rest(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "session"}


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise the ExportError of `write_rows` that can be known before there are rows."""
    from compaction.export import check_target as check_file

    name = os.fspath(path)
    if Path(name).suffix.lower() not in _ENDINGS:
        raise ExportError(f"{name}: give a name that ends in .jsonl or .csv.")
    check_file(name, force=force)


def write_rows(found: Sweep, path: str | os.PathLike[str], *, force: bool = False) -> int:
    """Write the rows as JSON lines, or as CSV when the name ends so; how many there are.

    In CSV every column has one type, and what is not known is empty. Complete or not at all.
    Raises ExportError, also for a file that exists, unless `force`.
    """
    import orjson

    from compaction.export import write_bytes

    check_target(path, force=force)
    rows = rows_of(found)
    name = os.fspath(path)
    if Path(name).suffix.lower() == ".csv":
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(rows[0]) if rows else ["session"], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)
        data = text.getvalue().encode("utf-8", "backslashreplace")
    else:
        data = b"".join(orjson.dumps(row, default=str) + b"\n" for row in rows)
    sessions = {row.session for row in found.baselines} | {name for name, _ in found.skipped}
    write_bytes(name, data, force=force, never=sessions)
    return len(rows)


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, (int, float)) else str(value)
