"""Principal components: the directions in which rows vary most, each at right angles to those before it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Bars, Explanation, Table
from mlcli.core.moments import means, moments
from mlcli.core.tables import Array

NEGLIGIBLE = 1e-13
"""A direction with less than this share of the largest variance is made of roundings."""
ALIKE = 1e-9
SETTLED, MOST_STEPS = 1e-13, 20_000
"""When a search step by step ends: what directions have in common, as a share of the variance; and in any case."""
NEARLY, STEEP = 2 / 3, 0.03
"""Another place may be the elbow if it lies so far below the line, as a part of the elbow's own distance, and if
steps that fall by this part of the whole lead from one to the other."""
MOST_BARS = 30
"""A scree plot has no more bars than these."""


@dataclass(frozen=True, eq=False)
class Axes:
    """As many directions (the columns of a p × p array) as there are columns, with the variance along each."""

    middle: Array
    unit: Array
    directions: Array
    """Those in which the rows do not vary are 0."""
    variances: Array

    def coordinates(self, X: Array, count: int) -> Array:
        """The rows along the first directions."""
        return column_by_column((X - self.middle) / self.unit, self.directions[:, :count])

    def rows_at(self, coordinates: Array) -> Array:
        """The rows that have these coordinates along the first directions, and none along the others."""
        return np.asarray(coordinates @ self.directions[:, : coordinates.shape[1]].T * self.unit + self.middle)


def column_by_column(X: Array, weights: Array) -> Array:
    """X times weights (columns × sums), added up column by column, so that each row is on its own."""
    result = np.zeros((weights.shape[1], len(X)))
    for cells, of_column in zip(np.ascontiguousarray(X.T), weights, strict=True):
        result += of_column[:, None] * cells
    return np.ascontiguousarray(result.T)


def by_svd(X: Array) -> tuple[Array, Array]:
    """Squared singular values of centred rows, and right singular vectors; both are those of R in X = Q·R."""
    rows = np.linalg.qr(X, mode="r") if len(X) > X.shape[1] else X
    _, singular, directions = np.linalg.svd(rows, full_matrices=False)
    return singular**2, directions.T


def by_eigen(X: Array) -> tuple[Array, Array]:
    """Eigenvalues of the scatter of centred rows, and eigenvectors; of X·Xᵀ where that is the smaller one."""
    wide = len(X) < X.shape[1]
    values, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    values, vectors = values[::-1], vectors[:, ::-1]
    if wide:
        real = values > NEGLIGIBLE * values.max(initial=0.0)
        vectors = X.T @ vectors / np.sqrt(np.where(real, values, 1.0))
    return values, vectors


def by_either(X: Array) -> tuple[Array, Array]:
    """By eigenvalues, which is faster, unless some are so small that only singular values tell them precisely."""
    values, vectors = by_eigen(X)
    size = np.abs(values) / (np.abs(values).max(initial=0.0) or 1.0)
    # A direction with less than this share loses digits where rows are squared
    return by_svd(X) if ((size > NEGLIGIBLE) & (size < 1e-9)).any() else (values, vectors)


def by_iteration(X: Array) -> tuple[Array, Array]:
    """Directions B that lessen the loss Σ |x − B Bᵀ x|² step by step: B ← an orthonormal basis of Xᵀ (X B)."""
    scatter, directions = X.T @ X, np.eye(X.shape[1])
    for _ in range(MOST_STEPS):
        turned = directions.T @ scatter @ directions
        if np.abs(turned - np.diag(np.diag(turned))).max() <= SETTLED * np.trace(scatter):
            break
        directions = np.linalg.qr(scatter @ directions).Q
    else:
        text = f"components have not converged after {MOST_STEPS} steps; 'by: svd' would be exact"
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
    """The axes of weighted rows; ``standardise`` has every column that varies count alike."""
    middle = means(X, weights)
    unit = np.ones(X.shape[1])
    if standardise:
        spread = np.sqrt(moments(X, weights, ddof).variance)
        unit = np.where(spread > 0, spread, 1.0)
    squares, directions = (
        SOLVERS[by](_about(X, weights, middle, unit)) if X.size else (np.zeros(0), np.zeros((X.shape[1], 0)))
    )
    freedom = weights.sum() - ddof
    real = squares > NEGLIGIBLE * squares.max(initial=0.0) if freedom > 0 else np.zeros(len(squares), bool)
    count, all_columns = int(real.sum()), X.shape[1]
    axes, variances = np.zeros((all_columns, all_columns)), np.zeros(all_columns)
    axes[:, :count] = with_fixed_signs(directions[:, :count])
    variances[:count] = squares[:count] / freedom if count else 0.0
    return Axes(middle, unit, axes, variances)


def _about(X: Array, weights: Array, middle: Array, unit: Array) -> Array:
    """The rows from the middle in units, each times the root of its weight."""
    centred = X - middle
    if (unit != 1).any():
        centred /= unit
    if (weights != 1).any():
        centred *= np.sqrt(weights)[:, None]
    return centred


def count_for_share(variances: Array, share: float) -> int:
    """The fewest components that have this share of the variance."""
    total = variances.sum()
    return int(np.searchsorted(np.cumsum(variances), share * total * (1 - ALIKE)) + 1) if total > 0 else 0


def elbow(variances: Array) -> int | None:
    """The elbow of a scree plot, of the variances that are not zero."""
    return elbow_of_curve(variances[variances > 0])


def elbow_of_curve(curve: Array) -> int | None:
    """The place, from 1, that is farthest below the straight line from the first to the last; none where all
    lie on it, or above.
    """
    # fewer points have no bend
    if len(curve) < 3:
        return None
    below = _below_line(curve)
    return int(below.argmax()) + 1 if below.max() > ALIKE * curve[0] else None


def _below_line(curve: Array) -> Array:
    return np.linspace(curve[0], curve[-1], len(curve)) - curve


def elbow_note(variances: Array) -> str:
    """Where the bend is and how certain, in words."""
    bend = elbow(variances)
    if bend is None:
        return "; the plot has no elbow"
    first, last = range_of_elbow(variances[variances > 0])
    certain = "" if first == last else f", which is uncertain: {first} to {last} lie nearly as far below the line"
    return f"; the elbow of the plot is at {bend}{certain}"


def range_of_elbow(curve: Array) -> tuple[int, int]:
    """The first and last place, from 1, that may as well be the elbow of a falling curve that has one.

    They lie nearly as far below the line from the first point to the last, and no flat step parts them from it.
    """
    below = _below_line(curve)
    bend = int(below.argmax())
    steep = -np.diff(curve) >= STEEP * (curve[0] - curve[-1])
    may_be = below >= NEARLY * below[bend]
    first = last = bend
    while may_be[first - 1] and steep[first - 1]:
        first -= 1
    while may_be[last + 1] and steep[last]:
        last += 1
    return first + 1, last + 1


def component_names(count: int) -> tuple[str, ...]:
    """What the new columns are called."""
    return tuple(f"component_{index}" for index in range(1, count + 1))


def component_findings(axes: Axes, names: Sequence[str], count: int) -> Explanation:
    """The scree plot, and what each column has to do with the components that are kept."""
    # loadings on more components than these are not shown
    shown = min(count, 10)
    loadings = zip(names, axes.directions[:, :shown].tolist(), strict=True)
    rows = tuple((name, *weights) for name, weights in loadings)
    note = f"the first {shown} of {count} components" if shown < count else ""
    header = ("column", *component_names(shown))
    return (_scree(axes.variances, count), Table("Loadings", header, rows, note=note, code="loadings"))


def _scree(variances: Array, count: int) -> Bars:
    total = variances.sum() or 1.0
    shown = min(len(variances), MOST_BARS)
    note = f"{count} of {len(variances)} components are kept, with {100 * variances[:count].sum() / total:.1f} %"
    directions = int((variances > 0).sum())
    empty = (
        f"; the rows vary in {directions} directions only, the other components are 0"
        if directions < count
        else ""
    )
    hidden = f"; bars of the first {MOST_BARS}" if len(variances) > MOST_BARS else ""
    shares = variances / total
    return Bars(
        "Scree",
        ("component", "variance", "share", "together"),
        tuple(map(str, range(1, shown + 1))),
        tuple(variances[:shown].tolist()),
        (tuple(shares[:shown].tolist()), tuple(np.cumsum(shares)[:shown].tolist())),
        note=f"{note} of the variance{elbow_note(variances)}{empty}{hidden}",
        code="scree",
    )


def with_fixed_signs(directions: Array) -> Array:
    """Either sign is right: the largest entry of each direction becomes positive, of equal ones the first."""
    if not directions.size:
        return directions
    sizes = np.abs(directions)
    first = (sizes >= sizes.max(axis=0) * (1 - ALIKE)).argmax(axis=0)
    return np.asarray(directions * np.sign(directions[first, np.arange(directions.shape[1])]))
