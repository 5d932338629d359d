"""Ensembles: copies of nested models, each fitted to some rows and columns, whose predictions are combined.

The ``outputs`` of a member are an array (n × K): class probabilities, or values in one column. The task of the
rows decides which, and how the loss of a prediction is measured. Below are the tables that explain an ensemble.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from mlcli.core import findings
from mlcli.core.configuration import described_as
from mlcli.core.model import AnyTask, Model
from mlcli.core.pipeline import learn
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import Counts
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION, Classifier, SupervisedRows

OutputsOf = Callable[[Model, Table, AnyTask], Array]
"""A function that returns the outputs of a member for rows of a kind of task."""


def fitted(model: Model, data: RowsOfTable, rng: np.random.Generator) -> Model:
    """A copy of a configured model after learning from rows; ``rng`` is spawned from that of the wrapper."""
    copy = model.fresh()
    learn(copy, data, rng)
    return copy


def sample_for(model: Model, data: SupervisedRows, repeats: Counts, columns: Iterable[str]) -> SupervisedRows:
    """A sample with each row as often as drawn, in some columns.

    If the model takes weights, a row that is drawn twice has weight 2, which is quicker.
    """
    if model.accepts.weights and repeats.max(initial=0) > 1:
        used = np.flatnonzero(repeats)
        drawn = replace(data.take(used), weight=repeats[used].astype(np.float64))
    else:
        drawn = replace(data.take(np.repeat(np.arange(len(data)), repeats)), weight=None)
    return drawn.with_table(drawn.table.select(columns))


def outputs(member: Model, table: Table, task: AnyTask) -> Array:
    """The probabilities or values of a member, which may know only some of the columns."""
    if member.columns_ != table.columns:
        table = table.select(column.name for column in member.columns_)
    result: Array = task.outputs_of(member.final, member.prepared(table))
    return result


def votes(member: Model, table: Table, task: AnyTask) -> Array:
    """A whole vote for the class that the member decides on."""
    shares, final = outputs(member, table, task), member.final
    assert isinstance(final, Classifier)
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


def check_members(members: Sequence[object], requested: Model, whole: Model) -> None:
    """Raise ValueError for members that are not configured as requested, or that know other classes."""
    models = [member for member in members if isinstance(member, Model)]
    description = described_as(requested)
    if len(models) < len(members) or any(described_as(member) != description for member in models):
        raise ValueError("a base that is not the one asked for")
    classes = getattr(whole, "classes_", None)
    if any(getattr(member.final, "classes_", None) != classes for member in models):
        raise ValueError("a base that does not fit")


class Ensemble(Protocol):
    """What the tables below read of a fitted ensemble of models."""

    models_: tuple[Model, ...]
    classes_: tuple[str, ...]
    target_: str


def member_table(
    whole: Ensemble,
    names: Sequence[str],
    table: Table,
    outputs_of: OutputsOf = outputs,
    weights: Array | None = None,
) -> findings.Table:
    """The outputs of the first 25 members for one row; with weights also their weighted mean, the prediction."""
    if whole.classes_:
        each = [outputs_of(member, table, CLASSIFICATION)[0] for member in whole.models_]
        header = tuple(f"p({name})" if outputs_of is outputs else name for name in whole.classes_)
    else:
        each, header = [outputs(member, table, REGRESSION)[0] for member in whole.models_], (whole.target_,)
    shown, title = 25, "Answers of the models"
    note = f"the first {shown} of {len(each)}" if len(each) > shown else ""
    lines: list[tuple[findings.Entry, ...]] = []
    if weights is None:
        lines += [(name, *line.tolist()) for name, line in zip(names, each, strict=True)][:shown]
        return findings.Table(title, ("model", *header), tuple(lines), note=note)
    weighted = zip(names, weights.tolist(), each, strict=True)
    lines += [(name, weight, *line.tolist()) for name, weight, line in weighted][:shown]
    lines.append(("weighted mean", float(weights.sum()), *np.average(each, axis=0, weights=weights).tolist()))
    return findings.Table(title, ("model", "weight", *header), tuple(lines), note=note)


def numbered(models: Sequence[Model]) -> list[str]:
    """Numbers and ids of the members, such as "3 knn"."""
    return [f"{number} {model.final.id}" for number, model in enumerate(models, 1)]
