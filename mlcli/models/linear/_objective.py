"""An objective: cross-entropy of linear scores, plus a penalty on the coefficients; solvers see nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._losses import CrossEntropy
from mlcli.models.linear._standard import Standard, times_columns, times_rows

MANY_OUTPUTS = 4
"""From so many on, the products of columns are best made once."""
FEW = 20
"""So many rows for each coefficient say about where the minimum is."""


@dataclass(frozen=True, eq=False)
class Here:
    """The objective near some coefficients."""

    w: Array
    value: float
    slope: Array
    shares: Array
    """Of the classes but the first (lines), for each row."""

    @cached_property
    def steepness(self) -> float:
        """The largest entry of the slope, by size."""
        return float(np.abs(self.slope).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Objective:
    """What is minimised over coefficients: loss of ``mixing`` @ w in the columns, plus ½ Σ strength·w²."""

    X: Standard
    loss: CrossEntropy
    mixing: Array
    """The score of each class but the first, less that of the first, from the coefficients (outputs × outputs)."""
    bound: float
    """The curvature in the outputs of one row of weight 1 is never larger."""
    strength: Array
    """The penalty of each column, 0 for the ones."""

    @cached_property
    def start(self) -> Array:
        """The best coefficients that look at no column."""
        w = np.zeros((len(self.mixing), self.X.shape[1]))
        w[:, -1] = np.linalg.solve(self.mixing, self.loss.start) if self.X.intercept else 0.0
        return w

    def at(self, w: Array) -> Here:
        """The objective near some coefficients, in one pass over the rows."""
        slopes, level = self.X.of_columns(self.mixing @ w)
        width = len(self.X.scale)
        gathered = np.zeros((len(w), width + 1))
        shares = np.empty((len(w), self.X.shape[0]))
        penalised = self.strength * w
        value = float(np.vdot(penalised, w)) / 2
        for rows, block in self.X.blocks():
            scores = times_columns(slopes, block)
            scores += level[:, None]
            cost, slope, shares[:, rows] = self.loss.at(scores, rows)
            value += cost
            gathered[:, :width] += times_rows(slope, block)
            gathered[:, width] += slope.sum(axis=1)
        return Here(w, value, self.mixing.T @ self.X.slopes(gathered) + penalised, shares)

    def thinned(self, stride: int) -> Objective | None:
        """The same for every so many-th row; None where those are too few to tell much."""
        rows = slice(None, None, stride)
        loss = CrossEntropy(self.loss.outcomes[:, rows], self.loss.weights[rows] / self.loss.weights[rows].sum())
        columns, counts = self.X.columns[rows], loss.outcomes.sum(axis=1)
        few = len(columns) < FEW * max(len(self.mixing), 1) * self.X.shape[1]
        if few or not counts.all() or counts.sum() == len(columns):
            return None
        return replace(self, X=replace(self.X, columns=np.ascontiguousarray(columns)), loss=loss)

    def curvature(self, here: Here) -> Array:
        """The second derivative (all coefficients squared), in one pass over the rows."""
        outputs, width = len(here.w), len(self.X.scale)
        if outputs >= MANY_OUTPUTS and self.X.products is not None:
            return self._in_units(self._curved(here.shares, self.X.products))
        curved = np.zeros((outputs, width + 1, outputs, width + 1))
        for rows, block in self.X.blocks():
            shares, weights = here.shares[:, rows], self.loss.weights[rows]
            for j in range(outputs):
                root = np.sqrt(weights * shares[j] * (1 - shares[j])).astype(block.dtype)
                _add_squares(curved[j, :, j], block * root[:, None], root)
                for k in range(j):
                    _add_products(curved[j, :, k], block, (-weights * shares[j] * shares[k]).astype(block.dtype))
        for j in range(outputs):
            for k in range(j):
                curved[k, :, j] = curved[j, :, k]
        return self._in_units(curved)

    def _curved(self, shares: Array, products: Array) -> Array:
        """The same in one product, of what two outputs and what two columns are for each row."""
        outputs, width = len(shares), self.X.shape[1]
        j, k = np.triu_indices(outputs)
        bent = shares[j] * np.where((j == k)[:, None], 1 - shares[k], -shares[k])
        bent *= self.loss.weights
        one, other = np.triu_indices(width)
        both = np.empty((len(j), width, width))
        both[:, one, other] = both[:, other, one] = bent @ products
        curved = np.empty((outputs, width, outputs, width))
        curved[j, :, k] = curved[k, :, j] = both
        return curved

    def curvature_bound(self) -> Array:
        """A matrix that the curvature never exceeds, the same for every output (Böhning 1992)."""
        size = len(self.X.scale) + 1
        gram = np.zeros((size, size))
        root = np.sqrt(self.loss.weights)
        for rows, block in self.X.blocks():
            _add_squares(gram, block * root[rows, None], root[rows])
        inside = self.X.both_ways(gram.reshape(1, size, 1, size)).reshape(size, size)
        return np.asarray(self.bound * inside + np.diag(self.strength))

    def in_single(self) -> Objective:
        """The same in single precision, and in standard columns that are made once."""
        X, width = self.X, len(self.X.scale)
        return replace(
            self, X=replace(X, columns=cast(Array, X.single), middle=np.zeros(width), scale=np.ones(width))
        )

    def _in_units(self, curved: Array) -> Array:
        """The curvature (outputs × columns and ones, squared) in the coefficients of standard columns."""
        outputs, size = len(curved), len(curved) * curved.shape[1]
        curved = self.X.both_ways(curved)
        if outputs > 1:
            curved = np.einsum("ja,jpkq->apkq", self.mixing, curved)
            curved = np.einsum("apkq,kb->apbq", curved, self.mixing)
        made = curved.reshape(size, size)
        made[np.arange(size), np.arange(size)] += np.tile(self.strength, outputs)
        return made


def _add_squares(whole: Array, rooted: Array, root: Array) -> None:
    whole[:-1, :-1] += rooted.T @ rooted
    edge = root @ rooted
    whole[-1, :-1] += edge
    whole[:-1, -1] += edge
    whole[-1, -1] += root @ root


def _add_products(whole: Array, block: Array, weights: Array) -> None:
    bent = block * weights[:, None]
    whole[:-1, :-1] += bent.T @ block
    edge = bent.sum(axis=0)
    whole[-1, :-1] += edge
    whole[:-1, -1] += edge
    whole[-1, -1] += weights.sum()
