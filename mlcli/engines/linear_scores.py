"""Linear answers to rows: how they are worked out, and shown term by term as they are added up by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.moments import less_row
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table

INTERCEPT = "(intercept)"
"""What the answer at the origin is called among the columns."""
NEAR = 32.0
"""A centre that counts no more than so many units in the answer may be taken off at the end without loss."""


def linear_scores(
    numbers: Array, centre: Array, coefficients: Array, level: Array | float, unit: Array | float
) -> Array:
    """The answers (rows, or rows × outputs); ``unit`` is a size of them whose last digit is rounding."""
    if (np.abs(coefficients) @ np.abs(centre) <= NEAR * np.asarray(unit)).all():
        return np.asarray(numbers @ coefficients.T + (level - coefficients @ centre))
    return np.asarray(less_row(numbers, centre) @ coefficients.T + level)


def terms(
    columns: Sequence[Column], coefficients: Array, centre: Array, level: Array | float, intercept: bool
) -> list[tuple[str, Array]]:
    """Every coefficient (one per output) with its column's name; first the intercept, the answer at the origin."""
    named = [(column.name, values) for column, values in zip(columns, coefficients.T, strict=True)]
    return [(INTERCEPT, level - coefficients @ centre), *named] if intercept else named


Term = tuple[str, findings.Entry, Array]
"""What is added, the cell or count that it is a multiple of, and what it adds to each output."""
MOST_TERMS = 20
"""Of more terms the largest are shown one by one, and the others as one."""
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
    """A line for each term, the largest of many, and their sum."""
    shown, others = _largest(terms)
    lines: list[tuple[findings.Entry, ...]] = [(name, times_, *added.tolist()) for name, times_, added in shown]
    if others:
        rest = np.sum([added for _, _, added in others], axis=0)
        lines.append((f"{len(others)} smaller terms", None, *rest.tolist()))
    whole = np.sum([added for _, _, added in terms], axis=0)
    lines.append(("sum", None, *whole.tolist()))
    return findings.Table(title, ("term", times, *outputs), tuple(lines), note=note)


def terms_of_points(
    names: Sequence[str],
    alike: Array,
    added: Array,
    level: Array | float | None,
    outputs: Sequence[str],
    title: str,
) -> findings.Table:
    """What points add (points × outputs) to the answer to a row so like each, those that add most first."""
    order = np.argsort(-np.abs(added).max(axis=1, initial=0.0), kind="stable").tolist()
    constant: list[Term] = [] if level is None else [("constant", None, np.atleast_1d(level))]
    points: list[Term] = [(names[k], float(alike[k]), added[k]) for k in order]
    return sum_of_terms([*constant, *points], outputs, title, times="kernel")


def _largest(terms: Sequence[Term]) -> tuple[list[Term], list[Term]]:
    """The terms that add most to some output, in their order, and the others."""
    size = [float(np.abs(added).max(initial=0.0)) for _, _, added in terms]
    kept = set(sorted(range(len(terms)), key=lambda index: -size[index])[:MOST_TERMS])
    return [term for k, term in enumerate(terms) if k in kept], [
        term for k, term in enumerate(terms) if k not in kept
    ]


def reconstruction(table: Table, restored: Array) -> findings.Table:
    """What is restored of one row, cell by cell, and the squared errors, which add up to its own."""
    names = [column.name for column in table.number_columns]
    errors = (table.numbers[0] - restored[0]) ** 2
    cells = zip(names, table.numbers[0].tolist(), restored[0].tolist(), errors.tolist(), strict=True)
    header = ("column", "cell", "reconstructed", "squared error")
    return findings.Table(
        "Reconstruction", header, (*cells, ("sum", None, None, float(errors.sum()))), note=STEPPED
    )
