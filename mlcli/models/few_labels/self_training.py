"""Self-training: a classifier labels the rows that it is sure of and learns again from them as if they were true.

Formula:
    Repeat: fit f to L; for each x in U with max over k of P(k | x) ≥ threshold, move (x, argmax P(k | x)) from U
    to L; until nothing is moved. L are the labelled, U the unlabelled rows.

Assumes:
    Rows that the base is sure of are mostly right, and rows that lie near to each other have the same class: what
    is wrong once is learned from, and spreads.

Cost:
    One fit of the base for each round, and its answers to all rows that are still unlabelled.

Choices:
    The threshold is the safety net: without a row above it the method is its base. A row that was labelled once
    keeps its label. Every row that is sure enough is moved, and none is moved back. Without unlabelled rows the
    method equals its base. Steps before it learn from the labelled rows only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlcli.core.bases import Accepts, Classifier
from mlcli.core.containers import LabelledRows
from mlcli.core.explanation import Cell, Explanation, Section
from mlcli.core.learning import learn
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, learned, param
from mlcli.core.registry import MODELS, register
from mlcli.core.tables import Array, Codes, Table


@register("self-training", reference="Yarowsky 1995, Unsupervised word sense disambiguation rivaling supervised")
@dataclass(kw_only=True, eq=False)
class SelfTraining(Classifier):
    """A base classifier that teaches itself."""

    base: str = param("naive-bayes", "the classifier that is taught, with its default parameters")
    threshold: float = param(
        0.9, "how probable a class must be for a row to be labelled", gt=0, le=1, tune=(0.6, 0.99)
    )
    max_rounds: int = param(10, "after how many rounds it stops at the latest", ge=1)

    base_: Classifier = learned()
    moved_: Array = learned()
    left_: int = learned()

    def conflicts(self) -> list[str]:
        """A base that is no classifier."""
        if self.base not in MODELS:
            hint = did_you_mean(self.base, MODELS.names(), "models")
            return [f"there is no model '{self.base}' to be the base; {hint}"]
        if not issubclass(MODELS.load(self.base), Classifier):
            return [f"the base must be a classifier, and {self.base} is none"]
        return [] if self.base != self.id else ["the base must be another method"]

    @property
    def accepts(self) -> Accepts:
        """What the base accepts, and unlabelled rows."""
        accepted: Accepts = self._fresh_base().accepts
        return replace(accepted, unlabelled=True)

    def _fresh_base(self) -> Any:
        return build(MODELS.load(self.base), {})

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Move rows round by round, and learn from all that have a label by then."""
        known, waiting = data.alone(), data.unlabelled
        moved: list[Any] = []
        self._learn(known, rng)
        while waiting is not None and len(waiting) and len(moved) < self.max_rounds:
            shares = self.base_.predict_proba(waiting.table)
            sure = shares.max(axis=1) >= self.threshold
            if not sure.any():
                break
            labels = self.base_.decide(shares)
            moved.append(np.bincount(labels[sure], minlength=len(data.classes)))
            known = known.joined(waiting.with_classes(labels).take(np.flatnonzero(sure)))
            waiting = waiting.take(np.flatnonzero(~sure))
            self._learn(known, rng)
        self.moved_ = np.array(moved, np.float64).reshape(len(moved), len(data.classes))
        self.left_ = 0 if waiting is None else len(waiting)

    def _learn(self, known: LabelledRows, rng: np.random.Generator) -> None:
        self.base_ = self._fresh_base()
        learn(self.base_, known, rng)

    def predict_proba(self, table: Table) -> Array:
        """The probabilities of the base."""
        return self.base_.predict_proba(table)

    def decide(self, probabilities: Array) -> Codes:
        """The decision of the base."""
        return self.base_.decide(probabilities)

    def check_learned(self) -> None:
        """A base of the kind that was asked for, and counts of its classes."""
        if self.base_.id != self.base or self.base_.classes_ != self.classes_:
            raise ValueError("a base that does not fit")
        if self.moved_.ndim != 2 or self.moved_.shape[1] != len(self.classes_):
            raise ValueError("counts that do not fit the classes")

    def explain(self) -> Explanation:
        """How many rows each round labelled, then what the base has learned."""
        rows: list[tuple[Cell, ...]] = []
        for place, counts in enumerate(self.moved_.astype(int).tolist(), start=1):
            rows.append((f"round {place}", *counts))
        title, header = "Rows that it labelled itself", ("", *self.classes_)
        if rows:
            note = f"{self.left_} rows stayed without a label"
            return (Section(title, header=header, rows=tuple(rows), note=note), *self.base_.explain())
        why = (
            f"none of {self.left_} unlabelled rows was sure enough"
            if self.left_
            else "there was no unlabelled row"
        )
        return (Section(title, lines=(why,)), *self.base_.explain())
