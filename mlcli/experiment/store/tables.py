"""The tables of the store, and how those of an older format become these."""

from __future__ import annotations

APPLICATION = 0x6D6C636C
"""Marks a database file as ours ("mlcl")."""
FORMAT = 3
"""Raised when the tables change, each time with a migration; ``user_version`` of the file."""
DETAILS = """
CREATE TABLE IF NOT EXISTS run_details (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (run, name)
)"""
TABLES = f"""
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
    memory INTEGER
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
{DETAILS}
"""
"""``cells.memory``: what judging took at its peak; ``endings.budget`` (seconds) and ``.memory``: what it had."""
MIGRATIONS = {
    2: f"""
{DETAILS};
CREATE INDEX run_cells_by_cell ON run_cells (cell);
ALTER TABLE cells ADD COLUMN memory INTEGER;
ALTER TABLE endings ADD COLUMN memory INTEGER
"""
}
"""By the format that a store has: the statements that make it one of the next."""
