"""Small SQLite databases, made for one test each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path


def database(path: Path, tables: Mapping[str, Iterable[Sequence[object]]]) -> Path:
    """A database at `path`: the columns in brackets behind each table name, and its rows."""
    with closing(sqlite3.connect(path)) as connection:
        for table, rows in tables.items():
            connection.execute(f"CREATE TABLE {table}")
            name = table.partition("(")[0]
            for row in rows:
                marks = ",".join("?" * len(row))
                connection.execute(f"INSERT INTO {name} VALUES ({marks})", row)
        connection.commit()
    return path
