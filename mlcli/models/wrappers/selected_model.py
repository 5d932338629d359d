"""Selected model: the best of several models by inner splits of the training rows, then fitted to all of them.

Formula:
    Let M(f; v) be the metric of inner split v, of model f that has learned from the training rows of v. Chosen is
    the f with the best mean Σ_v M(f; v) / V, which learns from all training rows.

Assumes:
    Test rows that have no part in it. What outer splits say of it is what to expect of "the best of these
    models": the score of the best row of a table is better than that, since it is the best of many.

Cost:
    Models × inner splits fits, and one more.

Choices:
    Every model stands behind the steps that it needs, fitted in every inner split anew. Of equal models the first
    is chosen. A model that cannot be scored is left out with a warning; if none can, that is an error. Of a model
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
from mlcli.core.rows import RowsOfTable
from mlcli.engines.inner_validation import Candidate
from mlcli.engines.search_space import text_of
from mlcli.models.wrappers._choosing import ChoosesByInnerSplits, by_score
from mlcli.models.wrappers._search import best_of
from mlcli.models.wrappers.tuned import Tuned
from mlcli.tasks.supervised import Classifier, Regressor


@register("selected-model", reference="Varma & Simon 2006, Bias in error estimation when using cross-validation")
class SelectedModel(ChoosesByInnerSplits, Classifier, Regressor):
    """One of several models, the one that inner splits choose."""

    models: tuple[Model, ...] = models_param(
        ("knn", "decision-tree"), "the models of which one is chosen", of=(Classifier, Regressor)
    )

    name_: str = learned()
    values_: str = learned()
    """Its values, where it is one that is tuned."""

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Score every model in inner splits, then fit the best to all rows."""
        data = self.ordered_rows(data)
        splits_rng, search_rng, fit_rng = rng.spawn(3)
        candidates = list(self._candidates(data, search_rng))
        evaluation = self.inner_evaluation(data, splits_rng)
        if evaluation is None:
            best = candidates[0]
            self.fit_only(best, data, fit_rng)
        else:
            trials = evaluation.trials(candidates)
            winner = best_of(trials, evaluation.metric)
            best = winner.candidate
            self.fit_chosen(winner, by_score(trials, evaluation), data, fit_rng)
        self.name_, self.values_ = best.name, text_of(best.values)

    def _candidates(self, data: RowsOfTable, rng: np.random.Generator) -> Iterator[Candidate]:
        """Each model; of one that tunes itself with a grid or draws, all that it would try."""
        rngs = rng.spawn(len(self.models))
        for name, model, model_rng in zip(self._names(), self.models, rngs, strict=True):
            if isinstance(model, Tuned) and model.search != "halving":
                for candidate in model.fresh().candidates_for(data, model_rng):
                    yield replace(candidate, name=name)
            else:
                yield Candidate({}, with_steps(model, self.columns_), name)

    def _names(self) -> list[str]:
        """The id of each model (if tuned, of its base), with the parameters that tell it from its namesakes."""
        ids, names = list[str](), list[str]()
        for model in self.models:
            base = getattr(model.final, "base", None) if isinstance(model.final, ChoosesByInnerSplits) else None
            ids.append(model.final.id if base is None else f"{base.final.id} (tuned)")
        parameters = [settings(model.final) for model in self.models]
        for model_id, own in zip(ids, parameters, strict=True):
            namesakes = [others for other_id, others in zip(ids, parameters, strict=True) if other_id == model_id]
            differing = {
                key: value for key, value in own.items() if any(others.get(key) != value for others in namesakes)
            }
            names.append(f"{model_id} {text_of(differing)}".strip())
        return [
            f"{name} ({names[:index].count(name) + 1})" if names.count(name) > 1 else name
            for index, name in enumerate(names)
        ]

    def choice(self) -> Sequence[tuple[str, Entry, str]]:
        """The model, and its values if they are tuned."""
        tuned = any(isinstance(model.final, Tuned) for model in self.models)
        return [("model", self.name_, ""), *([("values", self.values_ or "as they are", "")] if tuned else [])]
