"""The product of naive Bayes as on paper: the prior, a factor for each known cell, and the share of each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.findings import Table as Figures
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Table
from mlcli.engines.posteriors import posterior

LogJoint = Callable[[Table], Array]


def factors_of(table: Table, log_joint: LogJoint, classes: tuple[str, ...]) -> Explanation:
    """A table for each row: a line for each factor, a column for each class."""
    rows = (table.take(slice(row, row + 1)) for row in range(len(table)))
    return tuple(_product(one, log_joint, classes, number) for number, one in enumerate(rows, start=1))


def _product(one: Table, log_joint: LogJoint, classes: tuple[str, ...], number: int) -> Figures:
    prior, product = log_joint(_alone(one, "")), log_joint(one)
    possible = np.where(np.isneginf(prior), 0.0, prior)
    factors = [(what, log_joint(_alone(one, name)) - possible) for name, what in _known_cells(one)]
    lines = [("prior", prior), *factors, ("product", product)]
    rows = [(what, *np.exp(logs[0]).tolist()) for what, logs in lines]
    if np.isfinite(product).any():
        rows.append(("share of the products", *posterior(product)[0].tolist()))
    return Figures(f"Row {number}: factors", ("factor", *classes), tuple(rows))


def _known_cells(one: Table) -> Iterator[tuple[str, str]]:
    """The name of each column that has a cell in the one row, and what is in it."""
    for column, cells in one.parts():
        if not (cells[0] == MISSING_CODE if column.coded else np.isnan(cells[0])):
            yield column.name, f"{column.name} = {_in_words(column, float(cells[0]))}"


def _in_words(column: Column, cell: float) -> str:
    return column.levels[int(cell)] if column.coded else f"{cell:g}"


def _alone(one: Table, name: str) -> Table:
    """The row with only one of its cells; a cell that is empty adds no factor."""
    numbers = np.array([column.name == name for column in one.number_columns], bool)
    codes = np.array([column.name == name for column in one.code_columns], bool)
    return Table(one.columns, np.where(numbers, one.numbers, np.nan), np.where(codes, one.codes, MISSING_CODE))
