"""What a tagger observes: the levels of one column."""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean, listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table


def observed_column(table: Table, wanted: str | None, method: str) -> Column:
    """The column asked for, or the first one that holds levels; that others are not looked at is said."""
    if wanted is not None:
        return _named(table, wanted, method)
    if not table.code_columns:
        what = (
            f"{method} observes levels, and no column has any: {listed([c.name for c in table.columns]) or 'none'}"
        )
        raise FitError(what, hint="declare a column nominal in the sidecar, or cut its numbers into levels")
    first = table.code_columns[0]
    others = [column.name for column in table.columns if column != first]
    if others:
        text = f"{method} observes '{first.name}' only, not {listed(others)}; choose with the parameter column"
        warnings.warn(text, MlcliWarning, stacklevel=3)
    return first


def counted(codes: Codes, y: Codes, weights: Array, levels: int, tags: int) -> Array:
    """The summed weight of each level with each tag (levels × tags); empty cells are not counted."""
    known = codes >= 0
    cells = codes[known].astype(np.intp) * tags + y[known]
    counts = np.bincount(cells, weights=weights[known], minlength=levels * tags)
    return np.asarray(counts.reshape(levels, tags), dtype=np.float64)


def observations(table: Table, name: str) -> Codes:
    """The codes of the observed column; -1 where empty, or never met in training."""
    return table.cells(name).astype(np.int32)


def _named(table: Table, wanted: str, method: str) -> Column:
    columns = {column.name: column for column in table.columns}
    if wanted not in columns:
        raise FitError(f"{method}: there is no column '{wanted}'", hint=did_you_mean(wanted, columns, "columns"))
    if not columns[wanted].coded:
        hint = "declare it nominal in the sidecar, or choose another column"
        raise FitError(f"{method} observes levels, and column '{wanted}' holds numbers", hint=hint)
    return columns[wanted]
