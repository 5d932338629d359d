"""Symmetric systems of equations, one or many, by Cholesky's factors of the correlations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.tables import Array, Codes

CERTAIN = 1e-7
"""Probabilities of pairs are kept so far from 0 and 1."""
BLOCK = 32
"""Triangles up to this size are inverted by LAPACK."""


@dataclass(frozen=True, eq=False)
class Solved:
    """``solution`` has the shape of the right side: lines (last axis) that a matrix turns into lines of that.

    ``left`` is the variance of each column of size 1 (... × d) once those before it are known: its inverse is how
    much rounding may grow. Where it is 0, nothing is solved.
    """

    solution: Array
    log_determinant: Array
    left: Array

    @property
    def least(self) -> Array:
        """What is left of the column that others explain most."""
        return np.asarray(self.left.min(axis=-1, initial=1.0))


def solved(matrices: Array, right: Array) -> Solved:
    """Solve matrices (... × d × d) for lines (... × m × d); a column of zeros takes no part."""
    lines, size = right.shape[-2:]
    if lines > size > 0:
        found = solved(matrices, np.broadcast_to(np.eye(size), matrices.shape))
        return replace(found, solution=right @ found.solution)
    correlations, norms = correlations_of(matrices)
    lines = np.swapaxes(right / norms[..., None, :], -1, -2)
    try:
        lower = np.asarray(np.linalg.cholesky(correlations), np.float64)
        solution = np.linalg.solve(correlations, lines)
    except np.linalg.LinAlgError:
        return _one_by_one(matrices, right)
    pivots = np.einsum("...ii->...i", lower)
    determinant = 2 * np.log(pivots * norms).sum(axis=-1)
    return Solved(np.swapaxes(solution, -1, -2) / norms[..., None, :], determinant, pivots**2)


def _one_by_one(matrices: Array, right: Array) -> Solved:
    """The same where some cannot be solved."""
    if matrices.ndim == 2:
        return Solved(np.full(right.shape, np.nan), np.zeros(()), np.zeros(len(matrices)))
    solveds = [solved(*system) for system in zip(matrices, right, strict=True)]
    fields = zip(*((solved.solution, solved.log_determinant, solved.left) for solved in solveds), strict=True)
    return Solved(*map(np.array, fields))


def correlations_of(matrices: Array) -> tuple[Array, Array]:
    """Matrices with columns of size 1, and the sizes they had; a column of zeros has size 1 and no relation."""
    norms = np.sqrt(np.maximum(np.einsum("...ii->...i", matrices), 0.0))
    norms = np.where(norms > 0, norms, 1.0)
    correlations = matrices / (norms[..., :, None] * norms[..., None, :])
    np.einsum("...ii->...i", correlations)[...] = 1.0
    return correlations, norms


def inverse_factor(A: Array) -> Array:
    """F with FᵀF = A⁻¹, of a positive definite A: by Cholesky's A = LLᵀ it is L⁻¹."""
    try:
        return _inverse_triangle(np.asarray(np.linalg.cholesky(A)))
    except np.linalg.LinAlgError:  # of rounding
        sizes, directions = np.linalg.eigh(A)
        return np.asarray((directions / np.sqrt(np.maximum(sizes, np.finfo(float).eps * sizes[-1]))).T)


def _inverse_triangle(lower: Array) -> Array:
    """The inverse of a lower triangle, by those of its halves."""
    if len(lower) <= BLOCK:
        return np.tril(np.linalg.inv(lower))
    half, inverse = len(lower) // 2, np.zeros_like(lower)
    inverse[:half, :half] = _inverse_triangle(lower[:half, :half])
    inverse[half:, half:] = _inverse_triangle(lower[half:, half:])
    inverse[half:, :half] = -inverse[half:, half:] @ (lower[half:, :half] @ inverse[:half, :half])
    return inverse


def pairwise_coupling(pairwise: Array, pairs: Codes, classes: int) -> Array:
    """The probabilities of classes that fit those of pairs best (Wu, Lin & Weng 2004, second method).

    ``pairwise`` has for each row and pair (first, second) the probability r of the second; p minimises
    Σ (r_ji p_i − r_ij p_j)² among distributions: with Q the matrix of that sum, (Q + 11ᵀ) p is the same for all.
    """
    r = np.zeros((len(pairwise), classes, classes))
    against = np.clip(pairwise, CERTAIN, 1 - CERTAIN)
    r[:, pairs[:, 1], pairs[:, 0]], r[:, pairs[:, 0], pairs[:, 1]] = against, 1 - against
    system = 1.0 - r * np.swapaxes(r, 1, 2)
    indices = np.arange(classes)
    system[:, indices, indices] = 1.0 + (r**2).sum(axis=1)
    shares = np.maximum(solved(system, np.ones((len(r), 1, classes))).solution[:, 0], 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
