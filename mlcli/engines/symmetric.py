"""Symmetric systems of equations, one or many, by Cholesky factors of the correlations.

The probabilities of classes that fit those of all pairs of classes best solve such a system, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.tables import Array, Codes


@dataclass(frozen=True, eq=False)
class Solved:
    """``solution`` has the shape of the right side: lines (last axis) that the matrix turns into its lines.

    ``left`` is the variance of each column of size 1 (... × d) that the columns before it do not explain: rounding
    errors may grow by its inverse. If it is 0, nothing is solved.
    """

    solution: Array
    log_determinant: Array
    left: Array

    @property
    def least(self) -> Array:
        """The unexplained variance of the column that others explain most."""
        return np.asarray(self.left.min(axis=-1, initial=1.0))


def solved(matrices: Array, right: Array) -> Solved:
    """Solve matrices (... × d × d) for lines (... × m × d); a column of zeros takes no part."""
    lines, size = right.shape[-2:]
    if lines > size > 0:
        inverse = solved(matrices, np.broadcast_to(np.eye(size), matrices.shape))
        return replace(inverse, solution=right @ inverse.solution)
    correlations, norms = correlations_of(matrices)
    lines = np.swapaxes(right / norms[..., None, :], -1, -2)
    try:
        lower = np.asarray(np.linalg.cholesky(correlations), np.float64)
        solution = np.linalg.solve(correlations, lines)
    except np.linalg.LinAlgError:
        if matrices.ndim == 2:
            return Solved(np.full(right.shape, np.nan), np.zeros(()), np.zeros(len(matrices)))
        each = [solved(matrix, its_right) for matrix, its_right in zip(matrices, right, strict=True)]
        solutions, determinants, unexplained = zip(
            *((s.solution, s.log_determinant, s.left) for s in each), strict=True
        )
        return Solved(np.array(solutions), np.array(determinants), np.array(unexplained))
    pivots = np.einsum("...ii->...i", lower)
    determinant = 2 * np.log(pivots * norms).sum(axis=-1)
    return Solved(np.swapaxes(solution, -1, -2) / norms[..., None, :], determinant, pivots**2)


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
    if len(lower) <= 32:  # LAPACK is quicker
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
    against = np.clip(pairwise, 1e-7, 1 - 1e-7)
    r[:, pairs[:, 1], pairs[:, 0]], r[:, pairs[:, 0], pairs[:, 1]] = against, 1 - against
    system = 1.0 - r * np.swapaxes(r, 1, 2)
    indices = np.arange(classes)
    system[:, indices, indices] = 1.0 + (r**2).sum(axis=1)
    shares = np.maximum(solved(system, np.ones((len(r), 1, classes))).solution[:, 0], 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
