"""SMOTE: adds synthetic training rows of rare classes, each between a row and a near one of its class.

Formula:
    For a row x of a rare class and one of its `k` nearest rows x' of that class: x + u (x' − x), u uniform in [0,
    1], until the class has `share` times as many rows as the largest. Of levels the new row has the most frequent
    one among the k neighbours.

Assumes:
    Rows between two rows of a class belong to that class: connected classes, and columns on one scale.

Cost:
    All distances within each rare class.

Choices:
    Only training rows are added; test rows stay as they are. Distances are euclidean in standardised numbers, plus
    1 for each pair of different levels. A class with one row has it repeated; a class without rows stays empty.
    New rows have weight 1. All rows of a class serve equally often as a start, give or take one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.centres import squared_distances, squared_lengths
from mlcli.engines.content_seeds import order_of_content
from mlcli.prepare._columns import RowStep
from mlcli.tasks.supervised import LabelledRows


@register("smote", reference="Chawla, Bowyer, Hall & Kegelmeyer 2002, SMOTE")
class Smote(RowStep):
    """Add synthetic rows of rare classes."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    k: int = param(5, "how many near rows of its class a row may be drawn towards", ge=1)
    share: float = param(1.0, "how many rows a class is to have at least, as a share of the largest", gt=0, le=1)

    added_: Rows = learned()
    """The number of rows added to each class."""

    accepts = Accepts(nominal=True, weights=True)

    def changed(self, data: LabelledRows, rng: np.random.Generator) -> LabelledRows:  # type: ignore[override]
        """The training rows, then the new ones."""
        data = data.take(order_of_content(data))
        counts = np.bincount(data.y, minlength=len(data.classes))
        size = np.ceil(self.share * counts.max() - 1e-9).astype(np.intp)
        self.added_ = np.where(counts > 0, np.maximum(size - counts, 0), 0)
        for k in np.flatnonzero(self.added_).tolist():
            own = data.table.take(np.flatnonzero(data.y == k))
            data = _joined(data, self._between(own, self.added_[k], rng), k)
        return data

    def _between(self, own: Table, count: int, rng: np.random.Generator) -> Table:
        """``count`` new rows, each between two near rows of one class."""
        near = _near(own, min(self.k, len(own) - 1))
        start = np.resize(rng.permutation(len(own)), count)
        if not near.shape[1]:
            return own.take(start)
        end = near[start, rng.integers(0, near.shape[1], count)]
        numbers = own.numbers[start] + rng.random((count, 1)) * (own.numbers[end] - own.numbers[start])
        codes = [_most_frequent(cells[near[start]]) for cells in own.codes.T]
        return Table(own.columns, numbers, np.array(codes, np.int32).reshape(-1, count).T.copy())

    def explain(self) -> findings.Explanation:
        """The number of rows added."""
        if self.added_ is None:
            return ()
        row = (int(self.added_.sum()), int((self.added_ > 0).sum()))
        return (findings.Table("Synthetic training rows", ("rows added", "classes with new rows"), (row,)),)


def _near(own: Table, k: int) -> Rows:
    """The nearest other rows of each row (n × k)."""
    if k < 1:
        return np.empty((len(own), 0), np.intp)
    deviation = own.numbers.std(axis=0)
    X = (own.numbers - own.numbers.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    lengths, results = squared_lengths(X), []
    for start in range(0, len(X), 500):  # the distances of so many rows are held at once
        block = slice(start, start + 500)
        apart = squared_distances(X, X[block], lengths)
        for cells in own.codes.T:
            apart += np.not_equal.outer(cells[block], cells)
        apart[np.arange(len(apart)), start + np.arange(len(apart))] = np.inf
        results.append(np.argpartition(apart, k - 1, axis=1)[:, :k])
    return np.concatenate(results)


def _most_frequent(codes: Codes) -> Codes:
    """The most frequent level of each row (n × k), the first of equals."""
    counts = np.array([(codes == level).sum(axis=1) for level in range(int(codes.max(initial=0)) + 1)])
    return np.asarray(counts.argmax(axis=0), np.int32)


def _joined(data: LabelledRows, new: Table, k: int) -> LabelledRows:
    """The rows, then new ones of a class."""
    count = len(new)
    weight: Array | None = None if data.weight is None else np.ones(count)
    rows = np.full(count, -1, np.intp)  # no rows of the file
    of_class = np.full(count, k, np.int32)
    added = replace(data.alone(), table=new, rows=rows, y=of_class, weight=weight, groups=None, context=None)
    return data.joined(added)
