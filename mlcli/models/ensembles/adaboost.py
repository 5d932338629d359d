"""AdaBoost: classifier after classifier, each fitted with more weight on the rows that those before it got wrong.

Formula:
    w = 1/n. A round fits h to the weighted rows, takes ε = Σ w [h(x) ≠ y] and α = ½ ln((1 − ε)/ε) + ½ ln(K −
    1), and multiplies w by e^α where h is wrong and by e^−α where it is right, divided by Z so that they sum to
    1. The answer is the class with the largest Σ α [h(x) = k]; its probability is its share of Σ α.

Assumes:
    A base that is a little better than chance on any weights, and few wrong labels: rows that cannot be learned
    get ever more weight. Of two classes the training error is at most Π Z = Π 2 √(ε(1 − ε)).

Cost:
    ``rounds`` fits of the base one after another, and its answers to all training rows after each.

Choices:
    With ``multiclass: m1`` α has no term in K, and a round must be better than ε = ½; with ``samme`` (Zhu et al.
    2009) better than ε = 1 − 1/K. For two classes they are the same. A round that is not better ends the fit
    without it; the first one is kept. At ε = 0, α is that of ε = 1e-10 and the fit ends. ``by: resampling`` fits
    to n rows drawn by their weight, for a base that takes no weights; ε is of all rows all the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer, Staged
from mlcli.core.configuration import with_steps
from mlcli.core.errors import MlcliWarning
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import Bag, in_content_order
from mlcli.engines.ensemble import check_members, fitted, mean_of, means_after, member_table, votes
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows

NO_ERROR = 1e-10
"""What stands for an error of 0, whose logarithm is none."""


@register("adaboost", reference="Freund & Schapire 1997; Zhu et al. 2009 (SAMME)")
class AdaBoost(Classifier, RowExplainer, Staged):
    """Adaptive boosting."""

    base: Model = model_param(
        {"use": "decision-tree", "params": {"max_depth": 1}}, "the weak classifier", of=(Classifier,)
    )
    rounds: int = param(100, "how many classifiers at most", ge=1, tune=log_range(10, 300, simpler="low"))
    multiclass: str = param(
        "samme", "how good a round must be with more than two classes", choices=("samme", "m1")
    )
    by: str = param("weights", "how a round minds the weights of rows", choices=("weights", "resampling"))

    stage_name: ClassVar[str] = "rounds"

    models_: tuple[Model, ...] = learned("members")
    alphas_: Array = learned("members")
    errors_: Array = learned("members")
    """The weighted error of each round."""
    training_: Array = learned("members")
    """The training error of the first rounds together."""

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """A base that cannot mind weights."""
        if self.by == "weights" and not self.base.accepts.weights:
            return [f"base: {self.base.name} takes no weights; by: resampling would work"]
        return []

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Round after round: fit, weigh the classifier, weigh the rows anew."""
        data = in_content_order(data)
        row_weights = data.weights / data.weights.sum()
        weights, scores = row_weights, np.zeros(data.outputs.shape)
        base = with_steps(self.base, self.columns_)
        members, alphas, errors, training = list[Model](), list[float](), list[float](), list[float]()
        for round_rng in rng.spawn(self.rounds):
            member = fitted(base, self._weighted_rows(data, weights, round_rng), round_rng)
            votes_of_rows = votes(member, data.table, CLASSIFICATION)
            wrong = votes_of_rows[np.arange(len(data)), data.y] == 0
            error = float(weights[wrong].sum())
            if members and error >= self._chance:
                break
            alpha = 1.0  # the first round is kept, even if it is worth nothing
            if error < self._chance:
                odds = (1 - max(error, NO_ERROR)) / max(error, NO_ERROR)
                alpha = 0.5 * float(np.log(odds) + np.log(self._classes - 1))
            scores += alpha * votes_of_rows
            members.append(member)
            alphas.append(alpha)
            errors.append(error)
            training.append(float(row_weights[self.decide(scores) != data.y].sum()))
            if not NO_ERROR < error < self._chance:
                break
            weights = weights * np.where(wrong, np.exp(alpha), np.exp(-alpha))
            weights /= weights.sum()
        self.models_ = tuple(members)
        self.alphas_, self.errors_, self.training_ = np.array(alphas), np.array(errors), np.array(training)
        if self.errors_[0] >= self._chance and len(self.classes_) > 1:
            text = f"{self.base.name} is not better than chance on the training rows, so that adaboost is it alone"
            warnings.warn(text, MlcliWarning, stacklevel=2)

    def _weighted_rows(self, data: LabelledRows, weights: Array, rng: np.random.Generator) -> LabelledRows:
        """The rows as a round learns from them: weighted, or drawn by their weight."""
        if self.by == "weights":
            return replace(data, weight=weights * len(data))
        draws = round(data.weights.sum() / Bag.of(data.weights).unit)
        return replace(data.take(np.sort(rng.choice(len(data), draws, p=weights))), weight=None)

    @property
    def _classes(self) -> int:
        """How many classes count for α."""
        return max(2, int((self.class_totals_ > 0).sum())) if self.multiclass == "samme" else 2

    @property
    def _chance(self) -> float:
        """The error that a round must stay below."""
        return 1 - 1 / self._classes

    def predict_proba(self, table: Table) -> Array:
        """The share of each class in the weighted votes."""
        return mean_of(self.models_, table, CLASSIFICATION, votes, self.alphas_)

    def stages(self) -> int:
        """A stage for each round."""
        return len(self.models_)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The shares in the votes of the first rounds."""
        yield from means_after(self.models_, at, table, CLASSIFICATION, votes, self.alphas_)

    def check_learned(self) -> None:
        """A weight above 0 for each member, and members that are what was asked for."""
        if not self.models_ or not (np.isfinite(self.alphas_) & (self.alphas_ > 0)).all():
            raise ValueError("votes that are worth nothing")
        check_members(self.models_, with_steps(self.base, self.columns_), self)

    def explain(self) -> findings.Explanation:
        """Errors by round, with the bound where there is one, and how the fit ended."""
        count = len(self.models_)
        if self.errors_[-1] <= NO_ERROR:
            ending = "the last one makes no error on its weights"
        elif count == self.rounds:
            ending = "as many as were asked for"
        else:
            ending = f"the next one was not better than chance ({self._chance:.3g})"
        summary = findings.Lines("AdaBoost", (f"{self.base.final.id}, {count} rounds: {ending}",))
        # The first ten rounds, with the numbers of a calculation by hand.
        alphas, errors = self.alphas_[:10], self.errors_[:10]
        norms = (1 - errors) * np.exp(-alphas) + errors * np.exp(alphas)
        numbers = np.column_stack([errors, alphas, norms, np.exp(-alphas) / norms, np.exp(alphas) / norms])
        first_rounds = findings.Table(
            "First rounds",
            ("round", "learned", "error ε", "vote α", "norm Z", "right rows ×", "wrong rows ×"),
            tuple(
                (number, _in_short(model), *line)
                for number, (model, line) in enumerate(zip(self.models_, numbers.tolist(), strict=False), start=1)
            ),
            note="By e^−α / Z and e^α / Z the weights of rows are multiplied that the round gets right and wrong.",
        )
        series = {"error of the round, weighted": self.errors_, "training error so far": self.training_}
        if self._classes == 2 and self.errors_[0] < self._chance:
            series["bound on it"] = np.cumprod(2 * np.sqrt(self.errors_ * (1 - self.errors_)))
        lines = tuple((name, tuple(values.tolist())) for name, values in series.items())
        curve = findings.Curve("Error by round", "round", tuple(range(1, count + 1)), lines)
        return summary, first_rounds, curve

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The class that each round votes for, by the worth of its vote."""
        names = [f"{number} {_in_short(model)}" for number, model in enumerate(self.models_, 1)]
        return (member_table(self, names, table, votes, self.alphas_),)


def _in_short(model: Model) -> str:
    """The first question of a tree, else the title of what was learned."""
    first = next(iter(model.final.explain()), None)
    if isinstance(first, findings.Tree):
        return first.conditions[1] if len(first.conditions) > 1 else "no split"
    return first.title if first else model.name
