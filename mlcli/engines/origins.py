"""Which rows of which table another was taken from: for what may be worked out once for all splits of a table."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from mlcli.core.tables import Rows, Table

_origins: WeakKeyDictionary[Table, tuple[Table, Rows]] = WeakKeyDictionary()


def remember_origin(part: Table, whole: Table, rows: Rows) -> None:
    """Note that a table has these rows of a whole one."""
    _origins[part] = whole, rows


def origin(part: Table) -> tuple[Table, Rows] | None:
    """The table that another was taken from, and its rows there; None where nobody has said."""
    return _origins.get(part)
