"""Principal components: orthogonal directions in which rows vary most; and the elbow of a scree plot."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import CLOSE
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Bars, Explanation, Table
from mlcli.core.moments import means, moments
from mlcli.core.tables import Array

NEGLIGIBLE = 1e-13
"""A direction with less than this share of the largest variance is rounding."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions (the columns of a p × p array), with the variance along each."""

    middle: Array
    unit: Array
    directions: Array
    """0 for directions in which the rows do not vary."""
    variances: Array

    def coordinates(self, X: Array, count: int) -> Array:
        """The rows along the first directions."""
        return column_by_column((X - self.middle) / self.unit, self.directions[:, :count])

    def rows_at(self, coordinates: Array) -> Array:
        """The rows with these coordinates along the first directions, and 0 along the others."""
        return np.asarray(coordinates @ self.directions[:, : coordinates.shape[1]].T * self.unit + self.middle)


def column_by_column(X: Array, weights: Array) -> Array:
    """X @ weights, summed column by column, so that no row depends on the others in its last digit."""
    result = np.zeros((weights.shape[1], len(X)))
    for cells, column_weights in zip(np.ascontiguousarray(X.T), weights, strict=True):
        result += column_weights[:, None] * cells
    return np.ascontiguousarray(result.T)


def by_svd(X: Array) -> tuple[Array, Array]:
    """Squared singular values of centred rows, and right singular vectors; both are those of R in X = Q·R."""
    rows = np.linalg.qr(X, mode="r") if len(X) > X.shape[1] else X
    _, singular, directions = np.linalg.svd(rows, full_matrices=False)
    return singular**2, directions.T


