"""LDA without each row in turn, where columns follow from others: a spectrum of the correlations for each row.

Which directions are left out, and what lies in the others, then depends on units, and these on every row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.held_out import HeldOut
from mlcli.core.tables import Array, Rows
from mlcli.models.discriminants._held_out import (
    ALONE,
    SURELY_KEPT,
    SURELY_LEFT_OUT,
    Method,
    Scores,
    Task,
    Taught,
    log_priors_without_each,
    refusing_unsettled,
)

AT_ONCE = 2_000_000
"""How many numbers the matrices of a block of rows may be."""
LEFT = 1e-3
"""What must be left of the scatter of a column."""


def linear_by_spectra(task: Task, taught: Taught, method: Method) -> HeldOut:
    """The answer to every row by all others."""
    sums, data = taught.sums, task.data
    varying = np.flatnonzero(sums.varies)
    made = taught.made(task.columns)[:, varying]
    scores = log_priors_without_each(data, sums.weight, method)
    size, least = np.zeros(len(data)), np.zeros(len(data))
    for rows in _blocks(len(data), len(varying)):
        added, size[rows], least[rows] = _block(rows, made[rows], varying, task, taught, method)
        scores[rows] += added
    refused = (least < SURELY_KEPT) | ~np.isfinite(size)
    return refusing_unsettled(Scores(scores, size), least, refused, "a spectrum without each row")


def _blocks(rows: int, columns: int) -> Iterator[Rows]:
    step = max(1, AT_ONCE // (columns + 1) ** 2)
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))


def _block(
    rows: Rows, made: Array, varying: Rows, task: Task, taught: Taught, method: Method
) -> tuple[Array, Array, Array]:
    """Scores, their size, and the least variance that is kept; 0 for rows of which sums cannot tell."""
    sums, y, weights = taught.sums, task.data.y[rows], task.data.weights[rows]
    within, means = sums.shared[np.ix_(varying, varying)], sums.mean[:, varying]
    rest, total = sums.weight[y] - weights, float(sums.weight.sum())
    alone = rest <= ALONE * sums.weight[y]
    step = weights / np.where(alone, 1.0, rest)
    own = made - means[y]
    scatter = within - (step * sums.weight[y])[:, None, None] * own[:, :, None] * own[:, None, :]
    hollow = alone | (np.einsum("ijj->ij", scatter) <= LEFT * within.diagonal()).any(axis=1)
    scatter[hollow] = within
    transforms, least = _whitenings(scatter / (sums.freedom(method.ddof) - weights)[:, None, None])
    middle = (total * sums.centre[varying] - weights[:, None] * made) / (total - weights)[:, None]
    places = np.repeat(means[None], len(rows), axis=0)
    places[np.arange(len(rows)), y] -= step[:, None] * own
    inside = np.einsum("ij,ijr->ir", made - middle, transforms)
    scores, size = _linear(inside, (places - middle[:, None]) @ transforms)
    return scores, size, np.where(hollow, 0.0, least)


def _whitenings(covariances: Array) -> tuple[Array, Array]:
    """What makes each covariance the identity, and the least variance that is kept; 0 where some is in doubt."""
    units = np.sqrt(np.einsum("ijj->ij", covariances))
    variances, directions = np.linalg.eigh(covariances / units[:, :, None] / units[:, None, :])
    kept = variances >= SURELY_KEPT
    doubtful = ((variances > SURELY_LEFT_OUT) & ~kept).any(axis=1)
    lengths = np.where(kept, 1 / np.sqrt(np.where(kept, variances, 1.0)), 0.0)
    least = np.where(kept, variances, 1.0).min(axis=1, initial=1.0)
    return directions * lengths[:, None, :] / units[:, :, None], np.where(doubtful, 0.0, least)


def _linear(inside: Array, means: Array) -> tuple[Array, Array]:
    """The scores of whitened rows, each with whitened means of its own, and their size."""
    lengths = np.einsum("ikr,ikr->ik", means, means)
    longest = lengths.max(axis=1)
    size = np.sqrt(np.einsum("ir,ir->i", inside, inside) * longest) + longest
    return np.einsum("ikr,ir->ik", means, inside) - 0.5 * lengths, size
