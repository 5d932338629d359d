"""t-SNE: places rows in few dimensions so that near rows stay near; how far the others are apart means little.

Formula:
    p_{j|i} ∝ exp(−|x_i − x_j|² / 2σ_i²) with σ_i such that 2^{H(p_i)} is the `perplexity`, p_ij = (p_{j|i} +
    p_{i|j}) / 2n; q_ij ∝ 1 / (1 + |z_i − z_j|²). Gradient descent on KL(p‖q) = Σ p log (p / q), whose gradient is
    4 Σ_j (p_ij − q_ij) (z_i − z_j) / (1 + |z_i − z_j|²).

Assumes:
    Clusters whose rows are near each other. Sizes of clusters and distances between them in the picture mean
    nothing, and other perplexities show other pictures: look at several.

Cost:
    All pairs of rows in each of `steps` steps, in compiled single precision.

Choices:
    p counts the 3 · `perplexity` nearest rows only; q all pairs (exact, no Barnes-Hut tree). It starts from the
    first principal components, 1e-4 wide, so that the same rows give the same picture; p counts twelvefold in
    the first quarter of the steps; gains and momentum (0.5, then 0.8) and the learning rate n / 48 (at least 50)
    are those of scikit-learn. Only fitted rows have a place, so that the picture is scored on them (protocol
    `whole`): a row is reconstructed as the mean of the `neighbours` rows that are nearest to its place. A
    perplexity above (n − 1) / 3 is lowered to it.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Rows
from mlcli.engines.centres import squared_differences
from mlcli.engines.principal_components import principal_axes
from mlcli.models.projection.mds import TransductiveProjector, in_decimals
from mlcli.tasks.projection import Projector

EXAGGERATION = 12.0
"""How many times as much p counts in the first quarter of the steps."""


@register("t-sne", reference="van der Maaten & Hinton 2008; van der Maaten 2014")
class StochasticNeighbours(TransductiveProjector, Projector):
    """Rows beside their neighbours."""

    components: int = param(2, "number of dimensions", ge=1, le=3)
    perplexity: float = param(30.0, "approximate number of neighbours of each row", ge=1, tune=(5, 50))
    steps: int = param(1000, "number of steps of gradient descent", ge=20)

    def placed(self, X: Array) -> tuple[Array, str]:
        """The places, and the divergence."""
        from mlcli.kernels.repulsion import forces, pulls

        n = len(X)
        if n < 4:
            return np.zeros((n, self.components)), "fewer than four rows have no neighbours to keep"
        # Steps of descent double a difference in the last digit again and again: the units of X do not matter.
        X = in_decimals(X)
        start, near, p = joint(X, min(self.perplexity, (n - 1) / 3))
        # It begins with the first principal components, 1e-4 wide, in the three dimensions of the kernel.
        axes = principal_axes(X, np.ones(n), by="auto", ddof=0, standardise=False)
        count = min(self.components, X.shape[1])
        begin = np.zeros((n, 3))
        begin[:, :count] = axes.coordinates(X, count)
        begin = begin * 1e-4 / (begin[:, 0].std() or 1.0)

        y = np.ascontiguousarray(begin.T, np.float32)
        rate = max(n / EXAGGERATION / 4, 50.0)
        push, pull = np.empty_like(y), np.empty_like(y)
        speed, gains = np.zeros_like(y), np.ones_like(y)
        starts, neighbours, shares = start.astype(np.int32), near.astype(np.int32), p.astype(np.float32)
        for step in range(self.steps):
            factor, momentum = (EXAGGERATION, 0.5) if step < self.steps // 4 else (1.0, 0.8)
            total = forces(y, push)
            pulls(y, starts, neighbours, shares, pull)
            gradient = (4 * factor) * pull - np.float32(4 / total) * push
            gains = np.maximum(np.where(speed * gradient < 0, gains + 0.2, gains * 0.8), 0.01).astype(np.float32)
            speed = (momentum * speed - rate * gains * gradient).astype(np.float32)
            y = y + speed
            y -= y.mean(axis=1, keepdims=True)
        z = y.T[:, : self.components].astype(np.float64)
        own = np.repeat(np.arange(n), np.diff(start))
        q = 1 / (1 + ((z[own] - z[near]) ** 2).sum(axis=1)) / forces(y, push)
        divergence = float((p * np.log(p / np.maximum(q, 1e-300))).sum())
        return z, f"KL divergence {divergence:.4g} after {self.steps} steps"


def joint(X: Array, perplexity: float) -> tuple[Rows, Rows, Array]:
    """p_ij of near rows: where the neighbours of each row begin, which they are, and p of each."""
    from scipy.sparse import csr_array

    n = len(X)
    count = min(n - 1, int(3 * perplexity + 1))
    near, squared = np.empty((n, count), np.intp), np.empty((n, count))
    for start in range(0, n, 500):
        block = slice(start, start + 500)
        distances = squared_differences(X[block], X)
        own = np.arange(len(distances))
        distances[own, start + own] = np.inf
        near[block] = np.argpartition(distances, count - 1, axis=1)[:, :count]
        squared[block] = np.take_along_axis(distances, near[block], axis=1)
    conditional = conditional_probabilities(squared, perplexity)
    directed = csr_array((conditional.ravel(), near.ravel(), np.arange(n + 1) * count), shape=(n, n))
    both = (directed + directed.T).tocsr()
    both.sort_indices()
    return both.indptr, both.indices, np.maximum(both.data / both.data.sum(), 1e-12)


def conditional_probabilities(apart: Array, perplexity: float) -> Array:
    """p_{j|i} from squared distances, the widths found by bisection for all rows at once."""
    apart = apart - apart.min(axis=1, keepdims=True)
    scale = apart.mean(axis=1, keepdims=True)
    apart = apart / np.where(scale > 0, scale, 1.0)
    low, high = np.zeros((len(apart), 1)), np.full((len(apart), 1), np.inf)
    beta = np.ones((len(apart), 1))
    for _ in range(64):
        p = np.exp(-apart * beta)
        total = p.sum(axis=1, keepdims=True)
        entropy = np.log(total) + beta * (apart * p).sum(axis=1, keepdims=True) / total
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, beta, low), np.where(wide, high, beta)
        beta = np.where(np.isinf(high), beta * 2, (low + np.where(np.isinf(high), low, high)) / 2)
    p = np.exp(-apart * beta)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
