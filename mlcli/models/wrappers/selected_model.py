"""Selected model: the best of several models by inner splits of the training rows, then fitted to all of them.

Formula:
    Let M(f; v) be the metric of inner split v, of model f that has learned from the training rows of v. Chosen is
    the f with the best mean Σ_v M(f; v) / V, which learns from all training rows.

Assumes:
    Rows to judge by that have no part in it. What outer splits say of it is what to expect of "the best of these
    models": the score of the best row of a table is better than that, since it is the best of many.

Cost:
    Models × inner splits fits, and one more.

Choices:
    Every model stands behind the steps that it needs, fitted in every inner split anew. Of equal models the first
    is chosen. A model that cannot be judged is left out, and said; if none can, that is an error. Models may tune
    themselves, in splits of the inner training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.configuration import behind_steps
from mlcli.core.findings import Entry
from mlcli.core.model import Model
from mlcli.core.nested import models_param
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.engines.tuning.scoring import Candidate
from mlcli.engines.tuning.search import best_of
from mlcli.models.wrappers._choosing import ChoosesByInnerSplits, by_score
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows


@register("selected-model", reference="Varma & Simon 2006, Bias in error estimation when using cross-validation")
@dataclass(kw_only=True, eq=False)
class SelectedModel(ChoosesByInnerSplits, Classifier, Regressor):
    """One of several models, the one that inner splits choose."""

    models: tuple[Model, ...] = models_param(
        ("knn", "decision-tree"), "the models of which one is chosen", of=(Classifier, Regressor)
    )

    name_: str = learned()

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Judge every model in inner splits, then fit the best to all rows."""
        data = data.counted()
        first, last = rng.spawn(2)
        candidates = [
            Candidate({"model": name}, behind_steps(model, self.columns_))
            for name, model in zip(self._names(), self.models, strict=True)
        ]
        examination = self.examination(data, first)
        if examination is None:
            self.name_ = str(candidates[0].values["model"])
            self.keep_only(candidates[0], data, last)
            return
        trials = examination.trials(candidates)
        best = best_of(trials, examination.metric)
        self.name_ = str(best.candidate.values["model"])
        self.keep(best, by_score(trials, examination), data, last)

    def _names(self) -> list[str]:
        """The id of each model, numbered where several have the same; of one that is tuned that of its base."""
        names = [_name_of(model) for model in self.models]
        return [
            f"{name} {names[:place].count(name) + 1}" if names.count(name) > 1 else name
            for place, name in enumerate(names)
        ]

    def choice(self) -> Sequence[tuple[str, Entry, str]]:
        """The model."""
        return [("model", self.name_, "")]


def _name_of(model: Model) -> str:
    base = getattr(model.final, "base", None) if isinstance(model.final, ChoosesByInnerSplits) else None
    return model.final.id if base is None else f"{base.final.id} (tuned)"
