"""What goes wrong with a store, in words: what is wrong and what would work."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlcli.core.errors import StoreError

REMEDIES = {
    "SQLITE_FULL": ("the disk is full", "free some space, or keep the store elsewhere with --store FILE"),
    "SQLITE_READONLY": ("it cannot be written", "give it write permission, or use another with --store FILE"),
    "SQLITE_CANTOPEN": (
        "it cannot be opened",
        "check that its folder exists and can be written, or use --store FILE",
    ),
    "SQLITE_PERM": ("it may not be opened", "check its permissions, or use another with --store FILE"),
    "SQLITE_BUSY": ("another process has been writing it for long", "wait for that one, or use --store FILE"),
    "SQLITE_NOTADB": (
        "it is not a store of mlcli",
        "name another file with --store FILE; this one was left alone",
    ),
    "SQLITE_CORRUPT": ("it is damaged", "move it away and run again, or use another with --store FILE"),
    "SQLITE_IOERR": ("the disk does not read or write it", "check the disk, or keep the store elsewhere"),
}


@contextmanager
def sqlite_errors_in_words(path: Path) -> Iterator[None]:
    """Turn what SQLite or the system reports into a StoreError."""
    try:
        yield
    except sqlite3.Error as problem:
        code = getattr(problem, "sqlite_errorname", "")
        known = next((REMEDIES[name] for name in REMEDIES if code.startswith(name)), None)
        what, hint = known or (f"SQLite reports: {problem}", "use another store with --store FILE")
        raise StoreError(what, where=str(path), hint=hint) from problem
    except OSError as problem:
        hint = "check its folder, or keep the store elsewhere with --store FILE"
        raise StoreError(problem.strerror or str(problem), where=str(path), hint=hint) from problem


@contextmanager
def damage_in_words(path: Path) -> Iterator[None]:
    """Turn what reading damaged text leads to into a StoreError."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        what, hint = REMEDIES["SQLITE_CORRUPT"]
        raise StoreError(f"{what}: {problem}", where=str(path), hint=hint) from problem
