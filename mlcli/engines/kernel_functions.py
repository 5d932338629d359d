"""Kernel functions: the similarity of two rows, as an inner product in some feature space.

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
"""Matrices of more rows are in single precision, as LIBSVM's are."""
MOST_BYTES = 2_500_000_000
"""Larger matrices are refused."""
BLOCK_CELLS = 64_000
"""Kernel values computed at once, so that they stay in the cache of the processor."""

Towards = Callable[[Array], Array]
"""From any rows, their kernel with the rows that the function was made for."""


@dataclass(frozen=True)
class KernelFunction:
    """A kernel by its name, with its parameters."""

    name: str = "gaussian"
    gamma: float = 1.0
    degree: int = 3
    offset: float = 1.0

    def towards(self, Z: Array) -> Towards:
        """A function that returns the kernel of any rows with each row of Z."""
        return KERNELS[self.name](self, Z)

    def __call__(self, X: Array, Z: Array) -> Array:
        """The kernel of each row of one block with each of another."""
        return self.towards(Z)(X)

    def matrix(self, X: Array, *, precise: bool = False) -> Array:
        """The kernel of all pairs of rows; many rows are in single precision, unless ``precise``."""
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
    """Slices of rows computed at once; at least as many as columns, or Z would be read too often."""
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
    """exp(2γ x·z − γ‖x‖² − γ‖z‖²) as one product; rows are centred at the mean of Z, to keep digits."""
    root, centre = np.sqrt(kernel.gamma), Z.mean(axis=0)
    scaled_z = root * (Z - centre)
    factors = np.vstack([2.0 * scaled_z.T, np.ones(len(Z)), -squared_lengths(scaled_z)])

    def values(X: Array) -> Array:
        scaled = root * (X - centre)
        exponents = np.column_stack([scaled, -squared_lengths(scaled), np.ones(len(X))]) @ factors
        np.minimum(exponents, 0.0, out=exponents)
        return np.asarray(np.exp(exponents, out=exponents))

    return values


def precomputed(kernel: KernelFunction, Z: Array) -> Towards:
    """The cells at the indices in Z."""
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


def _ending(inside: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The logarithm of a kernel that is 0 from u = 1 on; there it is −10,000 u, so that the nearest row wins."""

    def log_kernel(u: Array) -> Array:
        is_inside = u < 1
        return np.asarray(np.where(is_inside, np.log(inside(np.where(is_inside, u, 0.0))), -1e4 * u))

    return log_kernel


LOG_KERNELS: dict[str, Callable[[Array], Array]] = {
    "gaussian": lambda u: -u,
    "laplacian": lambda u: -np.sqrt(u),
    "cauchy": lambda u: -np.log1p(u),
    "epanechnikov": _ending(lambda u: 1 - u),
    "triangular": _ending(lambda u: 1 - np.sqrt(u)),
}
"""The logarithms of kernels that fall with the distance, as functions of u = γ‖x − z‖²."""


def named_landmarks(rows: Rows, numbers: Sequence[int]) -> Rows:
    """The indices in the training rows of rows of the file, which a user has numbered from 1."""
    indices = np.flatnonzero(np.isin(rows, np.array(numbers) - 1))
    if not len(indices):
        requested = listed(list(map(str, numbers)), 5)
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
    """A problem if both widths of one kernel are given."""
    return ["gamma and sigma are two names of one thing: give one"] if gamma and sigma else []


def on_grid(X: Array) -> Array:
    """The rows, rounded to nine digits of the range of each column, so that no search depends on rounding."""
    low, high = X.min(axis=0), X.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    step = 2.0 ** (np.ceil(np.log2(spread)) - 30)
    return np.asarray(np.round(X / step) * step)


def symmetric_matrix(K: Array) -> Array:
    """A user's matrix, refused unless it is a kernel: symmetric, without a negative eigenvalue."""
    size = float(np.abs(K).max(initial=0.0))
    if not np.allclose(K, K.T, rtol=0, atol=1e-8 * size):
        raise FitError("the precomputed kernel is not symmetric", hint="k_j in row i is the same as k_i in row j")
    least = float(np.linalg.eigvalsh(K)[0]) if len(K) else 0.0
    if least < -1e-8 * size * len(K):
        text = f"the precomputed kernel has a negative eigenvalue ({least:.3g})"
        raise FitError(text, hint="no map of rows has such inner products: it is not a kernel")
    return np.asarray((K + K.T) / 2)
