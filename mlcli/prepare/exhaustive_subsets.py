"""Exhaustive subsets: tries every subset of the columns on validation rows, and bounds the error of the best.

Formula:
    The subset of 1 to `largest` columns for which the base, fitted to the other training rows, has the least error
    on the validation rows. With probability 1 − δ its true error is below the one on the validation rows + √(C /
    n_val), with C = ½ ln(2 · subsets / δ) (Hoeffding's bound for the best of so many).

Assumes:
    Few columns. The more subsets are tried, the more the best one owes to chance: the bound says how much.

Cost:
    One fit of the base per subset: 2^d − 1 for d columns.

Choices:
    The validation rows are a share of the training rows, and the test rows take no part: that is the
    train, validation and test of the notes, which give no C. Of equal subsets the smaller is kept, then the first.
    The bound is for the share of errors; the squared error has none.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, log, sqrt

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation, Table
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Flags
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.inner_validation import inner_holdout
from mlcli.prepare._selecting import ALIKE, MOST_BARS, ByModel, Places, SubsetLosses, ranked
from mlcli.tasks.supervised import LabelledRows, SupervisedRows


@register("exhaustive-subsets", reference="Hoeffding 1963; Guyon & Elisseeff 2003, Variable and feature selection")
class ExhaustiveSubsets(ByModel):
    """The best of all subsets."""

    largest: int | None = param(None, "how many columns a subset has at most; none: all", ge=1)
    validation: float = param(0.3, "the share of training rows that subsets are compared on", gt=0, lt=1)
    delta: float = param(0.05, "the probability with which the bound may fail", gt=0, lt=1)

    tried_: int = learned()
    validated_: int = learned()
    loss_: float = learned()
    bound_: float = learned()
    """NaN where there is none."""
    best_: Flags = learned("best", "columns")
    """The subsets of the least loss, the least first."""
    losses_: Array = learned("best")

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Try all subsets."""
        data = in_content_order(data)
        count, aside = len(self.columns_), inner_holdout(data, self.validation, rng)
        subsets = self._subsets(count) if aside.any() else [tuple(range(count))]
        split = np.flatnonzero(~aside), np.flatnonzero(aside)
        known = SubsetLosses(self.base_for(data), data, [split], int(rng.integers(2**32)))
        losses = np.array([known.loss(subset) for subset in subsets] if aside.any() else [np.nan])
        best = int(np.argmax(losses <= losses.min() * (1 + ALIKE)))
        self.kept_ = np.isin(np.arange(count), subsets[best])
        order = ranked(-losses)[:MOST_BARS]
        self.best_ = np.array([np.isin(np.arange(count), subsets[place]) for place in order])
        self.losses_ = losses[order]
        self.tried_, self.validated_, self.loss_ = len(subsets), int(aside.sum()), float(losses[best])
        bounded = isinstance(data, LabelledRows) and aside.any()
        self.bound_ = self.loss_ + slack(len(subsets), self.validated_, self.delta) if bounded else np.nan

    def _subsets(self, count: int) -> list[Places]:
        """All that are tried, the small ones first; too many are refused."""
        sizes = range(1, min(count, self.largest or count) + 1)
        many = sum(comb(count, size) for size in sizes)
        if many > 20_000:
            what = f"{count} columns have {many:,} subsets, too many to try each"
            raise FitError(what, hint="choose fewer columns, a smaller 'largest', or forward-selection")
        return [combination for size in sizes for combination in combinations(range(count), size)] or [()]

    def explain(self) -> Explanation:
        """What was tried, and how far the best may be trusted."""
        header = ("subsets tried", "validation rows", "loss of the best", "bound of its true error")
        bound = None if np.isnan(self.bound_) else self.bound_
        loss = None if np.isnan(self.loss_) else self.loss_
        note = f"the bound holds with probability {1 - self.delta:g}"
        row = (self.tried_, self.validated_, loss, bound)
        every = Table("Every subset on validation rows", header, (row,), note=note)
        names = np.array([column.name for column in self.columns_], object)
        rows = tuple(
            (listed(names[subset].tolist()), None if np.isnan(loss) else loss)
            for subset, loss in zip(self.best_, self.losses_.tolist(), strict=True)
        )
        return (*super().explain(), every, Table("The best subsets", ("columns", "loss"), rows))


def slack(subsets: int, rows: int, delta: float) -> float:
    """How far the true error of the best of some subsets may be above that on so many rows."""
    return sqrt(0.5 * log(2 * subsets / delta) / rows)
