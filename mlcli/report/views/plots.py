"""Pictures of the columns of a dataset: one as a histogram or bars, two against each other, a third as groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mlcli.core.errors import DataError, UsageError
from mlcli.core.findings import Bars, Entry, Finding, Points, Table
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Flags, Rows
from mlcli.data.dataset import Dataset
from mlcli.report.views.distributions import histogram_of, pairs

BINS = 20
MOST_POINTS = 1_000
"""Of more rows so many are drawn at random: a terminal shows no more."""
MOST_GROUPS = 6
OTHERS = "others"


def plot_of(dataset: Dataset, names: Sequence[str]) -> Finding:
    """The picture of one column, of two, or of two in the groups of a third; else in those of the classes."""
    if not 1 <= len(names) <= 3:
        raise UsageError("a picture is of one, two or three columns", hint="such as --plot age --plot income")
    columns = [_column(dataset, name) for name in names]
    rows, every = _sampled_rows(dataset), np.arange(len(dataset))
    by = columns[2] if len(columns) == 3 else dataset.schema.the("target")
    by = by if by is not None and by.name not in names[:2] else None
    note = f"{len(rows):,} of {len(dataset):,} rows, drawn at random" if len(rows) < len(dataset) else ""
    if len(columns) == 1:
        return _distribution_of(dataset, columns[0], _groups_by(dataset, by, every))
    return _two_columns(dataset, columns[0], columns[1], rows, _groups_by(dataset, by, rows), note)


def _column(dataset: Dataset, name: str) -> Column:
    known = {field.column.name: field.column for field in dataset.schema}
    if name not in known:
        hint = did_you_mean(name, list(known), "columns")
        raise DataError(f"there is no column '{name}'", where=dataset.name, hint=hint)
    return known[name]


def _sampled_rows(dataset: Dataset) -> Rows:
    if len(dataset) <= MOST_POINTS:
        return np.arange(len(dataset))
    return np.sort(rng_for("plot", dataset.content).choice(len(dataset), MOST_POINTS, replace=False))


def _numbers_of(dataset: Dataset, column: Column) -> Array:
    cells = dataset.table.cells(column.name).astype(np.float64)
    return np.where(cells < 0, np.nan, cells) if column.coded else cells


def _groups_by(dataset: Dataset, by: Column | None, rows: Rows) -> dict[str, Flags]:
    """The rows of each of the most frequent levels, or of the lower, middle and upper third of numbers."""
    if by is None:
        return {"rows": np.ones(len(rows), bool)}
    cells = _numbers_of(dataset, by)[rows]
    if not by.coded:
        low, high = np.nanquantile(cells, [1 / 3, 2 / 3])
        middle = (cells > low) & (cells <= high)
        return {f"{by.name} to {low:.4g}": cells <= low, f"to {high:.4g}": middle, "above": cells > high}
    codes, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    shown = np.sort(codes[np.argsort(-counts, kind="stable")][:MOST_GROUPS])
    found = {by.levels[int(code)]: cells == code for code in shown}
    rest = ~np.isin(cells, shown) & ~np.isnan(cells)
    return found | ({OTHERS: rest} if rest.any() else {})


def _distribution_of(dataset: Dataset, column: Column, groups: dict[str, Flags]) -> Finding:
    """The numbers of a column in bins, or its levels as bars."""
    cells = _numbers_of(dataset, column)
    known = cells[~np.isnan(cells)]
    title = f"{column.name}: {len(known):,} of {len(cells):,} rows"
    if column.coded:
        counts = np.bincount(known.astype(np.intp), minlength=len(column.levels)).tolist()
        shares = tuple(f"{count / max(1, len(known)):.1%}" for count in counts)
        return Bars(title, (column.name, "rows", "share"), column.levels, tuple(map(float, counts)), (shares,))
    if not len(known) or not np.isfinite(np.ptp(known)):
        raise DataError(f"column '{column.name}' holds nothing to draw", where=dataset.name)
    edges = np.histogram_bin_edges(known, bins=min(BINS, max(1, len(np.unique(known)))))
    counts = {name: np.histogram(cells[met & ~np.isnan(cells)], edges)[0] for name, met in groups.items()}
    return histogram_of(title, column.name, edges, counts)


def _two_columns(
    dataset: Dataset, across: Column, upwards: Column, rows: Rows, groups: dict[str, Flags], note: str
) -> Finding:
    """Two columns of numbers as points; where one holds levels, its levels are the groups; of levels a table."""
    if across.coded and upwards.coded:
        return _contingency_table(dataset, across, upwards)
    if across.coded or upwards.coded:
        numeric, coded = (upwards, across) if across.coded else (across, upwards)
        return _distribution_of(dataset, numeric, _groups_by(dataset, coded, np.arange(len(dataset))))
    x, y = (_numbers_of(dataset, column)[rows] for column in (across, upwards))
    points = tuple((name, pairs(x[met], y[met])) for name, met in groups.items())
    return Points(f"{upwards.name} by {across.name}", across.name, upwards.name, points, note=note)


def _contingency_table(dataset: Dataset, first: Column, second: Column) -> Table:
    a, b = (_numbers_of(dataset, column) for column in (first, second))
    known = ~(np.isnan(a) | np.isnan(b))
    counts = np.zeros((len(first.levels), len(second.levels)), np.intp)
    np.add.at(counts, (a[known].astype(np.intp), b[known].astype(np.intp)), 1)
    lines: Iterator[tuple[Entry, ...]] = zip(first.levels, *counts.T.tolist(), strict=True)
    return Table(f"{first.name} and {second.name}", (first.name, *second.levels), tuple(lines))
