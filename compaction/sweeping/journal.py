"""What a sweep has found so far, kept in a file, so that it can be taken up again."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from compaction.errors import PolicyError
from compaction.sweeping import Swept
from compaction.sweeping.results import Row

#: How every line of a journal begins, a torn one too.
_BEGINNING = b'{"mark":'


class Journal:
    """The rows of finished files, one JSON line a file, under the mark of their settings."""

    def __init__(self, path: str | os.PathLike[str], mark: str) -> None:
        self._path = Path(path)
        self._mark = mark

    def known(self) -> dict[str, Swept]:
        """What is known by the key of its file; broken lines and other settings are passed over.

        Raises PolicyError when the file cannot be read, or is something else.
        """
        import orjson

        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PolicyError(f"{self._path} cannot be read: {error.strerror}.") from None
        if lines and not lines[0].startswith(_BEGINNING[: len(lines[0])]):
            # It may be a session, which nothing is ever written to.
            raise PolicyError(f"{self._path} is no journal of a sweep; name a new file.")
        out: dict[str, Swept] = {}
        for line in lines:
            try:
                value = orjson.loads(line)
                if value["mark"] == self._mark:
                    rows = tuple(Row(**row) for row in value["rows"])
                    refused = tuple((int(one), str(why)) for one, why in value["refused"])
                    note = str(value.get("note", ""))
                    out[value["key"]] = Swept(rows, Row(**value["baseline"]), refused, note)
            except (ValueError, KeyError, TypeError):
                continue
        return out

    def _break(self, file: IO[bytes]) -> bytes:
        """What ends a last line that was torn off."""
        size = file.seek(0, os.SEEK_END)
        if not size:
            return b""
        file.seek(size - 1)
        return b"" if file.read(1) == b"\n" else b"\n"

    def add(self, key: str, name: str, swept: Swept) -> None:
        """Keep the rows of one file. Raises PolicyError when they cannot be written."""
        import orjson

        names = [field.name for field in fields(Row)]

        def row(each: Row) -> dict[str, Any]:
            return {name: getattr(each, name) for name in names}

        value = {
            "mark": self._mark,
            "key": key,
            "name": name,
            "baseline": row(swept.baseline),
            "rows": [row(each) for each in swept.rows],
            "refused": swept.refused,
            "note": swept.note,
        }
        try:
            with self._path.open("a+b") as file:
                file.write(self._break(file) + orjson.dumps(value) + b"\n")
        except OSError as error:
            raise PolicyError(f"{self._path} cannot be written: {error.strerror}.") from None
