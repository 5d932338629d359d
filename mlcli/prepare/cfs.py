"""CFS: keeps a subset of columns that correlate with the target but not with each other (Hall's CFS).

Formula:
    merit(S) = k r_cf / √(k + k (k − 1) r_ff) for a subset S of k columns, with r_cf the mean correlation of its
    columns with the target and r_ff their mean correlation with each other. The correlation of two columns is the
    symmetrical uncertainty 2 I(X; Y) / (H(X) + H(Y)). The search is best first: the best subset so far is extended
    by each other column, until `patience` extensions in a row do not improve the merit.

Assumes:
    Redundant columns do not help, and columns that help only in combination are rare.

Cost:
    One contingency table for each pair of columns in a subset, p² / 2 at most.

Choices:
    Numeric columns and numeric targets are cut into `bins` of equal weight (Hall cuts them by the class entropy).
    A missing value is a level of its own. At least one column is kept; the merit decides how many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.moments import entropy_of_counts, mutual_information
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes
from mlcli.prepare._selecting import ALIKE, Selection, contingency, levels_of_columns, levels_of_target
from mlcli.tasks.supervised import SupervisedRows

Subset = tuple[int, ...]


@register("cfs", reference="Hall 1999, Correlation-based Feature Selection for Machine Learning")
class CorrelationBasedSelection(Selection):
    """Select the subset of columns with the best merit."""

    bins: int = param(5, "number of bins for numeric columns", ge=2)
    patience: int = param(5, "stop after this many extensions without a better subset", ge=1)

    merit_: float = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Search for the subset."""
        data = data.counted()
        columns = list(levels_of_columns(data, self.bins))
        target = levels_of_target(data, self.bins)
        relevance = np.array([symmetrical_uncertainty(column, target, data.weights) for column in columns])

        @cache
        def redundancy(first: int, second: int) -> float:
            return symmetrical_uncertainty(columns[first], columns[second], data.weights)

        def merit(subset: Subset) -> float:
            k = len(subset)
            total = sum(redundancy(first, second) for i, first in enumerate(subset) for second in subset[:i])
            return float(relevance[list(subset)].sum() / np.sqrt(k + 2 * total)) if k else 0.0

        best = self._search(len(columns), merit) or ((0,) if columns else ())
        self.merit_ = merit(best)
        self.kept_ = np.isin(np.arange(len(columns)), best)

    def _search(self, count: int, merit: Callable[[Subset], float]) -> Subset:
        """Best-first search from the empty subset; ties go to the smaller subset, then to the first columns."""
        best: Subset = ()
        best_merit, stale = 0.0, 0
        queue, seen = [(0.0, best)], {best}
        while queue and stale < self.patience:
            queue.sort(key=lambda entry: (-round(entry[0], 12), len(entry[1]), entry[1]))
            _, subset = queue.pop(0)
            extended = {tuple(sorted((*subset, column))) for column in range(count) if column not in subset} - seen
            ranking = sorted((-round(merit(candidate), 12), candidate) for candidate in extended)
            seen |= extended
            queue += [(-negative, candidate) for negative, candidate in ranking]
            stale += 1
            if ranking and -ranking[0][0] > best_merit * (1 + ALIKE):
                best_merit, best, stale = -ranking[0][0], ranking[0][1], 0
        return best

    def explain(self) -> Explanation:
        """The subset and its merit."""
        kept = self.kept()
        title = f"{len(kept)} of {len(self.columns_)} columns are kept, with a merit of {self.merit_:.4g}"
        return (Lines(title, (listed(kept, 30),)),)


def symmetrical_uncertainty(first: Codes, second: Codes, weights: Array) -> float:
    """2 I(X; Y) / (H(X) + H(Y)): 0 for independent columns, 1 if each determines the other."""
    table = contingency(first, second, weights)
    entropies = entropy_of_counts(table.sum(axis=1)) + entropy_of_counts(table.sum(axis=0))
    return 2 * mutual_information(table) / entropies if entropies > 0 else 0.0
