"""Ensembles: copies of nested models, each fitted to some rows and columns, that answer together.

What a member says of rows is an array of ``outputs`` (n × K): probabilities of classes, or values in one column.
Which it is, and how large the loss of an answer is, the task of the rows says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlcli.core.configuration import described_as
from mlcli.core.model import Model
from mlcli.core.pipeline import learn
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.core.task import AnyTask
from mlcli.engines.random_by_content import Counts
from mlcli.tasks.supervised import SupervisedRows

OutputsOf = Callable[[Model, Table, AnyTask], Array]
"""What a member of an ensemble predicts for rows of a kind of task."""


def fitted(model: Model, data: Any, rng: np.random.Generator) -> Model:
    """A copy of a configured model after learning from rows; ``rng`` is spawned from that of the wrapper."""
    copy = model.fresh()
    learn(copy, data, rng)
    return copy


def sample_for(model: Model, data: SupervisedRows, repeats: Counts, columns: Iterable[str]) -> SupervisedRows:
    """Each row as often as it is drawn, in some columns.

    Where the model takes weights, a row that is drawn twice weighs twice, which is quicker.
    """
    if model.accepts.weights and repeats.max(initial=0) > 1:
        used = np.flatnonzero(repeats)
        drawn = replace(data.take(used), weight=repeats[used].astype(np.float64))
    else:
        drawn = replace(data.take(np.repeat(np.arange(len(data)), repeats)), weight=None)
    return drawn.with_table(drawn.table.select(columns))


def outputs(member: Model, table: Table, task: AnyTask) -> Array:
    """Probabilities or values, of the columns that the member has learned from."""
    seen = table if member.columns_ == table.columns else table.select(one.name for one in member.columns_)
    found: Array = task.outputs_of(member.final, member.prepared(seen))
    return found


def outputs_held_out(model: Model, data: SupervisedRows, folds: Codes, rng: np.random.Generator) -> Array:
    """What a model says of the rows of each fold after learning from the others."""
    said = np.zeros(data.outputs.shape)
    for fold, own in zip(np.unique(folds), rng.spawn(int(folds.max()) + 1), strict=True):
        judged = np.flatnonzero(folds == fold)
        if len(judged) < len(folds):
            member = fitted(model, data.take(np.flatnonzero(folds != fold)), own)
            said[judged] = outputs(member, data.table.take(judged), data.task)
    return said


def votes(member: Model, table: Table, task: AnyTask) -> Array:
    """A whole vote for the class that the member decides on."""
    shares = outputs(member, table, task)
    final: Any = member.final
    return np.asarray(np.eye(shares.shape[1])[final.decide(shares)])


def mean_of(
    members: Sequence[Model],
    table: Table,
    task: AnyTask,
    outputs_of: OutputsOf = outputs,
    weights: Array | None = None,
) -> Array:
    """The mean of what members say, each with its weight."""
    if weights is None:
        return np.asarray(sum(outputs_of(member, table, task) for member in members) / len(members))
    total = sum(weight * outputs_of(member, table, task) for member, weight in zip(members, weights, strict=True))
    return np.asarray(total / weights.sum())


def error_of_majority(errors: Sequence[float]) -> float:
    """How often most of some independent models are wrong about two classes, each as often as it is; ties half."""
    wrong = np.ones(1)
    for error in errors:
        wrong = np.convolve(wrong, [1 - error, error])
    half, odd = divmod(len(errors), 2)
    return float(wrong[half + 1 :].sum() + (0.0 if odd else wrong[half] / 2))


def means_after(
    members: Sequence[Model],
    at: Sequence[int],
    table: Table,
    task: AnyTask,
    outputs_of: OutputsOf = outputs,
    weights: Array | None = None,
) -> Iterator[Array]:
    """The weighted mean of what the first members say, after each of some numbers of them."""
    counts = np.ones(len(members)) if weights is None else weights
    total = np.zeros(1)
    for count, member in enumerate(members[: max(at, default=0)], start=1):
        total = total + counts[count - 1] * outputs_of(member, table, task)
        if count in at:
            yield total / counts[:count].sum()


@dataclass(frozen=True, eq=False)
class OutOfBagAnswers:
    """What members say of training rows that they did not learn from, summed up."""

    data: SupervisedRows
    total: Array
    members: Array
    """How many have been asked about each row."""

    @staticmethod
    def of(data: SupervisedRows) -> OutOfBagAnswers:
        """Nothing said yet."""
        return OutOfBagAnswers(data, np.zeros(data.outputs.shape), np.zeros(len(data)))

    def add(self, member: Model, outside: Flags, outputs_of: OutputsOf = outputs) -> None:
        """Ask one more member about the rows outside its bag."""
        if outside.any():
            self.total[outside] += outputs_of(
                member, self.data.table.take(np.flatnonzero(outside)), self.data.task
            )
            self.members[outside] += 1

    @property
    def answered(self) -> Flags:
        """The rows that were outside some bag."""
        return np.asarray(self.members > 0)

    def loss(self, model: Model) -> float:
        """The mean loss of the answers so far, decided as a model decides; NaN where no row was outside."""
        rows = np.flatnonzero(self.answered)
        if not len(rows):
            return np.nan
        asked = self.data.take(rows)
        losses = asked.task.losses(model, asked, self.total[rows] / self.members[rows, None])
        return float(np.average(losses, weights=asked.weights))


def refuse_strangers(members: Sequence[Any], asked: Model, whole: Model) -> None:
    """Refuse (ValueError) members that are not what was asked for, or that answer other classes than the whole."""
    if not all(isinstance(member, Model) and described_as(member) == described_as(asked) for member in members):
        raise ValueError("a base that is not the one asked for")
    if not all(getattr(one.final, "classes_", None) == getattr(whole, "classes_", None) for one in members):
        raise ValueError("a base that does not fit")
