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
    is chosen. A model that cannot be judged is left out, and said; if none can, that is an error. Of a model
    that is tuned all candidates are compared with the other models, in the same inner splits; one that is tuned by
    halving tunes itself in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core.configuration import with_steps
from mlcli.core.findings import Entry
from mlcli.core.model import Model
from mlcli.core.nested import models_param
from mlcli.core.params import learned, settings
from mlcli.core.registry import register
from mlcli.engines.inner_validation import Candidate
from mlcli.engines.tuning.search import best_of
from mlcli.engines.tuning.space import text_of
from mlcli.models.wrappers._choosing import ChoosesByInnerSplits, by_score
from mlcli.models.wrappers.tuned import Tuned
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows


@register("selected-model", reference="Varma & Simon 2006, Bias in error estimation when using cross-validation")
class SelectedModel(ChoosesByInnerSplits, Classifier, Regressor):
    """One of several models, the one that inner splits choose."""

    models: tuple[Model, ...] = models_param(
        ("knn", "decision-tree"), "the models of which one is chosen", of=(Classifier, Regressor)
    )

    name_: str = learned()
    values_: str = learned()
    """Its values, where it is one that is tuned."""

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Judge every model in inner splits, then fit the best to all rows."""
        data = self.rows_of(data)
        first, searching, last = rng.spawn(3)
        candidates = list(self._candidates_among(data, searching))
        examination = self.examination(data, first)
        if examination is None:
            self.name_, self.values_ = candidates[0].name, text_of(candidates[0].values)
            self.keep_only(candidates[0], data, last)
            return
        trials = examination.trials(candidates)
        best = best_of(trials, examination.metric)
        self.name_, self.values_ = best.candidate.name, text_of(best.candidate.values)
        self.keep(best, by_score(trials, examination), data, last)

    def _candidates_among(self, data: SupervisedRows, rng: np.random.Generator) -> Iterator[Candidate]:
        """Each model; of one that tunes itself with a grid or draws, all that it would try."""
        for name, model, own in zip(self._names(), self.models, rng.spawn(len(self.models)), strict=True):
            final = model.final
            if isinstance(final, Tuned) and final is model and final.search != "halving":
                yield from (replace(one, name=name) for one in final.fresh().candidates_for(data, own))
            else:
                yield Candidate({}, with_steps(model, self.columns_), name)

    def _names(self) -> list[str]:
        """The id of each model, of one that is tuned that of its base; with what tells it from its namesakes."""
        names = [_name_of(model) for model in self.models]
        own = [settings(model.final) for model in self.models]
        found: list[str] = []
        for name, mine in zip(names, own, strict=True):
            others = [one for other, one in zip(names, own, strict=True) if other == name]
            differing = {
                key: value for key, value in mine.items() if any(other.get(key) != value for other in others)
            }
            found.append(f"{name} {text_of(differing)}".strip())
        return [
            f"{name} ({found[:index].count(name) + 1})" if found.count(name) > 1 else name
            for index, name in enumerate(found)
        ]

    def choice(self) -> Sequence[tuple[str, Entry, str]]:
        """The model, and its values where they are tuned."""
        tuned = any(isinstance(model.final, Tuned) for model in self.models)
        return [("model", self.name_, ""), *([("values", self.values_ or "as they are", "")] if tuned else [])]


def _name_of(model: Model) -> str:
    base = getattr(model.final, "base", None) if isinstance(model.final, ChoosesByInnerSplits) else None
    return model.final.id if base is None else f"{base.final.id} (tuned)"