def by_eigen(X: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of the scatter of centred rows; of X·Xᵀ if that is smaller."""
    wide = len(X) < X.shape[1]
    values, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    values, vectors = values[::-1], vectors[:, ::-1]
    if wide:
        real = values > NEGLIGIBLE * values.max(initial=0.0)
        vectors = X.T @ vectors / np.sqrt(np.where(real, values, 1.0))
    return values, vectors


def by_either(X: Array) -> tuple[Array, Array]:
    """By eigenvalues, which is faster, unless some are so small that squaring the rows loses their digits."""
    values, vectors = by_eigen(X)
    size = np.abs(values) / (np.abs(values).max(initial=0.0) or 1.0)
    return by_svd(X) if ((size > NEGLIGIBLE) & (size < CLOSE)).any() else (values, vectors)


def by_iteration(X: Array) -> tuple[Array, Array]:
    """Directions B that reduce the loss Σ |x − B Bᵀ x|² step by step: B ← an orthonormal basis of Xᵀ (X B)."""
    scatter, directions, most_steps = X.T @ X, np.eye(X.shape[1]), 20_000
    for _ in range(most_steps):
        rotated = directions.T @ scatter @ directions
        if np.abs(rotated - np.diag(np.diag(rotated))).max() <= 1e-13 * np.trace(scatter):
            break
        directions = np.linalg.qr(scatter @ directions).Q
    else:
        text = f"components have not converged after {most_steps} steps; 'by: svd' would be exact"
        warnings.warn(text, MlcliWarning, stacklevel=2)
    values = np.diag(directions.T @ scatter @ directions)
    order = np.argsort(-values, kind="stable")
    return values[order], directions[:, order]


SOLVERS: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "auto": by_either,
    "svd": by_svd,
    "eigen": by_eigen,
    "iterative": by_iteration,
}


def principal_axes(X: Array, weights: Array, *, by: str, ddof: int, standardise: bool) -> Axes:
    """The axes of weighted rows; ``standardise`` divides columns by their standard deviation."""
    middle = means(X, weights)
    unit = np.ones(X.shape[1])
    if standardise:
        spread = np.sqrt(moments(X, weights, ddof).variance)
        unit = np.where(spread > 0, spread, 1.0)
    centred = X - middle
    if (unit != 1).any():
        centred /= unit
    if (weights != 1).any():
        centred *= np.sqrt(weights)[:, None]
    columns, freedom, count = X.shape[1], weights.sum() - ddof, 0
    squares, directions = SOLVERS[by](centred) if X.size else (np.zeros(0), np.zeros((columns, 0)))
    if freedom > 0:
        count = int((squares > NEGLIGIBLE * squares.max(initial=0.0)).sum())
    axes, variances = np.zeros((columns, columns)), np.zeros(columns)
    axes[:, :count] = with_fixed_signs(directions[:, :count])
    variances[:count] = squares[:count] / freedom if count else 0.0
    return Axes(middle, unit, axes, variances)


def count_for_share(variances: Array, share: float) -> int:
    """The fewest components with this share of the variance."""
    total = variances.sum()
    return int(np.searchsorted(np.cumsum(variances), share * total * (1 - CLOSE)) + 1) if total > 0 else 0


def elbow(variances: Array) -> int | None:
    """The elbow of a scree plot, without variances of 0."""
    return elbow_of_curve(variances[variances > 0])


def elbow_of_curve(curve: Array) -> int | None:
    """The number, from 1, of the point farthest below the line from the first to the last; None without any."""
    if len(curve) < 3:
        return None
    below = _below_line(curve)
    return int(below.argmax()) + 1 if below.max() > CLOSE * curve[0] else None


def _below_line(curve: Array) -> Array:
    return np.linspace(curve[0], curve[-1], len(curve)) - curve


def elbow_note(variances: Array) -> str:
    """The elbow in words, and how certain it is."""
    bend = elbow(variances)
    if bend is None:
        return "; the plot has no elbow"
    first, last = range_of_elbow(variances[variances > 0])
    certain = "" if first == last else f", which is uncertain: {first} to {last} lie nearly as far below the line"
    return f"; the elbow of the plot is at {bend}{certain}"


def range_of_elbow(curve: Array) -> tuple[int, int]:
    """The first and last point, from 1, that may as well be the elbow of a falling curve that has one.

    They are at least two thirds as far below the line as the elbow, and all steps between fall by at least 3 % of
    the whole.
    """
    below = _below_line(curve)
    bend = int(below.argmax())
    steep = -np.diff(curve) >= 0.03 * (curve[0] - curve[-1])
    may_be = below >= 2 / 3 * below[bend]
    first = last = bend
    while may_be[first - 1] and steep[first - 1]:
        first -= 1
    while may_be[last + 1] and steep[last]:
        last += 1
    return first + 1, last + 1


def component_names(count: int) -> tuple[str, ...]:
    """The names of the new columns."""
    return tuple(f"component_{index}" for index in range(1, count + 1))


def component_findings(axes: Axes, names: Sequence[str], count: int) -> Explanation:
    """The scree plot with at most 30 bars, and the loadings on the first ten components."""
    variances, bars, shown = axes.variances, min(len(axes.variances), 30), min(count, 10)
    shares = variances / (variances.sum() or 1.0)
    kept = 100 * variances[:count].sum() / (variances.sum() or 1.0)
    note = f"{count} of {len(variances)} components are kept, with {kept:.1f} % of the variance"
    note += elbow_note(variances)
    directions = int((variances > 0).sum())
    if directions < count:
        note += f"; the rows vary in {directions} directions only, the other components are 0"
    if bars < len(variances):
        note += f"; bars of the first {bars}"
    scree = Bars(
        "Scree",
        ("component", "variance", "share", "together"),
        tuple(map(str, range(1, bars + 1))),
        tuple(variances[:bars].tolist()),
        (tuple(shares[:bars].tolist()), tuple(np.cumsum(shares)[:bars].tolist())),
        note=note,
        code="scree",
    )
    loadings = zip(names, axes.directions[:, :shown].tolist(), strict=True)
    rows = tuple((name, *weights) for name, weights in loadings)
    note = f"the first {shown} of {count} components" if shown < count else ""
    header = ("column", *component_names(shown))
    return scree, Table("Loadings", header, rows, note=note, code="loadings")


def with_fixed_signs(directions: Array) -> Array:
    """Directions whose largest entry, of equal ones the first, is positive."""
    if not directions.size:
        return directions
    sizes = np.abs(directions)
    first = (sizes >= sizes.max(axis=0) * (1 - CLOSE)).argmax(axis=0)
    return np.asarray(directions * np.sign(directions[first, np.arange(directions.shape[1])]))
