"""Predictions of linear models, and tables that show them term by term."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import less_row
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table

INTERCEPT = "(intercept)"
"""The name of the intercept among the columns."""


def linear_scores(
    numbers: Array, centre: Array, coefficients: Array, level: Array | float, unit: Array | float
) -> Array:
    """The scores (rows, or rows × outputs); ``unit`` is a size of them whose last digit is rounding."""
    # If the centre contributes little, it can be subtracted at the end without losing digits.
    if (np.abs(coefficients) @ np.abs(centre) <= 32.0 * np.asarray(unit)).all():
        return np.asarray(numbers @ coefficients.T + (level - coefficients @ centre))
    return np.asarray(less_row(numbers, centre) @ coefficients.T + level)


def terms(
    columns: Sequence[Column], coefficients: Array, centre: Array, level: Array | float, intercept: bool
) -> list[tuple[str, Array]]:
    """The coefficients of each column (one per output) with its name, after the intercept."""
    named = [(column.name, values) for column, values in zip(columns, coefficients.T, strict=True)]
    return [(INTERCEPT, level - coefficients @ centre), *named] if intercept else named


Term = tuple[str, findings.Entry, Array]
"""The name of a term, the cell or count that it is a multiple of, and what it adds to each output."""
SCORES = "Contributions to the scores"
STEPPED = "Cells are shown after the steps before the model."


def linear_terms(
    table: Table, coefficients: Array, centre: Array, level: Array | float, outputs: Sequence[str], title: str
) -> findings.Table:
    """The scores of one row: the intercept, then each column's coefficient times its cell."""
    slopes = np.atleast_2d(coefficients)
    at_origin = np.atleast_1d(level) - slopes @ centre
    cells = table.numbers[0]
    terms = [
        (column.name, float(cell), slopes[:, j] * cell)
        for j, (column, cell) in enumerate(zip(table.number_columns, cells, strict=True))
    ]
    return sum_of_terms([(INTERCEPT, None, at_origin), *terms], outputs, title, STEPPED)


def sum_of_terms(
    terms: Sequence[Term], outputs: Sequence[str], title: str, note: str = "", times: str = "cell"
) -> findings.Table:
    """A line for each of the 20 largest terms, one for all others, and their sum."""
    sizes = [float(np.abs(added).max(initial=0.0)) for _, _, added in terms]
    largest = set(sorted(range(len(terms)), key=lambda index: -sizes[index])[:20])
    shown = [term for index, term in enumerate(terms) if index in largest]
    others = [term for index, term in enumerate(terms) if index not in largest]
    lines: list[tuple[findings.Entry, ...]] = [(name, factor, *added.tolist()) for name, factor, added in shown]
    if others:
        rest = np.sum([added for _, _, added in others], axis=0)
        lines.append((f"{len(others)} smaller terms", None, *rest.tolist()))
    whole = np.sum([added for _, _, added in terms], axis=0)
    lines.append(("sum", None, *whole.tolist()))
    return findings.Table(title, ("term", times, *outputs), tuple(lines), note=note)


def terms_of_points(
    names: Sequence[str],
    kernel: Array,
    added: Array,
    level: Array | float | None,
    outputs: Sequence[str],
    title: str,
) -> findings.Table:
    """What points add (points × outputs) to the scores of a row, given its kernel with each; the largest first."""
    order = np.argsort(-np.abs(added).max(axis=1, initial=0.0), kind="stable").tolist()
    constant: list[Term] = [] if level is None else [("constant", None, np.atleast_1d(level))]
    points: list[Term] = [(names[k], float(kernel[k]), added[k]) for k in order]
    return sum_of_terms([*constant, *points], outputs, title, times="kernel")


def reconstruction(table: Table, restored: Array) -> findings.Table:
    """The reconstruction of one row, cell by cell, with squared errors and their sum."""
    names = [column.name for column in table.number_columns]
    errors = (table.numbers[0] - restored[0]) ** 2
    cells = zip(names, table.numbers[0].tolist(), restored[0].tolist(), errors.tolist(), strict=True)
    header = ("column", "cell", "reconstructed", "squared error")
    return findings.Table(
        "Reconstruction", header, (*cells, ("sum", None, None, float(errors.sum()))), note=STEPPED
    )
