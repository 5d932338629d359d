"""CFS: keeps the subset of columns that go along with the target and not with each other (Hall's CFS).

Formula:
    merit(S) = k r_cf / √(k + k (k − 1) r_ff) for a subset S of k columns, with r_cf the mean correlation of its
    columns with the target and r_ff that of its columns with each other; the correlation of two columns is the
    symmetrical uncertainty 2 I(X; Y) / (H(X) + H(Y)). Subsets are searched best first: the best known one is
    widened by each other column, until `patience` widenings in a row find no better one.

Assumes:
    That columns which say the same are of no use beside each other, and that those which help only together are
    rare.

Cost:
    A table for each pair of columns that is met, p² / 2 at most.

Choices:
    Numbers, and values to be predicted, are cut into `bins` of equal weight (Hall cuts them by the class entropy).
    An empty cell is a level of its own. At least one column is kept. How many follows from the merit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation, Lines
from mlcli.core.moments import entropy_of_counts, mutual_information
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._selecting import ALIKE, Selection, contingency, levels_of_columns, levels_of_target
from mlcli.tasks.supervised import SupervisedRows

Subset = tuple[int, ...]


@register("cfs", reference="Hall 1999, Correlation-based Feature Selection for Machine Learning")
class CorrelationBasedSelection(Selection):
    """The subset with the best merit."""

    bins: int = param(5, "how many bins numbers are cut into", ge=2)
    patience: int = param(5, "after how many widenings without a better subset the search ends", ge=1)

    merit_: float = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Search for the subset."""
        data = data.counted()
        columns = list(levels_of_columns(data, self.bins))
        target = levels_of_target(data, self.bins)
        relevance = np.array([uncertainty(column, target, data.weights) for column in columns])

        @cache
        def between(one: int, other: int) -> float:
            return uncertainty(columns[one], columns[other], data.weights)

        def merit(subset: Subset) -> float:
            k = len(subset)
            among = sum(between(one, other) for index, one in enumerate(subset) for other in subset[:index])
            return float(relevance[list(subset)].sum() / np.sqrt(k + 2 * among)) if k else 0.0

        best = self._search(len(columns), merit) or ((0,) if columns else ())
        self.merit_ = merit(best)
        self.kept_ = np.isin(np.arange(len(columns)), best)

    def _search(self, count: int, merit: Callable[[Subset], float]) -> Subset:
        """Best first, from no columns on."""
        best: Subset = ()
        best_merit, stale = 0.0, 0
        waiting, seen = [(0.0, best)], {best}
        while waiting and stale < self.patience:
            waiting.sort(key=lambda one: (-round(one[0], 12), len(one[1]), one[1]))
            _, subset = waiting.pop(0)
            wider = {tuple(sorted((*subset, column))) for column in range(count) if column not in subset} - seen
            found = sorted((-round(merit(one), 12), one) for one in wider)
            seen |= wider
            waiting += [(-negative, one) for negative, one in found]
            stale += 1
            if found and -found[0][0] > best_merit * (1 + ALIKE):
                best_merit, best, stale = -found[0][0], found[0][1], 0
        return best

    def explain(self) -> Explanation:
        """The subset and its merit."""
        kept = self.kept()
        title = f"{len(kept)} of {len(self.columns_)} columns are kept, with a merit of {self.merit_:.4g}"
        return (Lines(title, (listed(kept, 30),)),)


def uncertainty(values: Codes, other: Codes, weights: Array) -> float:
    """The symmetrical uncertainty of two columns: 0 where independent, 1 where each follows from the other."""
    table = contingency(values, other, weights)
    both = entropy_of_counts(table.sum(axis=1)) + entropy_of_counts(table.sum(axis=0))
    return 2 * mutual_information(table) / both if both > 0 else 0.0
