"""The bases of models: what a method owes, how each kind of task makes it learn, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mlcli.core.answers import Answers, LabelAnswers, ValueAnswers
from mlcli.core.errors import FitError
from mlcli.core.explanation import Explanation
from mlcli.core.held_out import HeldOut, Round, totals_outside
from mlcli.core.limits import refuse_extreme_target, refuse_extremes, refuse_unlearnable
from mlcli.core.params import learned
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows, Table

DECIMALS = 12
"""Shares that agree to so many decimals are equal: sums of weights round, and 0.1 + 0.2 is 0.3."""


@dataclass(frozen=True)
class Accepts:
    """What a configured method can take as it is; steps are inserted for the rest."""

    numbers: bool = True
    """Columns of numbers; what cannot use them leaves them out or refuses them by name."""
    nominal: bool = False
    """Coded columns (nominal, ordinal, boolean), not only numbers."""
    missing: bool = False
    """Empty cells."""
    weights: bool = False
    """Rows that count more or less than one."""
    unlabelled: bool = False
    """Rows whose class is not known, beside those whose class is."""
    prefers_scaled: bool = False
    """Learns better, or only fairly, when numbers have one scale; not needed to run."""


@dataclass(kw_only=True, eq=False)
class Model:
    """A method with its hyperparameters; ``fit`` fills the learned fields, whose names end in an underscore."""

    id: ClassVar[str]
    reference: ClassVar[str]

    columns_: tuple[Column, ...] = learned()
    target_: str = learned()

    @property
    def name(self) -> str:
        """What messages call the method."""
        return self.id

    @property
    def accepts(self) -> Accepts:
        """What this configuration can take as it is."""
        return Accepts()

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the method could not have made; called after loading."""

    def space(self, table: Table) -> Array:
        """The numbers that the method sees, to judge how rows lie."""
        return table.numbers

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)

    def held_out(self, data: Any, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """Answers to every part of a round by what the other rows teach, for less than a fit each; None: fit."""
        return None

    @staticmethod
    def told(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
        """The answers of a shortcut about all rows, in the way of this base's kind of task."""
        raise TypeError("only the base of a kind of task says what answers are")

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn from rows, in the way of this base's kind of task."""
        raise TypeError("only the base of a kind of task says how to learn")

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """What a model says of rows, in the way of this base's kind of task."""
        raise TypeError("only the base of a kind of task says how to ask")

    @classmethod
    def settle(cls, model: Any, learned: Any, data: Any) -> None:
        """What is left to settle before a fitted model is kept; of the rows it has learned from ``learned``."""

    @classmethod
    def judged(cls, model: Any, data: Any, split: Any, parts: tuple[str, ...]) -> dict[str, Answers]:
        """What a fitted model says of each part of a split that is judged."""
        return {part: cls.ask(model, data.take(getattr(split, part))) for part in parts}


@dataclass(kw_only=True, eq=False)
class Classifier(Model):
    """Answers a class, with probabilities."""

    classes_: tuple[str, ...] = learned()
    class_totals_: Array = learned()

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn classes; training rows without anything to learn from are refused."""
        refuse_unlearnable(data)
        data = data if model.accepts.unlabelled else data.alone()
        if data.unlabelled is not None:
            refuse_extremes(data.unlabelled.table, data.unlabelled.weights)
        model.columns_, model.target_ = data.table.columns, data.target
        model.classes_, model.class_totals_ = data.classes, data.class_totals
        model.fit(data, rng)

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The model's classes and probabilities for rows whose truth is known."""
        probabilities = model.predict_proba(data.table)
        refuse_not_finite(model, probabilities)
        return LabelAnswers(
            rows=data.rows,
            weight=data.weight,
            truth=data.y,
            predicted=model.decide(probabilities),
            classes=data.classes,
            probabilities=probabilities,
        )

    def predict_proba(self, table: Table) -> Array:
        """Probabilities (n × K), in the order of ``classes_``."""
        raise TypeError(f"{type(self).__name__} does not say how it predicts classes")

    def decide(self, probabilities: Array) -> Codes:
        """The most probable class; of equals, the one with most training rows, then the first."""
        return self.decide_among(probabilities, self.class_totals_[None, :])

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """The same for rows that different training rows answer: their class totals (n or 1 × K)."""
        if len(class_totals) == 1:
            order = _most_first(class_totals)[0]
            first = first_of_the_largest(probabilities.T[order].T)
            return np.asarray(order.astype(np.int32).take(first))
        decided, tied = _largest(probabilities)
        order = _most_first(class_totals[tied])
        first = first_of_the_largest(np.take_along_axis(probabilities[tied], order, axis=1))
        decided[tied] = np.take_along_axis(order, first[:, None], axis=1)[:, 0]
        return decided

    @staticmethod
    def told(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
        """Classes with their probabilities; between equal ones the class totals outside the part decide."""
        counted = data.weights[:, None] * data.outputs
        totals = totals_outside(counted, round_)[np.maximum(round_.part, 0)]
        return LabelAnswers(
            rows=data.rows,
            weight=data.weight,
            truth=data.y,
            predicted=model.decide_among(held.answers, totals),
            classes=data.classes,
            probabilities=held.answers,
        )


@dataclass(kw_only=True, eq=False)
class Regressor(Model):
    """Answers a number."""

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn values; training rows without anything to learn from are refused."""
        refuse_unlearnable(data)
        refuse_extreme_target(data.target, data.y, data.weights)
        model.columns_, model.target_ = data.table.columns, data.target
        model.fit(data, rng)

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The model's values for rows whose truth is known."""
        predicted = model.predict_values(data.table)
        refuse_not_finite(model, predicted)
        return ValueAnswers(rows=data.rows, weight=data.weight, truth=data.y, predicted=predicted)

    @staticmethod
    def told(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
        """Values."""
        values = held.answers.reshape(len(data))
        return ValueAnswers(rows=data.rows, weight=data.weight, truth=data.y, predicted=values)

    def predict_values(self, table: Table) -> Array:
        """One number per row."""
        raise TypeError(f"{type(self).__name__} does not say how it predicts values")


@dataclass(kw_only=True, eq=False)
class Step:
    """Something learned from training rows that changes a table, such as filling gaps or scaling."""

    id: ClassVar[str]
    reference: ClassVar[str]

    columns_: tuple[Column, ...] = learned()

    @property
    def accepts(self) -> Accepts:
        """What this configuration can take as it is; most steps leave alone what they cannot change."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def transform(self, table: Table) -> Table:
        """The table as the following steps and the model see it."""
        raise TypeError(f"{type(self).__name__} does not say how it changes a table")

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """What ``transform`` turns columns into; it follows from what they are, never from cells."""
        return columns

    def log_stretch(self) -> float:
        """The logarithm of how many times larger it makes a volume; a density before it is that much higher."""
        return 0.0

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the step could not have made; called after loading."""

    def in_sums(self, expansion: Any) -> Any:
        """How what the step learns follows from sums over the training rows (``core.expansion``); None: not so."""
        return None

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)


def first_of_the_largest(shares: Array) -> Rows:
    """The first column of each row that is as large as the largest, but for rounding."""
    columns = np.ascontiguousarray(shares.T)
    bound = columns.max(axis=0, initial=0.0) * (1 - 10.0**-DECIMALS)
    first: Rows = np.zeros(len(shares), np.intp)
    none_yet = np.ones(len(shares), bool)
    for column in columns[:-1]:
        none_yet &= column < bound
        first += none_yet
    return first


def _largest(shares: Array) -> tuple[Codes, Rows]:
    """The column of each row that is largest, and the rows in which it is not alone, but for rounding."""
    columns = np.ascontiguousarray(shares.T)
    near = columns >= columns.max(axis=0, initial=0.0) * (1 - 10.0**-DECIMALS)
    return near.argmax(axis=0).astype(np.int32), np.flatnonzero(np.count_nonzero(near, axis=0) != 1)


def _most_first(class_totals: Array) -> Rows:
    """The classes (last axis) from most training rows to fewest; of equals, the first."""
    largest = class_totals.max(axis=-1, keepdims=True)
    order: Rows = np.argsort(-np.round(class_totals / largest, DECIMALS), axis=-1, kind="stable")
    return order


def refuse_not_finite(model: Any, values: Array) -> None:
    """Refuse answers that are no numbers."""
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values.reshape(len(values), -1)).all(axis=1)).sum())
        raise FitError(f"{model.name} answered something that is not a number for {bad} of {len(values)} rows")
