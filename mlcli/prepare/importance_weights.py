"""Importance weights: training rows count more, the more they look like the domain that is asked about.

Formula:
    w(x) = p_T(x) / p_S(x) = P(T | x) / P(S | x) · n_S / n_T, by a classifier that tells rows of the target domain
    T (those without a target) from training rows S; then clipped at ``largest`` and divided by their mean.

Assumes:
    Covariate shift: p(y | x) is the same in both domains and only p(x) differs; wherever there are target rows
    there are training rows, too. Weights far apart leave few rows that count: the effective number,
    (Σ w)² / Σ w², says how many.

Cost:
    One fit of the classifier to the rows of both domains.

Choices:
    Logistic regression makes the logarithm of the ratio linear. Clipping trades variance for bias. Only rows that
    are learned from are weighed. Without rows of another domain (protocol `leave-domains-out`, or rows whose
    target is empty) nothing is changed, which is warned of. A model that takes every row alike is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.configuration import with_steps
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines, Table
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.ensemble import fitted, outputs
from mlcli.prepare._columns import RowStep
from mlcli.tasks.classification import CLASSIFICATION, Classifier, LabelledRows
from mlcli.tasks.supervised import SupervisedRows

DOMAINS = ("source", "target")
NO_OTHER_DOMAIN = (
    "there are no rows of another domain, so that nothing is adapted: use the protocol leave-domains-out, or rows "
    "whose target is empty"
)


@register("importance-weights", reference="Bickel, Brückner & Scheffer 2009, Discriminative learning under shift")
class ImportanceWeights(RowStep):
    """Rows that look like the target domain count more."""

    gives_weights: ClassVar[bool] = True

    base: Model = model_param("logistic-regression", "what tells the domains apart", of=(Classifier,))
    largest: float = param(10.0, "weights above this are clipped", gt=0)

    weights_: Array = learned()
    """The smallest and the largest weight, and how many rows the weights amount to."""

    accepts = Accepts(nominal=True, missing=True, weights=True, unlabelled=True)

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The same rows with other weights."""
        if data.unlabelled is None or not len(data.unlabelled):
            warnings.warn(NO_OTHER_DOMAIN, MlcliWarning, stacklevel=2)
            self.weights_ = np.empty(0)
            return data
        ratio = self._ratio(data, data.unlabelled, rng)
        clipped = np.minimum(ratio, self.largest)
        weights = data.weights * clipped / np.average(clipped, weights=data.weights)
        self.weights_ = np.array([weights.min(), weights.max(), weights.sum() ** 2 / (weights**2).sum()])
        return replace(data, weight=weights)

    def _ratio(self, data: SupervisedRows, others: SupervisedRows, rng: np.random.Generator) -> Array:
        """How much denser the rows of the other domain lie at each row."""
        rows = data.alone().joined(others)
        domain = np.repeat([0, 1], [len(data), len(others)]).astype(np.int32)
        both = LabelledRows(
            table=rows.table, rows=rows.rows, target="domain", weight=rows.weight, y=domain, classes=DOMAINS
        )
        base = with_steps(self.base, data.table.columns)
        shares = outputs(fitted(base, both.take(order_of_content(both)), rng), data.table, CLASSIFICATION)
        source, target = data.weights.sum(), others.weights.sum()
        least = np.finfo(np.float64).tiny
        return np.asarray(shares[:, 1] / np.maximum(shares[:, 0], least) * (source / target))

    def explain(self) -> Explanation:
        """How far the weights lie apart."""
        if self.weights_ is None:
            return ()
        if not len(self.weights_):
            return (Lines("Importance weights", ("none: there were no rows of another domain",)),)
        header = ("smallest weight", "largest weight", "effective rows")
        rows = (tuple(self.weights_.tolist()),)
        return (Table("Importance weights", header, rows, note="of training rows only"),)
