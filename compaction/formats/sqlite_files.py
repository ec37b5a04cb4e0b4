"""SQLite databases of agents, told apart by their tables and given as the JSON their tool exports.

Nothing is written into a database or beside it, and no lock is taken.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from time import monotonic

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.messages import Source
from compaction.plaintext import one_line

#: Tables a database has at least, what it is, and the module and function that give its sessions:
#: `function(database, source)` returns a Source, or None when the columns are of another tool.
#: Tried in this order.
_HOMES: tuple[tuple[frozenset[str], str, str, str], ...] = tuple(
    (frozenset(tables.split()), title, module, function)
    for tables, title, module, function in (
        ("session message part", "opencode", "opencode_db", "exported"),
        ("cursorDiskKV", "Cursor", "cursor_db", "composers"),
        ("blobs meta", "Cursor", "cursor_db", "stored_chat"),
        ("sessions events", "Google ADK", "adk_db", "exported"),
        ("sessions messages", "Goose", "goose_db", "exported"),
        ("sessions messages", "Crush", "chat_databases", "crush"),
        ("conversations responses", "llm", "chat_databases", "llm_logs"),
    )
)

#: Bytes 18 and 19 of the header say that a journal stands beside the file (2), which a database
#: in memory cannot have.
_VERSIONS = slice(18, 20)

#: Seconds that the queries of one file may take, and steps of SQLite between two looks.
_LONGEST = 120.0
_STEPS = 1_000_000


def json_of(cell: object) -> object:
    """The JSON in a cell; None where there is none, or it is damaged."""
    if not isinstance(cell, (str, bytes)):
        return None
    try:
        return json.loads(cell, strict=False)
    except (ValueError, RecursionError):
        return None


class Database:
    """An opened database: its tables with their columns, and the rows of one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA trusted_schema = OFF")
        started = monotonic()
        connection.set_progress_handler(lambda: monotonic() - started > _LONGEST, _STEPS)
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' "
            "AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ).fetchall()
        self.tables: Mapping[str, tuple[str, ...]] = {
            name: tuple(row[1] for row in connection.execute(f"PRAGMA table_info({quoted(name)})"))
            for (name,) in names
        }

    def rows(self, table: str, where: str = "", *values: object) -> Iterator[dict[str, object]]:
        """The rows of a table as column -> value; `where` may also hold ORDER BY."""
        columns = self.tables[table]
        listed = ", ".join(quoted(column) for column in columns)
        query = f"SELECT {listed} FROM {quoted(table)} {where}"  # noqa: S608 - names are quoted
        for row in self._connection.execute(query, values):
            yield dict(zip(columns, row, strict=True))

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is such a table with (at least) these columns."""
        return table in self.tables and set(columns) <= set(self.tables[table])


def quoted(name: str) -> str:
    """A name of a table or column, as SQL takes any of them."""
    return '"' + name.replace('"', '""') + '"'


def document(value: object, source: Source) -> Source:
    """`value` as the JSON document that stands for the database."""
    return Source(exact.dump_bytes(_plain(value)), source.name, source.path)


def _plain(value: object) -> object:
    """`value` without bytes, which may stand in any column."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def opened(source: Source) -> Source | None:
    """The sessions in a database as one JSON document.

    Raises SessionError for a damaged one, and one of no tool that is known.
    """
    from compaction.formats.recognising import called

    try:
        with _connected(source) as connection:
            database = Database(connection)
            for tables, _, module, function in _HOMES:
                if tables <= database.tables.keys():
                    inside = _found(module, function)(database, source)
                    if inside is not None:
                        return inside
    except (sqlite3.Error, OSError) as error:
        raise SessionError(
            f"{called(source)} is an SQLite database that cannot be read: {error}."
        ) from None
    names = ", ".join(one_line(name, 40) for name in list(database.tables)[:8]) or "none"
    known = ", ".join(dict.fromkeys(title for _, title, _, _ in _HOMES))
    raise SessionError(
        f"{called(source)} is an SQLite database (tables: {names}) and holds no session of a tool "
        f"that is known ({known}); export the session from its tool first."
    )


@contextmanager
def _connected(source: Source) -> Iterator[sqlite3.Connection]:
    """A connection to what `source` holds, with what is only in the journal beside it so far."""
    path = Path(source.path) if source.path else None
    if path is None or not path.is_file():
        data = bytearray(source.data)
        data[_VERSIONS] = b"\1\1"
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(bytes(data))
            yield connection
        return
    journal = Path(f"{path}-wal")
    if not journal.is_file() or not journal.stat().st_size:
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            yield connection
        return
    # To read a journal in place, SQLite would write beside it.
    with tempfile.TemporaryDirectory(prefix="compaction-") as folder:
        copy = Path(folder, "copy.db")
        shutil.copyfile(path, copy)
        shutil.copyfile(journal, f"{copy}-wal")
        with closing(sqlite3.connect(copy)) as connection:
            yield connection


def _found(module: str, function: str) -> Callable[[Database, Source], Source | None]:
    home: Callable[[Database, Source], Source | None] = getattr(
        import_module(f"compaction.formats.{module}"), function
    )
    return home
