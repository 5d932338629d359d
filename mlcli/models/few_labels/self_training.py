"""Self-training: a classifier labels the rows that it is sure of and learns again from them as if they were true.

Formula:
    Repeat: fit f to L; for each x in U with max over k of P(k | x) ≥ threshold, move (x, argmax P(k | x)) from U
    to L; until nothing is moved. L are the labelled, U the unlabelled rows. With ``largest_distance`` γ the
    nearest row of L must also lie no farther from x than γ.

Assumes:
    Predictions with a high probability are mostly right, and rows that are near each other have the same class:
    one wrong label is learned from, and spreads.

Cost:
    One fit of the base for each round, and its predictions for all rows that are still unlabelled.

Choices:
    If no row reaches the threshold, the method is its base. The probabilities of 1-NN are always 1; limit it
    with ``largest_distance``, in the units of its distance (standard deviations, if standardised); other bases
    measure no distances. A row keeps the label that it was given. Every row that reaches the threshold is moved,
    and none is moved back. Without unlabelled rows the method equals its base. Steps before it learn from the
    labelled rows only; steps named in the base learn again in each round, from the rows that have a label by
    then.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import MeasuresDistances
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows


@register("self-training", reference="Yarowsky 1995, Unsupervised word sense disambiguation", revision=2)
class SelfTraining(Classifier):
    """A base classifier that teaches itself."""

    base: Model = model_param("naive-bayes", "the classifier that is fitted again and again", of=(Classifier,))
    threshold: float = param(
        0.9, "probability from which a row is labelled", gt=0, le=1, tune=Range(0.6, 0.99, unasked=False)
    )
    largest_distance: float | None = param(
        None, "maximum distance to the nearest labelled row (base such as knn); none: any", gt=0
    )
    max_rounds: int | None = param(None, "maximum number of rounds; none: until nothing is added", ge=1)

    base_: Model = learned()
    moved_: Array = learned("rounds", "classes")
    confidence_: Array = learned("rounds", 2)
    """The least and the mean probability of the labels of each round."""
    left_: int = learned()

    def conflicts(self) -> list[str]:
        """The base must be another method, and measure distances if one is given."""
        final = self.base.final
        result = ["base: it must be another method"] if isinstance(final, SelfTraining) else []
        if self.largest_distance is not None and not isinstance(final, MeasuresDistances):
            result.append(f"largest_distance: {final.id} measures no distances; it is for a base such as knn")
        return result

    @property
    def accepts(self) -> Accepts:
        """Everything that the base accepts, and unlabelled rows; required steps run before all rounds."""
        return replace(super().accepts, unlabelled=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Label rows round by round, and learn from all that have a label by then."""
        labelled, unlabelled = data.alone(), data.unlabelled
        moved, confidence = list[Rows](), list[tuple[float, float]]()
        self.base_ = fitted(self.base, labelled, rng.spawn(1)[0])
        while unlabelled is not None and len(unlabelled) and len(moved) != self.max_rounds:
            probabilities = self.predict_proba(unlabelled.table)
            sure = np.asarray(probabilities.max(axis=1) >= self.threshold)
            final = self.base_.final
            if self.largest_distance is not None and isinstance(final, MeasuresDistances):
                distances = final.nearest_distances(self.base_.prepared(unlabelled.table))
                sure &= distances <= self.largest_distance
            if not sure.any():
                break
            labels, best = self.decide(probabilities), probabilities.max(axis=1)[sure]
            moved.append(np.bincount(labels[sure], minlength=len(data.classes)))
            confidence.append((float(best.min()), float(best.mean())))
            labelled = labelled.joined(unlabelled.with_target(labels).take(np.flatnonzero(sure)))
            unlabelled = unlabelled.take(np.flatnonzero(~sure))
            self.base_ = fitted(self.base, labelled, rng.spawn(1)[0])
        self.moved_ = np.array(moved, np.float64).reshape(-1, len(data.classes))
        self.confidence_ = np.array(confidence).reshape(-1, 2)
        self.left_ = 0 if unlabelled is None else len(unlabelled)

    def predict_proba(self, table: Table) -> Array:
        """The probabilities of the base."""
        return outputs(self.base_, table, CLASSIFICATION)

    def decide(self, probabilities: Array) -> Codes:
        """The decision of the base."""
        final = self.base_.final
        assert isinstance(final, Classifier)
        return final.decide(probabilities)

    def check_learned(self) -> None:
        """A base of the kind that was asked for."""
        check_members([self.base_], self.base, self)

    def explain(self) -> findings.Explanation:
        """How many rows each round labelled and why it stopped, then what the base has learned."""
        why = findings.Lines("Pseudo-labelled rows", (self._why_it_stopped(),))
        rounds = zip(self.moved_.astype(int).tolist(), self.confidence_.tolist(), strict=True)
        rows = tuple((index, sum(counts), *counts, *sure) for index, (counts, sure) in enumerate(rounds, 1))
        header = ("round", "rows", *self.classes_, "least probability", "mean probability")
        table = (findings.Table("Pseudo-labels of each round", header, rows),) if rows else ()
        return (why, *table, *self.base_.explain())

    def _why_it_stopped(self) -> str:
        rounds, moved = len(self.moved_), int(self.moved_.sum())
        if not self.left_:
            return "all unlabelled rows have a label now" if moved else "there was no unlabelled row"
        net = f"a class at least {self.threshold:g} probable (threshold)"
        if self.largest_distance is not None:
            net += f" and a labelled row within {self.largest_distance:g} (largest_distance)"
        if not moved:
            return f"none: of {self.left_} unlabelled rows none had {net}, so this is the base alone"
        if rounds == self.max_rounds:
            return f"{self.left_} rows stayed without a label: it stopped after round {rounds} (max_rounds)"
        return f"{self.left_} rows stayed without a label: none of them has {net}"
