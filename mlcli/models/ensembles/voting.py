"""Voting: different models learn from the same rows and answer together, by their mean or by a majority.

Formula:
    Of numbers ŷ = Σ_m v_m f_m(x) / Σ_m v_m. Of classes P(k | x) = Σ_m v_m P_m(k | x) / Σ_m v_m, or with
    ``combine: votes`` Σ_m v_m [f_m(x) = k] / Σ_m v_m. The v_m are 1, or ``weights``, or with ``validation``
    learned: each model learns from a part of the training rows, and v_m is its accuracy on the others (of
    numbers 1 / mean squared error).

Assumes:
    Models that are each better than chance and err on different rows. Of 25 independent voters that are wrong
    with probability 0.35, the majority is wrong with Σ_{i>12} C(25, i) 0.35^i 0.65^(25−i) = 0.06; real voters
    agree more. With ``validation`` this number is shown for the models at hand.

Cost:
    A fit of each model, two where weights are learned.

Choices:
    After weights are learned every model learns again from all rows. The same method may stand in the list
    several times, with other parameters or with steps that leave it other columns. Models that are all
    worthless on the validation rows count the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.configuration import with_steps
from mlcli.core.model import Model
from mlcli.core.nested import models_param
from mlcli.core.params import TASK, learned, models_inside, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.ensemble import (
    OutputsOf,
    check_members,
    fitted,
    mean_of,
    member_table,
    numbered,
    outputs,
    votes,
)
from mlcli.engines.inner_validation import inner_holdout, row_losses
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION, Classifier, Regressor, SupervisedRows

COMBINED: dict[str, OutputsOf] = {"mean": outputs, "votes": votes}


@register("voting", reference="Kittler et al. 1998, On combining classifiers")
class Voting(Classifier, Regressor, RowExplainer):
    """Several models that answer together."""

    models: tuple[Model, ...] = models_param(
        ("knn", "random-forest", "newton-boosting"), "the models that answer together", of=(Classifier, Regressor)
    )
    combine: str = param(
        "mean", "how answers about classes become one", choices=COMBINED, matters_when={TASK: "classifier"}
    )
    weights: tuple[float, ...] | None = param(
        None,
        "how much each model counts, in their order; none: all the same",
        ge=0,
        default_means=lambda model, task: (1.0,) * len(model.models),
    )
    validation: float | None = param(
        None, "the share of training rows on which weights are learned; none: they are not", gt=0, lt=1
    )

    models_: tuple[Model, ...] = learned("models")
    weights_: Array = learned("models")

    @property
    def accepts(self) -> Accepts:
        """Anything: each model stands behind the steps that it needs."""
        return Accepts(
            nominal=True, missing=True, weights=all(model.accepts.weights for model in models_inside(self))
        )

    def conflicts(self) -> list[str]:
        """Weights that are given and learned, too few or too many of them, or none that counts."""
        if self.weights is None:
            return []
        result = ["weights are given, so validation has nothing to learn"] if self.validation else []
        if len(self.weights) != len(self.models):
            result.append(f"there are {len(self.models)} models but {len(self.weights)} weights")
        if not sum(self.weights) > 0:
            result.append("one of the weights at least must be above 0")
        return result

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Let every model learn from all rows, and weigh them."""
        data = in_content_order(data)
        self.weights_ = np.array(self.weights or [1.0] * len(self.models))
        if self.validation is not None:
            self.weights_ = self._learned_weights(data, self.validation, rng.spawn(1)[0])
        self.models_ = self._fit_models(data, rng)

    def _fit_models(self, data: SupervisedRows, rng: np.random.Generator) -> tuple[Model, ...]:
        """Each model, behind the steps that it needs, fitted to rows."""
        rngs = rng.spawn(len(self.models))
        pairs = zip(self.models, rngs, strict=True)
        return tuple(fitted(with_steps(model, self.columns_), data, model_rng) for model, model_rng in pairs)

    def _learned_weights(self, data: SupervisedRows, share: float, rng: np.random.Generator) -> Array:
        """The accuracy, or 1 / mean squared error, of each model on rows that it has not learned from."""
        held_out = inner_holdout(data, share, rng)
        if not held_out.any():
            return np.ones(len(self.models))
        train, test = data.take(np.flatnonzero(~held_out)), data.take(np.flatnonzero(held_out))
        members = self._fit_models(train, rng)
        losses = np.array([np.average(row_losses(member, test), weights=test.weights) for member in members])
        weights = 1 - losses if self.classes_ else 1 / np.maximum(losses, np.finfo(float).tiny)
        return weights if weights.sum() > 0 else np.ones(len(weights))

    def predict_proba(self, table: Table) -> Array:
        """The weighted mean of the models' probabilities, or of their votes."""
        return mean_of(self.models_, table, CLASSIFICATION, COMBINED[self.combine], self.weights_)

    def predict_values(self, table: Table) -> Array:
        """The weighted mean of the models' values."""
        return mean_of(self.models_, table, REGRESSION, weights=self.weights_)[:, 0]

    def check_learned(self) -> None:
        """The models as configured, each with a weight."""
        if not (self.weights_ >= 0).all() or not self.weights_.sum() > 0:
            raise ValueError("weights that are none")
        for member, model in zip(self.models_, self.models, strict=True):
            check_members([member], with_steps(model, self.columns_), self)

    def explain(self) -> findings.Explanation:
        """The models with their shares, and how often a majority would be wrong were they independent."""
        shares = (self.weights_ / self.weights_.sum()).tolist()
        rows = tuple((model.final.id, share) for model, share in zip(self.models, shares, strict=True))
        learned_on = f"learned on {self.validation:g} of the training rows" if self.validation else ""
        weights = findings.Table("Weights of the models", ("model", "share"), rows, note=learned_on)
        # Weights of 1 say nothing: no row was held out, or all models erred on all of these, or none did.
        errors = 1 - self.weights_
        if not self.validation or len(self.classes_ or ()) != 2 or not errors.any():
            return (weights,)
        independent = findings.Table(
            "If the models were independent",
            ("models", "mean error of one", "error of an independent majority"),
            ((len(errors), float(errors.mean()), error_of_majority(errors.tolist())),),
            note="of the rows that weights were learned on; real models err on the same rows, and gain less",
        )
        return weights, independent

    def explain_answer(self, table: Table) -> findings.Explanation:
        """What each model says of the row."""
        return (member_table(self, numbered(self.models_), table, COMBINED[self.combine], self.weights_),)


def error_of_majority(errors: Sequence[float]) -> float:
    """The error rate of the majority of independent models on two classes; a tie counts half."""
    wrong = np.ones(1)
    for error in errors:
        wrong = np.convolve(wrong, [1 - error, error])
    half, odd = divmod(len(errors), 2)
    return float(wrong[half + 1 :].sum() + (0.0 if odd else wrong[half] / 2))
