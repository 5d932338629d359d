"""Zero-R: answers the most frequent class, or the mean, whatever the row looks like.

Formula:
    P(k) = Σ w_i [y_i = k] / Σ w_i for classes; ŷ = Σ w_i y_i / Σ w_i for numbers.

Assumes:
    Nothing; it looks at no column. A method that does not beat it has learned nothing.

Cost:
    One pass over the target to fit, nothing to predict.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.tasks.supervised import Classifier, Regressor, SupervisedRows


@register("zero-r", reference="Witten, Frank & Hall, Data Mining, section 4.1")
class ZeroR(Classifier, Regressor, CountsParameters):
    """The baseline of every table."""

    mean_: Array = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True, large=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Take the weighted mean of the outputs: class shares, or the mean of the target."""
        self.mean_ = data.weights @ data.outputs / data.weights.sum()

    def predict_proba(self, table: Table) -> Array:
        """The class shares of the training rows, for every row."""
        return np.tile(self.mean_, (len(table), 1))

    def predict_values(self, table: Table) -> Array:
        """The training mean, for every row."""
        return np.full(len(table), self.mean_[0])

    def adjustable_parameters(self, table: Table) -> float | None:
        """The mean, or the shares of all classes but one."""
        return float(max(1, len(self.mean_) - 1))

    def explain(self) -> findings.Explanation:
        """The shares and how mixed they are, or the mean."""
        if self.classes_ is None:
            return (findings.Lines("Constant prediction", lines=(f"{self.target_} = {self.mean_[0]:.6g}",)),)
        rows = tuple(zip(self.classes_, (float(share) for share in self.mean_), strict=True))
        shares = findings.Table("Class shares", header=(self.target_, "share"), rows=rows)
        p = self.mean_[self.mean_ > 0]
        impurities = (
            ("misclassification, 1 − max p", float(1 - p.max())),
            ("gini, 1 − Σ p²", float(1 - p @ p)),
            ("entropy in bits, −Σ p log2 p", float(-p @ np.log2(p)) + 0.0),
        )
        return shares, findings.Table("Impurity of the classes", ("measure", "value"), impurities)
