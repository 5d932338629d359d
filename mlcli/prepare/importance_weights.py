"""Importance weights: gives training rows more weight the more they resemble the target domain.

Formula:
    w(x) = p_T(x) / p_S(x) = P(T | x) / P(S | x) · n_S / n_T, estimated by a classifier that separates rows of the
    target domain T (those without a target value) from training rows S; then clipped at ``largest`` and divided by
    their mean.

Assumes:
    Covariate shift: p(y | x) is the same in both domains and only p(x) differs, and there are training rows
    wherever there are target rows. Very unequal weights leave few effective rows, (Σ w)² / Σ w².

Cost:
    One fit of the classifier to the rows of both domains.

Choices:
    Logistic regression makes the logarithm of the ratio linear. Clipping trades variance for bias. Only training
    rows get weights. Without rows of another domain (protocol `leave-domains-out`, or rows with an empty target)
    nothing changes, and a warning is given. A model that does not accept weights is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.configuration import with_steps
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines, Table
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.ensemble import fitted, outputs
from mlcli.prepare._columns import RowStep
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows, SupervisedRows

NO_OTHER_DOMAIN = (
    "there are no rows of another domain, so nothing is adapted: use the protocol leave-domains-out, or rows with "
    "an empty target"
)


@register("importance-weights", reference="Bickel, Brückner & Scheffer 2009, Discriminative learning under shift")
class ImportanceWeights(RowStep):
    """Weight training rows by how much they resemble the target domain."""

    gives_weights: ClassVar[bool] = True

    base: Model = model_param("logistic-regression", "the classifier that separates the domains", of=(Classifier,))
    largest: float = param(10.0, "larger weights are clipped to this value", gt=0)

    weights_: Array = learned()
    """The smallest weight, the largest weight and the effective number of rows; empty without a target domain."""

    accepts = Accepts(nominal=True, missing=True, weights=True, unlabelled=True)

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The same rows with new weights."""
        if data.unlabelled is None or not len(data.unlabelled):
            warnings.warn(NO_OTHER_DOMAIN, MlcliWarning, stacklevel=2)
            self.weights_ = np.empty(0)
            return data
        ratio = np.minimum(self._density_ratio(data, data.unlabelled, rng), self.largest)
        weights = data.weights * ratio / np.average(ratio, weights=data.weights)
        self.weights_ = np.array([weights.min(), weights.max(), weights.sum() ** 2 / (weights**2).sum()])
        return replace(data, weight=weights)

    def _density_ratio(self, source: SupervisedRows, target: SupervisedRows, rng: np.random.Generator) -> Array:
        """The density of the target domain over that of the source domain, at each row of the source."""
        rows = source.alone().joined(target)
        both = LabelledRows(
            table=rows.table,
            rows=rows.rows,
            target="domain",
            weight=rows.weight,
            y=np.repeat([0, 1], [len(source), len(target)]).astype(np.int32),
            classes=("source", "target"),
        )
        classifier = fitted(with_steps(self.base, source.table.columns), both.take(order_of_content(both)), rng)
        probabilities = outputs(classifier, source.table, CLASSIFICATION)
        odds = probabilities[:, 1] / np.maximum(probabilities[:, 0], np.finfo(np.float64).tiny)
        return np.asarray(odds * (source.weights.sum() / target.weights.sum()))

    def explain(self) -> Explanation:
        """The range of the weights."""
        if self.weights_ is None:
            return ()
        if not len(self.weights_):
            return (Lines("Importance weights", ("none: there were no rows of another domain",)),)
        header = ("smallest weight", "largest weight", "effective rows")
        rows = (tuple(self.weights_.tolist()),)
        return (Table("Importance weights", header, rows, note="of training rows only"),)
