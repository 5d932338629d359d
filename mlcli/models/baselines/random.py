"""Random: guesses an answer at random, as often as it occurs in training.

Formula:
    ŷ = k with probability Σ w_i [y_i = k] / Σ w_i for classes; ŷ = y_i with probability w_i / Σ w for numbers.

Assumes:
    Nothing; a method that does not beat it has learned nothing. Its expected accuracy is the sum of the squared
    class shares, below that of zero-r.

Cost:
    One sort of the target to fit, one draw per row to predict.

Choices:
    The draw of a row comes from its number in the file and from a seed that is drawn when it is fitted, so that an
    answer depends neither on cells nor on the other rows. The drawn class has probability 1, since that is what
    the guess claims.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import RandomByRow
from mlcli.tasks.supervised import Classifier, Regressor, SupervisedRows


@register(
    "random",
    reference="Witten, Frank & Hall, Data Mining, section 5.7 (the random predictor of kappa)",
    revision=2,
)
class RandomGuess(RandomByRow, Classifier, Regressor):
    """A guesser to compare with."""

    outcomes_: NDArray[Any] = learned()
    upper_: Array = learned()
    accepts = Accepts(nominal=True, missing=True, weights=True, large=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Keep the distinct outcomes, each with the upper end of its share of the unit interval."""
        self.outcomes_, which = np.unique(data.y, return_inverse=True)
        self.upper_ = np.cumsum(np.bincount(which, weights=data.weights)) / data.weights.sum()
        self.seed_ = int(rng.integers(2**62))

    def predict_proba(self, table: Table) -> Array:
        """All the probability on the class that was drawn."""
        return np.asarray(np.eye(len(self.classes_))[self._drawn(table)])

    def predict_values(self, table: Table) -> Array:
        """A number drawn from the training values."""
        return self._drawn(table).astype(np.float64)

    def _drawn(self, table: Table) -> NDArray[Any]:
        # The last share is open at the top, where rounding may have put its end below 1.
        drawn = np.searchsorted(self.upper_[:-1], self.draws(table), side="right")
        return np.asarray(self.outcomes_[drawn])

    def check_learned(self) -> None:
        """One upper end per outcome, and outcomes that are classes where there are classes."""
        if np.shape(self.outcomes_) != np.shape(self.upper_) or np.size(self.outcomes_) == 0:
            raise ValueError("outcomes and shares that do not belong together")
        if self.classes_ is not None and not np.isin(self.outcomes_, np.arange(len(self.classes_))).all():
            raise ValueError("an outcome that is not a class")

    def explain(self) -> findings.Explanation:
        """The shares it draws with, or how many numbers it draws from."""
        if self.classes_ is None:
            drawn = f"{self.target_} is drawn from {len(self.outcomes_)} different numbers"
            return (findings.Lines("Distribution of the target", lines=(drawn,)),)
        shares = self.class_totals_ / self.class_totals_.sum()
        rows = tuple(zip(self.classes_, map(float, shares), strict=True))
        return (findings.Table("Distribution of the target", header=(self.target_, "share"), rows=rows),)
