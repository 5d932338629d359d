"""Kernel functions: how alike two rows are, as the inner product of what some map makes of them.

linear x·z,  polynomial (γ x·z + offset)^degree,  gaussian exp(−γ‖x − z‖²) with γ = 1/(2σ²),
precomputed: a matrix that the table itself holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.names import listed
from mlcli.core.tables import Array, Rows
from mlcli.engines.centres import squared_lengths

PRECISE_ROWS = 3_000
"""Matrices of more rows are kept in single precision, as LIBSVM's are."""
MOST_BYTES = 2_500_000_000
"""Larger matrices are refused."""
MOST_NAMED = 5
GRID_BITS = 30
BLOCK_CELLS = 64_000
"""Kernel values that are worked out at once, so that they stay in the cache of the processor."""

Towards = Callable[[Array], Array]
"""The kernel of each of some rows with each of those that it was made for."""


@dataclass(frozen=True)
class KernelFunction:
    """A kernel by its name, and the parameters that it has use for."""

    name: str = "gaussian"
    gamma: float = 1.0
    degree: int = 3
    offset: float = 1.0

    def towards(self, Z: Array) -> Towards:
        """What gives the kernel of any rows with each row of Z."""
        return KERNELS[self.name](self, Z)

    def __call__(self, X: Array, Z: Array) -> Array:
        """The kernel of each row of one block with each of another."""
        return self.towards(Z)(X)

    def matrix(self, X: Array, *, precise: bool = False) -> Array:
        """The kernel of every two of some rows, block by block.

        In double precision where that is asked for, or where there are few rows.
        """
        rows, precision = len(X), np.dtype(np.float64 if precise or len(X) <= PRECISE_ROWS else np.float32)
        if rows**2 * precision.itemsize > MOST_BYTES:
            size = f"{rows**2 * precision.itemsize / 1e9:.1f} GB"
            most = int((MOST_BYTES / precision.itemsize) ** 0.5)
            raise FitError(
                f"the kernel matrix of {rows:,} different rows would take {size}",
                hint=f"at most {most:,} rows can be learned from: take a sample of them",
            )
        K: Array = np.empty((rows, rows), precision)
        towards = self.towards(X)
        with np.errstate(over="ignore"):
            for block in _blocks(X, X):
                K[block] = towards(X[block])
        if not np.isfinite(np.diagonal(K)).all():
            raise FitError(f"the {self.name} kernel of these rows is too large a number", hint="scale the columns")
        return K

    def weighted(self, X: Array, Z: Array, coefficients: Array) -> Array:
        """Σ coefficients of each row of Z times its kernel with each row of X."""
        if not len(Z):
            return np.zeros((len(X), *coefficients.shape[1:]))
        towards = self.towards(Z)
        return np.concatenate([towards(X[block]) @ coefficients for block in _blocks(X, Z)])


