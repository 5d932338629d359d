"""Ways from the minimum for all rows to those without parts: by the curvature there, less that of their rows."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.linear._inverse import inverse
from mlcli.models.linear._leaving import Leaving


class Ways(Protocol):
    """What tells the way to the minimum without some parts."""

    def steps(self, slopes: Array, among: Rows | slice) -> Array:
        """The way for each of some of the parts, where its objective has such a slope."""


class WithoutRow:
    """Parts of one row each: the inverse for all rows, downdated (Sherman & Morrison 1950, Woodbury 1950)."""

    def __init__(self, leaving: Leaving, shared: Array, parts: Rows) -> None:
        outputs, columns = leaving.there.w.shape
        self.shared, self.x = shared, leaving.rows_of_model[parts]
        curved = self._curved(leaving, parts)
        by_output = shared.reshape(outputs * columns * outputs, columns)
        self.pulled = (self.x @ by_output.T).reshape(len(parts), outputs * columns, outputs)
        four = self.pulled.reshape(len(parts), outputs, columns, outputs)
        leverage = np.einsum("bq,bjqk->bjk", self.x, four)
        self.correction = np.linalg.solve(np.eye(outputs) - curved @ leverage, curved)

    @staticmethod
    def _curved(leaving: Leaving, parts: Rows) -> Array:
        """The curvature of each row's loss in the outputs (parts × outputs × outputs)."""
        shares, mixing = leaving.there.shares[:, parts].T, leaving.whole.mixing
        inside = shares[:, :, None] * (np.eye(len(mixing)) - shares[:, None, :])
        return np.asarray(leaving.whole.loss.weights[parts][:, None, None] * (mixing.T @ inside @ mixing))

    def steps(self, slopes: Array, among: Rows | slice) -> Array:
        """The way for each of some of the rows."""
        way = slopes.reshape(len(slopes), -1) @ self.shared
        along = np.einsum("bq,bjq->bj", self.x[among], way.reshape(slopes.shape))
        bent = np.einsum("bjk,bk->bj", self.correction[among], along)
        way += np.einsum("bdj,bj->bd", self.pulled[among], bent)
        return -way.reshape(slopes.shape)


class WithoutPart:
    """Parts of any rows: an inverse for each."""

    def __init__(self, leaving: Leaving, whole: Array, parts: Rows) -> None:
        self.inverses = np.array([inverse(whole - leaving.curvature_of(part)) for part in parts.tolist()])

    def steps(self, slopes: Array, among: Rows | slice) -> Array:
        """The way for each of some of the parts."""
        way = self.inverses[among] @ slopes.reshape(len(slopes), -1, 1)
        return -way.reshape(slopes.shape)
