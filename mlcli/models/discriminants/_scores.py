"""From means and whitened coordinates to the score of each class, whose differences are log odds."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.discriminants._classes import ClassSums


def logarithm(shares: Array) -> Array:
    """The natural logarithm, -infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def coefficients_and_levels(transform: Array, sums: ClassSums, log_priors: Array) -> tuple[Array, Array]:
    """Linear scores: μ_kᵀ Σ⁻¹ x − ½ μ_kᵀ Σ⁻¹ μ_k + log π_k, told from the mean of all rows to keep digits."""
    inside = (sums.mean - sums.centre) @ transform
    coefficients = inside @ transform.T
    levels = log_priors - 0.5 * np.einsum("kr,kr->k", inside, inside) - coefficients @ sums.centre
    return np.asarray(coefficients), np.asarray(levels)
