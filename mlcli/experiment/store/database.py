"""The store as an SQLite file: its tables, opening, queries, and SQLite's errors in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from mlcli.core.errors import StoreError
from mlcli.core.names import shortened
from mlcli.core.processes import sweep

APPLICATION = 0x6D6C636C
"""Marks a database file as ours ("mlcl")."""
FORMAT = 2
"""Raised when the tables change; ``user_version`` of the file."""
TABLES = """
CREATE TABLE cells (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, created TEXT NOT NULL, splits INTEGER NOT NULL, facts TEXT NOT NULL,
    memory INTEGER
);
CREATE INDEX cells_by_key ON cells (key);
CREATE TABLE blocks (
    cell INTEGER NOT NULL REFERENCES cells (id) ON DELETE CASCADE,
    first INTEGER NOT NULL, count INTEGER NOT NULL, seconds REAL NOT NULL,
    payload BLOB NOT NULL, checksum TEXT NOT NULL,
    PRIMARY KEY (cell, first)
);
CREATE TABLE endings (
    cell INTEGER PRIMARY KEY REFERENCES cells (id) ON DELETE CASCADE,
    status TEXT NOT NULL, why TEXT NOT NULL, trace TEXT NOT NULL, split INTEGER, budget REAL, ended TEXT NOT NULL,
    memory INTEGER, code INTEGER NOT NULL
);
CREATE TABLE risks (cell INTEGER PRIMARY KEY REFERENCES cells (id) ON DELETE CASCADE, process INTEGER NOT NULL);
CREATE TABLE datasets (digest TEXT PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, started TEXT NOT NULL, finished TEXT,
    title TEXT NOT NULL, source TEXT, seed INTEGER NOT NULL, metrics TEXT NOT NULL, cells INTEGER NOT NULL
);
CREATE TABLE run_cells (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
    cell INTEGER REFERENCES cells (id), dataset TEXT NOT NULL REFERENCES datasets (digest),
    facts TEXT NOT NULL, status TEXT NOT NULL, why TEXT NOT NULL,
    trace TEXT NOT NULL, answered TEXT NOT NULL, pooled INTEGER NOT NULL, stored INTEGER NOT NULL,
    notes TEXT NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE INDEX run_cells_by_cell ON run_cells (cell);
CREATE TABLE run_details (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (run, name)
);
"""
"""``cells.memory``: the peak memory of the cell; ``endings.budget`` (seconds) and ``.memory``: its limits;
``endings.code``: the exit code of the error that it failed with."""
REMEDIES = {
    "SQLITE_FULL": ("the disk is full", "free some space, or keep the store elsewhere with --store FILE"),
    "SQLITE_READONLY": ("it cannot be written", "give it write permission, or use another with --store FILE"),
    "SQLITE_CANTOPEN": (
        "it cannot be opened",
        "check that its folder exists and can be written, or use --store FILE",
    ),
    "SQLITE_PERM": ("it may not be opened", "check its permissions, or use another with --store FILE"),
    "SQLITE_BUSY": ("another process has been writing it for long", "wait for that one, or use --store FILE"),
    "SQLITE_NOTADB": ("it is not a store of mlcli", "name another file; this one was left alone"),
    "SQLITE_CORRUPT": ("it is damaged", "move it away and run again, or use another with --store FILE"),
    "SQLITE_IOERR": ("the disk does not read or write it", "check the disk, or keep the store elsewhere"),
}
TEXT = "utf-8", "surrogateescape"
"""How text is encoded: as Python holds the bytes of a path that are not UTF-8."""


@contextmanager
def sqlite_errors_as_store_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a StoreError."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter if SQLite quotes bytes that are no text
        code = getattr(error, "sqlite_errorname", "" if isinstance(error, sqlite3.Error) else "SQLITE_CORRUPT")
        remedy = next((REMEDIES[name] for name in REMEDIES if code.startswith(name)), None)
        what, hint = remedy or (f"SQLite reports: {error}", "use another store with --store FILE")
        raise StoreError(what, where=str(path), hint=hint) from error
    except OSError as error:
        hint = "check its folder, or keep the store elsewhere with --store FILE"
        raise StoreError(error.strerror or str(error), where=str(path), hint=hint) from error


@contextmanager
def damage_as_store_error(path: Path) -> Iterator[None]:
    """Turn errors of reading damaged text into a StoreError."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what, hint = REMEDIES["SQLITE_CORRUPT"]
        raise StoreError(f"{what}: {error}", where=str(path), hint=hint) from error


@dataclass(frozen=True, eq=False)
class Database:
    """A connection whose errors name the file and what would help."""

    path: Path
    connection: sqlite3.Connection
    identity: tuple[int, int] | None = None
    """Device and inode of the file, once it exists."""

    def __post_init__(self) -> None:
        self.connection.text_factory = lambda content: content.decode(*TEXT)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all writes of the body, or none of them."""
        if self.identity is not None and _identity(self.path) != self.identity:
            what = "it was deleted, moved or replaced while it was in use, so nothing more can be kept"
            hint = "run again, and leave the store in its place meanwhile"
            raise StoreError(what, where=str(self.path), hint=hint)
        with sqlite_errors_as_store_errors(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.connection.rollback()
                raise
            self.connection.execute("COMMIT")

    def write(self, statement: str, *values: object) -> int:
        """Run one statement of a transaction; the id of the row that it made."""
        return int(self.connection.execute(statement, values).lastrowid or 0)

    def insert(self, table: str, row: Mapping[str, object]) -> int:
        """Add a row to a table in a transaction; its id.

        A path may hold bytes that are not UTF-8: SQLite keeps them as they are.
        """
        values = [value.encode(*TEXT) if isinstance(value, str) else value for value in row.values()]
        slots = ", ".join("CAST(? AS TEXT)" if isinstance(value, str) else "?" for value in row.values())
        return self.write(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({slots})", *values)

    def all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        with sqlite_errors_as_store_errors(self.path):
            return self.connection.execute(statement, values).fetchall()

    def one(self, statement: str, *values: object) -> Any:
        """The first row of a query, or None."""
        with sqlite_errors_as_store_errors(self.path):
            return self.connection.execute(statement, values).fetchone()


def open_to_write(path: Path) -> Database:
    """A store that is read and written; it is made if there is none."""
    _refuse_folder(path)
    with sqlite_errors_as_store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        ignore = path.parent / ".gitignore"
        if path.parent.name == ".mlcli" and not ignore.exists():  # our own folder stays out of version control
            ignore.write_text("*\n", encoding="utf-8")
        sweep(path.parent)
        sweep(Path(gettempdir()))
        # Another process may write for up to 30 seconds.
        connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
        with _closed_on_error(connection):
            database = Database(path, connection)
            if _pragma(database, "schema_version"):
                _check_format(database)
            for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {setting}")
            with database.transaction():
                if not _pragma(database, "user_version"):
                    for statement in TABLES.split(";"):
                        database.write(statement)
                    database.write(f"PRAGMA application_id = {APPLICATION}")
                    database.write(f"PRAGMA user_version = {FORMAT}")
    return replace(database, identity=_identity(path))


def open_to_read(path: Path) -> Database:
    """A store that is only read, which needs no write permission."""
    _refuse_folder(path)
    if not path.exists():
        hint = "a run makes one, beside its experiment: mlcli run EXPERIMENT"
        # A run keeps its store beside its experiment, which may be in a folder below.
        for near in sorted(map(str, path.parent.parent.glob(f"*/{path.parent.name}/{path.name}")))[:1]:
            hint = f"a run keeps one beside its experiment: --store {near}"
        raise StoreError("there is no store", where=str(path), hint=hint)
    with sqlite_errors_as_store_errors(path):
        try:
            return _read_only(path, "mode=ro")
        except sqlite3.OperationalError:
            # SQLite cannot make the files that it needs beside the store
            return _read_only(path, "immutable=1")


def now() -> str:
    """The time as the store keeps it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode: SQLite would go on writing to a file that was deleted or replaced."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _read_only(path: Path, option: str) -> Database:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{option}", uri=True, isolation_level=None)
    with _closed_on_error(connection):
        database = Database(path, connection)
        _check_format(database)
    return database


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _check_format(database: Database) -> None:
    """Refuse a database of another program, of another format, or damaged at its root."""
    if _pragma(database, "application_id") != APPLICATION:
        what, hint = REMEDIES["SQLITE_NOTADB"]
        raise StoreError(what, where=str(database.path), hint=hint)
    version = _pragma(database, "user_version")
    if version != FORMAT:
        what = f"it was written by another version of mlcli (format {version}, this one reads {FORMAT})"
        hint = "move it away and run again, or use another with --store FILE"
        raise StoreError(what, where=str(database.path), hint=hint)
    # Views and triggers would run when the store is read or written.
    schema = database.all("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'")
    for kind, name, sql in schema:
        if "".join(str(sql).split()) not in _statements():
            what = f"it is not a store of mlcli: the {kind} '{shortened(name)}' in it is not one of mlcli's"
            raise StoreError(what, where=str(database.path), hint="name another file; this one was left alone")
    database.one("SELECT max(id) FROM runs")  # damage shows when the tables are looked up


@lru_cache(maxsize=1)
def _statements() -> frozenset[str]:
    """The statements that make the tables and indexes of a store, without blanks."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(TABLES)
        return frozenset("".join(sql.split()) for (sql,) in empty.execute("SELECT sql FROM sqlite_master") if sql)


def _pragma(database: Database, name: str) -> int:
    return int(database.connection.execute(f"PRAGMA {name}").fetchone()[0])


def _refuse_folder(path: Path) -> None:
    if "\0" in str(path):
        raise StoreError("its path holds a null byte", where=str(path), hint="name another file")
    if path.is_dir():
        raise StoreError("it is a folder", where=str(path), hint=f"name a file, such as {path / 'runs.db'}")
