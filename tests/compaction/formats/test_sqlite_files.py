from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from databases import database

from compaction.errors import SessionError
from compaction.formats import load
from compaction.formats.sqlite_files import Database, quoted

KV = "cursorDiskKV(key TEXT, value BLOB)"
ROWS = [
    ("composerData:c1", json.dumps({"fullConversationHeadersOnly": [{"bubbleId": "b1"}]})),
    ("bubbleId:c1:b1", json.dumps({"type": 1, "text": "hello", "bubbleId": "b1"})),
]


def test_a_database_in_memory_is_read_like_one_in_a_file(tmp_path: Path) -> None:
    path = database(tmp_path / "state.vscdb", {KV: ROWS})
    before = path.read_bytes()
    assert load(path).messages[0].text == "hello"
    assert load(before).messages[0].text == "hello"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["state.vscdb"]


def test_what_is_only_in_the_journal_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    database(path, {KV: []})
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", ROWS)
        writer.commit()
        assert Path(f"{path}-wal").stat().st_size
        Path(f"{path}-shm").unlink(missing_ok=True)
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
        assert load(path).messages[0].text == "hello"
        assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
        # Without the journal beside it, the bytes alone are a database that holds nothing yet.
        with pytest.raises(SessionError, match="holds no session of a tool"):
            load(path.read_bytes())


def test_a_database_of_something_else_says_which_tables_it_has(tmp_path: Path) -> None:
    path = database(tmp_path / "music.db", {"songs(id)": [], "moz_places(id)": []})
    with pytest.raises(SessionError) as told:
        load(path)
    assert "tables: moz_places, songs" in str(told.value)
    assert "Cursor" in str(told.value)


@pytest.mark.parametrize("cut", [16, 100, 5000])
def test_a_damaged_database_is_an_error_in_words(tmp_path: Path, cut: int) -> None:
    data = database(tmp_path / "state.vscdb", {KV: ROWS * 200}).read_bytes()
    with pytest.raises(SessionError, match="is an SQLite database"):
        load(data[:cut])


def test_views_and_virtual_tables_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "bad.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE VIEW cursorDiskKV AS WITH RECURSIVE n(key, value) AS "
            "(SELECT 1, 1 UNION ALL SELECT key + 1, 1 FROM n) SELECT key, value FROM n"
        )
    with pytest.raises(SessionError, match="tables: none"):
        load(path)


def test_rows_of_tables_with_odd_names() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE "a ""b" (x, "y z")')
        connection.execute('INSERT INTO "a ""b" VALUES (1, CAST(X\'ff41\' AS TEXT))')
        held = Database(connection)
        assert held.tables == {'a "b': ("x", "y z")}
        assert list(held.rows('a "b', "WHERE x = ?", 1)) == [{"x": 1, "y z": "\ufffdA"}]
        assert held.has('a "b', "x")
        assert not held.has('a "b', "q")
        assert not held.has("q")
    assert quoted('a"b') == '"a""b"'
