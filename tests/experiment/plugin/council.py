"""Council: a method from a plugin around a list of others, for the tests of nested models."""

from __future__ import annotations

import numpy as np

from mlcli.core.configuration import with_steps
from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model
from mlcli.core.nested import models_param
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import fitted, mean_of
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows


@register("council", reference="none")
class Council(Classifier):
    """The mean of some classifiers, each behind the steps that it needs."""

    models: tuple[Model, ...] = models_param(("naive-bayes", "knn"), "who is asked", of=(Classifier,))

    models_: tuple[Model, ...] = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: each model has the steps that it needs."""
        return Accepts(nominal=True, missing=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Fit each of them."""
        ready = [with_steps(model, self.columns_) for model in self.models]
        self.models_ = tuple(fitted(one, data, own) for one, own in zip(ready, rng.spawn(len(ready)), strict=True))

    def predict_proba(self, table: Table) -> Array:
        """The mean of their probabilities."""
        return mean_of(self.models_, table, CLASSIFICATION)

    def explain(self) -> Explanation:
        """Who they are."""
        return (Lines("Council", tuple(model.name for model in self.models_)),)
