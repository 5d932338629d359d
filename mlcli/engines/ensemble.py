"""Ensembles: copies of nested models, each fitted to some rows and columns, whose predictions are combined.

The ``outputs`` of a member are an array (n × K): class probabilities, or values in one column. The task of the
rows decides which, and how the loss of a prediction is measured. Below are the tables that explain an ensemble.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.configuration import described_as
from mlcli.core.model import Model
from mlcli.core.names import counted
from mlcli.core.pipeline import learn
from mlcli.core.tables import Array, Flags, Table
from mlcli.core.task import AnyTask
from mlcli.engines.content_seeds import Counts
from mlcli.tasks.classification import CLASSIFICATION
from mlcli.tasks.regression import REGRESSION
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
    seen = table if member.columns_ == table.columns else table.select(column.name for column in member.columns_)
    result: Array = task.outputs_of(member.final, member.prepared(seen))
    return result


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
    """The weighted mean of the outputs of the members."""
    if weights is None:
        return np.asarray(sum(outputs_of(member, table, task) for member in members) / len(members))
    total = sum(weight * outputs_of(member, table, task) for member, weight in zip(members, weights, strict=True))
    return np.asarray(total / weights.sum())


def error_of_majority(errors: Sequence[float]) -> float:
    """The error rate of the majority of independent models on two classes; a tie counts half."""
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
    """The weighted mean of the outputs of the first members, for each number of members in ``at``."""
    counts = np.ones(len(members)) if weights is None else weights
    total = np.zeros(1)
    for count, member in enumerate(members[: max(at, default=0)], start=1):
        total = total + counts[count - 1] * outputs_of(member, table, task)
        if count in at:
            yield total / counts[:count].sum()


@dataclass(frozen=True, eq=False)
class OutOfBagAnswers:
    """Summed outputs of the members for training rows outside their bags."""

    data: SupervisedRows
    total: Array
    members: Array
    """The number of members that predicted each row."""

    @staticmethod
    def of(data: SupervisedRows) -> OutOfBagAnswers:
        """No outputs yet."""
        return OutOfBagAnswers(data, np.zeros(data.outputs.shape), np.zeros(len(data)))

    def add(self, member: Model, outside: Flags, outputs_of: OutputsOf = outputs) -> None:
        """Add the outputs of one more member for the rows outside its bag."""
        if outside.any():
            self.total[outside] += outputs_of(
                member, self.data.table.take(np.flatnonzero(outside)), self.data.task
            )
            self.members[outside] += 1

    @property
    def answered(self) -> Flags:
        """Rows outside at least one bag."""
        return np.asarray(self.members > 0)

    def loss(self, model: Model) -> float:
        """The mean loss of the mean outputs so far; NaN if no row was outside a bag."""
        rows = np.flatnonzero(self.answered)
        if not len(rows):
            return np.nan
        asked = self.data.take(rows)
        losses = asked.task.losses(model, asked, self.total[rows] / self.members[rows, None])
        return float(np.average(losses, weights=asked.weights))


def check_members(members: Sequence[Any], asked: Model, whole: Model) -> None:
    """Raise ValueError for members that are not configured as requested, or that know other classes."""
    if not all(isinstance(member, Model) and described_as(member) == described_as(asked) for member in members):
        raise ValueError("a base that is not the one asked for")
    if not all(getattr(member.final, "classes_", None) == getattr(whole, "classes_", None) for member in members):
        raise ValueError("a base that does not fit")


MOST_MEMBERS = 25
"""At most so many members are listed in a table; all of them count."""
FIRST_TREES = 5
"""The predictions of so many trees are listed one by one."""


def member_table(
    whole: Any, names: Sequence[str], table: Table, outputs_of: OutputsOf = outputs, weights: Array | None = None
) -> findings.Table:
    """One line per member of ``whole.models_``; with weights, their weighted mean below: the prediction."""
    members: Sequence[Model] = whole.models_
    task, asked = (CLASSIFICATION, outputs_of) if whole.classes_ else (REGRESSION, outputs)
    said = np.array([asked(member, table, task)[0] for member in members])
    classes = tuple(f"p({name})" if outputs_of is outputs else name for name in whole.classes_ or ())
    answers = classes or (whole.target_,)
    rows: list[tuple[findings.Entry, ...]] = [
        (name, *line) for name, line in zip(names, said.tolist(), strict=True)
    ][:MOST_MEMBERS]
    note = f"the first {MOST_MEMBERS} of {len(members)}" if len(members) > MOST_MEMBERS else ""
    if weights is None:
        return findings.Table("Answers of the models", ("model", *answers), tuple(rows), note=note)
    counted = zip(rows, weights.tolist(), strict=False)
    lines = [(name, weight, *line) for (name, *line), weight in counted]
    lines.append(("weighted mean", float(weights.sum()), *np.average(said, axis=0, weights=weights).tolist()))
    return findings.Table("Answers of the models", ("model", "weight", *answers), tuple(lines), note=note)


def votes_of_trees(whole: Any, said: Array) -> findings.Explanation:
    """The votes for each class, or the spread of the values, and the predictions of the first trees."""
    if not whole.classes_:
        spread = ("mean", "standard deviation", "smallest", "median", "largest")
        row = tuple(float(of(said)) for of in (np.mean, np.std, np.min, np.median, np.max))
        first = tuple(enumerate(said[:FIRST_TREES, 0].tolist(), 1))
        votes = findings.Table(f"Values of {counted(len(said), 'tree')}", spread, (row,))
        return votes, findings.Table("First trees", ("tree", whole.target_), first)
    decided = whole.decide(said)
    totals = np.bincount(decided, minlength=len(whole.classes_)).tolist()
    rows = tuple(zip(whole.classes_, totals, said.mean(axis=0).tolist(), strict=True))
    votes = findings.Table(f"Votes of {counted(len(said), 'tree')}", ("class", "trees", "mean probability"), rows)
    lines = tuple(
        (number, whole.classes_[code], *line)
        for number, (code, line) in enumerate(zip(decided, said[:FIRST_TREES].tolist(), strict=False), 1)
    )
    header = ("tree", "decides on", *(f"p({name})" for name in whole.classes_))
    return votes, findings.Table("First trees", header, lines)


def scores_after_rounds(whole: Any, table: Table) -> findings.Table:
    """The start score of boosting, its sums after more and more rounds, and their predictions."""
    at = sorted({0, *(2**power for power in range(whole.stages().bit_length())), whole.stages()})
    scores = np.vstack([score.copy() for score in whole.scores(table, at)])
    said = whole.outputs_from(scores) if whole.classes_ else np.empty((len(at), 0))
    header = ("rounds", *whole.score_names(), *(f"p({name})" for name in whole.classes_ or ()))
    lines = zip(at, np.hstack([scores, said]).tolist(), strict=True)
    return findings.Table("Score of the row", header, tuple((count, *line) for count, line in lines))


def numbered(models: Sequence[Model]) -> list[str]:
    """Numbers and ids of the members, such as "3 knn"."""
    return [f"{number} {model.final.id}" for number, model in enumerate(models, 1)]