def _blocks(X: Array, Z: Array) -> list[slice]:
    """Slices of rows that are worked out at once; more where rows are long, or Z would be read too often."""
    rows, step = len(X), max(1, BLOCK_CELLS // max(1, len(Z)), X.shape[1])
    return [slice(at, at + step) for at in range(0, max(1, rows), step)]


def linear(kernel: KernelFunction, Z: Array) -> Towards:
    """x·z."""
    return lambda X: np.asarray(X @ Z.T)


def polynomial(kernel: KernelFunction, Z: Array) -> Towards:
    """(γ x·z + offset)^degree."""
    scaled = kernel.gamma * Z.T
    return lambda X: np.asarray((X @ scaled + kernel.offset) ** kernel.degree)


def gaussian(kernel: KernelFunction, Z: Array) -> Towards:
    """exp(2γ x·z − γ‖x‖² − γ‖z‖²), all in one product; rows are measured from the mean of Z, to keep digits."""
    root, middle = np.sqrt(kernel.gamma), Z.mean(axis=0)
    around = root * (Z - middle)
    second = np.vstack([2.0 * around.T, np.ones(len(Z)), -squared_lengths(around)])

    def values(X: Array) -> Array:
        around = root * (X - middle)
        powers = np.column_stack([around, -squared_lengths(around), np.ones(len(X))]) @ second
        np.minimum(powers, 0.0, out=powers)
        return np.asarray(np.exp(powers, out=powers))

    return values


def precomputed(kernel: KernelFunction, Z: Array) -> Towards:
    """The cells at the places that Z names."""
    indices = Z[:, 0].astype(np.intp)
    return lambda X: X[:, indices]


KERNELS: dict[str, Callable[[KernelFunction, Array], Towards]] = {
    "gaussian": gaussian,
    "linear": linear,
    "polynomial": polynomial,
    "precomputed": precomputed,
}

SQUARED_LENGTHS: dict[str, Callable[[KernelFunction, Array], Array]] = {
    "gaussian": lambda kernel, X: np.ones(len(X)),
    "linear": lambda kernel, X: squared_lengths(X),
    "polynomial": lambda kernel, X: np.asarray(
        (kernel.gamma * squared_lengths(X) + kernel.offset) ** kernel.degree
    ),
}
"""K(x, x) of each row."""


BEYOND_REACH = 1e4
"""Minus the logarithm of a kernel where it has ended, at u = 1; it grows with u, so that the nearest row wins."""


def _ending(inside: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The logarithm of a kernel that is 0 from u = 1 on."""

    def log_kernel(u: Array) -> Array:
        reached = u < 1
        return np.asarray(np.where(reached, np.log(inside(np.where(reached, u, 0.0))), -BEYOND_REACH * u))

    return log_kernel


LOG_KERNELS: dict[str, Callable[[Array], Array]] = {
    "gaussian": lambda u: -u,
    "laplacian": lambda u: -np.sqrt(u),
    "cauchy": lambda u: -np.log1p(u),
    "epanechnikov": _ending(lambda u: 1 - u),
    "triangular": _ending(lambda u: 1 - np.sqrt(u)),
}
"""The logarithm of kernels that fall with the distance, of u = γ‖x − z‖²."""


def named_landmarks(rows: Rows, numbers: Sequence[int]) -> Rows:
    """The places in training rows of the rows of the file that a user has numbered, from 1 on."""
    indices = np.flatnonzero(np.isin(rows, np.array(numbers) - 1))
    if not len(indices):
        requested = listed(list(map(str, numbers)), MOST_NAMED)
        what = f"none of the landmark_rows {requested} is a training row"
        raise FitError(
            what, hint="rows of the file are numbered from 1; those that are held out cannot be landmarks"
        )
    return indices


def scale(X: Array, weights: Array) -> float:
    """The γ at which distances are about 1: 1 / (columns × variance of all cells), to twelve digits."""
    if not X.size:
        return 1.0
    means = np.average(X, axis=0, weights=weights)
    variance = float(np.average((X - means.mean()) ** 2, axis=0, weights=weights).mean())
    return float(f"{1.0 / (X.shape[1] * variance):.12g}") if variance > 0 else 1.0


def one_width(gamma: float | None, sigma: float | None) -> list[str]:
    """What is wrong with two widths of one kernel."""
    return ["gamma and sigma are two names of one thing: give one"] if gamma and sigma else []


def on_grid(X: Array) -> Array:
    """The rows to nine digits of how far each column spreads: no search follows the last digits of scaling."""
    low, high = X.min(axis=0), X.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    step = 2.0 ** (np.ceil(np.log2(spread)) - GRID_BITS)
    return np.asarray(np.round(X / step) * step)


def symmetric_matrix(K: Array) -> Array:
    """A matrix of a user, if it is the kernel of anything: symmetric, without a negative eigenvalue."""
    size = float(np.abs(K).max(initial=0.0))
    if not np.allclose(K, K.T, rtol=0, atol=1e-8 * size):
        raise FitError("the precomputed kernel is not symmetric", hint="k_j in row i is the same as k_i in row j")
    least = float(np.linalg.eigvalsh(K)[0]) if len(K) else 0.0
    if least < -1e-8 * size * len(K):
        text = f"the precomputed kernel has a negative eigenvalue ({least:.3g})"
        raise FitError(text, hint="no map of rows has such inner products: it is not a kernel")
    return np.asarray((K + K.T) / 2)
